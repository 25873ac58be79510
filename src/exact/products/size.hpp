// Sizes of numbers, which may be beyond the range of doubles.
#pragma once

#include "exact/products/quotient.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::exact::impl {

/// The size number 2^power: its products and sums neither over- nor underflow. `number` is infinite or a NaN if the
/// size is; otherwise it is zero or from one up to the number of terms of a sum, times four for sums of products.
struct Size {
  double number = 0;
  int power = 0;

  /// Return x 2^power with a number between one and two.
  static KOKKOS_INLINE_FUNCTION Size of(double x, Index power = 0) {
    if (x == 0 || !is_finite(x)) return {x, 0};
    const int own = power_of(x);
    return {scaled(x, -own), static_cast<int>(power) + own};
  }
  /// Return the nearest double, which may be zero or infinite.
  [[nodiscard]] double value() const { return std::ldexp(number, power); }

  friend KOKKOS_INLINE_FUNCTION Size operator*(const Size& x, const Size& y) {
    return {rounded_product(x.number, y.number), x.power + y.power};
  }
  friend KOKKOS_INLINE_FUNCTION Size operator+(const Size& x, const Size& y) {
    // If the powers differ by more than this, the smaller number changes nothing.
    constexpr int most = 200;
    if (y.number == 0) return x;
    if (!is_finite(x.number) || !is_finite(y.number)) return {x.number + y.number, 0};
    const int apart = x.power - y.power;
    if (x.number == 0 || apart < -most) return y;
    if (apart < 0) return {rounded_sum(scaled(x.number, apart), y.number), y.power};
    return apart <= most ? Size{rounded_sum(x.number, scaled(y.number, -apart)), x.power} : x;
  }
  /// 0 / 0 counts as 0.
  friend double operator/(const Size& x, const Size& y) {
    return x.number == 0 ? 0.0 : std::ldexp(x.number / y.number, x.power - y.power);
  }
  friend bool operator<(const Size& x, const Size& y) {
    const bool by_numbers = x.number == 0 || y.number == 0 || !is_finite(x.number) || !is_finite(y.number);
    return by_numbers ? x.number < y.number : x.number < std::ldexp(y.number, y.power - x.power);
  }
};
/// Return the larger one; a NaN if either is.
inline Size larger_of(const Size& one, const Size& other) {
  return std::isnan(one.number) || other < one ? one : other;
}
/// Return |x| 2^power.
template <Scalar T> KOKKOS_INLINE_FUNCTION Size size_of(const T& x, Index power = 0) {
  if constexpr (is_complex<T>) {
    const Size re = size_of(x.real());
    const Size im = size_of(x.imag());
    if (!is_finite(re.number) || !is_finite(im.number)) return {re.number + im.number, 0};
    const bool re_is_larger = im.number == 0 || (re.number != 0 && re.power >= im.power);
    const Size& most = re_is_larger ? re : im;
    const Size& least = re_is_larger ? im : re;
    const int apart = most.power - least.power;
    const double other = least.number == 0 || apart > 100 ? 0 : scaled(least.number, -apart);
    const double root =
        Kokkos::sqrt(rounded_sum(rounded_product(most.number, most.number), rounded_product(other, other)));
    return {root, most.power + static_cast<int>(power)};
  } else {
    return Size::of(Kokkos::abs(static_cast<double>(x)), power);
  }
}
/// Return a condition number as a double: no condition is below one, whatever the roundings.
inline double condition_of(const Size& condition) {
  const double value = condition.value();
  return std::isnan(value) ? value : std::max(1.0, value);
}

}  // namespace heddle::exact::impl
