// Pseudo-random numbers that depend on their place and seed alone: the same on any machine, in any order.
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace heddle {

/// The step of SplitMix64's counter: mixed_bits(k * golden_step) for k = 1, 2, ... is the sequence of SplitMix64.
inline constexpr std::uint64_t golden_step = 0x9E3779B97F4A7C15ULL;

/// A permutation of the words of 64 bits by which each bit changes about half of the others: the finaliser of
/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014), which is variant 13 of D. Stafford (2011). It maps 0 to
/// 0.
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t mixed_bits(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBULL;
  return bits ^ (bits >> 31U);
}

/// A number in [-1, 1), which is a multiple of 2^-52, from the upper 53 bits of `bits`.
KOKKOS_INLINE_FUNCTION constexpr double unit_from(std::uint64_t bits) {
  return static_cast<double>(bits >> 11U) * 0x1p-52 - 1.0;
}

}  // namespace heddle
