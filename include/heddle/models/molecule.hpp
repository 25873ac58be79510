// Molecules whose nuclei are fixed: charges, positions and the numbers of electrons of each spin.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::models {

/// Number of bohr in an angstrom, CODATA 2018: 1 bohr = 0.529177210903 angstrom.
inline constexpr double bohr_per_angstrom = 1 / 0.529177210903;

/// A nucleus.
struct Atom {
  double charge = 0;                    ///< Charge Z > 0 of the nucleus, in units of the elementary charge.
  std::array<double, 3> position = {};  ///< Position, bohr. In one dimension only the first coordinate counts.
};

/// Fixed nuclei, and the electrons around them.
struct Molecule {
  std::vector<Atom> atoms;
  int charge = 0;        ///< Charge of the molecule: the sum of all Z less the number of electrons.
  int multiplicity = 0;  ///< Multiplicity 2S + 1; 0: 1 for an even number of electrons, 2 for an odd one.
};

/// Numbers of electrons of each spin.
struct Electrons {
  int up = 0;
  int down = 0;
  /// The number of all electrons.
  [[nodiscard]] int total() const { return up + down; }
};

/// Return the electrons of a molecule: N = sum of Z - charge in all, and up - down = multiplicity - 1.
///
/// Throws Error(argument) unless the molecule has an atom, charges are positive and finite, positions are finite, no
/// two nuclei are closer than 1e-3 bohr (by the first coordinate, if `dimensions` is 1), N is a positive whole number
/// to 1e-9, and the multiplicity is possible: N + multiplicity odd, from 1 to N + 1.
[[nodiscard]] Electrons electrons_of(const Molecule& molecule, int dimensions = 3);

/// The energy of the nuclei with each other: the sum of Z_a Z_b/|R_a - R_b| over pairs, hartree.
[[nodiscard]] double nuclear_repulsion(const Molecule& molecule);

/// The charge of the nucleus of an element, by its symbol ("He", any case) from H (1) to Kr (36); 0 for other words.
[[nodiscard]] int element_charge(std::string_view symbol);
/// The symbol of an element; "" if the charge is not a whole number from 1 to 36.
[[nodiscard]] std::string element_symbol(double charge);

}  // namespace heddle::models
