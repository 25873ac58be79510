// sin, cos and tan, and those of floats.
#include "libm/trigonometric.hpp"
#include "libm/functions.hpp"

namespace heddle::libm {
namespace {

template <class Real>
[[gnu::cold, gnu::noinline]] Real sine_accurate(Real x, int quarters) {
  return decide<Real>(sine_guard, [=](auto words) { return sine_of<words()>(x, quarters); });
}

template <class Real>
[[gnu::cold, gnu::noinline]] Real tangent_accurate(Real x) {
  return decide<Real>(sine_guard, [=](auto words) { return tangent_of<words()>(x); });
}

/// x, if it is the result (0, or so small that the cubic term vanishes), or not finite.
template <class Real>
[[gnu::cold, gnu::noinline]] Real odd_special(Real x) {
  if (!(x == x)) return x + x;
  if (x == infinity<Real> || x == -infinity<Real>) return invalid<Real>();
  if (x != 0 && x < std::numeric_limits<Real>::min() && x > -std::numeric_limits<Real>::min()) raise_underflow<Real>();
  return x;
}

template <class Real>
[[gnu::cold, gnu::noinline]] Real cosine_special(Real x) {
  if (!(x == x)) return x + x;
  if (x == infinity<Real> || x == -infinity<Real>) return invalid<Real>();
  return Real(1) - opaque(x == 0 ? x : std::numeric_limits<Real>::min());
}

template <bool fused>
HEDDLE_LIBM_INLINE Reduced reduce(double x) {
  return (bits_of(x) << 1 >> 1) < bits_of(0x1p13) ? reduce_short(x) : reduce_long<fused>(x);
}

/// r's absolute error 2^-104 beside the relative bound.
HEDDLE_LIBM_INLINE bool certain(Pair value, double error, double& result) {
  const double magnitude = __builtin_fabs(value.high) * error + 0x1p-104;
  result = value.high + (value.low + magnitude);
  return result == value.high + (value.low - magnitude);
}

template <bool fused>
HEDDLE_LIBM_INLINE double sin_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-26) >= bits_of(infinity<double>) - bits_of(0x1p-26)) return odd_special(x);
  const Reduced reduced = reduce<fused>(x);
  double result = 0;
  return certain(sine<fused>(reduced.k, reduced.r), 0x1p-68, result) ? result : sine_accurate(x, 0);
}

template <bool fused>
HEDDLE_LIBM_INLINE double cos_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-27) >= bits_of(infinity<double>) - bits_of(0x1p-27)) return cosine_special(x);
  const Reduced reduced = reduce<fused>(x);
  double result = 0;
  return certain(sine<fused>(reduced.k + 256, reduced.r), 0x1p-68, result) ? result : sine_accurate(x, 1);
}

/// The quotient of both: the normalised pairs have errors below 2^-69, the second quotient one of 2^-104; r's error
/// counts times 1 + q^2.
template <bool fused>
HEDDLE_LIBM_INLINE double tan_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-27) >= bits_of(infinity<double>) - bits_of(0x1p-27)) return odd_special(x);
  const Reduced reduced = reduce<fused>(x);
  const Pair s_sum = sine<fused>(reduced.k, reduced.r);
  const Pair c_sum = sine<fused>(reduced.k + 256, reduced.r);
  const Pair s = fast_sum(s_sum.high, s_sum.low);
  const Pair c = fast_sum(c_sum.high, c_sum.low);
  const double q = s.high / c.high;
  const Pair back = exact_product<fused>(q, c.high);
  const double low = ((s.high - back.high) - back.low + multiply_add<fused>(-q, c.low, s.low)) / c.high;
  const double error = __builtin_fabs(q) * 0x1p-67 + (0x1p-103 + q * q * 0x1p-103);
  const double upper = q + (low + error);
  return upper == q + (low - error) ? upper : tangent_accurate(x);
}

/// For |x| < 2^20, k < 2^27.4: the product with 25 bits is exact, r's absolute error below k 2^-87.
struct ReducedFloat {
  std::int64_t k;
  double count;
  double r;
};

HEDDLE_LIBM_INLINE ReducedFloat reduce_float(double x) {
  ReducedFloat result{};
  result.count = nearest_integer(x * sine_steps, result.k);
  result.r = (x - result.count * pi_step_short[0]) - result.count * pi_step_short[1];
  return result;
}

/// As above in doubles; relative error below 2^-48.
template <bool fused>
HEDDLE_LIBM_INLINE double sine_float(std::int64_t k, double r) {
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

template <class Real>
HEDDLE_LIBM_INLINE bool is_short(Real x) {
  return __builtin_fabs(static_cast<double>(x)) < 0x1p20;
}

[[gnu::cold, gnu::noinline]] float sinf_long(float x, int quarters) {
  const Reduced reduced = reduce_long<false>(x);
  const Pair value = sine<false>(reduced.k + 256 * quarters, reduced.r);
  const double sum = value.high + value.low;
  float result = 0;
  return certain(sum, __builtin_fabs(sum) * 0x1p-50 + 0x1p-104, result) ? result : sine_accurate(x, quarters);
}

[[gnu::cold, gnu::noinline]] float tanf_long(float x) {
  const Reduced reduced = reduce_long<false>(x);
  const Pair s = sine<false>(reduced.k, reduced.r);
  const Pair c = sine<false>(reduced.k + 256, reduced.r);
  const double q = (s.high + s.low) / (c.high + c.low);
  float result = 0;
  return certain(q, __builtin_fabs(q) * 0x1p-50 + 0x1p-103 * (1 + q * q), result) ? result : tangent_accurate(x);
}

template <bool fused, int quarters>
HEDDLE_LIBM_INLINE float sine_body(float x) {
  if (!is_short(x)) return sinf_long(x, quarters);
  const ReducedFloat reduced = reduce_float(x);
  const double value = sine_float<fused>(reduced.k + 256 * quarters, reduced.r);
  float result = 0;
  const double error = __builtin_fabs(value) * 0x1p-46 + __builtin_fabs(reduced.count) * 0x1p-86;
  return certain(value, error, result) ? result : sine_accurate(x, quarters);
}

constexpr std::uint32_t tiny_float = 0x39800000;  // 2^-12

template <bool fused>
HEDDLE_LIBM_INLINE float sinf_body(float x) {
  if ((bits_of(x) << 1 >> 1) - tiny_float >= bits_of(infinity<float>) - tiny_float) return odd_special(x);
  return sine_body<fused, 0>(x);
}

template <bool fused>
HEDDLE_LIBM_INLINE float cosf_body(float x) {
  if ((bits_of(x) << 1 >> 1) - tiny_float >= bits_of(infinity<float>) - tiny_float) return cosine_special(x);
  return sine_body<fused, 1>(x);
}

template <bool fused>
HEDDLE_LIBM_INLINE float tanf_body(float x) {
  if ((bits_of(x) << 1 >> 1) - tiny_float >= bits_of(infinity<float>) - tiny_float) return odd_special(x);
  if (!is_short(x)) return tanf_long(x);
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
