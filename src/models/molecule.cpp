// Checks of molecules, their numbers of electrons, and symbols of elements.
#include "libm/functions.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/molecule.hpp>

#include <cctype>
#include <cmath>
#include <cstddef>

namespace heddle::models {

namespace {

constexpr std::array<std::string_view, 36> symbols = {
    "H", "He", "Li", "Be", "B", "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",  "S",  "Cl", "Ar",
    "K", "Ca", "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr"};

// Nearer than any bond by a factor of a thousand: such positions are a slip.
constexpr double least_distance = 1e-3;

double distance_of(const Atom& a, const Atom& b, int dimensions) {
  if (dimensions == 1) return std::abs(a.position[0] - b.position[0]);
  return libm::hypot(libm::hypot(a.position[0] - b.position[0], a.position[1] - b.position[1]),
                     a.position[2] - b.position[2]);
}

void require_geometry(const Molecule& molecule, int dimensions) {
  require(!molecule.atoms.empty(), "molecule: there is no atom in it");
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    const Atom& atom = molecule.atoms[a];
    require(std::isfinite(atom.charge) && atom.charge > 0, "molecule: the charge of nucleus ", a + 1, " is ",
            atom.charge, "; expected a positive number");
    for (const double x : atom.position) {
      require(std::isfinite(x), "molecule: a coordinate of nucleus ", a + 1, " is ", x, "; expected a finite number");
    }
    for (std::size_t b = 0; b < a; ++b) {
      const double distance = distance_of(atom, molecule.atoms[b], dimensions);
      require(distance >= least_distance, "molecule: nuclei ", b + 1, " and ", a + 1, " are ", distance,
              " bohr apart; expected at least ", least_distance);
    }
  }
}

}  // namespace

Electrons electrons_of(const Molecule& molecule, int dimensions) {
  require_geometry(molecule, dimensions);
  double charge = -static_cast<double>(molecule.charge);
  for (const Atom& atom : molecule.atoms) charge += atom.charge;
  const double number = std::round(charge);
  require(std::abs(charge - number) < 1e-9 && number < 1e6, "molecule: nuclei of charge ", charge + molecule.charge,
          " and a molecule of charge ", molecule.charge, " leave ", charge, " electrons; expected a whole number");
  require(number >= 1, "molecule: nuclei of charge ", charge + molecule.charge, " and a molecule of charge ",
          molecule.charge, " leave ", number, " electrons; expected at least one");
  const int electrons = static_cast<int>(number);
  const int multiplicity = molecule.multiplicity == 0 ? 1 + electrons % 2 : molecule.multiplicity;
  require(multiplicity >= 1 && multiplicity <= electrons + 1, "molecule: a multiplicity of ", multiplicity, " for ",
          electrons, electrons == 1 ? " electron" : " electrons", ": expected from 1 to ", electrons + 1);
  require((electrons + multiplicity) % 2 == 1, "molecule: ", electrons, electrons == 1 ? " electron" : " electrons",
          " can't have a multiplicity of ", multiplicity, ": expected an ", electrons % 2 == 0 ? "odd" : "even",
          " one");
  Electrons result;
  result.up = (electrons + multiplicity - 1) / 2;
  result.down = electrons - result.up;
  return result;
}

double nuclear_repulsion(const Molecule& molecule) {
  double energy = 0;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      energy +=
          molecule.atoms[a].charge * molecule.atoms[b].charge / distance_of(molecule.atoms[a], molecule.atoms[b], 3);
    }
  }
  return energy;
}

int element_charge(std::string_view symbol) {
  const auto lower = [](char letter) { return std::tolower(static_cast<unsigned char>(letter)); };
  for (std::size_t k = 0; k < symbols.size(); ++k) {
    if (symbols[k].size() != symbol.size()) continue;
    bool same = true;
    for (std::size_t i = 0; i < symbol.size(); ++i) same = same && lower(symbols[k][i]) == lower(symbol[i]);
    if (same) return static_cast<int>(k) + 1;
  }
  return 0;
}

std::string element_symbol(double charge) {
  if (!(charge >= 1 && charge <= static_cast<double>(symbols.size())) || charge != std::floor(charge)) return {};
  return std::string(symbols[static_cast<std::size_t>(charge) - 1]);
}

}  // namespace heddle::models
