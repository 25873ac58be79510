// exp, exp2, exp10 and expm1, and those of floats.
#include "libm/exponentials.hpp"

#include "libm/functions.hpp"

#include <initializer_list>

namespace heddle::libm {
namespace {

/// Results from the accurate path may be zero or infinite.
template <class Real, class Compute> [[gnu::cold, gnu::noinline]] Real accurate(const Compute& compute) {
  const Real value = decide<Real>(exp_guard + 1, compute);
  if (value == 0) errno = ERANGE;
  return value == infinity<Real> ? overflow<Real>(false) : value;
}

template <class Real> [[gnu::cold, gnu::noinline]] Real exp_accurate(Real x) {
  return accurate<Real>([x](auto words) { return exp_of(from_double<words()>(x)); });
}

/// 2^x is a power of two or no fraction, so no tie.
template <class Real> [[gnu::cold, gnu::noinline]] Real exp2_accurate(Real x) {
  const auto whole = static_cast<std::int64_t>(x);
  if (static_cast<Real>(whole) == x) {
    const Rounded<Real> result = rounded<Real>(from_integer<3>(1, whole), -1);
    if (result.inexact_tiny) return underflow<Real>(false);
    return result.value;
  }
  return accurate<Real>(
      [x](auto words) { return exp_of(from_double<words()>(x) * constant<words()>(log_two_words, 0)); });
}

/// 10^x has at most 54 bits, so it may be a tie, for whole x up to 23 alone.
template <class Real> [[gnu::cold, gnu::noinline]] Real exp10_accurate(Real x) {
  if (x > 0 && x < 28 && static_cast<Real>(static_cast<int>(x)) == x) {
    std::int64_t value = 1;
    for (int i = 0; i < static_cast<int>(x); ++i) value *= 5;
    return rounded<Real>(from_integer<3>(value, static_cast<int>(x)), -1).value;
  }
  return accurate<Real>(
      [x](auto words) { return exp_of(from_double<words()>(x) * constant<words()>(log_ten_words, 2)); });
}

template <class Real> [[gnu::cold, gnu::noinline]] Real expm1_accurate(Real x) {
  const Real value = decide<Real>(36, [x](auto words) { return expm1_of(from_double<words()>(x)); });
  return value == infinity<Real> ? overflow<Real>(false) : value;
}

/// NaN, infinities, results beyond the range, and 1 with a small argument.
template <class Real>
[[gnu::cold, gnu::noinline]] bool exp_special(Real x, Real highest, Real lowest, Real tiny, Real& result) {
  if (!(x == x)) return result = x + x, true;
  if (x > highest) return result = x == infinity<Real> ? x : overflow<Real>(false), true;
  if (x < lowest) return result = x == -infinity<Real> ? Real(0) : underflow<Real>(false), true;
  return result = Real(1) + x, x < tiny && x > -tiny;
}

template <class Real> [[gnu::cold, gnu::noinline]] Real exp_special(Real x) {
  constexpr bool wide = sizeof(Real) == 8;
  Real result;
  const bool done =
      exp_special<Real>(x, wide ? 709.79 : 88.73F, wide ? -745.14 : -103.98F, wide ? 0x1p-54 : 0x1p-25F, result);
  return done ? result : exp_accurate(x);
}

template <class Real> [[gnu::cold, gnu::noinline]] Real exp2_special(Real x) {
  constexpr bool wide = sizeof(Real) == 8;
  Real result;
  const bool done =
      exp_special<Real>(x, wide ? 1024.5 : 128.5F, wide ? -1075.5 : -150.5F, wide ? 0x1p-54 : 0x1p-25F, result);
  return done ? result : exp2_accurate(x);
}

template <class Real> [[gnu::cold, gnu::noinline]] Real exp10_special(Real x) {
  constexpr bool wide = sizeof(Real) == 8;
  Real result;
  const bool done =
      exp_special<Real>(x, wide ? 308.3 : 38.6F, wide ? -323.7 : -45.2F, wide ? 0x1p-56 : 0x1p-27F, result);
  return done ? result : exp10_accurate(x);
}

/// exp x - 1 rounds to x for |x| < 2^-54 (2^-25).
template <class Real> [[gnu::cold, gnu::noinline]] Real expm1_special(Real x) {
  constexpr bool wide = sizeof(Real) == 8;
  constexpr Real tiny = wide ? 0x1p-54 : 0x1p-25F;
  if (!(x == x)) return x + x;
  if (x > (wide ? Real(709.79) : Real(88.73F))) return x == infinity<Real> ? x : overflow<Real>(false);
  if (x == -infinity<Real>) return Real(-1);
  if (x < Real(-38)) return Real(-1) + opaque(std::numeric_limits<Real>::min());
  if (x > -tiny && x < tiny) {
    if (x != 0 && x < std::numeric_limits<Real>::min() && x > -std::numeric_limits<Real>::min())
      raise_underflow<Real>();
    return x;
  }
  return expm1_accurate(x);
}

HEDDLE_LIBM_INLINE bool certain(const Exponential& e, double error, double& result) {
  double scaled = 0;
  const bool sure = certain(e.value, error, scaled);
  result = from_bits(bits_of(scaled) + (static_cast<Word>(e.power) << 52));
  return sure;
}

template <bool fused> HEDDLE_LIBM_INLINE double exp_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  // Normal results, and arguments that are not tiny.
  if (magnitude - bits_of(0x1p-54) > bits_of(708.0) - bits_of(0x1p-54)) return exp_special(x);
  double result = 0;
  return certain(exponential<fused>(x, 0.0), exponential_error, result) ? result : exp_accurate(x);
}

/// x less k / 128 is exact, and its product with log 2 is within 2^-104.
[[gnu::noinline]] double exp2_second(std::int64_t k, double rest) {
  double result = 0;
  const Pair scaled = product<common>({rest, 0}, log_two_pair[0]);
  return certain(exponential_of<common>(k, scaled), exponential_error, result)
             ? result
             : exp2_accurate(static_cast<double>(k) * 0x1p-7 + rest);
}

template <bool fused> HEDDLE_LIBM_INLINE double exp2_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-54) > bits_of(1021.0) - bits_of(0x1p-54)) return exp2_special(x);
  std::int64_t k = 0;
  const double rest = x - nearest_integer(x * 128, k) * 0x1p-7;
  double result = 0;
  const Exponential quick = quick_exponential_of<fused>(k, rest * log_two);
  return certain(quick, quick.value.high * quick_exponential_error, result) ? result : exp2_second(k, rest);
}

