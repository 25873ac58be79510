// The fast path of logarithms, shared by powers.
#pragma once

#include "libm/accurate.hpp"

namespace heddle::libm {

/// x = m 2^power, m in [1, 2) with the index of its table row; from row 212 on (m > 1.414) the power is that of 2 m, so
/// that the logarithm of an x near 1 is not a difference.
struct Split {
  double rest;  // m factor - 1, exactly
  double power;
  int row;
};

HEDDLE_LIBM_INLINE Word normal_bits(double x, int& power) {
  Word bits = bits_of(x);
  power = 0;
  if (bits < bits_of(0x1p-1022)) [[unlikely]] {
    bits = bits_of(x * 0x1p54);
    power = -54;
  }
  return bits;
}

/// The exponent of x, and 1 more from row 212 on.
HEDDLE_LIBM_INLINE int power_of(Word bits) {
  constexpr Word offset = (Word{1023} << 52) - (Word{512 - 212} << 43);
  return static_cast<int>(static_cast<std::int64_t>(bits - offset) >> 52);
}

/// m factor - 1 is a multiple of 2^-62 below 2^-9, so one fused operation makes it exactly; otherwise m is taken in two
/// parts, whose products with the 10 bits of the factor are exact, as is their sum.
template <bool fused> HEDDLE_LIBM_INLINE Split split(Word bits, int power) {
  const int row = static_cast<int>(bits >> 43 & 511);
  const double m = from_bits((bits & ((Word{1} << 52) - 1)) | bits_of(1.0));
  const double factor = log_factor[row];
  power += power_of(bits);
  if constexpr (fused) return {__builtin_fma(m, factor, -1.0), static_cast<double>(power), row};
  const double high = from_bits(bits_of(m) & ~Word{0x3ffffff});
  return {(high * factor - 1.0) + (m - high) * factor, static_cast<double>(power), row};
}

/// log x = power log 2 + value_row + log(1 + r), |r| < 2^-9, as a pair that is not normalised. The first two parts sum
/// exactly (multiples of 2^-42 below 2^10) and are at least |r| unless 0; r and -r^2 / 2 are added exactly; r^3 q(r),
/// below 2^-28.5, has at most five roundings, and the omitted r^10 / 10 is below 2^-93. The low parts are below 2^-32
/// and round by less than 2^-84. If the first two parts are 0, the result is r (1 + ...), and the error relative to it
/// is below 5/3 2^-53-18 + 2^-74; otherwise the result is at least 2^-9.6. Hence: relative error below 2^-70, absolute
/// error below 2^-78.9 + 2^-104 |log x|.
template <bool fused> HEDDLE_LIBM_INLINE Pair logarithm(const Split& x) {
  const double r = x.rest;
  const Pair value = log_value[x.row];
  const double square = r * r;
  const double base = multiply_add<fused>(x.power, log_two_parts[0], value.high);
  const Pair linear = fast_sum(base, r);
  const Pair half = exact_product<fused>(r, -0.5 * r);
  const Pair sum = fast_sum(linear.high, half.high);
  const double odd = multiply_add<fused>(square, multiply_add<fused>(square, 1.0 / 7, 1.0 / 5), 1.0 / 3);
  const double even = multiply_add<fused>(square, multiply_add<fused>(square, -1.0 / 8, -1.0 / 6), -1.0 / 4);
  const double q = multiply_add<fused>(r, even, multiply_add<fused>(square * square * square, 1.0 / 9, odd));
  const double low = multiply_add<fused>(x.power, log_two_parts[1], value.low);
  return {sum.high, multiply_add<fused>(square * r, q, (sum.low + (linear.low + half.low)) + low)};
}

/// Relative, with the roundings of a test and of a product or sum, and what logarithm_of_pair() omits.
inline constexpr double quick_logarithm_error = 0x1p-59;

/// log x in fewer operations, not normalised. As above, with the series to r^7 / 7; r^2 / 2, below 2^-10 of the result
/// (2^-9.4 far from 1), has six roundings, and eight with those: below 2^-59.8 and 2^-59.4.
template <bool fused> HEDDLE_LIBM_INLINE Pair quick_logarithm(const Split& x) {
  const double r = x.rest;
  const Pair value = log_value[x.row];
  const double square = r * r;
  const double upper =
      multiply_add<fused>(square, multiply_add<fused>(r, 1.0 / 7, -1.0 / 6), multiply_add<fused>(r, 1.0 / 5, -1.0 / 4));
  const double q = multiply_add<fused>(square, upper, multiply_add<fused>(r, 1.0 / 3, -0.5));
  const Pair sum = fast_sum(multiply_add<fused>(x.power, log_two_parts[0], value.high), r);
  const double low = multiply_add<fused>(x.power, log_two_parts[1], value.low);
  return {sum.high, sum.low + multiply_add<fused>(square, q, low)};
}

/// log(x.high + x.low) for x.high in 2^-1000 ... 2^1000 and |x.low| < 2^-50 x.high. The row's factor is scaled. x.low's
/// share r^2 is omitted if `quick`, below 2^-61.5 of the results of areas.hpp; otherwise r^3 is, below 2^-69.
template <bool fused, bool quick> HEDDLE_LIBM_INLINE Pair logarithm_of_pair(Pair x) {
  const Word bits = bits_of(x.high);
  const int row = static_cast<int>(bits >> 43 & 511);
  const Word exponent = (bits & (Word{0x7ff} << 52)) - bits_of(1.0);
  const double scale = from_bits(bits_of(static_cast<double>(log_factor[row])) - exponent);
  Split parts{0, static_cast<double>(power_of(bits)), row};
  if constexpr (fused) {
    parts.rest = __builtin_fma(x.high, scale, -1.0);
  } else {
    const double high = from_bits(bits & ~Word{0x3ffffff});
    parts.rest = (high * scale - 1.0) + (x.high - high) * scale;
  }
  const double low = x.low * scale;
  const double r = parts.rest;
  Pair value = quick ? quick_logarithm<fused>(parts) : logarithm<fused>(parts);
  value.low += multiply_add<fused>(low, quick ? -r : multiply_add<fused>(r, r, -r), low);
  return value;
}

/// The same table, r (1 - r / 2 + ... + r^4 / 5) in doubles, for a positive float: the relative error is below 2^-46,
/// and below 2^-50 but for results below 2^-7, of which the series takes r^5 / 6.
template <bool fused> HEDDLE_LIBM_INLINE double logarithm_of_float(double x) {
  const Split parts = split<fused>(bits_of(x), 0);
  const double r = parts.rest;
  const double square = r * r;
  const double q =
      multiply_add<fused>(square, multiply_add<fused>(r, 1.0 / 5, -1.0 / 4), multiply_add<fused>(r, 1.0 / 3, -0.5));
  const Pair value = log_value[parts.row];
  return multiply_add<fused>(parts.power, log_two, value.high + value.low) + multiply_add<fused>(square, q, r);
}

}  // namespace heddle::libm
