// Square roots of sums, rounded once.
#pragma once

#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/expansion.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace heddle::exact::impl {

using namespace bits;

/// Returns true if the roots of all candidates for the exact sum round to one T, and sets `root` to it; terms and
/// absolute as in rounds_to().
template <RealScalar T> bool square_root(const Compensated& sum, Index terms, double absolute, T& root) {
  double high = 0;
  double low = 0;
  const double off = sum.split(terms, absolute, high, low);
  if (!(high > 0x1p-800 && high < 0x1p1000)) {
    return false;
  }
  const double near = std::sqrt(high);
  // Newton's correction of `near`, and the error of it and of the sum.
  const double correction = (std::fma(-near, near, high) + low) / (2 * near);
  const double correction_off = off / near + 0x1p-50 * std::abs(correction) + correction * correction / near;
  double low_root = near + (correction - correction_off);
  double high_root = near + (correction + correction_off);
  if constexpr (sizeof(T) == 4) {
    low_root -= 0x1p-50 * near;
    high_root += 0x1p-50 * near;
  }
  root = static_cast<T>(low_root);
  return root == static_cast<T>(high_root);
}

}  // namespace heddle::exact::impl

namespace heddle::exact::bits {

/// The root of the exact sum; a NaN if that is negative.
class SquareRoot {
 public:
  template <RealScalar T> static T of(const Accumulator<double>& sum) {
    if (sum.is_special()) {
      return static_cast<T>(std::sqrt(sum.value()));
    }
    constexpr int count = Accumulator<double>::digits;
    Accumulator<double> magnitude = sum;
    if (make_canonical(magnitude.digits_, count)) {
      return std::numeric_limits<T>::quiet_NaN();
    }
    const std::int64_t* const from = magnitude.digits_;
    const int top = highest_digit(from, count);
    if (top < 0) {
      return T(0);
    }
    // The leading 126 or 127 bits, from an even position on, and whether any bit below is set.
    const int highest = digit_bits * top + 63 - Kokkos::countl_zero(static_cast<std::uint64_t>(from[top]));
    const int last = (highest - 126) + (highest % 2 == 0 ? 0 : 1);
    Wide leading = 0;
    bool more = false;
    for (int k = 0; k <= top; ++k) {
      const auto digit = static_cast<Wide>(static_cast<std::uint64_t>(from[k]));
      const int shift = digit_bits * k - last;
      if (shift >= 0) {
        leading |= digit << shift;
      } else if (shift > -digit_bits) {
        leading |= digit >> -shift;
        more = more || (digit & ((Wide{1} << -shift) - 1)) != 0;
      } else {
        more = more || digit != 0;
      }
    }
    const std::uint64_t root = integer_root(leading);
    more = more || static_cast<Wide>(root) * root != leading;
    // Units of 2^lowest, below every bit that counts.
    constexpr int lowest = -1200;
    constexpr int digits = 80;
    std::int64_t result[digits] = {};
    add_bits<false>(result, root, (last + 2 * Format<double>::smallest) / 2 - lowest, false);
    result[0] += more ? 1 : 0;
    carry(result, digits);
    return Format<T>::from_bits(rounded<T>(result, highest_digit(result, digits), Format<T>::smallest - lowest));
  }

 private:
  __extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using): what compilers agree on

  // Square root, rounded down, of an integer from 2^125 to 2^127.
  static std::uint64_t integer_root(Wide x) {
    auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(x)));
    // One Newton step leaves it off by at most one.
    root = static_cast<std::uint64_t>((static_cast<Wide>(root) + x / root) / 2);
    while (static_cast<Wide>(root) * root > x) {
      --root;
    }
    while (static_cast<Wide>(root + 1) * (root + 1) <= x) {
      ++root;
    }
    return root;
  }
};

}  // namespace heddle::exact::bits
