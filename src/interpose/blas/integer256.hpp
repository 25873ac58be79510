// Sums of products of integers beyond 128 bits.
#pragma once

#include "interpose/blas/direct_vectors.hpp"

#include <array>
#include <cstdint>

namespace heddle::impl::interpose {

__extension__ using UnsignedInt128 = unsigned __int128;

/// An integer modulo 2^256, in two's complement.
struct Integer256 {
  std::array<std::uint64_t, 4> limb{};  // The lowest first.

  Integer256() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as integers become wider ones
  Integer256(Int128 x) {
    const std::uint64_t above = x < 0 ? ~std::uint64_t{0} : 0;
    limb = {static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(static_cast<UnsignedInt128>(x) >> 64), above,
            above};
  }
  [[nodiscard]] bool is_negative() const { return limb[3] >> 63 != 0; }
  [[nodiscard]] Integer256 operator-() const {
    Integer256 zero;
    zero -= *this;
    return zero;
  }
  Integer256& operator+=(const Integer256& other) {
    UnsignedInt128 carried = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      carried += UnsignedInt128{limb[k]} + other.limb[k];
      limb[k] = static_cast<std::uint64_t>(carried);
      carried >>= 64;
    }
    return *this;
  }
  Integer256& operator-=(const Integer256& other) {
    UnsignedInt128 carried = 1;
    for (std::size_t k = 0; k < 4; ++k) {
      carried += UnsignedInt128{limb[k]} + ~other.limb[k];
      limb[k] = static_cast<std::uint64_t>(carried);
      carried >>= 64;
    }
    return *this;
  }
  friend Integer256 operator+(Integer256 x, const Integer256& y) { return x += y; }
  friend Integer256 operator*(const Integer256& x, const Integer256& y) {
    Integer256 product;
    for (std::size_t i = 0; i < 4; ++i) {
      UnsignedInt128 carried = 0;
      for (std::size_t k = i; k < 4; ++k) {
        carried += UnsignedInt128{x.limb[i]} * y.limb[k - i] + product.limb[k];
        product.limb[k] = static_cast<std::uint64_t>(carried);
        carried >>= 64;
      }
    }
    return product;
  }
};

}  // namespace heddle::impl::interpose
