#include <heddle/core/error.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

#include <algorithm>
#include <cmath>
#include <string>

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

void fill_band(double factor, const Kokkos::View<const double*, MemorySpace>& kinetic,
               const Kokkos::View<const double*, MemorySpace>& potential, const DistributedMatrix<double>& A) {
  const auto width = static_cast<Index>(kinetic.extent(0));
  heddle::fill(
      A, KOKKOS_LAMBDA(Index i, Index j) {
        const Index distance = i < j ? j - i : i - j;
        const double value = distance < width ? kinetic(distance) : 0.0;
        return factor * (distance == 0 ? value + potential(i) : value);
      });
}

Kokkos::View<double*, MemorySpace> to_device(const ExecutionSpace& space, const char* label,
                                             std::span<const double> values) {
  Kokkos::View<double*, MemorySpace> device(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, std::string(label)),
                                            values.size());
  const Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(values.data(), values.size());
  Kokkos::deep_copy(space, device, host);
  return device;
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
  const ExecutionSpace& space = A.communicator().space();
  const std::vector<double> potential = potential_at(time);
  const auto kinetic_device = to_device(space, "heddle::schrodinger::kinetic", kinetic_);
  const auto potential_device = to_device(space, "heddle::schrodinger::potential", potential);
  // The host copies must outlive their transfer.
  space.fence("heddle::schrodinger::Hamiltonian::fill");
  fill_band(factor, kinetic_device, potential_device, A);
}

}  // namespace heddle::schrodinger
