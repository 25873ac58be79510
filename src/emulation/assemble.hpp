// Conversion of residues to floating-point numbers by integer arithmetic, with the same bits everywhere. `width`
// numbers are converted together, on CPUs in SIMD lanes.
#pragma once

#include "core/on_host.hpp"
#include "core/simd.hpp"
#include "emulation/residues.hpp"
#include <heddle/exact/accumulator.hpp>

#include <type_traits>

namespace heddle::impl {

/// Number of leading zero bits of x > 0. SIMD units of CPUs have no instruction for it, but one for conversions.
KOKKOS_INLINE_FUNCTION int leading_zeros(std::uint32_t x) {
  if constexpr (on_host) {
    using F = exact::bits::Format<double>;
    return 1054 - static_cast<int>(F::to_bits(static_cast<double>(x)) >> F::fraction);
  } else {
    return Kokkos::countl_zero(x);
  }
}

/// Round magnitude 2^exponent, magnitude < 2^(32 digits), to the nearest T, ties to even; infinite beyond the largest,
/// and negative if `negative` is not 0. Each loop unrolls, so that the digits stay in registers.
template <RealScalar T, int digits, int width>
KOKKOS_INLINE_FUNCTION void nearest(std::uint32_t (&magnitude)[digits][width], const std::uint32_t (&negative)[width],
                                    const int (&exponent)[width], T (&result)[width]) {
  using Format = exact::bits::Format<T>;
  using Bits = typename Format::Bits;
  static_assert(digits >= 3);
  // Shift the leading digit to the top.
  int high[width];  // The number is below 2^high.
  for (int e = 0; e < width; ++e) high[e] = exponent[e] + 32 * digits;
  for (int k = 0; k + 1 < digits; ++k) {
    HEDDLE_SIMD
    for (int e = 0; e < width; ++e) {
      const bool empty = magnitude[digits - 1][e] == 0;
      for (int i = digits - 1; i > 0; --i) magnitude[i][e] = empty ? magnitude[i - 1][e] : magnitude[i][e];
      magnitude[0][e] = empty ? 0 : magnitude[0][e];
      high[e] -= empty ? 32 : 0;
    }
  }
  HEDDLE_SIMD
  for (int e = 0; e < width; ++e) {
    const std::uint32_t top = magnitude[digits - 1][e];
    const int zeros = leading_zeros(top | 1);
    const int above = high[e] - zeros;
    const std::uint64_t next = std::uint64_t{magnitude[digits - 3][e]} << zeros;
    const std::uint64_t leading = (std::uint64_t{top} << 32 | magnitude[digits - 2][e]) << zeros | next >> 32;
    std::uint32_t below = static_cast<std::uint32_t>(next);
    for (int i = 0; i < digits - 3; ++i) below |= magnitude[i][e];

    // The number is leading 2^(above - 64), with the highest bit of `leading` set; the result's last bit is worth
    // 2^last.
    const int last = above - 1 - Format::fraction > Format::smallest ? above - 1 - Format::fraction : Format::smallest;
    const int drop = last - (above - 64);  // at least 11
    std::uint64_t mantissa = drop < 64 ? leading >> drop : 0;
    const std::uint64_t rest = drop < 64 ? leading << (64 - drop) : drop == 64 ? leading : 0;
    constexpr std::uint64_t half = std::uint64_t{1} << 63;
    const bool up = rest > half || (rest == half && (below != 0 || (mantissa & 1U) != 0));
    mantissa += up ? 1 : 0;
    // The leading bit of a normal number adds one to the exponent field; a carry beyond it adds another one.
    const auto field = static_cast<std::uint64_t>(last - Format::smallest);
    std::uint64_t bits = (field << Format::fraction) + mantissa;
    bits =
        field >= Format::largest_exponent || bits > Format::exponent_mask ? std::uint64_t{Format::exponent_mask} : bits;
    bits |= negative[e] != 0 ? std::uint64_t{Format::sign_bit} : 0;
    result[e] = Format::from_bits(static_cast<Bits>(top == 0 ? 0 : bits));
  }
}

/// Sum of r w over the moduli, each r below 7 p with its share of the start value included.
template <int digits, int width> class ResidueSums {
 public:
  KOKKOS_INLINE_FUNCTION explicit ResidueSums(const std::uint32_t* start) {
    for (int k = 0; k < digits; ++k) {
      for (int e = 0; e < width; ++e) digit[k][e] = start[k];
    }
  }

  KOKKOS_INLINE_FUNCTION void add(const std::uint32_t (&residues)[width], const std::uint32_t* weight) {
    for (int k = 0; k < digits; ++k) {
      HEDDLE_SIMD
      for (int e = 0; e < width; ++e) digit[k][e] += std::uint64_t{residues[e]} * weight[k];
    }
  }

  /// The integers of least magnitude that are the sums modulo P, times 2^exponent, rounded once.
  template <RealScalar T>
  KOKKOS_INLINE_FUNCTION void values(const ResidueSystem& system, const int (&exponent)[width],
                                     T (&result)[width]) const {
    std::uint32_t number[digits][width];
    std::uint32_t negative[width];
    reduce(system, number, negative);
    if constexpr (quick<T>) {
      for (int e = 0; e < width; ++e) {
        if (!round_quickly(number[0][e], number[1][e], number[2][e], number[3][e], exponent[e], result[e])) {
          std::uint32_t one[digits][1];
          for (int k = 0; k < digits; ++k) one[k][0] = number[k][e];
          const std::uint32_t sign[1] = {negative[e]};
          const int at[1] = {exponent[e]};
          T rounded[1];
          round(one, sign, at, rounded);
          result[e] = rounded[0];
        }
      }
    } else {
      round(number, negative, exponent, result);
    }
  }

 private:
  std::uint64_t digit[digits][width];

  // True if round_quickly() is tried first; SIMD lanes of a CPU would compute both ways anyway.
  template <RealScalar T> static constexpr bool quick = !on_host && std::is_same_v<T, double> && digits == 4;

  // Reduce the sums modulo P to the integers of least magnitude, in two's complement, and mark the negative ones.
  KOKKOS_INLINE_FUNCTION void reduce(const ResidueSystem& system, std::uint32_t (&number)[digits][width],
                                     std::uint32_t (&negative)[width]) const {
    HEDDLE_SIMD
    for (int e = 0; e < width; ++e) {
      std::uint64_t carried = 0;
      for (int k = 0; k < digits; ++k) {
        carried += digit[k][e];
        number[k][e] = static_cast<std::uint32_t>(carried);
        carried >>= 32;
      }
      double approximate = 0.0;
      for (int k = digits - 1; k >= digits - telling_digits(digits); --k) {
        approximate = Kokkos::fma(approximate, 0x1p32, static_cast<double>(number[k][e]));
      }
      const auto quotient = static_cast<std::uint32_t>(Kokkos::fma(approximate, system.telling_inverse, 0.5));
      std::uint64_t taken = 0;
      std::int64_t borrowed = 0;
      for (int k = 0; k < digits; ++k) {
        taken += std::uint64_t{quotient} * system.product[k];
        borrowed += static_cast<std::int64_t>(number[k][e]) - static_cast<std::int64_t>(taken & 0xffffffffU);
        taken >>= 32;
        number[k][e] = static_cast<std::uint32_t>(borrowed);
        borrowed >>= 32;
      }
      negative[e] = borrowed < static_cast<std::int64_t>(taken) ? 1 : 0;
    }
  }

  template <RealScalar T, int count>
  static KOKKOS_INLINE_FUNCTION void round(std::uint32_t (&number)[digits][count],
                                           const std::uint32_t (&negative)[count], const int (&exponent)[count],
                                           T (&result)[count]) {
    HEDDLE_SIMD
    for (int e = 0; e < count; ++e) {
      std::uint64_t one = negative[e];
      const std::uint32_t turn = 0U - negative[e];
      for (int k = 0; k < digits; ++k) {
        one += number[k][e] ^ turn;
        number[k][e] = static_cast<std::uint32_t>(one);
        one >>= 32;
      }
    }
    nearest(number, negative, exponent, result);
  }

  // Round an integer of four digits below 2^115 by additions of doubles. The bits below 2^12 count as one sticky bit.
  // If the upper half is at least 8 or at most -9, that bit lies below half of the result's last place, so the sum
  // rounds as the whole integer would. Return false if it is neither or the result is not a normal number.
  static KOKKOS_INLINE_FUNCTION bool round_quickly(std::uint32_t n0, std::uint32_t n1, std::uint32_t n2,
                                                   std::uint32_t n3, int exponent, double& result) {
    using F = exact::bits::Format<double>;
    const std::uint64_t low = std::uint64_t{n1} << 32 | n0;
    const std::uint64_t high = std::uint64_t{n3} << 32 | n2;
    const std::uint64_t sticky = low >> 12 | ((n0 & 0xfffU) != 0 ? 1 : 0);
    const double lower = F::from_bits(F::to_bits(0x1p52) | sticky) - 0x1p52;
    const double upper = F::from_bits(F::to_bits(0x1.8p52) + high) - 0x1.8p52;
    const double sum = Kokkos::fma(upper, 0x1p52, lower);
    const std::uint64_t bits = F::to_bits(sum);
    const int field = static_cast<int>(bits >> F::fraction & 0x7ffU) + exponent + 12;
    result = F::from_bits(bits + (static_cast<std::uint64_t>(exponent + 12) << F::fraction));
    return (upper >= 8.0 || upper <= -9.0) && field > 0 && field < 0x7ff;
  }
};

}  // namespace heddle::impl