template <bool fused> HEDDLE_LIBM_INLINE double exp10_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-56) > bits_of(307.0) - bits_of(0x1p-56)) return exp10_special(x);
  const Pair scaled = product<fused>({x, 0}, log_ten_pair[0]);
  double result = 0;
  return certain(exponential<fused>(scaled.high, scaled.low), exponential_error, result) ? result : exp10_accurate(x);
}

/// Below 2^-8: x + x^2 / 2 exactly, and x^3 (1/6 + ...), whose error is below 2^-71 relative; x^9 / 9! is omitted.
/// Otherwise the error of exp x, and 1 is subtracted exactly.
template <bool fused> HEDDLE_LIBM_INLINE double expm1_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-54) > bits_of(708.0) - bits_of(0x1p-54) || x < -38) return expm1_special(x);
  if (magnitude < bits_of(0x1p-8)) {
    const double square = x * x;
    const Pair half = exact_product<fused>(x, 0.5 * x);
    const double upper_half = multiply_add<fused>(square, multiply_add<fused>(x, 1.0 / 40320, 1.0 / 5040),
                                                  multiply_add<fused>(x, 1.0 / 720, 1.0 / 120));
    const double q = multiply_add<fused>(square, upper_half, multiply_add<fused>(x, 1.0 / 24, 1.0 / 6));
    const Pair sum = fast_sum(x, half.high);
    const double low = sum.low + multiply_add<fused>(square * x, q, half.low);
    const double error = __builtin_fabs(x) * 0x1p-67;
    const double upper = sum.high + (low + error);
    return upper == sum.high + (low - error) ? upper : expm1_accurate(x);
  }
  const Exponential e = exponential<fused>(x, 0.0);
  const double scale = power_of_two(e.power);
  const Pair less_one = exact_sum(e.value.high * scale, -1.0);
  const double low = multiply_add<fused>(e.value.low, scale, less_one.low);
  // The sum of the low parts, at most 2^-17 scale, rounds by 2^-70 scale.
  const double error = scale * (exponential_error + 0x1p-70);
  const double upper = less_one.high + (low + error);
  return upper == less_one.high + (low - error) ? upper : expm1_accurate(x);
}

