// sin, cos, sincos and tan, and those of floats.
#include "libm/trigonometric.hpp"

#include "libm/functions.hpp"

namespace heddle::libm {
namespace {

template <class Real> [[gnu::cold, gnu::noinline]] Real sine_accurate(Real x, int quarters) {
  return decide<Real>(sine_guard, [=](auto words) { return sine_of<words()>(x, quarters); });
}

template <class Real> [[gnu::cold, gnu::noinline]] Real tangent_accurate(Real x) {
  return decide<Real>(sine_guard, [=](auto words) { return tangent_of<words()>(x); });
}

/// x, if it is the result (0, or so small that the cubic term vanishes), or not finite.
template <class Real> [[gnu::cold, gnu::noinline]] Real odd_special(Real x) {
  if (!(x == x)) return x + x;
  if (x == infinity<Real> || x == -infinity<Real>) return invalid<Real>();
  if (x != 0 && x < std::numeric_limits<Real>::min() && x > -std::numeric_limits<Real>::min()) raise_underflow<Real>();
  return x;
}

template <class Real> [[gnu::cold, gnu::noinline]] Real cosine_special(Real x) {
  if (!(x == x)) return x + x;
  if (x == infinity<Real> || x == -infinity<Real>) return invalid<Real>();
  return Real(1) - opaque(x == 0 ? x : std::numeric_limits<Real>::min());
}

HEDDLE_LIBM_INLINE Reduced reduce(double x) {
  return (bits_of(x) << 1 >> 1) < bits_of(0x1p13) ? reduce_short(x) : reduce_long(x);
}

/// r's absolute error 2^-104 beside the relative bound.
HEDDLE_LIBM_INLINE bool certain(Pair value, double error, double& result) {
  const double magnitude = __builtin_fabs(value.high) * error + 0x1p-104;
  result = value.high + (value.low + magnitude);
  return result == value.high + (value.low - magnitude);
}

template <bool fused> HEDDLE_LIBM_INLINE double sin_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-26) >= bits_of(infinity<double>) - bits_of(0x1p-26)) return odd_special(x);
  const Reduced reduced = reduce(x);
  double result = 0;
  return certain(sine<fused>(reduced.k, reduced.r), sine_error, result) ? result : sine_accurate(x, 0);
}

template <bool fused> HEDDLE_LIBM_INLINE double cos_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-27) >= bits_of(infinity<double>) - bits_of(0x1p-27)) return cosine_special(x);
  const Reduced reduced = reduce(x);
  double result = 0;
  return certain(sine<fused>(reduced.k + 256, reduced.r), sine_error, result) ? result : sine_accurate(x, 1);
}

template <bool fused> HEDDLE_LIBM_INLINE void sincos_body(double x, double* sine, double* cosine) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-27) >= bits_of(infinity<double>) - bits_of(0x1p-27)) {
    *sine = odd_special(x);
    *cosine = cosine_special(x);
    return;
  }
  const Reduced reduced = reduce(x);
  const Row row = row_of(reduced.k);
  const Rests rests = rests_of<fused>(reduced.r.high);
  if (!certain(turned<fused>(row.sine, row.cosine, reduced.r, rests), sine_error, *sine)) *sine = sine_accurate(x, 0);
  const Pair minus_sine{-row.sine.high, -row.sine.low};
  if (!certain(turned<fused>(row.cosine, minus_sine, reduced.r, rests), sine_error, *cosine))
    *cosine = sine_accurate(x, 1);
}

/// The quotient of both, normalised, with the errors of both; r's absolute error counts times 1 + q^2.
template <bool fused> HEDDLE_LIBM_INLINE double tan_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-27) >= bits_of(infinity<double>) - bits_of(0x1p-27)) return odd_special(x);
  const Reduced reduced = reduce(x);
  const Row row = row_of(reduced.k);
  const Rests rests = rests_of<fused>(reduced.r.high);
  const Pair s_sum = turned<fused>(row.sine, row.cosine, reduced.r, rests);
  const Pair c_sum = turned<fused>(row.cosine, {-row.sine.high, -row.sine.low}, reduced.r, rests);
  const Pair s = fast_sum(s_sum.high, s_sum.low);
  const Pair c = fast_sum(c_sum.high, c_sum.low);
  const Pair value = quotient<fused>(s, c);
  const double q = value.high;
  const double error = __builtin_fabs(q) * (2 * sine_error) + (0x1p-103 + q * q * 0x1p-103);
  const double upper = q + (value.low + error);
  return upper == q + (value.low - error) ? upper : tangent_accurate(x);
}

/// For |x| < 2^20, k < 2^27.4: the product with 25 bits is exact, r's absolute error below k 2^-87.
struct ReducedFloat {
  std::int64_t k;
  double count;
  double r;
};

