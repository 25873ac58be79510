// asin, acos, atan and atan2, and those of floats.
#include "libm/arctangent.hpp"
#include "libm/exponentials.hpp"
#include "libm/functions.hpp"

#include <utility>

namespace heddle::libm {
namespace {

/// quarters pi / 2 + the angle of (x, y) with the sign.
template <int N> Wide<N> arc(const Wide<N>& y, const Wide<N>& x, double approximation, int quarters, bool negative) {
  Wide<N> angle = angle_of(y, x, approximation);
  angle.negative = negative;
  return quarters == 0 ? angle : half_pi_of<N>() * from_integer<N>(quarters) + angle;
}

template <int N> Wide<N> other_side(const Wide<N>& x) {
  const Wide<N> one = from_integer<N>(1);
  return root((one - x) * (one + x));
}

/// The approximation is of arcsin(|x|).
template <class Real> [[gnu::cold, gnu::noinline]] Real asin_accurate(Real x, double approximation) {
  return decide<Real>(arctangent_guard, [=](auto words) {
    const Wide<words()> y = from_double<words()>(__builtin_fabs(x));
    return arc(y, other_side(y), approximation, 0, x < 0);
  });
}

/// By the angle of (|x|, sqrt(1 - x^2)) if that is smaller, and pi less that for negative x; else pi / 2 less arcsin x.
template <class Real> [[gnu::cold, gnu::noinline]] Real acos_accurate(Real x, double approximation, bool by_sine) {
  return decide<Real>(arctangent_guard + 8, [=](auto words) {
    const Wide<words()> y = from_double<words()>(__builtin_fabs(x));
    if (by_sine) return arc(y, other_side(y), approximation, 1, x > 0);
    return arc(other_side(y), y, approximation, x < 0 ? 2 : 0, x < 0);
  });
}

template <class Real> [[gnu::cold, gnu::noinline]] Real small_special(Real x) {
  if (!(x == x)) return x + x;
  if (x != 0 && x < std::numeric_limits<Real>::min() && x > -std::numeric_limits<Real>::min()) raise_underflow<Real>();
  return x;
}

template <class Real> [[gnu::cold, gnu::noinline]] Real atan_special(Real x) {
  if (x != x || (x < 1 && x > -1)) return small_special(x);
  // The rest of pi / 2 is above its double, and below its float, by 0.3 units.
  const Real right = static_cast<Real>(0x1.921fb54442d18p+0);
  return x > 0 ? right + opaque(std::numeric_limits<Real>::min()) : -right - opaque(std::numeric_limits<Real>::min());
}

template <class Real> [[gnu::cold, gnu::noinline]] Real asin_special(Real x) {
  if (x != x) return x + x;
  if (x == 1 || x == -1) return static_cast<Real>(0x1.921fb54442d18p+0) * x;
  if (x > 1 || x < -1) return invalid<Real>();
  return small_special(x);
}

template <class Real> [[gnu::cold, gnu::noinline]] Real acos_special(Real x) {
  if (!(x == x)) return x + x;
  if (x == 1) return 0;
  if (x == -1) return static_cast<Real>(0x1.921fb54442d18p+1);
  if (x > 1 || x < -1) return invalid<Real>();
  return static_cast<Real>(0x1.921fb54442d18p+0) + opaque(std::numeric_limits<Real>::min());
}

constexpr double second_error = 0x1p-67;

/// sqrt(1 - x^2) as a pair: 1 - x and 1 + x are exact, the root's error is below 2^-100.
template <bool fused> HEDDLE_LIBM_INLINE Pair side_pair(double x) {
  const Pair square = product<fused>(fast_sum(1.0, -x), fast_sum(1.0, x));
  const double y = __builtin_sqrt(square.high);
  const Pair back = exact_product<fused>(y, y);
  return {y, ((square.high - back.high) - back.low + square.low) * (0.5 / y)};
}

struct Arc {
  Pair value;
  bool by_sine;
};

/// The smaller of the angles of (x, s) and (s, x), s = sqrt(1 - x^2).
template <bool fused> HEDDLE_LIBM_INLINE Arc smaller_arc(double x) {
  const Pair s = side_pair<fused>(x);
  const bool by_sine = x <= s.high;
  const double share = number_of(by_sine);
  const Pair y = {least_of(x, s.high), (1 - share) * s.low};
  const Pair z = {largest_of(x, s.high), share * s.low};
  return {arc_of<fused>(y, z), by_sine};
}

[[gnu::noinline]] double asin_second(double x) {
  const Arc arc = smaller_arc<common>(__builtin_fabs(x));
  const Pair value = turned_angle(1 - number_of(arc.by_sine), 2 * number_of(arc.by_sine) - 1, arc.value);
  double result = 0;
  return certain_relative(value, second_error, result) ? with_sign_of(result, x) : asin_accurate(x, value.high);
}

template <bool fused> HEDDLE_LIBM_INLINE double asin_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-26) >= bits_of(1.0) - bits_of(0x1p-26)) return asin_special(x);
  const double y = from_bits(size);
  double result = 0;
  if (y > 1 - nearest_to_one) return asin_second(x);
  return certain_relative(in_row<fused>(arcsine_row(y), y, 0), quick_arc_error, result) ? with_sign_of(result, x)
                                                                                        : asin_second(x);
}

