// Hartree-Fock and Kohn-Sham matrices in a Gaussian basis.
#include "core/gibibytes.hpp"
#include "models/dense.hpp"
#include "models/local_matrices.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/host_memory.hpp>
#include <heddle/models/gaussian_field.hpp>
#include <heddle/models/gaussian_integrals.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace heddle::models {

namespace {

// Potential of the charges that stand for the electrons at the start.
std::vector<double> first_matrix(const GaussianBasis& basis, const Molecule& molecule, int electrons) {
  double nuclear = 0;
  for (const Atom& atom : molecule.atoms) nuclear += atom.charge;
  std::vector<GaussianCharge> charges = slater_charges(molecule);
  // Leaves out an electron's repulsion by itself.
  for (GaussianCharge& charge : charges) charge.charge *= (electrons - 1) / nuclear;
  return potential_matrix(basis, charges);
}

std::vector<double> nuclear_matrix(const GaussianBasis& basis, const Molecule& molecule) {
  std::vector<GaussianCharge> charges;
  for (const Atom& atom : molecule.atoms) charges.push_back({-atom.charge, atom.position, 0});
  return potential_matrix(basis, charges);
}

// Throws Error(memory), before any work or allocation, if the field does not fit. Returns the grid, if one is needed.
std::optional<MolecularGrid> grid_that_fits(const Molecule& molecule, const GaussianBasis& basis,
                                            const ExchangeCorrelation& functional,
                                            const MolecularGridOptions& options) {
  std::optional<MolecularGrid> grid;
  if (functional.of_densities()) grid.emplace(molecule, options);
  const double needed = GaussianField::bytes(basis.size(), grid ? grid->size() : 0, functional.of_gradients());
  if (needed > host_memory()) {
    throw Error(ErrorKind::memory,
                message_of("gaussian field: ", basis.size(), " functions take ", impl::gibibytes(needed),
                           " for integrals and their values on the grid, of the ", impl::gibibytes(host_memory()),
                           " that this machine has; a smaller basis would fit"));
  }
  return grid;
}

void add_to(std::vector<double>& sum, const std::vector<double>& term, double factor) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * term[i];
}

}  // namespace

struct GaussianField::State {
  State(const Molecule& molecule, const std::vector<Shell>& shells, const ExchangeCorrelation& which,
        const MolecularGridOptions& options)
      : State(molecule, GaussianBasis(shells), electrons_of(molecule), which, options) {}
  State(const Molecule& molecule, const GaussianBasis& functions, const Electrons& electrons,
        const ExchangeCorrelation& which, const MolecularGridOptions& options)
      : State(molecule, functions, electrons, which, grid_that_fits(molecule, functions, which, options)) {}
  State(const Molecule& molecule, GaussianBasis functions, const Electrons& electrons, const ExchangeCorrelation& which,
        const std::optional<MolecularGrid>& grid)
      : orbital_exchange(which.orbital_exchange()),
        basis(std::move(functions)),
        overlap(overlap_matrix(basis)),
        kinetic(kinetic_matrix(basis)),
        external(nuclear_matrix(basis, molecule)),
        start(first_matrix(basis, molecule, electrons.total())),
        nuclear(nuclear_repulsion(molecule)),
        repulsion(basis) {
    if (grid) local.emplace(basis, *grid, which);
    add_to(start, kinetic, 1);
    add_to(start, external, 1);
  }

  double orbital_exchange;
  GaussianBasis basis;
  std::vector<double> overlap, kinetic, external, start;
  double nuclear;
  ElectronRepulsion repulsion;
  std::optional<impl::LocalIntegrals> local;
};

double GaussianField::bytes(std::size_t n, std::size_t points, bool gradients) noexcept {
  const auto functions = static_cast<double>(n);
  const auto values = (gradients ? 4 : 1) * functions * static_cast<double>(points);
  return ElectronRepulsion::bytes(n) + sizeof(double) * (values + 64 * functions * functions);
}

GaussianField::GaussianField(const Molecule& molecule, const std::vector<Shell>& shells,
                             const ExchangeCorrelation& functional, const MolecularGridOptions& grid)
    : state_(std::make_unique<const State>(molecule, shells, functional, grid)) {}

GaussianField::~GaussianField() = default;

std::size_t GaussianField::size() const {
  return state_->basis.size();
}

std::span<const double> GaussianField::overlap() const {
  return state_->overlap;
}

std::vector<double> GaussianField::start() const {
  return state_->start;
}

const GaussianBasis& GaussianField::basis() const {
  return state_->basis;
}

std::size_t GaussianField::points() const {
  return state_->local ? state_->local->points() : 0;
}

double GaussianField::electrons_on_grid(const SpinOrbitals& orbitals) const {
  return state_->local ? state_->local->electrons(orbitals) : std::numeric_limits<double>::quiet_NaN();
}

FieldMatrices GaussianField::field(const SpinOrbitals& orbitals, bool paired) const {
  const std::size_t n = size();
  const std::vector<double> up = impl::density_matrix(orbitals.up, n);
  const std::vector<double> down = paired ? up : impl::density_matrix(orbitals.down, n);
  std::vector<double> all = up;
  add_to(all, down, 1);
  const std::vector<double> J = state_->repulsion.coulomb(all);

  FieldMatrices result;
  FieldEnergies& energies = result.energies;
  energies.kinetic = impl::trace_of(all, state_->kinetic);
  energies.external = impl::trace_of(all, state_->external);
  energies.coulomb = 0.5 * impl::trace_of(all, J);
  energies.nuclear = state_->nuclear;
  result.up = state_->kinetic;
  add_to(result.up, state_->external, 1);
  add_to(result.up, J, 1);
  if (!paired) result.down = result.up;
  if (state_->local) {
    const auto local = state_->local->evaluate(orbitals, paired);
    energies.exchange = local.exchange;
    energies.correlation = local.correlation;
    add_to(result.up, local.up, 1);
    if (!paired) add_to(result.down, local.down, 1);
  }
  const double share = state_->orbital_exchange;
  if (share == 0) return result;
  const std::vector<double> K = state_->repulsion.exchange(up);
  const double of_up = -0.5 * share * impl::trace_of(up, K);
  add_to(result.up, K, -share);
  double of_down = of_up;
  if (!paired) {
    const std::vector<double> other = state_->repulsion.exchange(down);
    of_down = -0.5 * share * impl::trace_of(down, other);
    add_to(result.down, other, -share);
  }
  energies.exchange += of_up + of_down;
  return result;
}

}  // namespace heddle::models
