// hypot and hypotf.
#include "libm/exponentials.hpp"
#include "libm/functions.hpp"

#include <initializer_list>
#include <utility>

namespace heddle::libm {
namespace {

/// Infinities come before NaN, unless that is a signalling one.
template <class Real> [[gnu::cold, gnu::noinline]] Real hypot_special(Real x, Real y) {
  using Bits = decltype(bits_of(x));
  constexpr Bits quiet = Bits{1} << (std::numeric_limits<Real>::digits - 2);
  for (const Real z : {x, y}) {
    if (z != z && (bits_of(z) & quiet) == 0) return x + y;
  }
  for (const Real z : {x, y}) {
    if (z == infinity<Real> || z == -infinity<Real>) return infinity<Real>;
  }
  return x + y;
}

/// For subnormal x, in units of the least one: X^2 + Y^2 is never the square of a half, and n is right if it lies
/// between n^2 - n and n^2 + n.
[[gnu::cold, gnu::noinline]] double subnormal_hypot(double x, double y) {
  const Double128 u = bits_of(x);
  const Double128 v = bits_of(y);
  const Double128 square = u * u + v * v;
  auto n = static_cast<Double128>(__builtin_sqrt(static_cast<double>(square)));
  while (square > n * n + n) ++n;
  while (square <= n * n - n) --n;
  if (square != n * n && n < Double128{1} << 52) raise_underflow<double>();
  return from_bits(static_cast<Word>(n));
}

/// high or its neighbour, by the square of the tie between them: at most 2 (53 + 60) bits, exact in 384.
[[gnu::cold, gnu::noinline]] double decided_length(double x, double y, double high, double low) {
  const Pair near = fast_sum(high, low);
  const double other = from_bits(bits_of(near.high) + (near.low > 0 ? 1 : ~Word{0}));
  const Wide<6> tie = scaled(from_double<6>(near.high) + from_double<6>(other), -1);
  const Wide<6> square = from_double<6>(x) * from_double<6>(x) + from_double<6>(y) * from_double<6>(y);
  const Wide<6> of_tie = tie * tie;
  const bool above = smaller(of_tie, square);
  if (!above && !smaller(square, of_tie)) return (bits_of(other) & 1) == 0 ? other : near.high;
  return above == (other > near.high) ? other : near.high;
}

/// x >= y > 0 with x / y below 2^60, scaled so that squares are normal: x^2 + y^2 as a pair is within 2^-103, its root
/// by Newton's step from the double within 2^-102.
template <bool fused> HEDDLE_LIBM_INLINE double length(double x, double y) {
  const Pair x_square = exact_product<fused>(x, x);
  const Pair y_square = exact_product<fused>(y, y);
  const Pair sum = fast_sum(x_square.high, y_square.high);
  const double root = __builtin_sqrt(sum.high);
  const Pair back = exact_product<fused>(root, root);
  const double low = ((sum.high - back.high) - back.low + (sum.low + (x_square.low + y_square.low))) / (2 * root);
  const double error = root * 0x1p-100;
  const double upper = root + (low + error);
  return upper == root + (low - error) ? upper : decided_length(x, y, root, low);
}

template <bool fused> HEDDLE_LIBM_INLINE double hypot_body(double x, double y) {
  Word large = bits_of(x) << 1 >> 1;
  Word small = bits_of(y) << 1 >> 1;
  if (large < small) std::swap(large, small);
  if (large >= bits_of(infinity<double>)) [[unlikely]]
    return hypot_special(x, y);
  const double u = from_bits(large);
  const double v = from_bits(small);
  if (small == 0) [[unlikely]]
    return u;
  if (large - small >= Word{60} << 52) [[unlikely]]
    return u + v;  // v is below a quarter of u's last place
  if (large - bits_of(0x1p-400) > bits_of(0x1p500) - bits_of(0x1p-400)) [[unlikely]] {
    if (large < bits_of(0x1p-1022)) return subnormal_hypot(u, v);
    const bool huge = u > 1;
    const double scale = huge ? 0x1p-600 : 0x1p600;
    const double scaled_length = length<fused>(u * scale, v * scale);
    if (scaled_length >= 0x1p424) return overflow<double>(false);
    return scaled_length * (huge ? 0x1p600 : 0x1p-600);
  }
  return length<fused>(u, v);
}

/// The tie between neighbours, and whether the root is above it, by differences that are exact.
[[gnu::cold, gnu::noinline]] float decided_length_float(double x, double y, float lower, float upper) {
  const double tie =
      upper == infinity<float> ? 0x1.ffffffp+127 : 0.5 * (static_cast<double>(lower) + static_cast<double>(upper));
  const Pair square = exact_sum(x * x, y * y);
  const double above = (square.high - tie * tie) + square.low;
  const float result = above > 0 ? upper : above < 0 ? lower : static_cast<float>(tie);
  return result == infinity<float> ? overflow<float>(false) : result;
}

/// Squares of floats are exact doubles.
template <bool fused> HEDDLE_LIBM_INLINE float hypotf_body(float x, float y) {
  const std::uint32_t x_bits = bits_of(x) & 0x7fffffff;
  const std::uint32_t y_bits = bits_of(y) & 0x7fffffff;
  if ((x_bits > y_bits ? x_bits : y_bits) >= bits_of(infinity<float>)) [[unlikely]]
    return hypot_special(x, y);
  const double u = x;
  const double v = y;
  const double root = __builtin_sqrt(multiply_add<fused>(u, u, v * v));
  // Subnormal lengths are roots of integers below 2^47, in units of the least float: exact, or 2^-25 units from ties.
  if (root < 0x1p-126) [[unlikely]]
    return static_cast<float>(root);
  const float lower = static_cast<float>(root * (1 - 0x1p-50));
  const float upper = static_cast<float>(root * (1 + 0x1p-50));
  if (lower != upper) return decided_length_float(u, v, lower, upper);
  return upper == infinity<float> ? overflow<float>(false) : upper;
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(hypot, double, (double x, double y), (x, y))
HEDDLE_LIBM_DEFINE(hypotf, float, (float x, float y), (x, y))
