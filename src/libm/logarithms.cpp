// log, log2, log10 and log1p, and those of floats.
#include "libm/logarithms.hpp"

#include "libm/exponentials.hpp"
#include "libm/functions.hpp"

namespace heddle::libm {
namespace {

enum class Base { e, two, ten };

/// No logarithm to the base of 2 or 10 is a tie: it is a small integer or no fraction. `approximation` is of log x.
template <class Real> [[gnu::cold, gnu::noinline]] Real log_accurate(Real x, double approximation, Base base) {
  return decide<Real>(log_guard + 4, [=](auto words) {
    constexpr int count = words();
    const Wide<count> value = log_of(from_double<count>(x), approximation);
    if (base == Base::e) return value;
    return value / (base == Base::two ? constant<count>(log_two_words, 0) : constant<count>(log_ten_words, 2));
  });
}

/// 1 + x is exact in 192 bits, or within 2^-192.
template <class Real> [[gnu::cold, gnu::noinline]] Real log1p_accurate(Real x, double approximation) {
  return decide<Real>(log_guard, [=](auto words) {
    constexpr int count = words();
    return log_of(from_integer<count>(1) + from_double<count>(x), approximation);
  });
}

template <class Real> [[gnu::cold, gnu::noinline]] Real log_special(Real x) {
  if (x == 0) return pole<Real>(true);
  if (!(x == x) || x > 0) return x + x;
  return invalid<Real>();
}

/// log(1 + x) rounds to x for |x| < 2^-54 (2^-25).
template <class Real> [[gnu::cold, gnu::noinline]] Real log1p_special(Real x) {
  if (!(x == x) || x > 1) return x + x;
  if (x == -1) return pole<Real>(true);
  if (x < -1) return invalid<Real>();
  if (x != 0 && x < std::numeric_limits<Real>::min() && x > -std::numeric_limits<Real>::min()) raise_underflow<Real>();
  return x;
}

template <bool fused> HEDDLE_LIBM_INLINE bool certain(Pair value, double error, double& result) {
  result = value.high + multiply_add<fused>(value.high, error, value.low);
  return result == value.high + multiply_add<fused>(value.high, -error, value.low);
}

template <bool fused> HEDDLE_LIBM_INLINE Pair logarithm(double x) {
  int power = 0;
  const Word bits = normal_bits(x, power);
  return logarithm<fused>(split<fused>(bits, power));
}

template <bool fused> HEDDLE_LIBM_INLINE double log_body(double x) {
  if (bits_of(x) - 1 >= bits_of(infinity<double>) - 1) return log_special(x);
  const Pair value = logarithm<fused>(x);
  double result = 0;
  return certain<fused>(value, 0x1p-68, result) ? result : log_accurate(x, value.high, Base::e);
}

template <Base base> constexpr Pair inverse = base == Base::two ? inverse_log_two[0] : inverse_log_ten[0];

/// The logarithm times 1 / log 2 or 1 / log 10 in 106 bits; its low part, below 2^-19 of the high one, rounds by 2^-72.
template <Base base> [[gnu::noinline]] double scaled_second(double x) {
  if (bits_of(x) - 1 >= bits_of(infinity<double>) - 1) return log_special(x);
  constexpr bool fused = common;
  const Pair value = logarithm<fused>(x);
  double result = 0;
  const bool sure = certain<fused>(product<fused>(value, inverse<base>), 0x1p-68, result);
  return sure ? result : log_accurate(x, value.high, base);
}

template <bool fused, Base base> HEDDLE_LIBM_INLINE double scaled_logarithm(double x) {
  const Word least = bits_of(0x1p-1022);
  if (bits_of(x) - least >= bits_of(infinity<double>) - least) [[unlikely]]
    return scaled_second<base>(x);
  double result = 0;
  const Pair value = product<fused>(quick_logarithm<fused>(split<fused>(bits_of(x), 0)), inverse<base>);
  return certain<fused>(value, quick_logarithm_error, result) ? result : scaled_second<base>(x);
}

template <bool fused> HEDDLE_LIBM_INLINE double log2_body(double x) {
  return scaled_logarithm<fused, Base::two>(x);
}

template <bool fused> HEDDLE_LIBM_INLINE double log10_body(double x) {
  return scaled_logarithm<fused, Base::ten>(x);
}

/// 1 + x = s + e exactly. Below 2^-10, the series with r = x. Otherwise log s and e' (1 - r + r^2), e' = e / s being
/// below 2^-53: omitted terms are below 2^-80, and the result is above 2^-10.1.
template <bool fused> HEDDLE_LIBM_INLINE double log1p_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-54) >= bits_of(infinity<double>) - bits_of(0x1p-54) || x <= -1) return log1p_special(x);
  Split parts{x, 0.0, 0};
  double low = 0;
  if (magnitude >= bits_of(0x1p-10)) {
    const Pair sum = exact_sum(1.0, x);
    const Word bits = bits_of(sum.high);
    parts = split<fused>(bits, 0);
    // e less than 2^-1000 times s is lost without harm.
    const int power = static_cast<int>(bits >> 52) - 1023;
    const double rest = power > 1000 ? 0.0 : sum.low * power_of_two(-power) * log_factor[parts.row];
    low = multiply_add<fused>(rest, multiply_add<fused>(parts.rest, parts.rest, -parts.rest), rest);
  }
  Pair value = logarithm<fused>(parts);
  value.low += low;
  double result = 0;
  return certain<fused>(value, 0x1p-67, result) ? result : log1p_accurate(x, value.high);
}

