#include "core/instantiate.hpp"
#include "solve/certificate.hpp"
#include "solve/equilibration.hpp"
#include "solve/residuals.hpp"
#include "solve/system.hpp"
#include <heddle/solve/solve.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

namespace heddle {
namespace impl {
namespace {

template <Scalar T> double one_norm(const std::vector<T>& x) {
  double sum = 0;
  for (const T& element : x) sum += magnitude(element);
  return sum;
}

// The power of two nearest to |A|_1 of which a vector may have its numbers: solutions with it are about as large as the
// condition number, wherever A is in the range of T.
template <Scalar T> int power_near(double norm) {
  using Limits = std::numeric_limits<Real<T>>;
  constexpr int apart = 20;
  return norm > 0 && std::isfinite(norm)
             ? std::clamp(std::ilogb(norm), Limits::min_exponent + apart, Limits::max_exponent - apart)
             : 0;
}

// |A^-1|_1 2^power, from below.
template <Scalar T>
double inverse_norm(const Communicator& comm, FactoredSystem<T>& system, const std::vector<Index>& pivots, int power) {
  const std::size_t n = pivots.size();
  const DistributedMatrix<T> vector(comm, system.right_placement(), "heddle::solve::estimate");
  const auto scale = std::ldexp(Real<T>(1), power);
  const auto solved = [&](Operation op, std::vector<T> b) {
    for (T& element : b) element *= scale;
    set_column(vector, 0, b);
    system.solve_by_lu(op, pivots, vector);
    return column_of(vector, 0);
  };
  std::vector<T> x(n, T(static_cast<Real<T>>(1.0 / static_cast<double>(n))));
  double estimate = 0;
  std::size_t taken = n;
  for (int round = 0; round < 5; ++round) {
    const std::vector<T> y = solved(Operation::none, x);
    const double found = one_norm(y);
    if (std::isnan(found) || (round > 0 && found <= estimate)) return std::isnan(found) ? found : estimate;
    estimate = found;
    std::vector<T> signs(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double size = magnitude(y[i]);
      signs[i] = size == 0 || !std::isfinite(size) ? T(1) : y[i] / static_cast<Real<T>>(size);
    }
    const std::vector<T> z = solved(Operation::conjugate_transpose, signs);
    std::size_t largest = 0;
    double most = -1;
    for (std::size_t i = 0; i < n; ++i) {
      const double size = magnitude(z[i]);
      if (size > most) {
        most = size;
        largest = i;
      }
    }
    if (largest == taken) break;
    taken = largest;
    std::fill(x.begin(), x.end(), T(0));
    x[largest] = T(1);
  }
  // What the rounds above may miss: numbers of alternating signs.
  for (std::size_t i = 0; i < n; ++i) {
    const double size = n > 1 ? 1.0 + static_cast<double>(i) / static_cast<double>(n - 1) : 1.0;
    x[i] = T(static_cast<Real<T>>(i % 2 == 0 ? size : -size));
  }
  const double other = 2.0 * one_norm(solved(Operation::none, x)) / (3.0 * static_cast<double>(n));
  return std::isnan(other) || other > estimate ? other : estimate;
}

template <Scalar T> void require_factors(const char* of, const DistributedMatrix<T>& LU, const LuReport& factors) {
  require_square(of, "LU", LU);
  require(static_cast<Index>(factors.pivots.size()) == LU.rows(), of, ": ", factors.pivots.size(), " pivots; expected ",
          LU.rows());
  for (std::size_t k = 0; k < factors.pivots.size(); ++k) {
    require(factors.pivots[k] >= static_cast<Index>(k) && factors.pivots[k] < LU.rows(), of, ": pivot ", k, " is ",
            factors.pivots[k], "; expected ", k, " to ", LU.rows() - 1);
  }
}

template <Scalar T> DistributedMatrix<T> identity(const Communicator& comm, const Placement& placement) {
  const DistributedMatrix<T> one(comm, placement, "heddle::solve::identity");
  fill(one, T(0));
  add_identity(T(1), one);
  return one;
}

// The factors of A, equilibrated, where a plan wants them.
template <Scalar T>
DistributedMatrix<T> factored(const Communicator& comm, const DistributedMatrix<T>& A, const SolveOptions& options,
                              const Equilibration<T>& equilibration, LuReport& report) {
  const auto take = [&](auto plan, const auto& enter) {
    const DistributedMatrix<T> factors(comm, plan.placement(), "heddle::solve::factors");
    redistribute(A, factors);
    equilibration.scale_matrix(factors);
    enter(plan.execute(factors));
    return factors;
  };
  if (options.method == SolveMethod::lu) {
    return take(LuPlan<T>(comm, A.rows(), A.columns(), options.lu), [&](const LuReport& found) { report = found; });
  }
  return take(CholeskyPlan<T>(comm, A.rows(), options.lu), [&](const CholeskyReport& found) {
    static_cast<FactorizationReport&>(report) = found;
    report.growth = 1.0;
  });
}

}  // namespace
}  // namespace impl

std::string_view to_string(SolveMethod method) {
  return method == SolveMethod::lu ? "lu" : "cholesky";
}

template <Scalar T>
void trsm(const Communicator& comm, exact::Triangle triangle, Operation op, exact::Diagonal diagonal,
          const DistributedMatrix<T>& M, const DistributedMatrix<T>& X, const LuOptions& options) {
  comm.together([&] {
    impl::require_alike(comm, "trsm", impl::and_placements(impl::arguments_of(options), M.placement(), X.placement()),
                        [&] {
                          impl::require_square("trsm", "M", M);
                          impl::require_rows("trsm", "X", X, M.rows());
                          impl::require_lu_options("trsm", M.rows(), M.columns(), options);
                        });
    impl::FactoredSystem<T> system(comm, M, X.columns(), options);
    system.with_right(X, [&](const DistributedMatrix<T>& x) { system.triangle(triangle, op, diagonal, x); });
  });
}

template <Scalar T>
void lu_solve(const Communicator& comm, Operation op, const DistributedMatrix<T>& LU, const LuReport& factors,
              const DistributedMatrix<T>& X, const LuOptions& options) {
  comm.together([&] {
    impl::require_alike(comm, "lu_solve",
                        impl::and_placements(impl::arguments_of(options), LU.placement(), X.placement()), [&] {
                          impl::require_factors("lu_solve", LU, factors);
                          require(factors.info == 0, "lu_solve: the matrix is singular: U(", factors.info - 1, ", ",
                                  factors.info - 1, ") is zero");
                          impl::require_rows("lu_solve", "X", X, LU.rows());
                          impl::require_lu_options("lu_solve", LU.rows(), LU.columns(), options);
                        });
    impl::FactoredSystem<T> system(comm, LU, X.columns(), options);
    system.with_right(X, [&](const DistributedMatrix<T>& x) { system.solve_by_lu(op, factors.pivots, x); });
  });
}

template <Scalar T>
SolveReport solve(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                  const DistributedMatrix<T>& X, const SolveOptions& options) {
  return comm.together([&] {
    std::vector<impl::Argument> arguments =
        impl::and_placements(impl::arguments_of(options.lu), A.placement(), B.placement());
    arguments.push_back(impl::argument("X", X.placement()));
    arguments.push_back(impl::argument("method", to_string(options.method)));
    arguments.push_back(impl::argument("equilibrate", options.equilibrate));
    arguments.push_back(impl::argument("refinements", options.refinements));
    arguments.push_back(impl::argument("measure", options.measure));
    arguments.push_back(impl::argument("certificate", options.certificate));
    impl::require_alike(comm, "solve", arguments, [&] {
      impl::require_square("solve", "A", A);
      impl::require_rows("solve", "B", B, A.rows());
      require(X.rows() == B.rows() && X.columns() == B.columns(), "solve: X is ", X.rows(), " x ", X.columns(),
              "; expected ", B.rows(), " x ", B.columns());
      require(options.refinements >= 0, "solve: ", options.refinements, " refinements; expected 0 or more");
      impl::require_lu_options("solve", A.rows(), A.columns(), options.lu);
    });
    const auto start = std::chrono::steady_clock::now();
    SolveReport report;
    const auto finish = [&] {
      const double mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      report.seconds = comm.all_reduce(mine, Reduction::maximum);
    };
    impl::Equilibration<T> equilibration;
    if (options.equilibrate) equilibration = {A, options.method == SolveMethod::cholesky};
    report.equilibrated = equilibration.scales();
    const DistributedMatrix<T> factors = impl::factored(comm, A, options, equilibration, report.lu);
    if (report.lu.info != 0) {
      finish();
      return report;
    }
    impl::FactoredSystem<T> system(comm, factors, B.columns(), options.lu);
    const auto solve_by = [&](impl::FactoredSystem<T>& with, const DistributedMatrix<T>& right) {
      equilibration.scale_right(right);
      if (options.method == SolveMethod::cholesky) {
        with.solve_by_cholesky(right);
      } else {
        with.solve_by_lu(Operation::none, report.lu.pivots, right);
      }
      equilibration.scale_solution(right);
    };
    const DistributedMatrix<T> x(comm, system.right_placement(), "heddle::solve::x");
    const DistributedMatrix<T> b(comm, system.right_placement(), "heddle::solve::b");
    redistribute(B, b);
    copy(b, x);
    solve_by(system, x);
    const DistributedMatrix<T> r(comm, system.right_placement(), "heddle::solve::r");
    for (int k = 0; k < options.refinements; ++k) {
      const std::vector<Index> powers = impl::exact_residuals(A, b, x, r);
      solve_by(system, r);
      impl::scale_back(r, powers);
      add(T(1), r, x);
    }
    redistribute(x, X);
    comm.space().fence("heddle::solve::done");
    finish();
    std::vector<Index> powers;
    if (options.measure || options.certificate) powers = impl::exact_residuals(A, b, x, r);
    if (options.certificate) {
      impl::FactoredSystem<T> all(comm, factors, A.columns(), options.lu);
      const DistributedMatrix<T> inverse = impl::identity<T>(comm, all.right_placement());
      solve_by(all, inverse);
      report.error_bound = impl::proven_error(A, inverse, x, r, powers);
    }
    if (options.measure) {
      const impl::BackwardErrors errors = impl::backward_errors(A, b, x, r, powers);
      report.normwise_error = errors.normwise;
      report.componentwise_error = errors.componentwise;
    }
    return report;
  });
}

template <Scalar T>
LuReport inverse(const Communicator& comm, const DistributedMatrix<T>& A, const LuOptions& options) {
  return comm.together([&] {
    impl::require_alike(comm, "inverse",
                        impl::and_placements(impl::arguments_of(options), A.placement(), A.placement()), [&] {
                          impl::require_square("inverse", "A", A);
                          impl::require_lu_options("inverse", A.rows(), A.columns(), options);
                        });
    LuPlan<T> plan(comm, A.rows(), A.columns(), options);
    const DistributedMatrix<T> factors(comm, plan.placement(), "heddle::solve::factors");
    redistribute(A, factors);
    const LuReport report = plan.execute(factors);
    if (report.info != 0) {
      redistribute(factors, A);
      return report;
    }
    impl::FactoredSystem<T> system(comm, factors, A.columns(), options);
    const DistributedMatrix<T> x = impl::identity<T>(comm, system.right_placement());
    system.solve_by_lu(Operation::none, report.pivots, x);
    redistribute(x, A);
    return report;
  });
}

template <Scalar T>
double condition(const Communicator& comm, const DistributedMatrix<T>& LU, const LuReport& factors, double norm,
                 const LuOptions& options) {
  return comm.together([&] {
    impl::require_alike(comm, "condition",
                        impl::and_placements(impl::arguments_of(options), LU.placement(), LU.placement()), [&] {
                          impl::require_factors("condition", LU, factors);
                          impl::require_lu_options("condition", LU.rows(), LU.columns(), options);
                        });
    if (LU.rows() == 0) return 0.0;
    if (factors.info != 0) return std::numeric_limits<double>::infinity();
    impl::FactoredSystem<T> system(comm, LU, 1, options);
    const int power = impl::power_near<T>(norm);
    const double estimate = std::ldexp(norm, -power) * impl::inverse_norm(comm, system, factors.pivots, power);
    return std::isnan(estimate) ? estimate : std::max(1.0, estimate);
  });
}

template <Scalar T>
Determinant<T> determinant(const Communicator& comm, const DistributedMatrix<T>& LU, const LuReport& factors) {
  return comm.together([&] {
    impl::require_alike(comm, "determinant", std::vector<impl::Argument>{impl::argument("LU", LU.placement())},
                        [&] { impl::require_factors("determinant", LU, factors); });
    const std::vector<T> diagonal = impl::diagonal_of(LU);
    Determinant<T> result{T(1), 0};
    const auto normalise = [&] {
      const double size = impl::part_size(result.mantissa);
      if (size == 0 || !std::isfinite(real_of<double>(result.mantissa)) ||
          !std::isfinite(imaginary_of<double>(result.mantissa))) {
        return false;
      }
      const int power = std::ilogb(size) + 1;
      // In two steps, as 2^-power itself may be beyond the range.
      const int half = power / 2;
      result.mantissa *= static_cast<Real<T>>(std::ldexp(1.0, -half));
      result.mantissa *= static_cast<Real<T>>(std::ldexp(1.0, half - power));
      result.exponent += power;
      return true;
    };
    bool regular = normalise();
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      // The element's own power of two first, so that no product over- or underflows.
      Determinant<T> before = result;
      result = {factors.pivots[k] == static_cast<Index>(k) ? diagonal[k] : -diagonal[k], before.exponent};
      regular = normalise() && regular;
      result.mantissa = multiply_add(before.mantissa, result.mantissa, T(0));
      regular = normalise() && regular;
    }
    if (!regular) result.exponent = 0;
    return result;
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template void trsm<T>(const Communicator&, exact::Triangle, Operation, exact::Diagonal, const DistributedMatrix<T>&, \
                        const DistributedMatrix<T>&, const LuOptions&);                                                \
  template void lu_solve<T>(const Communicator&, Operation, const DistributedMatrix<T>&, const LuReport&,              \
                            const DistributedMatrix<T>&, const LuOptions&);                                            \
  template SolveReport solve<T>(const Communicator&, const DistributedMatrix<T>&, const DistributedMatrix<T>&,         \
                                const DistributedMatrix<T>&, const SolveOptions&);                                     \
  template LuReport inverse<T>(const Communicator&, const DistributedMatrix<T>&, const LuOptions&);                    \
  template double condition<T>(const Communicator&, const DistributedMatrix<T>&, const LuReport&, double,              \
                               const LuOptions&);                                                                      \
  template Determinant<T> determinant<T>(const Communicator&, const DistributedMatrix<T>&, const LuReport&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
