// Tables of the error and gamma functions, and what both evaluate them by.
#pragma once

#include "libm/accurate.hpp"

namespace heddle::libm {

/// A polynomial of degree 10: three coefficients as pairs, and the rest.
struct Polynomial {
  Pair first[3];
  double rest[8];
};

/// A positive number of 768 bits.
struct Constant {
  int exponent;
  Word word[12];
};

#include "libm/tables/special_tables.inc"

/// The polynomial at r. Sums and products of the first three terms are exact as pairs but for 2^-104 of the value (each
/// is larger than what is added, which the table's script asserts); r c_3 + ... has at most three roundings that count,
/// so the error is below 2^-51.4 r^3 c_3, and the polynomial's own is asserted by the script.
template <bool fused> HEDDLE_LIBM_INLINE Pair value_of(const Polynomial& row, double r) {
  const double* c = row.rest;
  const double square = r * r;
  const double upper =
      multiply_add<fused>(square, multiply_add<fused>(r, c[7], c[6]), multiply_add<fused>(r, c[5], c[4]));
  const double lower =
      multiply_add<fused>(square, multiply_add<fused>(r, c[3], c[2]), multiply_add<fused>(r, c[1], c[0]));
  const double rest = r * multiply_add<fused>(square * square, upper, lower);
  Pair sum = fast_sum(row.first[2].high, rest);
  sum.low += row.first[2].low;
  for (int i = 1; i >= 0; --i) {
    const Pair linear = exact_product<fused>(sum.high, r);
    const double low = multiply_add<fused>(sum.low, r, linear.low);
    sum = fast_sum(row.first[i].high, linear.high);
    sum.low += row.first[i].low + low;
  }
  return sum;
}

/// The same in doubles: the relative error is a few 2^-53.
template <bool fused> HEDDLE_LIBM_INLINE double short_value_of(const Polynomial& row, double r) {
  const double* c = row.rest;
  const double square = r * r;
  const double upper = multiply_add<fused>(r, c[3], c[2]);
  const double middle = multiply_add<fused>(r, c[1], c[0]);
  const double lower = multiply_add<fused>(r, row.first[2].high, row.first[1].high);
  const double rest = multiply_add<fused>(square, multiply_add<fused>(square, upper, middle), lower);
  return multiply_add<fused>(r, rest, row.first[0].high);
}

/// A centre of a table whose rows have 5 bits behind the highest, and the row's number from 1 = 2^5 2^0 on.
struct Centre {
  double value;
  std::int64_t row;
};

HEDDLE_LIBM_INLINE Centre centre_of(double x) {
  const Word rounded = (bits_of(x) + (Word{1} << 46)) >> 47;
  return {from_bits(rounded << 47), static_cast<std::int64_t>(rounded) - (std::int64_t{1023} << 5)};
}

}  // namespace heddle::libm
