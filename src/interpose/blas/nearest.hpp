// Sums of integers of many bits as floating-point numbers.
#pragma once

#include "emulation/assemble.hpp"
#include "interpose/blas/integer256.hpp"

namespace heddle::impl::interpose {

/// The T nearest to sum 2^exponent.
template <RealScalar T, class Sum> T nearest_to(Sum sum, int exponent) {
  if (sum == 0) return T{0};
  const bool negative = sum < 0;
  const auto size = negative ? -static_cast<UnsignedInt128>(sum) : static_cast<UnsignedInt128>(sum);
  // 64 leading bits, the last of which stands for all below: they round as the number does.
  int above = exponent;
  auto leading = static_cast<std::uint64_t>(size);
  if (const auto high = static_cast<std::uint64_t>(size >> 64); high != 0) {
    const int shift = 64 - __builtin_clzll(high);
    leading = static_cast<std::uint64_t>(size >> shift);
    leading |= (size & ((UnsignedInt128{1} << shift) - 1)) != 0 ? 1 : 0;
    above += shift;
  }
  using F = Format<T>;
  const T rounded = static_cast<T>(leading);
  const auto bits = F::to_bits(rounded);
  const int field = static_cast<int>(bits >> F::fraction) + above;
  if (field > 0 && field < static_cast<int>(F::largest_exponent)) {
    const T result =
        F::from_bits(static_cast<typename F::Bits>(bits + (static_cast<typename F::Bits>(above) << F::fraction)));
    return negative ? -result : result;
  }
  std::uint32_t digits[4][1];
  for (int d = 0; d < 4; ++d) digits[d][0] = static_cast<std::uint32_t>(size >> (32 * d));
  const std::uint32_t sign[1] = {negative ? 1U : 0U};
  const int at[1] = {exponent};
  T result[1];
  nearest(digits, sign, at, result);
  return result[0];
}

template <RealScalar T> T nearest_to(const Integer256& sum, int exponent) {
  const bool negative = sum.is_negative();
  const Integer256 size = negative ? -sum : sum;
  std::uint32_t digits[8][1];
  for (std::size_t d = 0; d < 8; ++d) digits[d][0] = static_cast<std::uint32_t>(size.limb[d / 2] >> (32 * (d % 2)));
  const std::uint32_t sign[1] = {negative ? 1U : 0U};
  const int at[1] = {exponent};
  T result[1];
  nearest(digits, sign, at, result);
  return result[0];
}

}  // namespace heddle::impl::interpose
