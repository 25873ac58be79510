// The fast path of sine, cosine and tangent.
#pragma once

#include "libm/accurate.hpp"

namespace heddle::libm {

/// x = k pi / 512 + r, |r| < 2^-8.3; k modulo 1024. `absolute` bounds r's error beside 2^-76 relative.
struct Reduced {
  std::int64_t k;
  Pair r;
};

/// For |x| < 2^13: k < 2^20.4, and its products with the two parts of 33 bits are exact; the first difference is exact
/// (Sterbenz), the second as a pair. The third part's error is below 2^-119-8, its product's rounding below 2^-107:
/// together below 2^-104 absolute.
HEDDLE_LIBM_INLINE Reduced reduce_short(double x) {
  Reduced result;
  const double count = nearest_integer(x * sine_steps, result.k);
  const double first = x - count * pi_step[0];
  const Pair second = exact_sum(first, -(count * pi_step[1]));
  result.r = fast_sum(second.high, second.low - count * pi_step[2]);
  return result;
}

/// For larger finite |x|: x / (2 pi) modulo 1 to 128 bits, from the 53 bits of x = m 2^e times 192 of 2 / pi. Bits of 2
/// / pi that only contribute whole turns are left out. The fraction of a step is right to 2^-106, so r is to 2^-113
/// absolute and, by its product with the step, to 2^-100 relative.
[[gnu::noinline]] inline Reduced reduce_long(double x) {
  const Decomposed parts = decompose(x);
  const bool negative = parts.significand < 0;
  const auto significand = static_cast<Word>(negative ? -parts.significand : parts.significand);
  const int skipped = parts.power > 2 ? parts.power - 2 : 0;
  const int first = skipped / 64;
  const int shift = skipped % 64;
  Word bits[3];
  for (int i = 0; i < 3; ++i) {
    const Word high = two_over_pi_words[31 - first - i];
    bits[i] = shift == 0 ? high : high << shift | two_over_pi_words[30 - first - i] >> (64 - shift);
  }
  const Double128 lowest = Double128{significand} * bits[2];
  const Double128 middle = Double128{significand} * bits[1] + static_cast<Word>(lowest >> 64);
  const Double128 highest = Double128{significand} * bits[0] + static_cast<Word>(middle >> 64);
  Double128 turn = highest << 64 | static_cast<Word>(middle);
  // |x| >= 2^13, so 2 - e is at most 41.
  if (parts.power < 2) turn = turn >> (2 - parts.power) | highest >> 64 << (126 + parts.power);
  const auto above = static_cast<Word>(turn >> 117 & 1);
  const auto index = static_cast<std::int64_t>(static_cast<Word>(turn >> 118) + above);
  Double128 fraction = turn << 10;
  if (above != 0) fraction = 0 - fraction;
  const double high = static_cast<double>(static_cast<std::int64_t>(fraction >> 75)) * 0x1p-53;
  const double low = static_cast<double>(static_cast<std::int64_t>(fraction >> 22 & ((Word{1} << 53) - 1))) * 0x1p-106;
  const Pair r = product<false>(fast_sum(high, low), pi_step_pair[0]);
  const bool flipped = negative != (above != 0);
  return {negative ? -index : index, flipped ? Pair{-r.high, -r.low} : r};
}

/// Sine and cosine of a row of the table, k pi / 512, with their signs.
struct Row {
  Pair sine;
  Pair cosine;
};

HEDDLE_LIBM_INLINE Row row_of(std::int64_t k) {
  const auto position = static_cast<unsigned>(k & 511);
  const unsigned row = position <= 256 ? position : 512 - position;
  const Pair s = sine_table[row];
  const Pair c = sine_table[256 - row];
  const double sign_s = (k & 512) != 0 ? -1.0 : 1.0;
  const double sign_c = position <= 256 ? sign_s : -sign_s;
  return {{s.high * sign_s, s.low * sign_s}, {c.high * sign_c, c.low * sign_c}};
}

/// cos r - 1, and sin r less the high part of r.
struct Rests {
  double cosine;
  double sine;
};

template <bool fused> HEDDLE_LIBM_INLINE Rests rests_of(Pair r) {
  const double square = r.high * r.high;
  const double q = multiply_add<fused>(square, multiply_add<fused>(square, -1.0 / 5040, 1.0 / 120), -1.0 / 6);
  return {square * multiply_add<fused>(square, multiply_add<fused>(square, -1.0 / 720, 1.0 / 24), -0.5),
          multiply_add<fused>(square * r.high, q, r.low)};
}

/// The relative error of sine() and turned() beside r's, with the rounding of a test.
inline constexpr double sine_error = 0x1.4p-67;

/// S cos r + C sin r as a pair that is not normalised, S and C of the table (or C and -S for the cosine). C r.high is
/// exact as a pair; S r^2 (1/2 - ...) < 2^-17.7 S and sums of its size have at most seven roundings, each below 2^-70.7
/// S; C r^3 (1/6 - ...) < 2^-27.6 C has smaller ones, and omitted terms are below 2^-74 S, 2^-70.6 S (r.high r.low) and
/// 2^-77 |r| C. If S is 0, the errors are those of r^3 / 6, below 2^-70 relative; otherwise S is twice |r| or more and
/// the sum S / 2 or more: the relative error is below 2^-66.7 (2^-67.7 if S is large).
template <bool fused> HEDDLE_LIBM_INLINE Pair turned(Pair s, Pair c, Pair r, Rests rests) {
  const Pair linear = exact_product<fused>(c.high, r.high);
  const Pair sum = fast_sum(s.high, linear.high);
  const double crossed = multiply_add<fused>(c.low, r.high, linear.low + s.low);
  const double rest = multiply_add<fused>(c.high, rests.sine, multiply_add<fused>(s.high, rests.cosine, crossed));
  return {sum.high, sum.low + rest};
}

/// sin(k pi / 512 + r).
template <bool fused> HEDDLE_LIBM_INLINE Pair sine(std::int64_t k, Pair r) {
  const Row row = row_of(k);
  return turned<fused>(row.sine, row.cosine, r, rests_of<fused>(r));
}

}  // namespace heddle::libm
