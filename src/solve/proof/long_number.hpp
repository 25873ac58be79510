// Unevaluated sums of several numbers, and how their enclosures round.
#pragma once

#include "exact/products/inner.hpp"
#include "exact/sums/wide.hpp"
#include "solve/system/residuals.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace heddle::impl {

using exact::Accumulator;
using exact::impl::ExactSum;
using exact::impl::part_of;
using exact::impl::parts_of_scalar;

/// Errors are kept times 2^error_power: those of zeros have to shrink below the smallest number.
inline constexpr Index error_power = 800;

/// Numbers of type T whose sum has some 160 bits.
template <Scalar T> inline constexpr std::size_t terms_of_sum = sizeof(Real<T>) == 8 ? 3 : 7;
/// An unevaluated sum, the largest number first.
template <Scalar T> using LongNumber = std::array<T, terms_of_sum<T>>;

template <Scalar T> [[nodiscard]] ExactSum<T> sum_of(const LongNumber<T>& z) {
  ExactSum<T> sum;
  for (const T& term : z) sum.add(term);
  return sum;
}

/// The number nearest to the sum times 2^power.
template <RealScalar R> [[nodiscard]] R nearest(const Accumulator<double>& sum, Index power) {
  using Limits = std::numeric_limits<R>;
  const R unscaled = sum.template value<R>();
  if (unscaled == 0 ? sum.sign() == 0 : std::isfinite(unscaled)) {
    const Index exponent = unscaled == 0 ? 0 : std::ilogb(unscaled);
    const bool is_normal = exponent >= Limits::min_exponent - 1 && exponent + power >= Limits::min_exponent - 1 &&
                           exponent + power < Limits::max_exponent;
    if (power == 0 || unscaled == 0 || is_normal) {
      return static_cast<R>(times_power(static_cast<double>(unscaled), power));
    }
  }
  exact::bits::WideSum wide;
  wide.clear();
  wide.add_scaled(sum, power_of_two(power));
  return wide.template value<R>();
}

/// The numbers nearest to the ends of an enclosure, middle -+ error 2^-error_power, times 2^power.
template <RealScalar R> struct Ends {
  R low;
  R high;
  bool around_zero;  ///< Whether zero is in the enclosure, whose ends may round to zero on either side.
  [[nodiscard]] bool decided() const { return low == high; }
  /// Zero has no sign if its exact value may have either.
  [[nodiscard]] R number() const { return std::signbit(low) == std::signbit(high) ? low : R(0); }
};
template <RealScalar R> [[nodiscard]] Ends<R> ends_of(const Accumulator<double>& middle, double error, Index power) {
  Accumulator<double> low = middle;
  Accumulator<double> high = middle;
  low.subtract_product(error, power_of_two(-error_power));
  high.add_product(error, power_of_two(-error_power));
  return {nearest<R>(low, power), nearest<R>(high, power), low.sign() <= 0 && high.sign() >= 0};
}

}  // namespace heddle::impl
