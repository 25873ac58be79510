// From residues to floating-point numbers, by integers alone: the same bits everywhere.
#pragma once

#include "gemm/residues.hpp"
#include <heddle/exact/accumulator.hpp>

namespace heddle::impl {

/// The T nearest to +-(0 ... 2^(32 digits) - 1) 2^exponent, ties to even; infinite beyond the largest. Each loop
/// unrolls, so that the digits stay in registers.
template <RealScalar T, int digits>
KOKKOS_INLINE_FUNCTION T nearest(std::uint32_t (&magnitude)[digits], bool negative, int exponent) {
  using Format = exact::impl::Format<T>;
  using Bits = typename Format::Bits;
  static_assert(digits >= 3);
  // The leading digit to the top.
  int high = exponent + 32 * digits;  // the number is below 2^high
  for (int k = 0; k + 1 < digits; ++k) {
    const bool empty = magnitude[digits - 1] == 0;
    for (int i = digits - 1; i > 0; --i) magnitude[i] = empty ? magnitude[i - 1] : magnitude[i];
    magnitude[0] = empty ? 0 : magnitude[0];
    high -= empty ? 32 : 0;
  }
  if (magnitude[digits - 1] == 0) {
    return T{0};
  }
  const int zeros = Kokkos::countl_zero(magnitude[digits - 1]);
  high -= zeros;
  const std::uint64_t next = magnitude[digits - 3];
  const std::uint64_t leading =
      (std::uint64_t{magnitude[digits - 1]} << 32 | magnitude[digits - 2]) << zeros | (next << zeros) >> 32;
  std::uint32_t below = static_cast<std::uint32_t>(next << zeros);
  for (int i = 0; i < digits - 3; ++i) below |= magnitude[i];

  // leading 2^(high - 64), `leading` with its highest bit set; a bit of the result is worth 2^last at least.
  const int last = high - 1 - Format::fraction > Format::smallest ? high - 1 - Format::fraction : Format::smallest;
  const int drop = last - (high - 64);  // at least 11
  std::uint64_t mantissa = drop < 64 ? leading >> drop : 0;
  const std::uint64_t rest = drop < 64 ? leading << (64 - drop) : drop == 64 ? leading : 0;
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  const bool up = rest > half || (rest == half && (below != 0 || (mantissa & 1U) != 0));
  mantissa += up ? 1 : 0;
  // A normal number's leading bit counts as one of the exponent; a carry beyond it raises that once more.
  const auto field = static_cast<std::uint64_t>(last - Format::smallest);
  std::uint64_t bits = (field << Format::fraction) + mantissa;
  bits =
      field >= Format::largest_exponent || bits > Format::exponent_mask ? std::uint64_t{Format::exponent_mask} : bits;
  return Format::from_bits(static_cast<Bits>(bits) | (negative ? Format::sign_bit : Bits{0}));
}

/// sum r w over the moduli, each r below 6 p.
template <int digits> struct ResidueSum {
  std::uint64_t digit[digits] = {};

  KOKKOS_INLINE_FUNCTION void add(std::uint32_t residue, const std::uint32_t* weight) {
    for (int k = 0; k < digits; ++k) digit[k] += std::uint64_t{residue} * weight[k];
  }

  /// The integer of least magnitude that is the sum less `offset` modulo P, times 2^exponent, rounded once.
  template <RealScalar T>
  KOKKOS_INLINE_FUNCTION T value(const ResidueSystem& system, std::int64_t offset, int exponent) const {
    std::uint32_t number[digits];
    std::uint64_t carried = 0;
    for (int k = 0; k < digits; ++k) {
      carried += digit[k];
      number[k] = static_cast<std::uint32_t>(carried);
      carried >>= 32;
    }
    double approximate = 0.0;
    for (int k = digits - 1; k >= digits - telling_digits(digits); --k) {
      approximate = Kokkos::fma(approximate, 0x1p32, static_cast<double>(number[k]));
    }
    const auto quotient = static_cast<std::uint32_t>(Kokkos::fma(approximate, system.telling_inverse, 0.5));
    std::uint64_t taken = 0;
    std::int64_t borrowed = -offset;
    for (int k = 0; k < digits; ++k) {
      taken += std::uint64_t{quotient} * system.product[k];
      borrowed += static_cast<std::int64_t>(number[k]) - static_cast<std::int64_t>(taken & 0xffffffffU);
      taken >>= 32;
      number[k] = static_cast<std::uint32_t>(borrowed);
      borrowed >>= 32;
    }
    const bool negative = borrowed < static_cast<std::int64_t>(taken);
    std::uint64_t one = negative ? 1 : 0;
    for (int k = 0; k < digits; ++k) {
      one += negative ? static_cast<std::uint32_t>(~number[k]) : number[k];
      number[k] = static_cast<std::uint32_t>(one);
      one >>= 32;
    }
    return nearest<T>(number, negative, exponent);
  }
};

}  // namespace heddle::impl