template <bool fused> HEDDLE_LIBM_INLINE float logf_body(float x) {
  if (bits_of(x) - 1 >= bits_of(infinity<float>) - 1) return log_special(x);
  const double value = logarithm_of_float<fused>(x);
  float result = 0;
  return certain_float(value, 0x1p-44, result) ? result : log_accurate(x, value, Base::e);
}

template <bool fused> HEDDLE_LIBM_INLINE float log2f_body(float x) {
  if (bits_of(x) - 1 >= bits_of(infinity<float>) - 1) return log_special(x);
  const double value = logarithm_of_float<fused>(x);
  float result = 0;
  return certain_float(value * inverse_log_two[0].high, 0x1p-44, result) ? result : log_accurate(x, value, Base::two);
}

template <bool fused> HEDDLE_LIBM_INLINE float log10f_body(float x) {
  if (bits_of(x) - 1 >= bits_of(infinity<float>) - 1) return log_special(x);
  const double value = logarithm_of_float<fused>(x);
  float result = 0;
  return certain_float(value * inverse_log_ten[0].high, 0x1p-44, result) ? result : log_accurate(x, value, Base::ten);
}

/// From 2^-10 on, 1 + x is exact in doubles or rounds by 2^-53; below, the series to x^5 / 5.
template <bool fused> HEDDLE_LIBM_INLINE float log1pf_body(float x) {
  const std::uint32_t magnitude = bits_of(x) & 0x7fffffff;
  if (magnitude - bits_of(0x1p-25F) >= bits_of(infinity<float>) - bits_of(0x1p-25F) || x <= -1) return log1p_special(x);
  const double z = x;
  double value = 0;
  if (magnitude < bits_of(0x1p-9F)) {
    const double square = z * z;
    const double q =
        multiply_add<fused>(square, multiply_add<fused>(z, 1.0 / 5, -1.0 / 4), multiply_add<fused>(z, 1.0 / 3, -0.5));
    value = multiply_add<fused>(square, q, z);
  } else {
    value = logarithm_of_float<fused>(1 + z);
  }
  float result = 0;
  return certain_float(value, 0x1p-41, result) ? result : log1p_accurate(x, value);
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(log, double, (double x), (x))
HEDDLE_LIBM_DEFINE(log2, double, (double x), (x))
HEDDLE_LIBM_DEFINE(log10, double, (double x), (x))
HEDDLE_LIBM_DEFINE(log1p, double, (double x), (x))
HEDDLE_LIBM_DEFINE(logf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(log2f, float, (float x), (x))
HEDDLE_LIBM_DEFINE(log10f, float, (float x), (x))
HEDDLE_LIBM_DEFINE(log1pf, float, (float x), (x))
