#include "core/instantiate.hpp"
#include "core/shared_storage.hpp"
#include "solve/certificate.hpp"
#include "solve/equilibration.hpp"
#include "solve/over_ranks.hpp"
#include "solve/residuals.hpp"
#include "solve/system.hpp"
#include <heddle/solve/memory.hpp>
#include <heddle/solve/solve.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace heddle {
namespace impl {
namespace {

/// The factors of A, in its place.
template <Scalar T> LuReport factor_by_lu(const PlacedMatrix<T>& A, const LuOptions& options) {
  return A.ranks().comm() != nullptr ? lu(*A.ranks().comm(), A.distributed(), options)
                                     : lu(A.space(), A.local(), options);
}
template <Scalar T> LuReport factor_by_cholesky(const PlacedMatrix<T>& A, const LuOptions& options) {
  LuReport report;
  static_cast<FactorizationReport&>(report) = A.ranks().comm() != nullptr
                                                  ? cholesky(*A.ranks().comm(), A.distributed(), options)
                                                  : cholesky(A.space(), A.local(), options);
  report.growth = 1.0;
  return report;
}

/// A copy of A where factorizations want it, in the memory that A is in.
template <Scalar T> PlacedMatrix<T> copy_to_factor(const PlacedMatrix<T>& A, const LuOptions& options) {
  const LuSchedule schedule = schedule_for(A.rows(), A.columns(), with_arithmetic(options));
  const Placement placement = placement_of_columns(A.rows(), columns_of(schedule, A.ranks().size()));
  const PlacedMatrix<T> copy(A.ranks(), placement.in(A.residence()), "heddle::solve::factors");
  redistribute(A, copy);
  return copy;
}

template <Scalar T>
void check_solve(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& X,
                 const SolveOptions& options) {
  require_square("solve", "A", A);
  require_rows("solve", "B", B, A.rows());
  require(X.rows() == B.rows() && X.columns() == B.columns(), "solve: X is ", X.rows(), " x ", X.columns(),
          "; expected ", B.rows(), " x ", B.columns());
  require(options.refinements >= 0, "solve: ", options.refinements, " refinements; expected 0 or more");
  require_lu_options("solve", A.rows(), A.columns(), options.lu);
  require_grid("solve", options.lu, A.ranks().size());
  require_apart("solve", "A", A.local(), "X", X.local());
  require_apart("solve", "B", B.local(), "X", X.local());
}

/// A system and what is known of it.
template <Scalar T> class LinearSystem {
 public:
  LinearSystem(const PlacedMatrix<T>& A, Index right_hand_sides, const SolveOptions& options)
      : A_(A), options_(options) {
    report_.memory_bytes = solve_memory<T>(A.rows(), right_hand_sides, A.ranks().size(), options, A.residence());
    require_memory("solve", A.ranks().comm(), report_.memory_bytes, static_cast<double>(options.lu.memory_limit));
    if (options.equilibrate) equilibration_ = {A, by_cholesky()};
    factors_ = copy_to_factor(A, options.lu);
    equilibration_.scale_matrix(factors_);
    report_.equilibrated = equilibration_.scales();
    report_.lu = by_cholesky() ? factor_by_cholesky(factors_, options.lu) : factor_by_lu(factors_, options.lu);
    // Slabs are as wide as there is room for.
    if (A.residence() == Residence::host) {
      report_.memory_bytes = std::max(report_.memory_bytes, report_.lu.memory_bytes);
    }
  }

  SolveReport solve(const PlacedMatrix<T>& B, const PlacedMatrix<T>& X) {
    if (report_.lu.info != 0) {
      finish();
      return report_;
    }
    FactoredSystem<T> system(factors_, B.columns(), options_.lu);
    const PlacedMatrix<T> x = system.new_right("heddle::solve::x");
    const PlacedMatrix<T> b = system.new_right("heddle::solve::b");
    const PlacedMatrix<T> r = system.new_right("heddle::solve::r");
    redistribute(B, b);
    copy_elements<T>(A_.space(), "heddle::solve::copy", b.local(), x.local());
    solve_by(system, x);
    for (int k = 0; k < options_.refinements; ++k) {
      const std::vector<Index> powers = exact_residuals(A_, b, x, r);
      solve_by(system, r);
      scale_back(r, powers);
      correct(x, r);
    }
    redistribute(x, X);
    A_.space().fence("heddle::solve::done");
    finish();
    std::vector<Index> powers;
    if (options_.measure || options_.certificate) powers = exact_residuals(A_, b, x, r);
    if (options_.certificate) report_.error_bound = proven(x, r, powers);
    if (options_.measure) {
      const BackwardErrors errors = backward_errors(A_, b, x, r, powers);
      report_.normwise_error = errors.normwise;
      report_.componentwise_error = errors.componentwise;
    }
    return report_;
  }

 private:
  [[nodiscard]] bool by_cholesky() const { return options_.method == SolveMethod::cholesky; }
  void finish() {
    const double mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    report_.seconds = A_.ranks().all_reduce(mine, Reduction::maximum);
  }
  void solve_by(FactoredSystem<T>& system, const PlacedMatrix<T>& right) const {
    equilibration_.scale_right(right);
    if (by_cholesky()) {
      system.solve_by_cholesky(right);
    } else {
      system.solve_by_lu(Operation::none, report_.lu.pivots, right);
    }
    equilibration_.scale_solution(right);
  }
  double proven(const PlacedMatrix<T>& x, const PlacedMatrix<T>& residuals, const std::vector<Index>& powers) const {
    FactoredSystem<T> all(factors_, A_.columns(), options_.lu);
    const PlacedMatrix<T> inverse = all.new_right("heddle::solve::inverse");
    set_identity(inverse);
    solve_by(all, inverse);
    return proven_error(A_, inverse, x, residuals, powers);
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  PlacedMatrix<T> A_;
  SolveOptions options_;
  Equilibration<T> equilibration_;
  PlacedMatrix<T> factors_;
  SolveReport report_;
};

template <Scalar T> void check_inverse(const PlacedMatrix<T>& A, const LuOptions& options) {
  require_square("inverse", "A", A);
  require_lu_options("inverse", A.rows(), A.columns(), options);
  require_grid("inverse", options, A.ranks().size());
}
template <Scalar T> LuReport invert(const PlacedMatrix<T>& A, const LuOptions& options) {
  // As much as a solution for n right-hand sides, without b and r.
  const double needed = solve_memory<T>(A.rows(), A.columns(), A.ranks().size(), {.lu = options}, A.residence()) -
                        2.0 * bytes_of_local<T>(A.rows(), right_hand_sides(A.columns(), A.ranks().size()));
  require_memory("inverse", A.ranks().comm(), needed, static_cast<double>(options.memory_limit));
  const PlacedMatrix<T> factors = copy_to_factor(A, options);
  const LuReport report = factor_by_lu(factors, options);
  if (report.info != 0) {
    redistribute(factors, A);
  } else {
    FactoredSystem<T> system(factors, A.columns(), options);
    const PlacedMatrix<T> x = system.new_right("heddle::solve::inverse");
    set_identity(x);
    system.solve_by_lu(Operation::none, report.pivots, x);
    redistribute(x, A);
  }
  A.space().fence("heddle::solve::done");
  return report;
}

}  // namespace
}  // namespace impl

std::string_view to_string(SolveMethod method) {
  return method == SolveMethod::lu ? "lu" : "cholesky";
}

template <Scalar T>
SolveReport solve(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                  const DistributedMatrix<T>& X, const SolveOptions& options) {
  std::vector<impl::Argument> arguments =
      impl::and_placements(impl::arguments_of(options.lu), A.placement(), B.placement());
  arguments.push_back(impl::argument("X", X.placement()));
  arguments.push_back(impl::argument("method", to_string(options.method)));
  arguments.push_back(impl::argument("equilibrate", options.equilibrate));
  arguments.push_back(impl::argument("refinements", options.refinements));
  arguments.push_back(impl::argument("measure", options.measure));
  arguments.push_back(impl::argument("certificate", options.certificate));
  return impl::over_ranks(
      comm, "solve", arguments, [&] { impl::check_solve<T>(A, B, X, options); },
      [&] { return impl::LinearSystem<T>(A, B.columns(), options).solve(B, X); });
}

template <Scalar T>
SolveReport solve(const ExecutionSpace& space, const MatrixView<const std::type_identity_t<T>>& A,
                  const MatrixView<const std::type_identity_t<T>>& B, const MatrixView<T>& X,
                  const SolveOptions& options) {
  const impl::PlacedMatrix<T> a(space, "solve", "A", A);
  const impl::PlacedMatrix<T> b(space, "solve", "B", B);
  const impl::PlacedMatrix<T> x(space, "solve", "X", X);
  impl::check_solve(a, b, x, options);
  return impl::LinearSystem<T>(a, b.columns(), options).solve(b, x);
}

template <Scalar T>
LuReport inverse(const Communicator& comm, const DistributedMatrix<T>& A, const LuOptions& options) {
  const impl::PlacedMatrix<T> a(A);
  std::vector<impl::Argument> arguments = impl::arguments_of(options);
  arguments.push_back(impl::argument("A", A.placement()));
  return impl::over_ranks(
      comm, "inverse", arguments, [&] { impl::check_inverse(a, options); }, [&] { return impl::invert(a, options); });
}

template <Scalar T> LuReport inverse(const ExecutionSpace& space, const MatrixView<T>& A, const LuOptions& options) {
  const impl::PlacedMatrix<T> a(space, "inverse", "A", A);
  impl::check_inverse(a, options);
  return impl::invert(a, options);
}

#define HEDDLE_INSTANTIATE(T)                                                                                  \
  template SolveReport solve<T>(const Communicator&, const DistributedMatrix<T>&, const DistributedMatrix<T>&, \
                                const DistributedMatrix<T>&, const SolveOptions&);                             \
  template SolveReport solve<T>(const ExecutionSpace&, const MatrixView<const T>&, const MatrixView<const T>&, \
                                const MatrixView<T>&, const SolveOptions&);                                    \
  template LuReport inverse<T>(const Communicator&, const DistributedMatrix<T>&, const LuOptions&);            \
  template LuReport inverse<T>(const ExecutionSpace&, const MatrixView<T>&, const LuOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
