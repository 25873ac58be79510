// The fast and accurate paths of inverse trigonometric functions: the angle of a point.
#pragma once

#include "libm/accurate.hpp"

namespace heddle::libm {

inline constexpr int arctangent_guard = 24;

/// The angle of (x, y) in the first quadrant, y > 0 and x >= 0, with an approximation t within 2^-40 relative:
/// t + arctan z, z = (y cos t - x sin t) / (x cos t + y sin t). The difference loses what z is smaller than t, no more.
template <int N> Wide<N> angle_of(const Wide<N>& y, const Wide<N>& x, double approximation) {
  const Wide<N> t = from_double<N>(approximation);
  // The series converge for angles up to pi / 2 too, with less than 8 bits lost.
  const Wide<N> s = series_of(t, true);
  const Wide<N> c = series_of(t, false);
  const Wide<N> z = (y * c - x * s) / (x * c + y * s);
  if (z.zero()) return t;
  const Wide<N> minus_square = -(z * z);
  Wide<N> sum = z;
  Wide<N> power = z;
  for (Word k = 3; !power.zero() && power.exponent > z.exponent - 64 * N; k += 2) {
    power = power * minus_square;
    sum = sum + power / k;
  }
  return t + sum;
}

template <int N> Wide<N> half_pi_of() {
  return constant<N>(half_pi_words, 1);
}

/// arctan(y / x), 0 <= y <= x (1 + 2^-8), not normalised. With c = i / 128 near y / x it is arctan c + arctan t,
/// t = (y - c x) / (x + c y), |t| < 2^-7.9: y less the high part of c x is exact (Sterbenz, as y is above c x / 2; i =
/// 0: nothing is taken away). t is within 2^-100 of x's and y's errors; t^3 (1/3 - ...) < 2^-25.4 and sums of its size
/// have at most six roundings, and t^11 / 11 is omitted. As arctan c is 0 or at least 2^-7, more than |t|, that is
/// below 2^-67.9 relative.
template <bool fused> HEDDLE_LIBM_INLINE Pair arctangent(Pair y, Pair x, double ratio) {
  const int i = static_cast<int>(ratio * 128 + 0.499);
  const double c = i * 0x1p-7;
  const Pair taken = exact_product<fused>(c, x.high);
  const Pair numerator = exact_sum(y.high - taken.high, multiply_add<fused>(-c, x.low, y.low) - taken.low);
  const Pair added = exact_product<fused>(c, y.high);
  const Pair sum = fast_sum(x.high, added.high);
  const Pair denominator = fast_sum(sum.high, sum.low + (added.low + multiply_add<fused>(c, y.low, x.low)));
  const Pair t = quotient<fused>(numerator, denominator);
  const double square = t.high * t.high;
  const double q = multiply_add<fused>(
      square, multiply_add<fused>(square, multiply_add<fused>(square, 1.0 / 9, -1.0 / 7), 1.0 / 5), -1.0 / 3);
  const Pair value = atan_table[i];
  const Pair angle = fast_sum(value.high, t.high);
  return {angle.high, angle.low + (value.low + multiply_add<fused>(square * t.high, q, t.low))};
}

/// An interval of arcsine or arctangent: the function at x is value + slope d + c[0] d^2 + ... + c[7] d^9, d = x -
/// centre.
struct ArcRow {
  double centre;
  Pair value;
  Pair slope;
  double c[8];
};

#include "libm/tables/arcs.inc"

/// c[0] + ... + c[7] d^7.
template <bool fused> HEDDLE_LIBM_INLINE double tail_of(const ArcRow& row, double d, double square) {
  double sum = multiply_add<fused>(row.c[7], d, row.c[6]);
  for (int i = 4; i >= 0; i -= 2)
    sum = multiply_add<fused>(square, sum, multiply_add<fused>(row.c[i + 1], d, row.c[i]));
  return sum;
}

/// The function of a row at x, and `added`, not normalised. d is exact (Sterbenz, or the centre is 0), d slope.high
/// exact as a pair. c[0] d^2 and the rest, below 2^-10.5 of the result, have seven roundings, that of a test among
/// them, and the polynomial is within 2^-64.7: the relative error is below 2^-60.6, and 2^-61.2 for arctangents without
/// a test.
template <bool fused> HEDDLE_LIBM_INLINE Pair in_row(const ArcRow& row, double x, double added) {
  const double d = x - row.centre;
  const double square = d * d;
  const Pair linear = exact_product<fused>(d, row.slope.high);
  const double tail = tail_of<fused>(row, d, square);
  const double small = multiply_add<fused>(d, row.slope.low, (linear.low + row.value.low) + added);
  const Pair sum = fast_sum(row.value.high, linear.high);
  return {sum.high, sum.low + multiply_add<fused>(square, tail, small)};
}

/// The same in doubles: relative error below 2^-50, and 2^-47 of pi / 2 - arcsin x.
template <bool fused> HEDDLE_LIBM_INLINE double in_row_float(const ArcRow& row, double x) {
  const double d = x - row.centre;
  const double square = d * d;
  const double tail = tail_of<fused>(row, d, square);
  return row.value.high + multiply_add<fused>(square, tail, d * row.slope.high);
}

/// The relative error of in_row() with two more sums.
inline constexpr double quick_arc_error = 0x1p-60;

/// The row of arctan x, 0 < x <= 1. From half of the first centre on, d would not be exact just below it; so 0.499.
HEDDLE_LIBM_INLINE const ArcRow& arctangent_row(double x) {
  return arctangent_rows[static_cast<int>(x * 32 + 0.499)];
}

/// arctan(y / x), 0 < y <= x, within in_row()'s error. The quotient's error is below 2^-100; its low part counts times
/// the slope at the high one, within 2^-12.
template <bool fused> HEDDLE_LIBM_INLINE Pair quick_arctangent(double y, double x) {
  const Pair ratio = quotient<fused>({y, 0}, {x, 0});
  const ArcRow& row = arctangent_row(ratio.high);
  const double slope = multiply_add<fused>(2 * (ratio.high - row.centre), row.c[0], row.slope.high);
  return in_row<fused>(row, ratio.high, ratio.low * slope);
}

/// The least distance from 1 in the table of arcsines.
inline constexpr double nearest_to_one = 0x1p-6;

/// The row of arcsin y for 0 < y <= 1 - 2^-6: that of 1 - y rounded to five bits. The error is relative to
/// pi / 2 +- arcsin y, too.
HEDDLE_LIBM_INLINE const ArcRow& arcsine_row(double y) {
  return arcsine_rows[(bits_of(1 - y) + (Word{1} << 47) - bits_of(nearest_to_one)) >> 48];
}

/// arcsin y in steps of pi / 512, within 0.54, for y < 0.7072.
template <bool fused> HEDDLE_LIBM_INLINE int rough_steps(double y) {
  const double square = y * y;
  const double ratio =
      multiply_add<fused>(square * square, multiply_add<fused>(square, rough_arcsine[3], rough_arcsine[2]),
                          multiply_add<fused>(square, rough_arcsine[1], rough_arcsine[0]));
  return static_cast<int>(multiply_add<fused>(y * sine_steps, ratio, 0.5));
}

/// The angle of (z, y), z^2 + y^2 = 1, 0 <= y <= z (1 + 2^-50), not normalised: with i near its number of steps of
/// pi / 512 it is i pi / 512 + arcsin t, t = y cos(i pi / 512) - z sin(i pi / 512), |t| < 2^-8.2. The products are
/// exact as pairs, so t is within 2^-103 absolute (for i = 0 it is y); t^3 (1/6 + ...) < 2^-27.2 and sums of its size
/// have at most six roundings, and 35 t^9 / 1152 is omitted. i pi / 512 is 0 or at least 2^-7.4: the relative error is
/// below 2^-69.
template <bool fused> HEDDLE_LIBM_INLINE Pair arc_of(Pair y, Pair z) {
  const int i = rough_steps<fused>(y.high);
  const Pair s = sine_table[i];
  const Pair c = sine_table[256 - i];
  const Pair up = exact_product<fused>(y.high, c.high);
  const Pair down = exact_product<fused>(z.high, s.high);
  const Pair difference = exact_sum(up.high, -down.high);
  const double up_low = multiply_add<fused>(y.high, c.low, multiply_add<fused>(y.low, c.high, up.low));
  const double down_low = multiply_add<fused>(z.high, s.low, multiply_add<fused>(z.low, s.high, down.low));
  const Pair t = fast_sum(difference.high, difference.low + (up_low - down_low));
  const double square = t.high * t.high;
  const double q = multiply_add<fused>(square, multiply_add<fused>(square, 5.0 / 112, 3.0 / 40), 1.0 / 6);
  const Pair steps = fast_sum(i * pi_step[0], i * pi_step[1]);
  const Pair angle = fast_sum(steps.high, t.high);
  return {angle.high, angle.low + (multiply_add<fused>(square * t.high, q, t.low) + (steps.low + i * pi_step[2]))};
}

/// quarters pi / 2 + sign angle, whose sum is not below 2^-9.
HEDDLE_LIBM_INLINE Pair turned_angle(double quarters, double sign, Pair angle) {
  const Pair sum = fast_sum(quarters * half_pi[0].high, sign * angle.high);
  return {sum.high, sum.low + (quarters * half_pi[0].low + sign * angle.low)};
}

}  // namespace heddle::libm
