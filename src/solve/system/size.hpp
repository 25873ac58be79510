// Sizes that may be beyond the range of doubles.
#pragma once

#include "solve/system/residuals.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {

/// The size number 2^power, where the number is in [1/2, 1), zero or not finite.
struct Size {
  double number = 0.0;
  Index power = 0;

  static Size of(double x, Index power = 0) {
    if (x == 0 || !std::isfinite(x)) return {x, 0};
    int own = 0;
    const double number = std::frexp(x, &own);
    return {number, power + own};
  }
  /// The size times 2^-by.
  [[nodiscard]] double over(Index by) const {
    return std::ldexp(number, static_cast<int>(std::clamp<Index>(power - by, -4000, 4000)));
  }
  /// The nearest double, which may be zero or infinite.
  [[nodiscard]] double value() const { return over(0); }
  [[nodiscard]] Size times_two_to(Index by) const { return of(number, power + by); }

  friend Size operator*(const Size& x, const Size& y) { return of(x.number * y.number, x.power + y.power); }
  friend Size operator+(const Size& x, const Size& y) {
    if (x.number == 0 || y.number == 0) return x.number == 0 ? y : x;
    const Index power = std::max(x.power, y.power);
    return of(x.over(power) + y.over(power), power);
  }
  /// 0 / 0 counts as 0.
  friend double operator/(const Size& x, const Size& y) {
    return x.number == 0 ? 0.0 : Size{x.number / y.number, x.power}.over(y.power);
  }
  friend bool operator<(const Size& x, const Size& y) {
    const bool by_numbers =
        x.number == 0 || y.number == 0 || x.power == y.power || !std::isfinite(x.number) || !std::isfinite(y.number);
    return by_numbers ? x.number < y.number : x.power < y.power;
  }
};
/// The larger one; a NaN if either is.
inline Size larger_of(const Size& one, const Size& other) {
  return std::isnan(one.number) || other < one ? one : other;
}

/// The power of two that brings a number of any size between 2^-474 and 2^424, where products are safe.
KOKKOS_INLINE_FUNCTION Index shift_of(double size) {
  return size > 0x1p400 ? -600 : size < 0x1p-400 ? 600 : 0;
}
/// |x|.
template <Scalar T> Size size_of(const T& x) {
  const Index by = shift_of(part_size(x));
  return Size::of(magnitude(x, power_of_two(by)), -by);
}

}  // namespace heddle::impl
