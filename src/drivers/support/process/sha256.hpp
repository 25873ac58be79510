// SHA-256 (FIPS 180-4), for naming results by their bits.
#pragma once

#include <heddle/core/scalar.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::driver {

/// Takes bytes or numbers, piece by piece.
class Sha256 {
 public:
  void add(const void* data, std::size_t bytes);
  /// Add numbers as a machine with the least significant byte first holds them, whatever this machine does.
  template <class T> void add_numbers(const T* numbers, std::size_t count) {
    if constexpr (std::endian::native == std::endian::little) {
      add(numbers, count * sizeof(T));
    } else {
      add_reversed(numbers, sizeof(Word<T>), count * (sizeof(T) / sizeof(Word<T>)));
    }
  }
  /// Return 64 hexadecimal digits of all that was added so far.
  [[nodiscard]] std::string digest() const;

 private:
  template <class T> struct WordOf { using type = T; };
  template <Scalar T> struct WordOf<T> { using type = Real<T>; };
  template <class T> using Word = typename WordOf<T>::type;

  void add_reversed(const void* words, std::size_t word, std::size_t count);
  void finish();
  void take_block(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace heddle::driver
