// Residue number systems: coprime moduli up to 256, and the constants that reconstruct integers from residues.
#pragma once

#include <heddle/core/scalar.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace heddle::impl {

enum class Field { real, complex };
template <Scalar T> inline constexpr Field field_of = is_complex<T> ? Field::complex : Field::real;

/// Fewer moduli would hold less than a float does; more would not fit the widest digits.
inline constexpr int least_moduli = 7;
inline constexpr int most_moduli = 31;

/// Pairwise coprime, falling; any first few of them are the largest there are.
inline constexpr std::array<int, most_moduli> real_moduli = {256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223,
                                                             217, 211, 199, 197, 193, 191, 181, 179, 173, 167, 163,
                                                             157, 151, 149, 139, 137, 131, 127, 113, 109};

/// Moduli of complex numbers, pairwise coprime. The first are those whose prime factors are all 4 k + 1, as long as
/// they hold more bits for each of their two products than others do for three.
inline constexpr std::array<int, most_moduli> complex_moduli = {241, 233, 229, 221, 205, 197, 193, 181, 173, 157, 149,
                                                                137, 113, 109, 101, 97,  89,  73,  61,  53,  256, 253,
                                                                251, 249, 239, 227, 223, 217, 211, 199, 191};
/// Number of these, from the first on, that have a root of -1.
inline constexpr int split_moduli = 20;

/// Number of highest digits of a sum that give its quotient by P: the others hold less than 2^-32 P.
[[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int telling_digits(int digits) {
  return digits <= 6 ? 3 : 5;
}

/// Slices of 8 bits, from -128 to 127, that hold every integer up to `reach` (see ResidueSystem).
[[nodiscard]] int slices_for(double reach);
inline constexpr int most_slices = 15;

/// The first `count` moduli p and their product P. For integers |x| < P / 2 with the residues r mod p:
/// x = sum r w mod P, w = (P / p) ((P / p)^-1 mod p) (Chinese remainder theorem).
///
/// Complex integers have two residues each modulo p where -1 has a root j mod p: x + j y and x - j y, which multiply
/// one by one (quadratic residue number systems: W. K. Jenkins, J. V. Krogmeier, IEEE Trans. Circuits Syst. 34, 1987;
/// P. Caday, arXiv:2609.05419).
/// With the sum s and the difference d of a product's, its real part is s / 2, its imaginary one d / 2j. Elsewhere they
/// have three: x, y and x + y (A. Karatsuba).
struct ResidueSystem {
  static constexpr int most_digits = 8;

  ResidueSystem(Field wanted_field, int wanted_count);

  /// Number of residues of an integer modulo the first `moduli` moduli.
  [[nodiscard]] static constexpr int planes(Field field, int moduli) {
    return field == Field::real ? moduli : 2 * moduli + std::max(moduli - split_moduli, 0);
  }
  [[nodiscard]] int planes() const { return planes(field, count); }
  /// Number of the modulus of a plane.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int modulus_of(int plane) const {
    if (field == Field::real) {
      return plane;
    }
    return plane < 2 * split ? plane / 2 : split + (plane - 2 * split) / 3;
  }

  Field field;
  int count;
  int split;  ///< Number of first moduli with a root of -1 that is used; 0 for real numbers.
  /// Number of 32-bit digits, the lowest first, that hold sums over the moduli of weights times numbers below 7 p: 3 to
  /// 6, or 8.
  int digits;
  double log2_product;
  /// sqrt(P / 2) (1 - 2^-20), so that the sums' quotient by P, rounded, is never in doubt.
  double reach;
  double telling_inverse;                 ///< 1 / P, in units of the telling digits (see ResidueSums)
  std::uint32_t modulus[most_moduli];     ///< p
  double divisor[most_moduli];            ///< p
  std::uint32_t reciprocal[most_moduli];  ///< floor(2^32 / p)
  double inverse[most_moduli];            ///< 1 / p
  /// w; where complex integers have two residues, w / 2 mod P.
  std::uint32_t weight[most_moduli][most_digits];
  std::uint32_t imaginary_weight[most_moduli][most_digits];  ///< w / 2j mod P, there alone.
  std::uint32_t product[most_digits];                        ///< P
  /// Start values that cancel the lift of residues of 32-bit sums (see lifted_residue()), for sums r w of real integers
  /// and of real parts, and for those of imaginary parts.
  std::uint32_t start[most_digits];
  std::uint32_t imaginary_start[most_digits];
  float root[most_moduli];           ///< j, below p / 2
  float small_divisor[most_moduli];  ///< p, for residues of small numbers
  float small_inverse[most_moduli];  ///< 1 / p
};

/// The system of so many moduli, made once. Throws Error(argument) for fewer than least_moduli or more than
/// most_moduli.
[[nodiscard]] const ResidueSystem& residue_system(Field field, int moduli);

}  // namespace heddle::impl
