// Sums and products of matrices together with their derivatives.
#pragma once

#include "expm/arithmetic/complex_arithmetic.hpp"

#include <complex>
#include <span>
#include <utility>

namespace heddle::impl {

/// X + e X' with e^2 = 0, to be read: a matrix and its derivative in some direction. An algorithm on it returns its
/// result and the derivative of that, as from the blocks of [X X'; 0 X], of which only two are kept.
template <RealScalar T> struct Dual {
  Parts<T> value;
  Parts<T> derivative;
};

/// The same, to be written by its one owner.
template <RealScalar T> struct WorkDual {
  WorkParts<T> value;
  WorkParts<T> derivative;

  [[nodiscard]] Dual<T> read() const { return {value.read(), derivative.read()}; }
  operator Dual<T>() && { return {std::move(value), std::move(derivative)}; }
};

/// A right factor and its derivative, both in column bands.
template <RealScalar T> struct DualFactor {
  RightFactor<T> value;
  RightFactor<T> derivative;
};

/// The operations of ComplexArithmetic for a matrix and its derivative: (X Y)' = X' Y + X Y' takes two products beside
/// that of X Y. No product is computed by half.
template <RealScalar T> class DualArithmetic {
 public:
  using Element = T;
  using Matrix = Dual<T>;
  using Written = WorkDual<T>;
  using Factor = DualFactor<T>;

  /// `arithmetic`, which must outlive this object, computes and counts.
  explicit DualArithmetic(ComplexArithmetic<T>& arithmetic) : arithmetic_(&arithmetic) {}

  [[nodiscard]] DualFactor<T> right_factor(const Dual<T>& Y, const Dual<T>& columns = {},
                                           Symmetry of_Y = Symmetry::none);
  /// alpha X Y.
  [[nodiscard]] WorkDual<T> multiply(T alpha, const Dual<T>& X, const DualFactor<T>& Y,
                                     Symmetry symmetry = Symmetry::none);
  /// alpha X Y + Z, in Z's storage.
  [[nodiscard]] WorkDual<T> multiply_add(T alpha, const Dual<T>& X, const DualFactor<T>& Y, WorkDual<T> Z,
                                         Symmetry symmetry = Symmetry::none);
  /// identity I + sum_k coefficients[k] terms[k].
  [[nodiscard]] WorkDual<T> combine(std::complex<double> identity, std::span<const T> coefficients,
                                    std::span<const Dual<T>> terms) const;
  /// 2^exponent X, as in ComplexArithmetic.
  [[nodiscard]] Dual<T> times_power_of_two(Dual<T> X, int exponent) const {
    return {arithmetic_->times_power_of_two(std::move(X.value), exponent),
            arithmetic_->times_power_of_two(std::move(X.derivative), exponent)};
  }
  /// factor X.
  [[nodiscard]] WorkDual<T> scaled(std::complex<double> factor, WorkDual<T> X) const;

 private:
  ComplexArithmetic<T>* arithmetic_;
};

}  // namespace heddle::impl
