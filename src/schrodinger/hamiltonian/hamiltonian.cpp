// The Hamiltonian on the host: its checks, its potential, and its product with a vector.
#include "schrodinger/hamiltonian/device_hamiltonian.hpp"
#include "schrodinger/hamiltonian/potential_values.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::schrodinger {

namespace {

// The diagonal first, then pairs of diagonals outwards: long loops over the grid vectorise.
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

Hamiltonian::Hamiltonian(const Grid& grid, const Potential& potential, const Nuclei& nuclei,
                         const std::vector<Pulse>& pulses, const Absorber& absorber)
    : grid_(grid),
      potential_(potential),
      nuclei_(nuclei),
      pulses_(pulses),
      absorber_(absorber),
      kinetic_(kinetic_band(grid)) {
  validate(grid_, potential_, nuclei_);
  for (const Pulse& pulse : pulses_) validate(pulse);
  validate(grid_, absorber_);
  require_finite_energies();
  absorption_ = absorbing_potential(grid_, absorber_);
}

// Finite values may give infinite energies, which have no eigenstates.
void Hamiltonian::require_finite_energies() const {
  require(std::isfinite(kinetic_.front()), "grid: a spacing of ", grid_.spacing(),
          " gives a kinetic energy t_0 = ", kinetic_.front(), "; expected a finite one");
  const char* key = potential_.kind == PotentialKind::soft_core  ? "potential.charge"
                    : potential_.kind == PotentialKind::harmonic ? "potential.omega"
                                                                 : "potential.file";
  const auto values = potential_values(grid_, potential_, nuclei_, 0.0);
  for (Index i = 0; i < grid_.points; ++i) {
    double size = values[i];
    require(std::isfinite(size), key, ": V = ", size, " at point ", i + 1, ", x = ", grid_.x(i),
            "; expected a finite energy");
    for (const Pulse& pulse : pulses_) size = std::abs(size) + std::abs(pulse.amplitude * grid_.x(i));
    require(std::isfinite(size), "pulse.amplitude: V = ", size, " at point ", i + 1, ", x = ", grid_.x(i),
            "; expected a finite energy");
  }
}

bool Hamiltonian::moves() const noexcept {
  return nuclei_.motion != Motion::fixed ||
         std::any_of(pulses_.begin(), pulses_.end(), [](const Pulse& pulse) { return pulse.amplitude != 0; });
}

std::vector<double> Hamiltonian::potential_at(double time) const {
  std::vector<double> values = potential_values(grid_, potential_, nuclei_, time);
  if (pulses_.empty()) return values;
  const double now = field(time);
  for (Index i = 0; i < grid_.points; ++i) values[i] += grid_.x(i) * now;
  return values;
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
