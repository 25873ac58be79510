// The hash functions of a key's words, each 32 bits.
#pragma once

#include "search/duplicates/packed.hpp"
#include <heddle/search/algorithm.hpp>

namespace heddle::search::impl {

/// Moves bit k of ten to bit 3 k.
KOKKOS_INLINE_FUNCTION std::uint32_t spread_ten(std::uint32_t x) {
  x &= 0x3FF;
  x = (x | (x << 16)) & 0x030000FF;
  x = (x | (x << 8)) & 0x0300F00F;
  x = (x | (x << 4)) & 0x030C30C3;
  return (x | (x << 2)) & 0x09249249;
}

/// Takes a key's words one after the other. A word below 2^32 counts as 32 bits, others as two times 32.
struct Hasher {
  HashFunction function;
  std::uint32_t state;
  Word wide;

  KOKKOS_INLINE_FUNCTION explicit Hasher(HashFunction f)
      : function(f), state(f == HashFunction::fnv1a ? 2166136261U : 0U), wide(0) {}

  KOKKOS_INLINE_FUNCTION void add(Word word) {
    if (function == HashFunction::mixer) {
      wide = mixed_bits(wide + word + golden_step);
      return;
    }
    half(static_cast<std::uint32_t>(word));
    if (word >> 32 != 0) half(static_cast<std::uint32_t>(word >> 32));
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint32_t value() const {
    return function == HashFunction::mixer ? static_cast<std::uint32_t>(wide >> 32) : state;
  }

 private:
  KOKKOS_INLINE_FUNCTION void half(std::uint32_t x) {
    if (function == HashFunction::exclusive_or) {
      state ^= x;
    } else if (function == HashFunction::fnv1a) {
      state = (state ^ x) * 16777619U;
    } else {
      state += spread_ten(x) | (spread_ten(x >> 10) << 1) | (spread_ten(x >> 20) << 2);
    }
  }
};

}  // namespace heddle::search::impl
