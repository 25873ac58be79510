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
HEDDLE_LIBM_INLINE bool certain_sine(Pair value, double& result) {
  return certain(value, __builtin_fabs(value.high) * sine_error + 0x1p-104, result);
}

template <bool fused> HEDDLE_LIBM_INLINE double sin_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-26) >= bits_of(infinity<double>) - bits_of(0x1p-26)) return odd_special(x);
  const Reduced reduced = reduce(x);
  double result = 0;
  return certain_sine(sine<fused>(reduced.k, reduced.r), result) ? result : sine_accurate(x, 0);
}

template <bool fused> HEDDLE_LIBM_INLINE double cos_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-27) >= bits_of(infinity<double>) - bits_of(0x1p-27)) return cosine_special(x);
  const Reduced reduced = reduce(x);
  double result = 0;
  return certain_sine(sine<fused>(reduced.k + 256, reduced.r), result) ? result : sine_accurate(x, 1);
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
  const Rests rests = rests_of<fused>(reduced.r);
  if (!certain_sine(turned<fused>(row.sine, row.cosine, reduced.r, rests), *sine)) *sine = sine_accurate(x, 0);
  const Pair minus_sine{-row.sine.high, -row.sine.low};
  if (!certain_sine(turned<fused>(row.cosine, minus_sine, reduced.r, rests), *cosine)) *cosine = sine_accurate(x, 1);
}

/// The quotient of both, with the errors of both; r's absolute error counts times 1 + q^2. The low part of the sine,
/// below 2^-16.7 of it, stays apart: four roundings of its size are below 2^-67.7. Beyond 256 rows it is that of the
/// angle's rest to pi, negated.
template <bool fused> HEDDLE_LIBM_INLINE double tan_body(double x) {
  const Word magnitude = bits_of(x) << 1 >> 1;
  if (magnitude - bits_of(0x1p-27) >= bits_of(infinity<double>) - bits_of(0x1p-27)) return odd_special(x);
  const Reduced reduced = reduce(x);
  const auto position = static_cast<unsigned>(reduced.k & 511);
  const double sign = position <= 256 ? 1.0 : -1.0;
  const unsigned row = position <= 256 ? position : 512 - position;
  const Pair r = {sign * reduced.r.high, sign * reduced.r.low};
  const Pair sine = sine_table[row];
  const Pair cosine = sine_table[256 - row];
  const Rests rests = rests_of<fused>(r);
  const Pair s = turned<fused>(sine, cosine, r, rests);
  const Pair c = turned<fused>(cosine, {-sine.high, -sine.low}, r, rests);
  const Pair value = quotient<fused>(s, fast_sum(c.high, c.low));
  const double q = value.high;
  const double error = __builtin_fabs(q) * (2.25 * sine_error) + (0x1p-103 + q * q * 0x1p-103);
  const double upper = q + (value.low + error);
  return upper == q + (value.low - error) ? sign * upper : tangent_accurate(x);
}

/// x = k pi / 128 + r, |r| < 2^-6.3; k modulo 256. r's absolute error is below 2^-59.
struct ReducedFloat {
  std::int64_t k;
  double r;
};

/// The 128 bits of 2 / pi from 2^(7 - 8 i) down.
struct TwoOverPi {
  Word bits[14][2];
};
constexpr TwoOverPi two_over_pi_by_bytes = [] {
  TwoOverPi table{};
  for (int i = 0; i < 14; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int skipped = 64 * j + 8 * i - 8;
      const int word = 31 - skipped / 64;
      const int shift = skipped % 64;
      table.bits[i][j] = skipped < 0  ? two_over_pi_words[31] >> 8
                         : shift == 0 ? two_over_pi_words[word]
                                      : two_over_pi_words[word] << shift | two_over_pi_words[word - 1] >> (64 - shift);
    }
  }
  return table;
}();

/// For |x| >= 2^20: x / (2 pi) modulo 1 from the 24 bits of x, shifted by up to 7, times 128 of 2 / pi, within 2^-64.
HEDDLE_LIBM_INLINE ReducedFloat reduce_long_float(float x) {
  const std::uint32_t bits = bits_of(x);
  // x = significand 2^(power - 6): bits of 2 / pi from 2^(9 - power) up only contribute whole turns.
  const std::uint32_t power = (bits >> 23 & 0xff) - 127 - 23 + 6;
  const Word significand = Word{(bits & 0x7fffff) | 0x800000} << (power & 7);
  const Word(&part)[2] = two_over_pi_by_bytes.bits[power >> 3];
  const Word turn = significand * part[0] + static_cast<Word>(Double128{significand} * part[1] >> 64);
  const auto k = static_cast<std::int64_t>((turn + (Word{1} << 55)) >> 56);
  const double r = static_cast<double>(static_cast<std::int64_t>(turn << 8)) * (0x1p-62 * pi_per_step);
  return x < 0 ? ReducedFloat{-k, -r} : ReducedFloat{k, r};
}

/// For smaller |x|, k < 2^25.4: the product with 25 bits is exact, and that with the rest rounds by k 2^-85.
template <bool fused> HEDDLE_LIBM_INLINE ReducedFloat reduce_float(float x) {
  if ((bits_of(x) & 0x7fffffff) >= bits_of(0x1p20F)) [[unlikely]]
    return reduce_long_float(x);
  ReducedFloat result{};
  const double z = x;
  const double count = nearest_integer(z * (sine_steps / 4), result.k);
  result.r = multiply_add<fused>(-count, 4 * pi_step_short[1], multiply_add<fused>(-count, 4 * pi_step_short[0], z));
  return result;
}

/// sin(k pi / 128) for k = 0 ... 319.
struct Circle {
  double sine[320];
};
constexpr Circle circle = [] {
  Circle table{};
  for (int k = 0; k < 320; ++k) {
    const int row = k % 128 <= 64 ? k % 128 : 128 - k % 128;
    table.sine[k] = (k / 128 == 1 ? -1 : 1) * sine_table[4 * row].high;
  }
  return table;
}();

/// As above in doubles; relative error below 2^-48.
template <bool fused> HEDDLE_LIBM_INLINE double sine_float(std::int64_t k, double r) {
  const double s = circle.sine[k & 255];
  const double c = circle.sine[(k & 255) + 64];
  const double square = r * r;
  const double sine_part = multiply_add<fused>(r * square, multiply_add<fused>(square, 1.0 / 120, -1.0 / 6), r);
  const double cosine_part =
      square * multiply_add<fused>(square, multiply_add<fused>(square, -1.0 / 720, 1.0 / 24), -0.5);
  return s + multiply_add<fused>(s, cosine_part, c * sine_part);
}

template <bool fused, int quarters> HEDDLE_LIBM_INLINE float sine_body(float x) {
  const ReducedFloat reduced = reduce_float<fused>(x);
  const double value = sine_float<fused>(reduced.k + 64 * quarters, reduced.r);
  float result = 0;
  const double error = multiply_add<fused>(__builtin_fabs(value), 0x1p-46, 0x1p-58);
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
  const ReducedFloat reduced = reduce_float<fused>(x);
  const double q = sine_float<fused>(reduced.k, reduced.r) / sine_float<fused>(reduced.k + 64, reduced.r);
  float result = 0;
  const double error = __builtin_fabs(q) * 0x1p-45 + (0x1p-57 + q * q * 0x1p-57);
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
