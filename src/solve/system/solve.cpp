// Linear systems over all ranks: factorization, solution, refinement and error estimates.
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "libm/functions.hpp"
#include "solve/grid/over_ranks.hpp"
#include "solve/proof/certificate.hpp"
#include "solve/proof/correct_rounding.hpp"
#include "solve/proof/long_inverse.hpp"
#include "solve/proof/long_product.hpp"
#include "solve/system/equilibration.hpp"
#include "solve/system/inverse_norm.hpp"
#include "solve/system/residuals.hpp"
#include "solve/system/right_hand_sides.hpp"
#include "solve/system/solve_rounded.hpp"
#include "solve/system/system.hpp"
#include <heddle/solve/memory.hpp>
#include <heddle/solve/solve.hpp>
#include <heddle/transpose/distributed.hpp>
#include <heddle/transpose/transpose.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace heddle {
namespace impl {
namespace {

// Whether a condition number guarantees no digit of solutions, and less than half of their digits stand after so many
// refinements, each of which leaves the share correction() of the error.
template <Scalar T, class Correction>
bool is_too_large(double condition, Index order, int refinements, const Correction& correction) {
  const auto unit = static_cast<double>(unit_roundoff<T>);
  if (!(condition > 1.0 / (static_cast<double>(order) * unit))) return false;
  return condition > 1.0 / unit || !(libm::pow(correction(), refinements + 1) <= std::sqrt(unit));
}
std::vector<Index> apart(const std::vector<Index>& one, const std::vector<Index>& other) {
  std::vector<Index> difference(one.size());
  std::transform(one.begin(), one.end(), other.begin(), difference.begin(), std::minus<>());
  return difference;
}

// cholesky() of A in place.
template <Scalar T> LuReport factor_by_cholesky(const PlacedMatrix<T>& A, const FactorOptions& options) {
  LuReport report;
  static_cast<FactorizationReport&>(report) = A.ranks().comm() != nullptr
                                                  ? cholesky(*A.ranks().comm(), A.distributed(), options)
                                                  : cholesky(A.space(), A.local(), options);
  report.growth = 1.0;
  return report;
}

template <Scalar T>
void check_solve(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& X,
                 const SolveOptions& options) {
  require_square("solve", "A", A);
  require_rows("solve", "B", B, A.rows());
  require(X.rows() == B.rows() && X.columns() == B.columns(), "solve: X is ", X.rows(), " x ", X.columns(),
          "; expected ", B.rows(), " x ", B.columns());
  require(options.refinements >= 0, "solve: ", options.refinements, " refinements; expected 0 or more");
  require_lu_options("solve", A.rows(), A.columns(), options.factorization);
  require_grid("solve", options.factorization, A.ranks().size());
  require_apart("solve", "A", A.local(), "X", X.local());
  require_apart("solve", "B", B.local(), "X", X.local());
}

template <Scalar T> void conjugate_transpose(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B) {
  if (A.ranks().comm() != nullptr) {
    transpose(*A.ranks().comm(), T(1), A.distributed(), Operation::conjugate_transpose, B.distributed());
  } else {
    transpose(A.space(), T(1), A.local(), Operation::conjugate_transpose, B.local());
  }
}

/// A system, its factors and its report.
template <Scalar T> class LinearSystem {
 public:
  // Rounding::correct concerns these rows of solutions; `scaling` is used in place of that which is found for A.
  LinearSystem(const PlacedMatrix<T>& A, Index right_hand_sides, const SolveOptions& options, Range rows,
               const std::optional<Equilibration<T>>& scaling = {})
      : A_(A), options_(options), rows_(rows), found_(A.rows()), used_(A.rows()) {
    report_.memory_bytes = solve_memory<T>(A.rows(), right_hand_sides, A.ranks().size(), options, A.residence());
    require_memory("solve", A.ranks().comm(), report_.memory_bytes,
                   static_cast<double>(options.factorization.memory_limit));
    found_ = scaling ? *scaling : Equilibration<T>(A, by_cholesky());
    if (options.equilibrate) used_ = found_;
    factors_ = copy_to_factor(A, options.factorization);
    factor();
  }

  SolveReport solve(const PlacedMatrix<T>& B, const PlacedMatrix<T>& X) {
    if (options_.condition && !find_conditions()) {
      // With other powers A may be far from singular.
      redistribute(A_, factors_);
      factor();
      static_cast<void>(find_conditions());
    }
    if (report_.factorization.info != 0) {
      finish();
      return report_;
    }
    FactoredSystem<T> system(factors_, B.columns(), options_.factorization);
    const PlacedMatrix<T> x = system.new_right("heddle::solve::x");
    const PlacedMatrix<T> b = system.new_right("heddle::solve::b");
    const PlacedMatrix<T> r = system.new_right("heddle::solve::r");
    redistribute(B, b);
    solve_once(system, b, x, r);
    for (int k = 0; k < options_.refinements; ++k) {
      const std::vector<Index> powers = exact_residuals(A_, b, x, r);
      solve_by(system, r, {}, powers);
      correct(x, r);
    }
    if (options_.rounding == Rounding::correct) {
      invert();
      round(b, x);
    }
    redistribute(x, X);
    A_.space().fence("heddle::solve::done");
    report_.overflow = first_overflow(b, x);
    if (report_.overflow != 0 && !std::isfinite(norm_of_a().number)) report_.overflow = 0;
    finish();
    std::vector<Index> powers;
    if (options_.measure || options_.certificate) powers = exact_residuals(A_, b, x, r);
    if (options_.measure) {
      const BackwardErrors errors = backward_errors(A_, b, x, r, powers);
      const double unit = static_cast<double>(unit_roundoff<T>) * static_cast<double>(std::max<Index>(A_.rows(), 1));
      report_.normwise_error = errors.normwise;
      report_.componentwise_error = errors.componentwise;
      report_.scaled_residual = errors.above_underflow / unit;
    }
    if (options_.certificate) {
      if (!inverse_) invert();
      report_.error_bound = proven_error(*inverse_, x, r, powers);
    }
    if (std::isfinite(report_.error_bound) || report_.correctly_rounded) report_.ill_conditioned = false;
    return report_;
  }

 private:
  [[nodiscard]] bool by_cholesky() const { return options_.method == SolveMethod::cholesky; }
  // Factor the copy of A in factors_, scaled by used_.
  void factor() {
    if (used_.scales()) scale_by(factors_, used_.rows(), used_.columns());
    report_.equilibrated = used_.scales();
    report_.factorization = by_cholesky() ? factor_by_cholesky(factors_, options_.factorization)
                                          : factor_by_lu(factors_, options_.factorization);
    // Slabs take as much memory as there is.
    if (A_.residence() == Residence::host) {
      report_.memory_bytes = std::max(report_.memory_bytes, report_.factorization.memory_bytes);
    }
  }
  void finish() {
    const double mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    report_.seconds = A_.ranks().all_reduce(mine, Reduction::maximum);
  }
  [[nodiscard]] Size norm_of_a() const {
    const std::vector<Index> none(static_cast<std::size_t>(A_.rows()), 0);
    return one_norm(A_, none, none);
  }
  // Find the condition numbers of A and of R A C as it would be equilibrated. Return false if no digit is guaranteed
  // and another R A C, to be factored next, may be better.
  [[nodiscard]] bool find_conditions() {
    const Index n = A_.rows();
    if (report_.factorization.info != 0) {
      report_.condition = std::numeric_limits<double>::infinity();
      report_.scaled_condition = report_.condition;
      return true;
    }
    report_.condition = 0.0;
    report_.scaled_condition = 0.0;
    if (n == 0) return true;
    // F factors R_u A C_u, so that A^-1 = C_u F^-1 R_u and (R A C)^-1 = (C_u / C) F^-1 (R_u / R).
    const std::vector<Index>* const pivots = by_cholesky() ? nullptr : &report_.factorization.pivots;
    std::optional<InverseNorm<T>> inverse(std::in_place, factors_, pivots, options_.factorization);
    InverseNorm<T>& norm_of_inverse = *inverse;
    report_.condition = condition_of(norm_of_a() * norm_of_inverse(used_.columns(), used_.rows()));
    const auto condition_by = [&](const Equilibration<T>& scaling) {
      return condition_of(
          one_norm(A_, scaling.rows(), scaling.columns()) *
          norm_of_inverse(apart(used_.columns(), scaling.columns()), apart(used_.rows(), scaling.rows())));
    };
    report_.scaled_condition = found_.scales() ? condition_by(found_) : report_.condition;
    report_.ill_conditioned = is_too_large<T>(report_.scaled_condition, n, options_.refinements, [&] {
      return found_.scales() ? 1.0 : worst_correction(A_, factors_, pivots, options_.factorization);
    });
    if (!report_.ill_conditioned || !options_.equilibrate || by_cholesky() || by_means_) return true;
    by_means_ = true;
    const Equilibration<T> means = Equilibration<T>::by_means(A_);
    if (!means.scales() || is_too_large<T>(condition_by(means), n, 0, [] { return 1.0; })) return true;
    found_ = used_ = means;
    return false;
  }
  // X = A^-1 B. Columns that are not finite, though B is, are solved again with much smaller columns of B.
  void solve_once(FactoredSystem<T>& system, const PlacedMatrix<T>& b, const PlacedMatrix<T>& x,
                  const PlacedMatrix<T>& other) const {
    copy_elements<T>(A_.space(), "heddle::solve::copy", b.local(), x.local());
    solve_by(system, x, {}, {});
    if (first_overflow(b, x) == 0) return;
    copy_elements<T>(A_.space(), "heddle::solve::copy", b.local(), other.local());
    solve_by(system, other, columns_not_finite(x), {}, one_norm(A_, used_.rows(), used_.columns()).power + 1);
    take_for_not_finite(x, other);
  }
  // X = 2^-power A^-1 B in B's place, with a power for each column.
  void solve_by(FactoredSystem<T>& system, const PlacedMatrix<T>& right, const OfColumns& careful,
                const std::vector<Index>& powers, Index size = 0) const {
    const OfColumns taken = scale_right(right, used_.rows(), careful, size);
    if (by_cholesky()) {
      system.solve_by_cholesky(right);
    } else {
      system.solve_by_lu(Operation::none, report_.factorization.pivots, right);
    }
    scale_solution(right, used_.columns(), taken, powers);
  }
  // R A C replaces the factors; V = C^-1 A^-1 R^-1 is its approximate inverse. Columns of V^H are solutions of (R A
  // C)^H V^H = I: for these V R A C, which proofs need, is near I, while solutions V of R A C V = I leave it off by
  // more than u times the square of the condition, for example in systems of least squares.
  void invert() {
    FactoredSystem<T> all(factors_, A_.columns(), options_.factorization);
    PlacedMatrix<T> adjoint = all.new_right("heddle::solve::adjoint");
    set_identity(adjoint);
    if (by_cholesky()) {
      all.solve_by_cholesky(adjoint);
    } else {
      all.solve_by_lu(Operation::conjugate_transpose, report_.factorization.pivots, adjoint);
    }
    const PlacedMatrix<T> V = all.new_right("heddle::solve::inverse");
    conjugate_transpose(adjoint, V);
    adjoint = {};
    if (found_.scales() && !used_.scales()) {
      scale_by(V, apart(used_.columns(), found_.columns()), apart(used_.rows(), found_.rows()));
    }
    redistribute(A_, factors_);
    if (found_.scales()) scale_by(factors_, found_.rows(), found_.columns());
    inverse_.emplace(factors_, V, found_.rows(), found_.columns());
  }
  void round(const PlacedMatrix<T>& b, const PlacedMatrix<T>& x) {
    static_cast<RoundingReport&>(report_) = round_correctly(A_, *inverse_, b, x, rows_);
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  PlacedMatrix<T> A_;
  SolveOptions options_;
  Range rows_;
  Equilibration<T> found_;  // Equilibration found for A, and the one that was factored.
  Equilibration<T> used_;
  bool by_means_ = false;  // Whether Equilibration::by_means() was tried.
  PlacedMatrix<T> factors_;
  std::optional<ApproximateInverse<T>> inverse_;
  SolveReport report_;
};

template <Scalar T> void check_inverse(const PlacedMatrix<T>& A, const FactorOptions& options) {
  require_square("inverse", "A", A);
  require_lu_options("inverse", A.rows(), A.columns(), options);
  require_grid("inverse", options, A.ranks().size());
}
template <Scalar T> InverseReport invert(const PlacedMatrix<T>& A, const FactorOptions& options, Rounding rounding) {
  // Memory of a solution for n right-hand sides, without b and r.
  const double needed =
      solve_memory<T>(A.rows(), A.columns(), A.ranks().size(), {.factorization = options}, A.residence()) -
      2.0 * bytes_of_local<T>(A.rows(), right_hand_sides(A.columns(), A.ranks().size())) +
      (rounding == Rounding::correct ? bytes_of_long_matrices<T>(A.rows(), A.ranks().size()) : 0.0);
  require_memory("inverse", A.ranks().comm(), needed, static_cast<double>(options.memory_limit));
  Equilibration<T> found(A, false);
  const PlacedMatrix<T> factors = copy_to_factor(A, options);
  InverseReport report;
  PlacedMatrix<T> x;
  for (bool by_means = false;; by_means = true) {
    if (found.scales()) scale_by(factors, found.rows(), found.columns());
    static_cast<LuReport&>(report) = factor_by_lu(factors, options);
    report.equilibrated = found.scales();
    if (report.info != 0) {
      report.condition = std::numeric_limits<double>::infinity();
      report.scaled_condition = report.condition;
      return report;
    }
    {
      FactoredSystem<T> system(factors, A.columns(), options);
      if (!by_means) x = system.new_right("heddle::solve::inverse");
      set_identity(x);
      system.solve_by_lu(Operation::none, report.pivots, x);
    }
    if (A.rows() == 0) break;
    const auto condition_by = [&](const Equilibration<T>& scaling) {
      return condition_of(one_norm(A, scaling.rows(), scaling.columns()) *
                          one_norm(x, apart(found.columns(), scaling.columns()), apart(found.rows(), scaling.rows())));
    };
    report.condition = condition_by(Equilibration<T>(A.rows()));
    report.scaled_condition = condition_by(found);
    report.ill_conditioned = is_too_large<T>(report.scaled_condition, A.rows(), 0, [&] {
      return found.scales() ? 1.0 : worst_correction(A, factors, &report.pivots, options);
    });
    if (!report.ill_conditioned || by_means) break;
    // With other powers A may be far from singular.
    const Equilibration<T> means = Equilibration<T>::by_means(A);
    if (!means.scales() || is_too_large<T>(condition_by(means), A.rows(), 0, [] { return 1.0; })) break;
    found = means;
    redistribute(A, factors);
  }
  RoundingReport rounded{.undecided = -1};
  if (rounding == Rounding::correct) {
    rounded =
        A.rows() == 0 ? RoundingReport{.correctly_rounded = true} : round_inverse(A, x, found.rows(), found.columns());
    static_cast<RoundingReport&>(report) = rounded;
    if (report.correctly_rounded) report.ill_conditioned = false;
  }
  if (rounded.undecided < 0 && found.scales()) scale_by(x, found.columns(), found.rows());
  redistribute(x, A);
  A.space().fence("heddle::solve::done");
  return report;
}

}  // namespace

template <Scalar T>
RoundingReport solve_rounded(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& X,
                             const FactorOptions& options, const Equilibration<T>& scaling, Range rows) {
  const SolveOptions all{.factorization = options, .measure = false, .rounding = Rounding::correct, .condition = false};
  const SolveReport report = LinearSystem<T>(A, B.columns(), all, rows, scaling).solve(B, X);
  return report.factorization.info == 0 ? RoundingReport(report) : RoundingReport{.undecided = -1};
}
}  // namespace impl

std::string_view to_string(SolveMethod method) {
  return method == SolveMethod::lu ? "lu" : "cholesky";
}

std::string_view to_string(Rounding rounding) {
  return rounding == Rounding::correct ? "correct" : "computed";
}

template <Scalar T>
SolveReport solve(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                  const DistributedMatrix<T>& X, const SolveOptions& options) {
  std::vector<impl::Argument> arguments =
      impl::and_placements(impl::arguments_of(options.factorization), A.placement(), B.placement());
  arguments.push_back(impl::argument("X", X.placement()));
  arguments.push_back(impl::argument("method", to_string(options.method)));
  arguments.push_back(impl::argument("equilibrate", options.equilibrate));
  arguments.push_back(impl::argument("refinements", options.refinements));
  arguments.push_back(impl::argument("measure", options.measure));
  arguments.push_back(impl::argument("certificate", options.certificate));
  arguments.push_back(impl::argument("rounding", to_string(options.rounding)));
  arguments.push_back(impl::argument("condition", options.condition));
  return impl::over_ranks(
      comm, "solve", arguments,
      [&] {
        impl::require_same_ranks("solve", "A", A, comm);
        impl::require_same_ranks("solve", "B", B, comm);
        impl::require_same_ranks("solve", "X", X, comm);
        impl::check_solve<T>(A, B, X, options);
      },
      [&] {
        return impl::LinearSystem<T>(A, B.columns(), options, {0, A.rows()}).solve(B, X);
      });
}

template <Scalar T>
SolveReport solve(const ExecutionSpace& space, const MatrixView<const std::type_identity_t<T>>& A,
                  const MatrixView<const std::type_identity_t<T>>& B, const MatrixView<T>& X,
                  const SolveOptions& options) {
  const impl::PlacedMatrix<T> a(space, "solve", "A", A);
  const impl::PlacedMatrix<T> b(space, "solve", "B", B);
  const impl::PlacedMatrix<T> x(space, "solve", "X", X);
  impl::check_solve(a, b, x, options);
  return impl::LinearSystem<T>(a, b.columns(), options, {0, a.rows()}).solve(b, x);
}

template <Scalar T>
InverseReport inverse(const Communicator& comm, const DistributedMatrix<T>& A, const FactorOptions& options,
                      Rounding rounding) {
  const impl::PlacedMatrix<T> a(A);
  std::vector<impl::Argument> arguments = impl::arguments_of(options);
  arguments.push_back(impl::argument("A", A.placement()));
  arguments.push_back(impl::argument("rounding", to_string(rounding)));
  return impl::over_ranks(
      comm, "inverse", arguments,
      [&] {
        impl::require_same_ranks("inverse", "A", A, comm);
        impl::check_inverse(a, options);
      },
      [&] { return impl::invert(a, options, rounding); });
}

template <Scalar T>
InverseReport inverse(const ExecutionSpace& space, const MatrixView<T>& A, const FactorOptions& options,
                      Rounding rounding) {
  const impl::PlacedMatrix<T> a(space, "inverse", "A", A);
  impl::check_inverse(a, options);
  return impl::invert(a, options, rounding);
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template RoundingReport impl::solve_rounded<T>(const impl::PlacedMatrix<T>&, const impl::PlacedMatrix<T>&,           \
                                                 const impl::PlacedMatrix<T>&, const FactorOptions&,                   \
                                                 const impl::Equilibration<T>&, Range);                                \
  template SolveReport solve<T>(const Communicator&, const DistributedMatrix<T>&, const DistributedMatrix<T>&,         \
                                const DistributedMatrix<T>&, const SolveOptions&);                                     \
  template SolveReport solve<T>(const ExecutionSpace&, const MatrixView<const T>&, const MatrixView<const T>&,         \
                                const MatrixView<T>&, const SolveOptions&);                                            \
  template InverseReport inverse<T>(const Communicator&, const DistributedMatrix<T>&, const FactorOptions&, Rounding); \
  template InverseReport inverse<T>(const ExecutionSpace&, const MatrixView<T>&, const FactorOptions&, Rounding)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
