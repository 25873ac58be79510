#include "device_hamiltonian.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::schrodinger {

namespace {

// The diagonal first, then pairs of diagonals outwards: long loops over the grid that vectorise.
template <class Value>
void apply_band(std::span<const double> kinetic, std::span<const double> potential, std::span<const Value> state,
                std::span<Value> result) {
  const std::size_t n = potential.size();
  require(state.size() == n && result.size() == n, "H psi: ", state.size(), " and ", result.size(), " values for ", n,
          " points");
  for (std::size_t i = 0; i < n; ++i) result[i] = (potential[i] + kinetic[0]) * state[i];
  for (std::size_t d = 1; d < kinetic.size(); ++d) {
    for (std::size_t i = 0; i + d < n; ++i) result[i] += kinetic[d] * state[i + d];
    for (std::size_t i = d; i < n; ++i) result[i] += kinetic[d] * state[i - d];
  }
}

}  // namespace

Hamiltonian::Hamiltonian(const Grid& grid, const Potential& potential, const Nuclei& nuclei)
    : grid_(grid), potential_(potential), nuclei_(nuclei), kinetic_(kinetic_band(grid)) {
  validate(grid_, potential_, nuclei_);
}

bool Hamiltonian::moves() const noexcept {
  return nuclei_.motion != Motion::fixed;
}

std::vector<double> Hamiltonian::potential_at(double time) const {
  return potential_energy(grid_, potential_, nuclei_, time);
}

void Hamiltonian::apply(std::span<const double> potential, std::span<const double> state,
                        std::span<double> result) const {
  apply_band(kinetic_, potential, state, result);
}

void Hamiltonian::apply(std::span<const double> potential, std::span<const std::complex<double>> state,
                        std::span<std::complex<double>> result) const {
  apply_band(kinetic_, potential, state, result);
}

void Hamiltonian::fill(double factor, double time, const DistributedMatrix<double>& A) const {
  require(A.rows() == grid_.points && A.columns() == grid_.points, "Hamiltonian of ", grid_.points,
          " points: the matrix is ", A.rows(), " x ", A.columns());
  impl::DeviceHamiltonian(A.communicator().space(), *this).fill(factor, time, A);
}

}  // namespace heddle::schrodinger
