// Hartree-Fock and Kohn-Sham matrices on a grid in one dimension.
#include "models/dense.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/soft_coulomb_field.hpp>

#include <cmath>

namespace heddle::models {

namespace {

double interaction(double u) {
  return 1 / std::sqrt(u * u + 1);
}

eigen::KohnShamOptions grid_options(const Molecule& molecule, int points, const Electrons& electrons, double length) {
  eigen::KohnShamOptions options;
  options.points = points;
  options.length = length;
  options.electrons = 2 * electrons.up;
  options.charges.clear();
  options.positions.clear();
  for (const Atom& atom : molecule.atoms) {
    options.charges.push_back(atom.charge);
    options.positions.push_back(atom.position[0]);
  }
  return options;
}

}  // namespace

SoftCoulombField::SoftCoulombField(const Molecule& molecule, int points, Functional functional, double length)
    : functional_(functional),
      electrons_(electrons_of(molecule, 1)),
      grid_(grid_options(molecule, points, electrons_, length)),
      kinetic_(grid_.kinetic()) {
  // Refuses functionals of three dimensions before any work.
  if (functional != Functional::hf) (void)local_terms_1d(functional, 0, 0);
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const Atom& one = molecule.atoms[a];
      const Atom& other = molecule.atoms[b];
      nuclear_ += one.charge * other.charge * interaction(one.position[0] - other.position[0]);
    }
  }
}

std::vector<double> SoftCoulombField::start() const {
  std::vector<double> first = grid_.initial_density();
  // Leaves out an electron's repulsion by itself.
  const double share = (electrons_.total() - 1.0) / (2.0 * electrons_.up);
  for (double& value : first) value *= share;
  const std::vector<double> hartree = grid_.hartree(first);
  std::vector<double> H = kinetic_;
  for (std::size_t i = 0; i < size(); ++i) H[i + i * size()] += grid_.external()[i] + hartree[i];
  return H;
}

std::vector<double> SoftCoulombField::density(const std::vector<double>& orbitals) const {
  std::vector<double> density(size(), 0.0);
  for (std::size_t k = 0; k < orbitals.size(); ++k) density[k % size()] += orbitals[k] * orbitals[k] / grid_.spacing();
  return density;
}

double SoftCoulombField::take_exchange(const std::vector<double>& orbitals, std::vector<double>& F) const {
  const std::size_t n = size();
  const std::vector<double> D = impl::density_matrix(orbitals, n);
  double energy = 0;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const double K = D[i + j * n] * interaction(grid_.grid()[i] - grid_.grid()[j]);
      energy -= 0.5 * D[i + j * n] * K;
      F[i + j * n] -= K;
    }
  }
  return energy;
}

FieldMatrices SoftCoulombField::field(const SpinOrbitals& orbitals, bool paired) const {
  const std::size_t n = size();
  const double dx = grid_.spacing();
  const std::vector<double> up = density(orbitals.up);
  const std::vector<double> down = paired ? up : density(orbitals.down);
  std::vector<double> all = up;
  for (std::size_t i = 0; i < n; ++i) all[i] += down[i];
  const std::vector<double> hartree = grid_.hartree(all);

  FieldMatrices result;
  FieldEnergies& energies = result.energies;
  energies.nuclear = nuclear_;
  energies.kinetic = impl::trace_of(impl::density_matrix(orbitals.up, n), kinetic_);
  energies.kinetic += paired ? energies.kinetic : impl::trace_of(impl::density_matrix(orbitals.down, n), kinetic_);
  result.up = kinetic_;
  if (!paired) result.down = kinetic_;
  for (std::size_t i = 0; i < n; ++i) {
    energies.external += dx * all[i] * grid_.external()[i];
    energies.coulomb += 0.5 * dx * all[i] * hartree[i];
    LocalTerms terms;
    if (functional_ != Functional::hf) terms = local_terms_1d(functional_, up[i], down[i]);
    energies.exchange += dx * terms.exchange;
    energies.correlation += dx * terms.correlation;
    result.up[i + i * n] += grid_.external()[i] + hartree[i] + terms.up;
    if (!paired) result.down[i + i * n] += grid_.external()[i] + hartree[i] + terms.down;
  }
  if (functional_ != Functional::hf) return result;
  energies.exchange = take_exchange(orbitals.up, result.up);
  energies.exchange += paired ? energies.exchange : take_exchange(orbitals.down, result.down);
  return result;
}

}  // namespace heddle::models
