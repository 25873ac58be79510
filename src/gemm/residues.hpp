// Integers by their residues: coprime moduli of at most 8 bits, and what puts residues together again.
#pragma once

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>

namespace heddle::impl {

/// P is beyond every sum of 32 bits, and fits the widest digits.
inline constexpr int least_moduli = 7;
inline constexpr int most_moduli = 31;

/// Pairwise coprime, falling; any first few of them are the largest there are.
inline constexpr std::array<int, most_moduli> all_moduli = {256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223,
                                                            217, 211, 199, 197, 193, 191, 181, 179, 173, 167, 163,
                                                            157, 151, 149, 139, 137, 131, 127, 113, 109};

/// Digits of 32 bits, the lowest first, that hold sums over `count` moduli of weights times numbers below 6 p: 3 to 6,
/// or 8.
[[nodiscard]] int digits_for(int count);

/// The highest digits of such a sum, which tell its quotient by P: what the others hold is below 2^-32 P.
[[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int telling_digits(int digits) {
  return digits <= 6 ? 3 : 5;
}

/// Slices of 8 bits, from -128 to 127, that hold every integer up to `reach` (see ResidueSystem).
[[nodiscard]] int slices_for(double reach);
inline constexpr int most_slices = 15;

/// The first `count` moduli p and their product P. For integers |x| < P / 2 with the residues r mod p:
/// x = sum r w mod P, w = (P / p) ((P / p)^-1 mod p) (Chinese remainder theorem).
struct ResidueSystem {
  static constexpr int most_digits = 8;

  explicit ResidueSystem(int count);

  int count;
  int digits;
  double log2_product;
  /// sqrt(P / 2), rounded down, and by so much less that the sums' quotient by P, rounded, is never in doubt.
  double reach;
  double telling_inverse;                          ///< 1 / P, in units of the telling digits (see ResidueSum)
  std::uint32_t modulus[most_moduli];              ///< p
  double divisor[most_moduli];                     ///< p
  std::uint32_t reciprocal[most_moduli];           ///< floor(2^32 / p)
  double inverse[most_moduli];                     ///< 1 / p
  std::uint32_t weight[most_moduli][most_digits];  ///< w
  std::uint32_t product[most_digits];              ///< P
};

}  // namespace heddle::impl
