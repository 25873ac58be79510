// Keys packed into few bits, and their mixing functions.
#pragma once

#include <heddle/core/random.hpp>
#include <heddle/core/scalar.hpp>

#include <cstdint>

namespace heddle::search::impl {

using Word = std::uint64_t;

KOKKOS_INLINE_FUNCTION constexpr int bits_of(Word value) {
  int bits = 0;
  for (; value != 0; value >>= 1) ++bits;
  return bits;
}

/// A key of up to 64 n + 63 bits: the words, and `rest` above them.
template <int n> struct Packed {
  Word word[n] = {};
  Word rest = 0;

  /// Makes room for `bits` bits, 1 to 63, and puts `value` there.
  KOKKOS_INLINE_FUNCTION void push(Word value, int bits) {
    rest = (rest << bits) | (word[n - 1] >> (64 - bits));
    for (int k = n - 1; k > 0; --k) word[k] = (word[k] << bits) | (word[k - 1] >> (64 - bits));
    word[0] = (word[0] << bits) | value;
  }
};

}  // namespace heddle::search::impl