[[gnu::noinline]] double acos_second(double x) {
  const Arc arc = smaller_arc<common>(__builtin_fabs(x));
  const double share = number_of(arc.by_sine);
  const double sign = 1 - 2 * number_of(arc.by_sine != is_negative(x));
  const Pair value = turned_angle(share + (1 - share) * 2 * number_of(is_negative(x)), sign, arc.value);
  double result = 0;
  return certain_relative(value, second_error, result) ? result : acos_accurate(x, arc.value.high, arc.by_sine);
}

template <bool fused> HEDDLE_LIBM_INLINE double acos_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-60) >= bits_of(1.0) - bits_of(0x1p-60)) return acos_special(x);
  const double y = from_bits(size);
  double result = 0;
  if (y > 1 - nearest_to_one) return acos_second(x);
  const Pair arc = in_row<fused>(arcsine_row(y), y, 0);
  const bool sure = certain_relative(turned_angle(1, 2 * number_of(is_negative(x)) - 1, arc), quick_arc_error, result);
  return sure ? result : acos_second(x);
}

constexpr double right_angle = 0x1.921fb54442d18p+0;

/// arccos(1 - w), w <= 2^-6: sqrt(2 w) times a series, of which 231 w^6 / 638976 and more is omitted.
template <bool fused> HEDDLE_LIBM_INLINE double arccosine_near_one(double w) {
  double sum = 63.0 / 90112;
  for (const double c : {35.0 / 18432, 5.0 / 896, 3.0 / 160, 1.0 / 12}) sum = multiply_add<fused>(sum, w, c);
  const double root = __builtin_sqrt(2 * w);
  return multiply_add<fused>(root * w, sum, root);
}

template <bool fused> HEDDLE_LIBM_INLINE float asinf_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - bits_of(0x1p-12F) >= bits_of(1.0F) - bits_of(0x1p-12F)) return asin_special(x);
  const double y = __builtin_fabs(x);
  double value = 0;
  if (y <= 1 - nearest_to_one) {
    value = in_row_float<fused>(arcsine_row(y), y);
  } else {
    value = right_angle - arccosine_near_one<fused>(1 - y);
  }
  float result = 0;
  return certain_float(value, 0x1p-46, result) ? with_sign_of(result, x) : asin_accurate(x, value);
}

template <bool fused> HEDDLE_LIBM_INLINE float acosf_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - bits_of(0x1p-30F) >= bits_of(1.0F) - bits_of(0x1p-30F)) return acos_special(x);
  const double y = __builtin_fabs(x);
  const bool by_sine = y <= 1 - nearest_to_one;
  double arc = 0;
  double value = 0;
  if (by_sine) {
    arc = in_row_float<fused>(arcsine_row(y), y);
    value = right_angle + (2 * number_of(is_negative(x)) - 1) * arc;
  } else {
    arc = arccosine_near_one<fused>(1 - y);
    value = x < 0 ? 2 * right_angle - arc : arc;
  }
  float result = 0;
  return certain_float(value, 0x1p-46, result) ? result : acos_accurate(x, arc, by_sine);
}