template <bool fused> HEDDLE_LIBM_INLINE float expf_body(float x) {
  if ((bits_of(x) & 0x7fffffff) > bits_of(87.0F)) return exp_special(x);
  float result = 0;
  // The product, below 2^14, rounds by 2^-47 of the result.
  return certain_float(exponential_of_steps<fused>(x * exp_steps), 0x1p-45, result) ? result : exp_accurate(x);
}

template <bool fused> HEDDLE_LIBM_INLINE float exp2f_body(float x) {
  if ((bits_of(x) & 0x7fffffff) > bits_of(125.0F)) return exp2_special(x);
  float result = 0;
  return certain_float(exponential_of_steps<fused>(x * 128.0), 0x1p-48, result) ? result : exp2_accurate(x);
}

template <bool fused> HEDDLE_LIBM_INLINE float exp10f_body(float x) {
  if ((bits_of(x) & 0x7fffffff) > bits_of(37.5F)) return exp10_special(x);
  float result = 0;
  return certain_float(exponential_of_steps<fused>(x * exp10_steps), 0x1p-45, result) ? result : exp10_accurate(x);
}

/// Below 2^-4 the series to x^9 / 9!.
template <bool fused> HEDDLE_LIBM_INLINE float expm1f_body(float x) {
  const std::uint32_t magnitude = bits_of(x) & 0x7fffffff;
  if (magnitude - bits_of(0x1p-25F) > bits_of(87.0F) - bits_of(0x1p-25F) || x < -38) return expm1_special(x);
  double value = 0;
  const double z = x;
  if (magnitude < bits_of(0x1p-4F)) {
    double q = 1.0 / 362880;
    for (const double c : {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5}) {
      q = multiply_add<fused>(q, z, c);
    }
    value = multiply_add<fused>(z * z, q, z);
  } else {
    value = exponential_of_steps<fused>(z * exp_steps) - 1;
  }
  float result = 0;
  return certain_float(value, 0x1p-41, result) ? result : expm1_accurate(x);
}

}  // namespace

double exp_parts(double x, int* power) {
  *power = 0;
  if (x > -700 && x < 700) return exp(x);
  if (!(x == x)) return x;
  const double count = x * 0x1.71547652b82fep+0;
  *power = static_cast<int>(count);
  return decide<double>(exp_guard + 1,
                        [x, power](auto words) { return scaled(exp_of(from_double<words()>(x)), -*power); });
}

}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(exp, double, (double x), (x))
HEDDLE_LIBM_DEFINE(exp2, double, (double x), (x))
HEDDLE_LIBM_DEFINE(exp10, double, (double x), (x))
HEDDLE_LIBM_DEFINE(expm1, double, (double x), (x))
HEDDLE_LIBM_DEFINE(expf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(exp2f, float, (float x), (x))
HEDDLE_LIBM_DEFINE(exp10f, float, (float x), (x))
HEDDLE_LIBM_DEFINE(expm1f, float, (float x), (x))
