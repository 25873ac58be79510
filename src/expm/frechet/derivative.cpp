// The exponential and its derivative by scaling and squaring of dual matrices.
#include "expm/frechet/derivative.hpp"

#include "core/complex_exponential.hpp"
#include "expm/dense/norm_estimate.hpp"
#include "expm/dense/structure.hpp"
#include "libm/functions.hpp"
#include <heddle/transpose/transpose.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <utility>

namespace heddle::impl {

template <RealScalar T>
WorkParts<T> adjoint_of(const Communicator& comm, ComplexArithmetic<T>& arithmetic, const Parts<T>& X) {
  const Parts<T> columns = arithmetic.column_bands(X);
  const auto side = [&](const SharedMatrix<T>& part, T sign) -> WorkMatrix<T> {
    if (!part) return {};
    WorkMatrix<T> result = arithmetic.take();
    heddle::transpose(comm.space(), sign, part->local(), Operation::transpose, result.write().local());
    return result;
  };
  return {side(columns.real, T{1}), side(columns.imaginary, T{-1})};
}

template <RealScalar T>
DerivativeOfExponential<T>::DerivativeOfExponential(const Communicator& comm, ComplexArithmetic<T>& arithmetic,
                                                    const ExpmFrechetOptions& options)
    : comm_(comm),
      values_(&arithmetic),
      arithmetic_(arithmetic),
      options_(options),
      norms_(comm, arithmetic.placement()) {}

template <RealScalar T> double DerivativeOfExponential<T>::measured(Parts<T>& X, double& norm1) {
  double bound = 0.0;
  for (SharedMatrix<T>* part : {&X.real, &X.imaginary}) {
    if (!*part) continue;
    const auto seen = norms_.measure(**part);
    norm1 += seen.one;
    bound += norms_.reproducible_bound(**part, seen.largest);
    if (seen.largest == 0.0) *part = {};
  }
  return bound;
}

template <RealScalar T>
Parts<T> DerivativeOfExponential<T>::shifted(const Parts<T>& A, double& norm, ExpmFrechetReport& report) {
  const std::complex<double> shift = mean_eigenvalue(comm_, A);
  if (!(libm::hypot(shift.real(), shift.imag()) > norm / 64.0)) {
    return A;
  }
  const std::array<T, 1> one = {1};
  Parts<T> less = values_->combine(-shift, one, std::span<const Parts<T>>(&A, 1));
  const double bound = norms_.bound_of(less);
  if (!(bound < norm)) {
    return A;
  }
  norm = bound;
  report.shift_real = shift.real();
  report.shift_imaginary = shift.imag();
  return less;
}

template <RealScalar T>
WorkDual<T> DerivativeOfExponential<T>::polynomial_of(const Dual<T>& A, double norm, int before,
                                                      ExpmFrechetReport& report) {
  // Each product of A takes two more, with a factor from a derivative.
  const bool real = !A.value.imaginary && !A.derivative.imaginary;
  const int each = 3 * (real ? 1 : options_.complex_products);
  const ProductCosts costs{each, each, each};
  const Evaluations evaluations = options_.method == ExpmMethod::paterson_stockmeyer ? Evaluations::paterson_stockmeyer
                                  : options_.method == ExpmMethod::few_products      ? Evaluations::few_products
                                                                                     : Evaluations::all;
  const double tolerance = options_.tolerance > 0.0 ? options_.tolerance : static_cast<double>(unit_roundoff<T>);
  PowerNorms power_norms(std::ldexp(norm, -before));
  Scheme scheme;
  int made = 1;
  const auto choose = [&] {
    scheme = choose_scheme(power_norms, tolerance, costs, evaluations, Wanted::derivative, before,
                           static_cast<double>(unit_roundoff<T>));
    expected_products_ = products_of(scheme, costs, made) + before * costs.square;
  };
  choose();
  PowersIn<DualArithmetic<T>> powers(
      arithmetic_,
      Dual<T>{values_->times_power_of_two(A.value, -before), values_->times_power_of_two(A.derivative, -before)}, {},
      Symmetry::none);
  // As in Exponential::by_polynomial(), each computed power is used.
  while (powers.count() < scheme.powers) {
    const Parts<T> power = powers.next().value;
    made = powers.count();
    power_norms.add(norms_.bound_of(power));
    choose();
    if (made >= scheme.powers && (power.real || power.imaginary) &&
        estimates_pay(values_->placement().rows(), scheme.squarings + before, options_.gemm.arithmetic)) {
      learn_estimates(comm_, power, made, power_norms);
      choose();
    }
  }
  powers.finish(scheme.powers);
  report.method = scheme.few != nullptr ? ExpmMethod::few_products : ExpmMethod::paterson_stockmeyer;
  report.degree = scheme.degree;
  report.squarings = scheme.squarings + before;
  const double beta = power_norms.betas()[static_cast<std::size_t>(scheme.degree)];
  report.beta = std::ldexp(beta, before);
  report.backward_error = derivative_error(scheme, std::ldexp(beta, -scheme.squarings));
  const int undone = std::max(-scheme.squarings, 0);
  if (undone > 0) powers.times_powers_of_two(undone, undone == before ? A : Dual<T>{});
  scheme.squarings += undone;
  return polynomial(arithmetic_, scheme, powers);
}

template <RealScalar T> Dual<T> DerivativeOfExponential<T>::of(Dual<T> A, ExpmFrechetReport& report) {
  const Parts<T> given = A.value;
  double of_direction = 0.0;
  double norm = measured(A.value, report.norm1);
  const double direction = measured(A.derivative, of_direction);
  if (!std::isfinite(norm) || !std::isfinite(direction)) {
    throw Error(ErrorKind::computation, message_of("expm_frechet: ", std::isfinite(norm) ? "the direction" : "A",
                                                   " holds NaN or Inf, or its 1-norm overflows"));
  }
  if (!A.value.real && !A.value.imaginary) A.value = given;
  values_->after_product = {};
  if (options_.progress) {
    values_->after_product = [this] {
      options_.progress(std::min(values_->products(), expected_products_), expected_products_);
    };
  }
  const bool even = values_->trust_in(A.value) == Trust::tested && values_->trust_in(A.derivative) == Trust::tested;
  values_->trust_norms(even ? Trust::tested : Trust::never);
  const Structure structure = structure_of(comm_, A.value, values_->column_bands(A.value));
  std::optional<TriangularDiagonals> diagonals;
  if (structure.triangular()) diagonals.emplace(comm_, A.value, structure, 0.0);

  A.value = shifted(A.value, norm, report);
  // The derivative is linear in the direction, which may be of any size.
  int exponent = 0;
  std::frexp(direction, &exponent);
  if (std::abs(exponent) <= 32) exponent = 0;
  A.derivative = values_->times_power_of_two(A.derivative, -exponent);
  const int before = scaling_before_powers(norm, std::numeric_limits<T>::max_exponent);
  WorkDual<T> result = polynomial_of(A, norm, before, report);
  A = {};
  int left = report.squarings;
  const std::complex<double> shift(report.shift_real, report.shift_imaginary);
  if (shift != 0.0) result = arithmetic_.scaled(exponential(shift * std::ldexp(1.0, -left)), std::move(result));
  if (diagonals) diagonals->correct(comm_, left, result.value);
  while (left-- > 0) {
    const Dual<T> root = std::move(result);
    result = arithmetic_.multiply(T{1}, root, arithmetic_.right_factor(root));
    if (diagonals) diagonals->correct(comm_, left, result.value);
  }
  Dual<T> found = std::move(result);
  found.derivative = values_->times_power_of_two(std::move(found.derivative), exponent);
  values_->after_product = {};
  return found;
}

#define HEDDLE_INSTANTIATE(T)                \
  template class DerivativeOfExponential<T>; \
  template WorkParts<T> adjoint_of(const Communicator&, ComplexArithmetic<T>&, const Parts<T>&)
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
