// SHA-256 (FIPS 180-4), for naming results by their bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::driver {

/// Takes bytes, piece by piece.
class Sha256 {
 public:
  void add(const void* data, std::size_t bytes);
  /// 64 hexadecimal digits of all that was added; once.
  [[nodiscard]] std::string digest();

 private:
  void take_block(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace heddle::driver
