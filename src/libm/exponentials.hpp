// The fast path of exponentials, shared by powers.
#pragma once

#include "libm/accurate.hpp"

namespace heddle::libm {

/// exp(x + low) = (high + low) 2^power: high is rounded, the sum is below 2 and its relative error below 2^-67.6 if
/// |x + low| < 2^10 and |low| < 2^-43 (pow gives that error its own).
struct Exponential {
  Pair value;
  std::int64_t power;
};

/// The absolute error of high + low < 2, with the rounding of a test.
inline constexpr double exponential_error = 0x1.8p-67;

/// x = (128 power + i) log 2 / 128 + r, |r| < 2^-8.5: T_i exp r = T_i + T_i (r + r^2 (1/2 + ...)). The first part of
/// log 2 / 128 has 35 bits and its multiple at most 53, so x less that is exact (Sterbenz); the rest, below 2^-26, is
/// within 2^-79, and so is its sum with the former (fast_sum() errs by 2^-53 of its second argument if that is the
/// larger). T_i r.high is exact as a pair. r^2 q(r), below 2^-18 T_i, and sums of its size have at most eight
/// roundings, each below 2^-71.06 T_i; the omitted r.high r.low is below 2^-70, r^7 / 5040 below 2^-71.8: together
/// below 2^-67.6 T_i.
template <bool fused> HEDDLE_LIBM_INLINE Exponential exponential_of(std::int64_t k, Pair parts) {
  const double r = parts.high;
  const Pair t = exp_table[k & 127];
  const double square = r * r;
  const double q =
      multiply_add<fused>(square, multiply_add<fused>(square, 1.0 / 720, multiply_add<fused>(r, 1.0 / 120, 1.0 / 24)),
                          multiply_add<fused>(r, 1.0 / 6, 0.5));
  const double p = multiply_add<fused>(square, q, parts.low);
  const Pair linear = exact_product<fused>(t.high, r);
  const Pair sum = fast_sum(t.high, linear.high);
  const double tail = multiply_add<fused>(t.low, r, t.low) + multiply_add<fused>(t.high, p, linear.low);
  return {{sum.high, sum.low + tail}, k >> 7};
}

template <bool fused> HEDDLE_LIBM_INLINE Exponential exponential(double x, double low) {
  std::int64_t k = 0;
  const double count = nearest_integer(x * exp_steps, k);
  return exponential_of<fused>(
      k, fast_sum(x - count * log_two_step[0], multiply_add<fused>(-count, log_two_step[1], low)));
}

/// The relative error of quick_exponential_of() and of quick_exponential(), with the rounding of a test.
inline constexpr double quick_exponential_error = 0x1.ap-60;
inline constexpr double quick_cosh_error = 0x1.2p-59;

/// exp r - 1, |r| < log 2 / 256 = 2^-8.53, by the series to r^5 / 120, whose next term Chebyshev's polynomial replaces
/// within 2^-65: one rounding of its size, and those of terms below 2^-9.5 of it.
template <bool fused> HEDDLE_LIBM_INLINE double quick_expm1(double r) {
  constexpr double most = 0x1.62e42fefa39efp-9;
  constexpr double sixth = most * most / 720;
  const double square = r * r;
  const double q = multiply_add<fused>(square, multiply_add<fused>(r, 1.0 / 120, 1.0 / 24 + 1.5 * sixth),
                                       multiply_add<fused>(r, 1.0 / 6, 0.5 - 0.5625 * most * most * sixth));
  return multiply_add<fused>(square, q, r);
}

/// The same in fewer operations: T_i + T_i (exp r - 1). r with its error of at most 1.5 units, the polynomial, the
/// product and a test round below 2^-61.53 each: together below 2^-59.3.
template <bool fused> HEDDLE_LIBM_INLINE Exponential quick_exponential_of(std::int64_t k, double r) {
  const Pair t = exp_table[k & 127];
  return {{t.high, multiply_add<fused>(t.high, quick_expm1<fused>(r), t.low)}, k >> 7};
}

template <bool fused> HEDDLE_LIBM_INLINE Exponential quick_exponential(double x) {
  std::int64_t k = 0;
  const double count = nearest_integer(x * exp_steps, k);
  return quick_exponential_of<fused>(k, multiply_add<fused>(-count, log_two_step[1], x - count * log_two_step[0]));
}

/// cosh x = value 2^power for 0 <= x <= 708: (A + B) cosh r + (A - B) sinh r, A = T_i and B that of -x, both halved.
/// Six roundings of terms below 2^-8.53 of A + B, that of a test among them, are below 2^-58.9. B below 2^-200 A is
/// taken for that, so that nothing underflows.
template <bool fused> HEDDLE_LIBM_INLINE Exponential quick_cosh(double x) {
  std::int64_t k = 0;
  const double count = nearest_integer(x * exp_steps, k);
  const double r = multiply_add<fused>(-count, log_two_step[1], x - count * log_two_step[0]);
  const Pair a = exp_table[k & 127];
  const Pair b = exp_table[-k & 127];
  const std::int64_t difference = (-k >> 7) - (k >> 7);
  const double factor = power_of_two(difference < -200 ? -200 : difference);
  const double square = r * r;
  const double odd = multiply_add<fused>(r * square, multiply_add<fused>(square, 1.0 / 120, 1.0 / 6), r);
  const double even = square * multiply_add<fused>(square, multiply_add<fused>(square, 1.0 / 720, 1.0 / 24), 0.5);
  const double b_high = b.high * factor;
  const Pair sum = fast_sum(a.high, b_high);
  const double low = multiply_add<fused>(b.low, factor, a.low);
  return {{sum.high, sum.low + multiply_add<fused>(a.high - b_high, odd, multiply_add<fused>(sum.high, even, low))},
          (k >> 7) - 1};
}

/// tanh x = 1 - q, q = 2 / (exp 2x + 1), for 1/8 <= x <= 22. The error is below q quick_exponential_error, that of the
/// exponential E times q E / (E + 1), and 2^-105 of the sum of low parts.
struct QuickTanh {
  Pair value;
  double q;
};

template <bool fused> HEDDLE_LIBM_INLINE QuickTanh quick_tanh(double x) {
  const Exponential e = quick_exponential<fused>(2 * x);
  const double one = power_of_two(-e.power);
  const Pair sum = fast_sum(e.value.high, one);
  const Pair q = quotient<fused>({2 * one, 0}, fast_sum(sum.high, sum.low + e.value.low));
  const Pair rest = fast_sum(1.0, -q.high);
  return {{rest.high, rest.low - q.low}, q.high};
}

/// 2^(steps / 128) in doubles: T_i (1 + r + ... + r^4 / 24), whose series ends with an error below 2^-49; |steps| <
/// 2^14.
template <bool fused> HEDDLE_LIBM_INLINE double exponential_of_steps(double steps) {
  std::int64_t k = 0;
  const double r = (steps - nearest_integer(steps, k)) * log_two_per_step;
  const double square = r * r;
  const double q = multiply_add<fused>(square, multiply_add<fused>(r, 1.0 / 6, 0.5) + square * (1.0 / 24), r);
  const double t = from_bits(bits_of(exp_table[k & 127].high) + (static_cast<Word>(k >> 7) << 52));
  return multiply_add<fused>(t, q, t);
}

/// Return true if all numbers within |value| error of value, whose float is normal, round to the same float: the 29
/// bits that a float drops are not that near to a half.
HEDDLE_LIBM_INLINE bool certain_float(double value, double error, float& result) {
  const auto width = static_cast<std::uint32_t>(error * 0x1p53) + 1;
  const std::uint32_t dropped = static_cast<std::uint32_t>(bits_of(value)) & 0x1fffffff;
  result = static_cast<float>(value);
  return dropped - (0x10000000 - width) > 2 * width;
}

}  // namespace heddle::libm
