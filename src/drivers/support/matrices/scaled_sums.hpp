// Sums that neither over- nor underflow, with the sizes of what was summed.
#pragma once

#include <heddle/core/scalar.hpp>

#include <complex>
#include <type_traits>
#include <vector>

namespace heddle::driver {

/// Type in which elements of type T are summed.
template <Scalar T> using SumOf = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <Scalar T> [[nodiscard]] SumOf<T> sum_of(const T& value) {
  if constexpr (is_complex<T>) {
    return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
  } else {
    return static_cast<double>(value);
  }
}

[[nodiscard]] bool is_finite(double value);
[[nodiscard]] bool is_finite(const std::complex<double>& value);
/// value 2^exponent.
[[nodiscard]] double scaled(double value, int exponent);
[[nodiscard]] std::complex<double> scaled(const std::complex<double>& value, int exponent);
/// e of 2^(e - 1) <= |value| < 2^e, of the larger part.
[[nodiscard]] int exponent_of(double value);
[[nodiscard]] int exponent_of(const std::complex<double>& value);

/// number[i] 2^exponent[i], the sum of terms whose magnitudes add up to size[i] 2^exponent[i].
template <class Number> struct ScaledSums {
  std::vector<Number> number;
  std::vector<double> size;
  std::vector<int> exponent;

  ScaledSums() = default;
  /// Zeros.
  explicit ScaledSums(std::size_t count) : number(count), size(count), exponent(count, nothing) {}

  /// Makes element i zero.
  void leave_out(std::size_t i);
  /// Sizes in [1/2, 1), or zero.
  void normalise();
  /// this += factor other.
  void add(const Number& factor, const ScaledSums& other);

  /// The exponent of zero: below all others, and any sum of a few of it is far from an int's end.
  static constexpr int nothing = -(1 << 20);
};

}  // namespace heddle::driver
