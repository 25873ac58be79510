// cbrt and cbrtf.
#include "libm/accurate.hpp"
#include "libm/functions.hpp"

namespace heddle::libm {
namespace {

/// x = m 2^(3 power) 2^third, 1 <= m < 2.
struct Cube {
  double m;      // times 2^third
  double first;  // within 2^-40
  int power;
};

/// A polynomial within 2^-13.5, and Halley's iteration, whose relative error is 2/3 of the cube of the former.
template <bool fused> HEDDLE_LIBM_INLINE Cube first_root(double x) {
  Word bits = bits_of(x) << 1 >> 1;
  int power = static_cast<int>(bits >> 52);
  if (power == 0) [[unlikely]] {
    bits = bits_of(from_bits(bits) * 0x1p54);
    power = static_cast<int>(bits >> 52) - 54;
  }
  power += 3 * 1024 - 1023;
  const int third = power % 3;
  const double m = from_bits((bits & ((Word{1} << 52) - 1)) | bits_of(1.0));
  const double square = m * m;
  const double polynomial = (cbrt_polynomial[0] + cbrt_polynomial[1] * m) +
                            square * ((cbrt_polynomial[2] + cbrt_polynomial[3] * m) + square * cbrt_polynomial[4]);
  const double y = polynomial * cbrt_scale[third];
  const double scaled = m * static_cast<double>(1 << third);
  const double cube = y * y * y;
  return {scaled, y - y * (cube - scaled) / (2 * cube + scaled), power / 3 - 1024};
}

/// The root of m near y decided by the sign of m - t^3, t the tie nearest to the pair: t has 54 bits, so t^3 is exact.
[[gnu::cold, gnu::noinline]] double decided_root(double m, double high, double low) {
  const Pair near = fast_sum(high, low);
  const double other = from_bits(bits_of(near.high) + (near.low > 0 ? 1 : ~Word{0}));
  const Wide<3> tie = scaled(from_double<3>(near.high) + from_double<3>(other), -1);
  const bool above = smaller(tie * tie * tie, from_double<3>(m));
  return above == (other > near.high) ? other : near.high;
}

/// y + (m - y^3) / (3 y^2): y^3 as a pair is within 2^-100, Newton's error is below 2^-80.
template <bool fused> HEDDLE_LIBM_INLINE Pair second_root(const Cube& x) {
  const double y = x.first;
  const Pair square = exact_product<fused>(y, y);
  const Pair cube = exact_product<fused>(square.high, y);
  const double rest = (x.m - cube.high) - multiply_add<fused>(square.low, y, cube.low);
  return {y, rest / (3 * square.high)};
}

template <class Real> [[gnu::cold, gnu::noinline]] Real cbrt_special(Real x) {
  return x + x;
}

HEDDLE_LIBM_INLINE double with_sign(double y, int power, double x) {
  return from_bits((bits_of(y) + (static_cast<Word>(static_cast<std::int64_t>(power)) << 52)) | bits_of(x) >> 63 << 63);
}

template <bool fused> HEDDLE_LIBM_INLINE double cbrt_body(double x) {
  if ((bits_of(x) << 1) - 1 >= (bits_of(infinity<double>) << 1) - 1) [[unlikely]]
    return cbrt_special(x);
  const Cube parts = first_root<fused>(x);
  const Pair y = second_root<fused>(parts);
  double result = y.high + (y.low + 0x1p-78);
  if (result != y.high + (y.low - 0x1p-78)) [[unlikely]]
    result = decided_root(parts.m, y.high, y.low);
  return with_sign(result, parts.power, x);
}

template <bool fused> HEDDLE_LIBM_INLINE float cbrtf_body(float x) {
  if ((bits_of(x) << 1) - 1 >= (bits_of(infinity<float>) << 1) - 1) [[unlikely]]
    return cbrt_special(x);
  const Cube parts = first_root<fused>(static_cast<double>(x));
  double y = parts.first;
  if (static_cast<float>(y + 0x1p-37) != static_cast<float>(y - 0x1p-37)) [[unlikely]] {
    // A root of a float is exact or farther from a tie than 2^-78.
    const Pair second = second_root<fused>(parts);
    const Pair sum = fast_sum(second.high, second.low);
    y = sum.high;
    // Round to odd, so that the second rounding is right.
    if (sum.low != 0 && (bits_of(y) & 1) == 0) y = from_bits(bits_of(y) + (sum.low > 0 ? 1 : ~Word{0}));
  }
  return static_cast<float>(with_sign(y, parts.power, static_cast<double>(x)));
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(cbrt, double, (double x), (x))
HEDDLE_LIBM_DEFINE(cbrtf, float, (float x), (x))
