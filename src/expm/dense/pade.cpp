// Pade approximants of the exponential: bounds of their errors, their evaluation and their linear systems.
#include "expm/dense/pade.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace heddle::impl {
namespace {

// rho of pade_backward_error(), rounded down, at most the radius of convergence.
double decay_of(int degree) {
  switch (degree) {
    case 3:
      return 4.6443;
    case 5:
      return 6.5226;
    case 7:
      return 7.6768;
    case 9:
      return 8.6693;
    case 13:
      return 10.3637;
    default:
      throw Error(ErrorKind::argument, message_of("Pade degree ", degree, "; expected 3, 5, 7, 9 or 13"));
  }
}

// Number of powers A^2, A^4 ... in r_m.
int even_powers_of(int degree) {
  return degree == 13 ? 3 : degree / 2;
}

// Coefficients of the numerator, x^0 to x^m: (2m - k)! m! / ((2m)! k! (m - k)!), times the power of two that makes the
// first of its integer multiples a number between 1 and 2. Integers below 2^56 with many factors two, they are exact in
// double.
std::vector<double> numerator(int degree) {
  std::vector<double> coefficients(static_cast<std::size_t>(degree) + 1, 1.0);
  for (int k = degree; k > 0; --k) {
    coefficients[static_cast<std::size_t>(k - 1)] =
        coefficients[static_cast<std::size_t>(k)] * (2 * degree - k + 1) * k / (degree - k + 1);
  }
  int exponent = 0;
  std::frexp(coefficients.front(), &exponent);
  for (double& coefficient : coefficients) {
    coefficient = std::ldexp(coefficient, 1 - exponent);
  }
  return coefficients;
}

}  // namespace

double pade_backward_error(int degree, double theta) {
  const double decay = theta / decay_of(degree);
  if (!(theta <= 5.371920351148152 && decay < 1.0)) {
    return std::numeric_limits<double>::infinity();
  }
  // (m!)^2 / ((2m)! (2m+1)!) theta^2m
  double bound = 1.0 / (2 * degree + 1);
  for (int k = degree + 1; k <= 2 * degree; ++k) {
    bound *= (theta / k) * (theta / k);
  }
  return bound / (1.0 - decay * decay);
}

int pade_products(int degree, int powers) {
  int products = degree == 13 ? 3 : 1;
  for (int k = 1; k <= even_powers_of(degree); ++k) {
    products += powers < 2 * k ? 1 : 0;
  }
  return products;
}

template <Scalar T>
SystemSolver<T>::SystemSolver(const Communicator& comm, Index n)
    : comm_(comm), n_(n), plan_(comm, n, n), system_(OptionalRanks(comm), n, n, FactorOptions{}) {}

template <Scalar T>
PlacedMatrix<T> SystemSolver<T>::brought(const DistributedMatrix<T>& M, const Placement& placement,
                                         DistributedMatrix<T>& copy) const {
  if (PlacedMatrix<T>(M).lies_as(placement)) return M;
  if (!(copy.placement() == placement)) copy = DistributedMatrix<T>(comm_, placement, "heddle::expm::system");
  redistribute(M, copy);
  return copy;
}

template <Scalar T> void SystemSolver<T>::solve(const DistributedMatrix<T>& Q, const DistributedMatrix<T>& P) {
  const Kokkos::Profiling::ScopedRegion region("heddle::expm::lu");
  const auto require_shape = [&](const char* name, const DistributedMatrix<T>& matrix) {
    require(matrix.rows() == n_ && matrix.columns() == n_, "LU: ", name, " is ", matrix.rows(), " x ", matrix.columns(),
            "; expected ", n_, " x ", n_);
  };
  require_shape("Q", Q);
  require_shape("P", P);
  const PlacedMatrix<T> q = brought(Q, plan_.placement(), redistributed_q_);
  const LuReport factors = plan_.execute(q.distributed());
  if (factors.info != 0) {
    throw Error(ErrorKind::computation,
                message_of("LU: the matrix of ", n_, " rows is singular: no pivot in column ", factors.info));
  }
  const PlacedMatrix<T> p = brought(P, system_.right_placement(), redistributed_p_);
  system_.take(q);
  system_.solve_by_lu(Operation::none, factors.pivots, p);
  if (!PlacedMatrix<T>(P).lies_as(system_.right_placement())) redistribute(redistributed_p_, P);
  comm_.space().fence("heddle::expm::solved");
}

