// The fast paths of the error function and of its complement.
#pragma once

#include "libm/exponentials.hpp"
#include "libm/special.hpp"

namespace heddle::libm {

/// The row whose centre, a multiple of 1/32, is nearest to x in [1/8, 6], and x less the centre, exactly.
struct ErfRow {
  std::int64_t row;
  double rest;
};

HEDDLE_LIBM_INLINE ErfRow erf_row(double x) {
  const double shifted = x + 0x1.8p47;
  return {static_cast<std::int64_t>(bits_of(shifted) & 0xff) - 4, x - (shifted - 0x1.8p47)};
}

/// erf x for 2^-900 <= x < 1/8 by the series in y = x^2: y^2 c_2 is below 2^-15.2 of the result and has three roundings
/// that count, so the relative error is below 2^-66.6.
inline constexpr double erf_small_error = 0x1.6p-67;

template <bool fused> HEDDLE_LIBM_INLINE Pair erf_small(double x) {
  if (x < 0x1p-60) return product<fused>(erf_series[0], {x, 0});
  const Pair square = exact_product<fused>(x, x);
  const double y = square.high;
  const double* c = erf_series_rest;
  const double upper =
      multiply_add<fused>(y * y, multiply_add<fused>(y, c[5], c[4]), multiply_add<fused>(y, c[3], c[2]));
  const double rest = y * multiply_add<fused>(y * y, upper, multiply_add<fused>(y, c[1], c[0]));
  const Pair second = fast_sum(erf_series[1].high, rest);
  const Pair linear = product<fused>(square, {second.high, second.low + erf_series[1].low});
  const Pair first = fast_sum(erf_series[0].high, linear.high);
  return product<fused>({first.high, first.low + (erf_series[0].low + linear.low)}, {x, 0});
}

/// The absolute error of the rows: r^3 c_3 is below 2^-18 0.376, and its roundings below 2^-70.8.
inline constexpr double erf_error = 0x1.6p-71;

/// erf x for 2^-900 <= x < 6.
template <bool fused> HEDDLE_LIBM_INLINE Pair erf_pair(double x) {
  if (x < 0.125) return erf_small<fused>(x);
  const ErfRow place = erf_row(x);
  return value_of<fused>(erf_rows[place.row], place.rest);
}

/// (high + low) 2^power with the absolute error of the sum.
struct Complement {
  Pair value;
  double error;
  std::int64_t power;
};

/// erfc x for 5/4 <= x < 28 as exp(-x^2) times a polynomial, with the errors of the exponential and of the table, whose
/// terms from r^3 on are below 2^-18 of the value: their roundings are below 2^-69.4 of it, and the value below 2
/// factor.
template <bool fused> HEDDLE_LIBM_INLINE Complement erfc_large(double x) {
  const Pair square = exact_product<fused>(x, x);
  const Exponential e = exponential<fused>(-square.high, -square.low);
  const Centre centre = centre_of(x);
  const Pair factor = value_of<fused>(erfcx_rows[centre.row - 8], x - centre.value);
  const Pair value = product<fused>(fast_sum(e.value.high, e.value.low), factor);
  return {value, factor.high * (exponential_error + 0x1.cp-69), e.power};
}

}  // namespace heddle::libm
