// A caller's integers as keys.
#pragma once

#include "search/duplicates/hash.hpp"
#include <heddle/search/duplicates.hpp>

namespace heddle::search::impl {

inline constexpr int most_words = 64;

/// Keys of a KeyArray. Each word is taken relative to its column's minimum.
struct KeySource {
  static constexpr int per_item = 1;

  Index items = 0;
  compiled::KeyArray array;
  Kokkos::View<const Word*, MemorySpace> least;  // Least word of each column.
  Kokkos::View<const int*, MemorySpace> bits;    // Bits of the words of each column, relative to the least.

  /// The word itself, a negative one as two's complement.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word value(Index key, int k) const {
    const Index at = key * array.key_stride + k * array.word_stride;
    switch (array.is_signed ? -array.bytes : array.bytes) {
      case 1:
        return static_cast<const std::uint8_t*>(array.data)[at];
      case 2:
        return static_cast<const std::uint16_t*>(array.data)[at];
      case 4:
        return static_cast<const std::uint32_t*>(array.data)[at];
      case -1:
        return static_cast<Word>(static_cast<std::int64_t>(static_cast<const std::int8_t*>(array.data)[at]));
      case -2:
        return static_cast<Word>(static_cast<std::int64_t>(static_cast<const std::int16_t*>(array.data)[at]));
      case -4:
        return static_cast<Word>(static_cast<std::int64_t>(static_cast<const std::int32_t*>(array.data)[at]));
      default:
        return static_cast<const Word*>(array.data)[at];
    }
  }
  /// The word as an unsigned one, in the order of the words' type.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word raw(Index key, int k) const {
    return array.is_signed ? value(key, k) ^ (Word{1} << 63) : value(key, k);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word word(Index key, int k) const { return raw(key, k) - least(k); }
  [[nodiscard]] int words() const { return static_cast<int>(array.words); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int word_bits(int k) const { return bits(k); }

  template <int n, class F> KOKKOS_INLINE_FUNCTION void each(Index item, const F& f) const {
    Packed<n> key;
    for (int k = 0; k < static_cast<int>(array.words); ++k) {
      const int more = bits(k);
      if (more == 64) {
        key.push(word(item, k) >> 32, 32);
        key.push(word(item, k) & 0xFFFFFFFFU, 32);
      } else if (more > 0) {
        key.push(word(item, k), more);
      }
    }
    f(item, key);
  }
  template <class F> KOKKOS_INLINE_FUNCTION void each_hashed(Index item, const F& f) const {
    Packed<1> key;
    for (int k = 0; k < static_cast<int>(array.words); ++k) key.word[0] = mixed_bits(key.word[0] + raw(item, k) + 1);
    f(item, key);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index slots() const { return items; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool exists(Index) const { return true; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool same(Index key, Index other) const {
    for (int k = 0; k < static_cast<int>(array.words); ++k) {
      if (raw(key, k) != raw(other, k)) return false;
    }
    return true;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint32_t hash(HashFunction function, Index key) const {
    Hasher hasher(function);
    for (int k = 0; k < static_cast<int>(array.words); ++k) hasher.add(value(key, k));
    return hasher.value();
  }
};

}  // namespace heddle::search::impl