template <RealScalar T>
WorkParts<T> PartsSolver<T>::solve(ComplexArithmetic<T>& arithmetic, WorkParts<T> Q, WorkParts<T> P) {
  if (!Q.imaginary && !P.imaginary) {
    if (!real_) {
      real_.emplace(comm_, n_);
    }
    real_->solve(Q.real.write(), P.real.write());
    return P;
  }
  using Complex = Kokkos::complex<T>;
  if (!complex_) {
    complex_.emplace(comm_, n_);
    Q_ = DistributedMatrix<Complex>(comm_, arithmetic.placement(), "expm_denominator");
    P_ = DistributedMatrix<Complex>(comm_, arithmetic.placement(), "expm_numerator");
  }
  const auto optional = [](const WorkMatrix<T>& part) {
    return part ? std::optional<DistributedMatrix<T>>(*part.read()) : std::nullopt;
  };
  join({optional(Q.real), optional(Q.imaginary)}, Q_);
  join({optional(P.real), optional(P.imaginary)}, P_);
  complex_->solve(Q_, P_);
  WorkParts<T> solution{arithmetic.take(), arithmetic.take()};
  const Elements<Complex> x(P_.local());
  const Elements<T> real(solution.real.write().local());
  const Elements<T> imaginary(solution.imaginary.write().local());
  for_each_element(
      comm_.space(), "heddle::expm::split_solution", static_cast<Index>(P_.local().extent(0)),
      static_cast<Index>(P_.local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
        real(i, j) = x(i, j).real();
        imaginary(i, j) = x(i, j).imag();
      });
  return solution;
}

template <RealScalar T>
WorkParts<T> pade(ComplexArithmetic<T>& arithmetic, PartsSolver<T>& solver, std::span<const Parts<T>> powers,
                  int degree, int squarings) {
  const std::vector<double> coefficients = numerator(degree);
  const auto scaling = [&](int power) { return std::ldexp(1.0, -squarings * power); };
  const RightFactor<T> factor_of_A = arithmetic.right_factor(powers[0]);
  RightFactor<T> factor;
  // evens[k - 1] is A^2k.
  std::vector<Parts<T>> evens;
  for (int k = 1; k <= even_powers_of(degree); ++k) {
    const auto at = static_cast<std::size_t>(2 * k - 1);
    if (at < powers.size()) {
      evens.push_back(powers[at]);
    } else if (k == 1) {
      evens.push_back(arithmetic.multiply(T{1}, powers[0], factor_of_A));
    } else {
      factor = factor.parts.real || factor.parts.imaginary ? factor : arithmetic.right_factor(evens[0]);
      evens.push_back(arithmetic.multiply(T{1}, evens.back(), factor));
    }
  }
  factor = {};

  // The sum of coefficients[begin + 2k] (A / 2^squarings)^2k for k = first ... last.
  const auto sum = [&](int begin, int first, int last) {
    std::vector<T> weights;
    std::vector<Parts<T>> terms;
    const auto coefficient = [&](int k) {
      const int power = begin + 2 * k;
      return coefficients[static_cast<std::size_t>(power)] * scaling(2 * k);
    };
    for (int k = std::max(first, 1); k <= last; ++k) {
      weights.push_back(static_cast<T>(coefficient(k)));
      terms.push_back(evens[static_cast<std::size_t>(k - 1)]);
    }
    return arithmetic.combine(static_cast<T>(first == 0 ? coefficient(0) : 0.0), std::span<const T>(weights),
                              std::span<const Parts<T>>(terms));
  };
  Parts<T> V;
  Parts<T> odd;
  if (degree == 13) {
    // Terms from A^8 on are A^6 times lower powers.
    factor = arithmetic.right_factor(evens[2]);
    const auto joined = [&](int begin) {
      return arithmetic.multiply_add(static_cast<T>(scaling(6)), sum(begin + 6, 1, 3), factor, sum(begin, 0, 3));
    };
    V = joined(0);
    odd = joined(1);
    factor = {};
  } else {
    V = sum(0, 0, degree / 2);
    odd = sum(1, 0, degree / 2);
  }
  evens.clear();
  WorkParts<T> U = arithmetic.multiply(static_cast<T>(scaling(1)), odd, factor_of_A);
  odd = {};

  const auto difference = [&] {
    const std::array<Parts<T>, 2> terms = {std::exchange(V, {}), U.read()};
    const std::array<T, 2> signs = {1, -1};
    return arithmetic.combine(T{0}, std::span<const T>(signs), std::span<const Parts<T>>(terms));
  };
  WorkParts<T> Q = difference();
  const Parts<T> Y = solver.solve(arithmetic, std::move(Q), std::move(U));
  const T two = 2;
  return arithmetic.combine(T{1}, std::span<const T>(&two, 1), std::span<const Parts<T>>(&Y, 1));
}

#define HEDDLE_INSTANTIATE(T) template class SystemSolver<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE
template class PartsSolver<float>;
template class PartsSolver<double>;
template WorkParts<float> pade(ComplexArithmetic<float>&, PartsSolver<float>&, std::span<const Parts<float>>, int, int);
template WorkParts<double> pade(ComplexArithmetic<double>&, PartsSolver<double>&, std::span<const Parts<double>>, int,
                                int);

}  // namespace heddle::impl
