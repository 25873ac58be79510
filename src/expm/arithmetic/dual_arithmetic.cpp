// Products and sums of matrices and their derivatives, from those of ComplexArithmetic.
#include "expm/arithmetic/dual_arithmetic.hpp"

#include <vector>

namespace heddle::impl {

template <RealScalar T>
DualFactor<T> DualArithmetic<T>::right_factor(const Dual<T>& Y, const Dual<T>& columns, Symmetry /*of_Y*/) {
  return {arithmetic_->right_factor(Y.value, columns.value),
          arithmetic_->right_factor(Y.derivative, columns.derivative)};
}

template <RealScalar T>
WorkDual<T> DualArithmetic<T>::multiply(T alpha, const Dual<T>& X, const DualFactor<T>& Y, Symmetry /*symmetry*/) {
  WorkDual<T> Z;
  Z.value = arithmetic_->multiply(alpha, X.value, Y.value);
  Z.derivative = arithmetic_->multiply(alpha, X.derivative, Y.value);
  Z.derivative = arithmetic_->multiply_add(alpha, X.value, Y.derivative, std::move(Z.derivative));
  return Z;
}

template <RealScalar T>
WorkDual<T> DualArithmetic<T>::multiply_add(T alpha, const Dual<T>& X, const DualFactor<T>& Y, WorkDual<T> Z,
                                            Symmetry /*symmetry*/) {
  Z.value = arithmetic_->multiply_add(alpha, X.value, Y.value, std::move(Z.value));
  Z.derivative = arithmetic_->multiply_add(alpha, X.derivative, Y.value, std::move(Z.derivative));
  Z.derivative = arithmetic_->multiply_add(alpha, X.value, Y.derivative, std::move(Z.derivative));
  return Z;
}

template <RealScalar T>
WorkDual<T> DualArithmetic<T>::combine(std::complex<double> identity, std::span<const T> coefficients,
                                       std::span<const Dual<T>> terms) const {
  std::vector<Parts<T>> values;
  std::vector<Parts<T>> derivatives;
  for (const Dual<T>& term : terms) {
    values.push_back(term.value);
    derivatives.push_back(term.derivative);
  }
  return {arithmetic_->combine(identity, coefficients, values), arithmetic_->combine(0.0, coefficients, derivatives)};
}

template <RealScalar T> WorkDual<T> DualArithmetic<T>::scaled(std::complex<double> factor, WorkDual<T> X) const {
  X.value = arithmetic_->scaled(factor, std::move(X.value));
  X.derivative = arithmetic_->scaled(factor, std::move(X.derivative));
  return X;
}

template class DualArithmetic<float>;
template class DualArithmetic<double>;

}  // namespace heddle::impl
