// The accurate paths: functions of numbers of N words, with the bound of their error, repeated until rounding is
// decided.
#pragma once

#include "libm/pair.hpp"
#include "libm/wide.hpp"

#include <type_traits>

namespace heddle::libm {

#include "libm/tables/tables.inc"

/// The highest N words of a table, which holds x 2^-power.
template <int N, int count> Wide<N> constant(const Word (&words)[count], int power) {
  Wide<N> x;
  static_assert(N <= count);
  for (int i = 0; i < N; ++i) x.word[i] = words[count - N + i];
  x.exponent = power;
  return x;
}

/// Error bounds below are those of results, relative, as powers of two less 64 N: a guard of 24 means 2^(24 - 64 N).
inline constexpr int exp_guard = 24;
inline constexpr int log_guard = 40;
inline constexpr int sine_guard = 12;

/// exp x for |x| < 2^12. x less a multiple of log 2 has an absolute error of 2^(13 - 64 N) at most; the sum of up to 64
/// terms of the series one of 2^(8 - 64 N), which eight squarings multiply by 2^8 and add 2^10 to.
template <int N> Wide<N> exp_of(const Wide<N>& x) {
  if (x.zero() || x.exponent < -64 * N) return from_integer<N>(1);
  const double approximate = x.exponent < -1000 ? 0.0 : to_double(x);
  const auto count = static_cast<std::int64_t>(approximate * 0x1.71547652b82fep+0 + (approximate < 0 ? -0.5 : 0.5));
  const Wide<N> rest = scaled(x - constant<N>(log_two_words, 0) * from_integer<N>(count), -8);
  Wide<N> sum = from_integer<N>(1);
  Wide<N> term = sum;
  for (Word k = 1; !term.zero() && term.exponent > -64 * N; ++k) {
    term = term * rest / k;
    sum = sum + term;
  }
  for (int i = 0; i < 8; ++i) sum = sum * sum;
  return scaled(sum, count);
}

/// exp x - 1, relative to itself also for small x: guard 36.
template <int N> Wide<N> expm1_of(const Wide<N>& x) {
  if (x.zero() || x.exponent > -10) return exp_of(x) - from_integer<N>(1);
  Wide<N> sum = x;
  Wide<N> term = x;
  for (Word k = 2; !term.zero() && term.exponent > x.exponent - 64 * N; ++k) {
    term = term * x / k;
    sum = sum + term;
  }
  return sum;
}

/// log x for x > 0 with an approximation, whose error is below 2^-40: approximation + log(1 + z). |log x| >= 2^-11
/// there, and z has an absolute error of 2^(26 - 64 N). Near 1 the series of 2 artanh((x - 1) / (x + 1)); x is exact
/// then or has the relative error, as x - 1 is.
template <int N> Wide<N> log_of(const Wide<N>& x, double approximation) {
  const Wide<N> one = from_integer<N>(1);
  const Wide<N> less_one = x - one;
  if (less_one.zero()) return less_one;
  if (less_one.exponent < -10) {
    const Wide<N> t = less_one / (x + one);
    const Wide<N> square = t * t;
    Wide<N> sum = t;
    Wide<N> power = t;
    for (Word k = 3; !power.zero() && power.exponent > t.exponent - 64 * N; k += 2) {
      power = power * square;
      sum = sum + power / k;
    }
    return scaled(sum, 1);
  }
  const Wide<N> start = from_double<N>(approximation);
  const Wide<N> z = x * exp_of(-start) - one;
  Wide<N> sum = z;
  Wide<N> power = z;
  for (Word k = 2; !power.zero() && power.exponent > -64 * N; ++k) {
    power = -(power * z);
    sum = sum + power / k;
  }
  return start + sum;
}

/// x = quadrant pi / 2 + rest, |rest| <= pi / 4, for any finite double by bits of 2 / pi (Payne and Hanek). The
/// fraction has an absolute error below 2^(55 - 64 (N + 2)), and no double is nearer than 2^-62 to a multiple of pi /
/// 2, relative to pi / 2 (Muller's Handbook, 11.2): the rest's relative error is below 2^(3 - 64 N).
template <int N> Wide<N> reduced(double x, int& quadrant) {
  quadrant = 0;
  if (x < 0.78 && x > -0.78) return from_double<N>(x);
  const Decomposed parts = decompose(x);
  const auto significand = static_cast<Word>(parts.significand < 0 ? -parts.significand : parts.significand);
  const int first = parts.power > 2 ? (parts.power - 2) / 64 : 0;  // word of 2 / pi, from the highest
  constexpr int length = N + 3;
  Word whole[length + 1];
  Word carry = 0;
  for (int i = 0; i < length; ++i) {
    const Double128 sum = Double128{two_over_pi_words[31 - first - (length - 1 - i)]} * significand + carry;
    whole[i] = static_cast<Word>(sum);
    carry = static_cast<Word>(sum >> 64);
  }
  whole[length] = carry;
  const int point = 64 * (first + length) - parts.power;  // this bit has weight 1
  const auto bit = [&](int i) { return i >= 64 * (length + 1) ? 0 : static_cast<int>(whole[i / 64] >> (i % 64) & 1); };
  quadrant = bit(point) + 2 * bit(point + 1);
  const bool above = bit(point - 1) != 0;
  Wide<N + 3> fraction;
  // Bits below the point, and their complement if they are more than half.
  Word shifted[length + 1] = {};
  const int up = 64 * (length + 1) - point;
  for (int i = length; i >= 0; --i) {
    const int from = i - up / 64;
    const Word low = from >= 0 ? whole[from] : 0;
    const Word below = from >= 1 ? whole[from - 1] : 0;
    shifted[i] = up % 64 == 0 ? low : low << (up % 64) | below >> (64 - up % 64);
    if (above) shifted[i] = ~shifted[i];
  }
  for (int i = 0; i < length; ++i) fraction.word[i] = shifted[i + 1];
  normalise(fraction);
  Wide<N> rest;
  for (int i = 0; i < N; ++i) rest.word[i] = fraction.word[i + 3];
  rest.exponent = fraction.exponent;
  rest.negative = above != (x < 0);
  if (above) ++quadrant;
  quadrant = (x < 0 ? -quadrant : quadrant) & 3;
  return rest * constant<N>(half_pi_words, 1);
}

/// sin x (`odd`) or cos x for |x| < 0.8 by their series: at most 64 terms that fall.
template <int N> Wide<N> series_of(const Wide<N>& x, bool odd) {
  Wide<N> sum = odd ? x : from_integer<N>(1);
  if (x.zero()) return sum;
  const Wide<N> minus_square = -(x * x);
  Wide<N> term = sum;
  const std::int64_t end = sum.exponent - 64 * N;
  for (Word k = odd ? 2 : 1; !term.zero() && term.exponent > end; k += 2) {
    term = term * minus_square / (k * (k + 1));
    sum = sum + term;
  }
  return sum;
}

/// sin(x + quarters pi / 2).
template <int N> Wide<N> sine_of(double x, int quarters) {
  int quadrant = 0;
  const Wide<N> rest = reduced<N>(x, quadrant);
  quadrant = (quadrant + quarters) & 3;
  Wide<N> y = series_of(rest, quadrant % 2 == 0);
  if (quadrant >= 2) y = -y;
  return y;
}

template <int N> Wide<N> tangent_of(double x) {
  int quadrant = 0;
  const Wide<N> rest = reduced<N>(x, quadrant);
  const Wide<N> s = series_of(rest, true);
  const Wide<N> c = series_of(rest, false);
  return quadrant % 2 == 0 ? s / c : -(c / s);
}

/// Round what `compute` returns for 3, 6 and 12 words, the first that decides. No result of these functions that is not
/// found algebraically lies as near to a tie as 2^-600 (of double functions of one argument none within 2^-120 is
/// known).
template <class Real, class Compute> [[gnu::noinline, gnu::cold]] Real decide(int guard, const Compute& compute) {
  Rounded<Real> result = rounded<Real>(compute(std::integral_constant<int, 3>{}), guard);
  if (!result.decided) result = rounded<Real>(compute(std::integral_constant<int, 6>{}), guard);
  if (!result.decided) result = rounded<Real>(compute(std::integral_constant<int, 12>{}), guard);
  if (result.inexact_tiny) raise_underflow<Real>();
  return result.value;
}

}  // namespace heddle::libm