/// Results for zeros, infinities and NaN; false if both are finite and not zero.
template <class Real> [[gnu::cold, gnu::noinline]] bool atan2_special(Real y, Real x, Real& result) {
  if (x != x || y != y) return result = x + y, true;
  const bool left = (bits_of(x) >> (8 * sizeof(Real) - 1)) != 0;
  const bool below = (bits_of(y) >> (8 * sizeof(Real) - 1)) != 0;
  const auto eighths = [&](double count) {
    const Real value = static_cast<Real>(count * 0x1.921fb54442d18p-2);  // 3 pi / 4 rounds as 3 times this does
    return result = below ? -value : value, true;
  };
  const bool wide = x == infinity<Real> || x == -infinity<Real>;
  const bool high = y == infinity<Real> || y == -infinity<Real>;
  if (wide && high) return eighths(left ? 6 : 2);
  if (high || (x == 0 && y != 0)) return eighths(4);
  if (wide || y == 0) return left ? eighths(8) : (result = below ? -Real(0) : Real(0), true);
  return false;
}

/// A quotient t of doubles is no tie of normal ones, and otherwise 2^-110 from them; but it may be one of subnormal
/// doubles, and the arc is then less than it by t^3 / 3: below 2^-400, t (1 - 2^-160) is taken instead, which rounds as
/// the arc does.
template <class Real> [[gnu::cold, gnu::noinline]] Real atan2_accurate(Real y, Real x) {
  const Decomposed of_y = decompose(__builtin_fabs(y));
  const Decomposed of_x = decompose(__builtin_fabs(x));
  const int difference = (of_y.power + static_cast<int>(std::bit_width(static_cast<Word>(of_y.significand)))) -
                         (of_x.power + static_cast<int>(std::bit_width(static_cast<Word>(of_x.significand))));
  const bool steep = difference > 0 || (difference == 0 && __builtin_fabs(y) > __builtin_fabs(x));
  // Scaled to powers near 0, for the approximation alone.
  const int shift_y = steep ? -difference : difference;
  const Real value = decide<Real>(arctangent_guard + 12, [=](auto words) {
    constexpr int count = words();
    Wide<count> up = from_double<count>(__builtin_fabs(y));
    Wide<count> across = from_double<count>(__builtin_fabs(x));
    if (steep) std::swap(up, across);
    Wide<count> angle;
    if (shift_y < -60) {  // t - t^3 / 3 + t^5 / 5 with t below 2^-59
      const Wide<count> t = up / across;
      const Wide<count> minus_square = -(t * t);
      angle = shift_y < -400 ? t - scaled(t, -160) : t;
      Wide<count> power = shift_y < -400 ? Wide<count>{} : t;
      for (Word k = 3; !power.zero() && power.exponent > t.exponent - 64 * count; k += 2) {
        power = power * minus_square;
        angle = angle + power / k;
      }
    } else {
      Wide<count> unit_up = up;
      Wide<count> unit_across = across;
      unit_up.exponent -= across.exponent;
      unit_across.exponent = 0;
      const double high = to_double(unit_up);
      const double wide = to_double(unit_across);
      const Pair approximate = arctangent<false>({high, 0}, {wide, 0}, high / wide);
      angle = angle_of(unit_up, unit_across, approximate.high + approximate.low);
    }
    if (steep) angle = half_pi_of<count>() - angle;
    if (x < 0) angle = scaled(half_pi_of<count>(), 1) - angle;
    angle.negative = y < 0;
    return angle;
  });
  if (value == 0) errno = ERANGE;
  return value;
}

/// Which multiple of pi / 2 the angle of a point is added to, and with what sign.
struct Octant {
  double quarters;
  double sign;
};

HEDDLE_LIBM_INLINE Octant octant_of(bool steep, bool left) {
  const double share = number_of(steep);
  return {share + (1 - share) * 2 * number_of(left), 1 - 2 * number_of(steep != left)};
}

[[gnu::noinline]] double atan2_second(double y, double x) {
  const double up = __builtin_fabs(y);
  const double across = __builtin_fabs(x);
  const double smaller = least_of(across, up);
  const double larger = largest_of(across, up);
  const Octant octant = octant_of(up > across, is_negative(x));
  const Pair arc = arctangent<common>({smaller, 0}, {larger, 0}, smaller / larger);
  double result = 0;
  const bool sure = certain_relative(turned_angle(octant.quarters, octant.sign, arc), second_error, result);
  return sure ? with_sign_of(result, y) : atan2_accurate(y, x);
}

