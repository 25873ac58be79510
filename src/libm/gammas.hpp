// The fast paths of the gamma function and of its logarithm.
#pragma once

#include "libm/exponentials.hpp"
#include "libm/logarithms.hpp"
#include "libm/special.hpp"
#include "libm/trigonometric.hpp"

namespace heddle::libm {

/// The relative error of log_gamma_of(): that of the rows, whose terms from r^3 on are below 2^-19.5 and have three
/// roundings that count, below 2^-70.9.
inline constexpr double log_gamma_error = 0x1.6p-71;

/// log Gamma(z) for z in [1/2, 8), given z - 1, z - 2, the centre nearest to z and z less it: their product and the
/// table's quotient, which has no zero.
template <bool fused>
HEDDLE_LIBM_INLINE Pair log_gamma_of(double less_one, Pair less_two, const Centre& centre, double rest) {
  const Pair quotient = value_of<fused>(log_gamma_rows[centre.row + 32], rest);
  const Pair value = product<fused>(product<fused>(less_two, {less_one, 0}), quotient);
  return fast_sum(value.high, value.low);
}

template <bool fused> HEDDLE_LIBM_INLINE Pair log_gamma_of(double x) {
  const Centre centre = centre_of(x);
  return log_gamma_of<fused>(x - 1.0, exact_sum(x, -2.0), centre, x - centre.value);
}

/// log Gamma(1 + x) for |x| < 1/2: the centre less 1 is at most twice x, or 0, so the difference is exact.
template <bool fused> HEDDLE_LIBM_INLINE Pair log_gamma_of_next(double x) {
  const Centre centre = centre_of(1.0 + x);
  return log_gamma_of<fused>(x, fast_sum(-1.0, x), centre, x - (centre.value - 1.0));
}

/// (x + half) (log x - 1) as a pair, and 1 / (12 x) - 1 / (360 x^3) + ..., for 8 <= x < 2^900. The former has the
/// logarithm's absolute error, 2^-78.9, times x, and 2^-84 relative; the latter terms from 1 / x^3 on, at most 2^-17.4,
/// with three roundings, below 2^-68.8.
struct Stirling {
  Pair main;
  Pair rest;
};

template <bool fused> HEDDLE_LIBM_INLINE Stirling stirling(double x, double half) {
  const Pair log = logarithm<fused>(split<fused>(bits_of(x), 0));
  const Pair less_one = fast_sum(log.high, -1.0);
  const Pair main = product<fused>(fast_sum(x, half), {less_one.high, less_one.low + log.low});
  const double bounded = least_of(x, 0x1p60);  // beyond, the rest is below 2^-125 relative, and powers would underflow
  const double q = 1.0 / bounded;
  const double t = q * q;
  const Pair back = exact_product<fused>(q, bounded);
  const double q_low = ((1.0 - back.high) - back.low) * q;
  const double* c = stirling_rest;
  const double square = t * t;
  const double upper =
      multiply_add<fused>(square, multiply_add<fused>(t, c[7], c[6]), multiply_add<fused>(t, c[5], c[4]));
  const double lower =
      multiply_add<fused>(square, multiply_add<fused>(t, c[3], c[2]), multiply_add<fused>(t, c[1], c[0]));
  Pair rest = product<fused>(stirling_first[0], {q, q_low});
  rest.low += q * t * multiply_add<fused>(square * square, upper, lower);
  return {main, rest};
}

/// The absolute error of sums with stirling() for x < 200, and the relative one for all.
inline constexpr double stirling_error = 0x1.4p-69;
inline constexpr double stirling_relative_error = 0x1p-71;

/// log Gamma(x) for 8 <= x < 2^900: at least 8.5.
template <bool fused> HEDDLE_LIBM_INLINE Pair log_gamma_of_large(double x) {
  const Stirling parts = stirling<fused>(x, -0.5);
  const Pair small = fast_sum(stirling_constant[0].high, parts.rest.high);
  const Pair sum = fast_sum(parts.main.high, small.high);
  return {sum.high, sum.low + (parts.main.low + (small.low + (stirling_constant[0].low + parts.rest.low)))};
}

/// The same for 64 <= x < 2^52 with fewer terms, `rest_error` being the absolute error of 1 / (12 x) - ..., beside that
/// of the logarithm: three roundings of it, and omitted terms below 2^-71 of the result.
template <bool fused> HEDDLE_LIBM_INLINE Pair log_gamma_of_far(double x, double& rest_error) {
  const Pair log = logarithm<fused>(split<fused>(bits_of(x), 0));
  const Pair less_one = fast_sum(log.high, -1.0);
  const Pair main = product<fused>({less_one.high, less_one.low + log.low}, {x - 0.5, 0});
  const double q = 1.0 / x;
  const double t = q * q;
  const double* c = stirling_rest;
  const double upper = multiply_add<fused>(t, multiply_add<fused>(t, c[2], c[1]), c[0]);
  const double rest = q * multiply_add<fused>(t, upper, stirling_first[0].high);
  const Pair small = fast_sum(stirling_constant[0].high, rest);
  const Pair sum = fast_sum(main.high, small.high);
  rest_error = q * 0x1.2p-55;
  return {sum.high, sum.low + (main.low + (small.low + stirling_constant[0].low))};
}

/// log(pi / Gamma(1 + y)) for 8 <= y < 2^52.
template <bool fused> HEDDLE_LIBM_INLINE Pair reflected_of_large(double y) {
  const Stirling parts = stirling<fused>(y, 0.5);
  const Pair small = fast_sum(reflected_constant[0].high, -parts.rest.high);
  const Pair sum = fast_sum(-parts.main.high, small.high);
  return {sum.high, sum.low + ((small.low + (reflected_constant[0].low - parts.rest.low)) - parts.main.low)};
}

/// log(pi / Gamma(y)) from log Gamma(y), for 1/2 <= y < 8.
HEDDLE_LIBM_INLINE Pair reflected_of_small(Pair log_gamma) {
  const Pair sum = exact_sum(pi_logarithm[0].high, -log_gamma.high);
  return {sum.high, sum.low + (pi_logarithm[0].low - log_gamma.low)};
}

/// |sin(pi y)| from y's distance to an integer, which is exact: relative error sine_error.
template <bool fused> HEDDLE_LIBM_INLINE Pair sine_of_distance(double distance) {
  std::int64_t k = 0;
  const double steps = distance * 512;
  const double rest = steps - nearest_integer(steps, k);
  const Pair r = product<fused>(pi_step_pair[0], {rest, 0});
  const Pair value = sine<fused>(k, r);
  return fast_sum(value.high, value.low);
}

HEDDLE_LIBM_INLINE double distance_to_integer(double y) {
  std::int64_t unused = 0;
  return __builtin_fabs(y - nearest_integer(y, unused));
}

/// A function's value as (high + low) 2^power, with the absolute error of the sum.
struct Found {
  Pair value;
  double error;
  std::int64_t power;
};

/// exp of a pair with an absolute error.
template <bool fused> HEDDLE_LIBM_INLINE Found exponential_found(Pair x, double error) {
  const Pair sum = fast_sum(x.high, x.low);
  const Exponential e = exponential<fused>(sum.high, sum.low);
  return {e.value, exponential_error + 2 * error, e.power};
}

/// x / y, y's relative error beside that of x, which is 1 or more.
template <bool fused> HEDDLE_LIBM_INLINE Found quotient_found(const Found& x, Pair y, double error) {
  const Pair value = quotient<fused>(fast_sum(x.value.high, x.value.low), y);
  return {value, value.high * (x.error + error), x.power};
}

/// |Gamma(x)| for 2^-110 <= |x|, -170 < x < 171.6, that is no integer below 0; floats have results down to 2^-200.
template <bool fused> HEDDLE_LIBM_INLINE Found gamma_found(double x) {
  if (x >= 8) return exponential_found<fused>(log_gamma_of_large<fused>(x), stirling_error);
  const double y = __builtin_fabs(x);
  if (y < 0.5) {
    const Found next = exponential_found<fused>(log_gamma_of_next<fused>(x), log_gamma_error);
    return quotient_found<fused>(next, {y, 0}, 0);
  }
  if (x > 0) {
    const Pair log_gamma = log_gamma_of<fused>(x);
    return exponential_found<fused>(log_gamma, __builtin_fabs(log_gamma.high) * log_gamma_error);
  }
  const Pair sine = sine_of_distance<fused>(distance_to_integer(y));
  if (y >= 8) {
    const Found e = exponential_found<fused>(reflected_of_large<fused>(y), stirling_error);
    return quotient_found<fused>(e, sine, sine_error);
  }
  const Pair divisor = product<fused>(sine, {y, 0});
  const Pair log_gamma = log_gamma_of<fused>(y);
  const Found e =
      exponential_found<fused>(reflected_of_small(log_gamma), __builtin_fabs(log_gamma.high) * log_gamma_error);
  return quotient_found<fused>(e, fast_sum(divisor.high, divisor.low), sine_error);
}

/// log|Gamma(x)| for -2^51 < x < 2^900 that is no integer below 1; its power is 0. Below 0 the error of the sine is
/// that of its logarithm.
template <bool fused> HEDDLE_LIBM_INLINE Found log_gamma_found(double x) {
  if (x >= 64 && x < 0x1p52) {
    double rest_error = 0;
    const Pair value = log_gamma_of_far<fused>(x, rest_error);
    return {value, multiply_add<fused>(value.high, stirling_relative_error, rest_error), 0};
  }
  if (x >= 8) {
    const Pair value = log_gamma_of_large<fused>(x);
    return {value, value.high * stirling_relative_error, 0};
  }
  const double y = __builtin_fabs(x);
  if (y < 0.5) {
    int power = 0;
    const Word bits = normal_bits(y, power);
    const Pair log = logarithm<fused>(split<fused>(bits, power));
    Pair next{0, 0};
    if (y > 0x1p-110) next = log_gamma_of_next<fused>(x);
    const Pair sum = fast_sum(-log.high, next.high);
    return {{sum.high, sum.low + (next.low - log.low)}, sum.high * (2 * log_gamma_error), 0};
  }
  if (x > 0) {
    const Pair value = log_gamma_of<fused>(x);
    return {value, __builtin_fabs(value.high) * (log_gamma_error + 0x1p-100), 0};
  }
  Pair sine = sine_of_distance<fused>(distance_to_integer(y));
  Pair main;
  double error = sine_error;
  if (y >= 8) {
    main = reflected_of_large<fused>(y);
    error += stirling_error + __builtin_fabs(main.high) * 0x1p-77;
  } else {
    const Pair divisor = product<fused>(sine, {y, 0});
    sine = fast_sum(divisor.high, divisor.low);
    const Pair log_gamma = log_gamma_of<fused>(y);
    main = reflected_of_small(log_gamma);
    error += __builtin_fabs(log_gamma.high) * log_gamma_error;
  }
  const Pair log = logarithm_of_pair<fused, false>(sine);
  const Pair sum = exact_sum(main.high, -log.high);
  return {{sum.high, sum.low + (main.low - log.low)}, error, 0};
}

/// A value in doubles with its absolute error.
struct Short {
  double value;
  double error;
};

/// (x + half) (log x - 1) and 1 / (12 x) - 1 / (360 x^3) + ... for 8 <= x < 2^900: relative errors below 2^-48, and
/// below 2^-42 absolute.
struct ShortStirling {
  double main;
  double rest;
};

template <bool fused> HEDDLE_LIBM_INLINE ShortStirling short_stirling(double x, double half) {
  const double q = 1.0 / least_of(x, 0x1p60);
  const double t = q * q;
  const double* c = stirling_rest;
  const double upper =
      multiply_add<fused>(t * t, multiply_add<fused>(t, c[3], c[2]), multiply_add<fused>(t, c[1], c[0]));
  const double log = logarithm_of_float<fused>(x);
  return {(x + half) * (log - 1), q * multiply_add<fused>(t, upper, stirling_first[0].high)};
}

/// log Gamma(z) for z in [1/2, 8) as log_gamma_of(): terms from r^7 on, omitted, are below 2^-44 of it.
template <bool fused>
HEDDLE_LIBM_INLINE double short_log_gamma_of(double less_one, double less_two, const Centre& centre, double rest) {
  return less_one * less_two * short_value_of<fused>(log_gamma_rows[centre.row + 32], rest);
}

template <bool fused> HEDDLE_LIBM_INLINE double short_log_gamma_of(double x) {
  const Centre centre = centre_of(x);
  return short_log_gamma_of<fused>(x - 1.0, x - 2.0, centre, x - centre.value);
}

/// |sin(pi y)| from y's distance to an integer.
template <bool fused> HEDDLE_LIBM_INLINE double short_sine_of_distance(double distance) {
  std::int64_t k = 0;
  const double steps = distance * 512;
  const double r = (steps - nearest_integer(steps, k)) * pi_per_step;
  const double s = sine_table[k].high;
  const double square = r * r;
  const double sine_part = multiply_add<fused>(r * square, multiply_add<fused>(square, 1.0 / 120, -1.0 / 6), r);
  const double cosine_part = square * multiply_add<fused>(square, 1.0 / 24, -0.5);
  return s + multiply_add<fused>(s, cosine_part, sine_table[256 - k].high * sine_part);
}

/// log|Gamma(x)| for a float that is no integer below 1. Terms of a difference count by their size.
template <bool fused> HEDDLE_LIBM_INLINE Short short_log_gamma(double x) {
  if (x >= 8) {
    const ShortStirling parts = short_stirling<fused>(x, -0.5);
    const double value = parts.main + (stirling_constant[0].high + parts.rest);
    return {value, value * 0x1p-43};
  }
  const double y = __builtin_fabs(x);
  if (y < 0.5) {
    const Centre centre = centre_of(1.0 + x);
    const double next = short_log_gamma_of<fused>(x, x - 1.0, centre, x - (centre.value - 1.0));
    const double value = next - logarithm_of_float<fused>(y);
    return {value, value * 0x1p-40};
  }
  if (x > 0) {
    const double value = short_log_gamma_of<fused>(x);
    return {value, __builtin_fabs(value) * 0x1p-40};
  }
  std::int64_t unused = 0;
  const double sine = short_sine_of_distance<fused>(__builtin_fabs(y - nearest_integer(y, unused)));
  double main = 0;
  double divisor = sine;
  if (y >= 8) {
    const ShortStirling parts = short_stirling<fused>(y, 0.5);
    main = (reflected_constant[0].high - parts.rest) - parts.main;
  } else {
    main = pi_logarithm[0].high - short_log_gamma_of<fused>(y);
    divisor *= y;
  }
  return {main - logarithm_of_float<fused>(divisor), 0x1p-38 + __builtin_fabs(main) * 0x1p-43};
}

}  // namespace heddle::libm
