// The file of a molecule that `heddle eig --scf --molecule` reads.
#pragma once

#include <heddle/models/gaussian_basis.hpp>
#include <heddle/models/molecule.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

struct MoleculeFile {
  models::Molecule molecule;
  int dimensions = 3;                 ///< 1 where lines of atoms have one coordinate.
  std::vector<models::Shell> shells;  ///< Shells of the file, for every atom that they apply to; empty: none was given.
};

/// One statement a line; `#` begins a comment:
///
///     ATOM X Y Z           an atom, by an element's symbol or its charge; one coordinate alone in one dimension
///     units bohr           or angstrom, of the lines below
///     charge 0             of the whole
///     multiplicity 1       2S + 1
///     shell ATOM s A       functions s, p, d, f or g of exponent A at every such atom;
///     shell ATOM s A C A C ...   contracted, of exponents A and coefficients C
///
/// Throws Error(input) "FILE, line L: ..." for any other line.
[[nodiscard]] MoleculeFile read_molecule(const std::string& path);

}  // namespace heddle::driver