/// Both in 2^-500 ... 2^500 and their quotient in 2^-60 ... 2^60.
template <bool fused> HEDDLE_LIBM_INLINE double angle_of_point(double y, double x) {
  const double up = __builtin_fabs(y);
  const double across = __builtin_fabs(x);
  const Octant octant = octant_of(up > across, is_negative(x));
  const Pair arc = quick_arctangent<fused>(least_of(across, up), largest_of(across, up));
  double result = 0;
  const bool sure = certain_relative(turned_angle(octant.quarters, octant.sign, arc), quick_arc_error, result);
  return sure ? with_sign_of(result, y) : atan2_second(y, x);
}

template <bool fused> HEDDLE_LIBM_INLINE double atan_body(double x) {
  const Word size = bits_of(x) << 1 >> 1;
  if (size - bits_of(0x1p-27) > bits_of(0x1p60) - bits_of(0x1p-27)) return atan_special(x);
  return angle_of_point<fused>(x, 1);
}

template <bool fused> HEDDLE_LIBM_INLINE double atan2_body(double y, double x) {
  const Word high = bits_of(y) << 1 >> 1;
  const Word wide = bits_of(x) << 1 >> 1;
  const Word low_bits = bits_of(0x1p-500);
  const Word range = bits_of(0x1p500) - low_bits;
  const auto difference = static_cast<std::int64_t>(high - wide);
  if (high - low_bits > range || wide - low_bits > range || difference > std::int64_t{60} << 52 ||
      difference < -(std::int64_t{60} << 52)) [[unlikely]] {
    double result = 0;
    return atan2_special(y, x, result) ? result : atan2_accurate(y, x);
  }
  return angle_of_point<fused>(y, x);
}

template <bool fused> HEDDLE_LIBM_INLINE float angle_of_point_float(float y, float x) {
  const double up = __builtin_fabs(static_cast<double>(y));
  const double across = __builtin_fabs(static_cast<double>(x));
  const Octant octant = octant_of(up > across, is_negative(x));
  const double ratio = least_of(across, up) / largest_of(across, up);
  const double value = octant.quarters * right_angle + octant.sign * in_row_float<fused>(arctangent_row(ratio), ratio);
  float result = 0;
  // Results that are subnormal are left to the accurate path, which knows the flags.
  if (value < 0x1p-125 || !certain_float(value, 0x1p-46, result)) return atan2_accurate(y, x);
  return with_sign_of(result, y);
}

template <bool fused> HEDDLE_LIBM_INLINE float atanf_body(float x) {
  const std::uint32_t size = bits_of(x) & 0x7fffffff;
  if (size - bits_of(0x1p-12F) > bits_of(0x1p30F) - bits_of(0x1p-12F)) return atan_special(x);
  return angle_of_point_float<fused>(x, 1);
}

template <bool fused> HEDDLE_LIBM_INLINE float atan2f_body(float y, float x) {
  const std::uint32_t high = bits_of(y) & 0x7fffffff;
  const std::uint32_t wide = bits_of(x) & 0x7fffffff;
  if (high - 1 >= bits_of(infinity<float>) - 1 || wide - 1 >= bits_of(infinity<float>) - 1) [[unlikely]] {
    float result = 0;
    if (atan2_special(y, x, result)) return result;
  }
  return angle_of_point_float<fused>(y, x);
}

}  // namespace
}  // namespace heddle::libm

HEDDLE_LIBM_DEFINE(atan, double, (double x), (x))
HEDDLE_LIBM_DEFINE(asin, double, (double x), (x))
HEDDLE_LIBM_DEFINE(acos, double, (double x), (x))
HEDDLE_LIBM_DEFINE(atan2, double, (double y, double x), (y, x))
HEDDLE_LIBM_DEFINE(atanf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(asinf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(acosf, float, (float x), (x))
HEDDLE_LIBM_DEFINE(atan2f, float, (float y, float x), (y, x))