/// For larger |x|: x / (2 pi) modulo 1 from the 24 bits of x times 128 of 2 / pi, rounded to 2^-64 steps: that is the
/// error of a count of 2^15.
[[gnu::noinline]] inline ReducedFloat reduce_long_float(double x) {
  const Word bits = bits_of(x);
  const Word significand = (bits >> 29 & 0x7fffff) | 0x800000;
  const int power = static_cast<int>(bits >> 52 & 0x7ff) - 1023 - 23;
  const int skipped = power > 2 ? power - 2 : 0;
  const int first = skipped / 64;
  const int shift = skipped % 64;
  Word high = two_over_pi_words[31 - first];
  Word low = two_over_pi_words[30 - first];
  if (shift != 0) {
    high = high << shift | low >> (64 - shift);
    low = low << shift | two_over_pi_words[29 - first] >> (64 - shift);
  } else if (power < 2) {
    low = low >> (2 - power) | high << (62 + power);
    high >>= 2 - power;
  }
  const Double128 turn = (Double128{significand * high} << 64) + Double128{significand} * low;
  const auto fraction = static_cast<std::int64_t>(turn >> 54);
  const auto k = static_cast<std::int64_t>(static_cast<Word>(turn >> 118)) + (fraction < 0 ? 1 : 0);
  const double r = static_cast<double>(fraction) * 0x1p-64 * pi_per_step;
  return x < 0 ? ReducedFloat{-k, 0x1p15, -r} : ReducedFloat{k, 0x1p15, r};
}

HEDDLE_LIBM_INLINE ReducedFloat reduce_float(double x) {
  if (__builtin_fabs(x) >= 0x1p20) [[unlikely]]
    return reduce_long_float(x);
  ReducedFloat result{};
  result.count = nearest_integer(x * sine_steps, result.k);
  result.r = (x - result.count * pi_step_short[0]) - result.count * pi_step_short[1];
  return result;
}

/// As above in doubles; relative error below 2^-48.
template <bool fused> HEDDLE_LIBM_INLINE double sine_float(std::int64_t k, double r) {
  const auto position = static_cast<unsigned>(k & 511);
  const unsigned row = position <= 256 ? position : 512 - position;
  const double s = sine_table[row].high;
  const double c_of_first = sine_table[256 - row].high;
  const double c = position <= 256 ? c_of_first : -c_of_first;
  const double square = r * r;
  const double sine_part = multiply_add<fused>(r * square, multiply_add<fused>(square, 1.0 / 120, -1.0 / 6), r);
  const double cosine_part = square * multiply_add<fused>(square, 1.0 / 24, -0.5);
  const double value = s + multiply_add<fused>(s, cosine_part, c * sine_part);
  return (k & 512) != 0 ? -value : value;
}

HEDDLE_LIBM_INLINE bool certain(double value, double error, float& result) {
  result = static_cast<float>(value + error);
  return result == static_cast<float>(value - error);
}

template <bool fused, int quarters> HEDDLE_LIBM_INLINE float sine_body(float x) {
  const ReducedFloat reduced = reduce_float(x);
  const double value = sine_float<fused>(reduced.k + 256 * quarters, reduced.r);
  float result = 0;
  const double error = __builtin_fabs(value) * 0x1p-46 + __builtin_fabs(reduced.count) * 0x1p-86;
  return certain(value, error, result) ? result : sine_accurate(x, quarters);
}

constexpr std::uint32_t tiny_float = 0x39800000;  // 2^-12

template <bool fused> HEDDLE_LIBM_INLINE float sinf_body(float x) {
  if ((bits_of(x) << 1 >> 1) - tiny_float >= bits_of(infinity<float>) - tiny_float) return odd_special(x);
  return sine_body<fused, 0>(x);
}

template <bool fused> HEDDLE_LIBM_INLINE float cosf_body(float x) {
  if ((bits_of(x) << 1 >> 1) - tiny_float >= bits_of(infinity<float>) - tiny_float) return cosine_special(x);
  return sine_body<fused, 1>(x);
}

template <bool fused> HEDDLE_LIBM_INLINE void sincosf_body(float x, float* sine, float* cosine) {
  *sine = sinf_body<fused>(x);
  *cosine = cosf_body<fused>(x);
}

template <bool fused> HEDDLE_LIBM_INLINE float tanf_body(float x) {
  if ((bits_of(x) << 1 >> 1) - tiny_float >= bits_of(infinity<float>) - tiny_float) return odd_special(x);
  const ReducedFloat reduced = reduce_float(x);
  const double q = sine_float<fused>(reduced.k, reduced.r) / sine_float<fused>(reduced.k + 256, reduced.r);
  float result = 0;
  const double error = __builtin_fabs(q) * 0x1p-45 + __builtin_fabs(reduced.count) * (0x1p-85 + q * q * 0x1p-85);
  return certain(q, error, result) ? result : tangent_accurate(x);
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(sin, double, (double x), (x))
HEDDLE_LIBM_DEFINE(sinf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(cos, double, (double x), (x))
HEDDLE_LIBM_DEFINE(cosf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(tan, double, (double x), (x))
HEDDLE_LIBM_DEFINE(tanf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(sincos, void, (double x, double* sine, double* cosine), (x, sine, cosine))
HEDDLE_LIBM_DEFINE(sincosf, void, (float x, float* sine, float* cosine), (x, sine, cosine))
