// Observables of psi, reduced on the device.
#pragma once

#include "schrodinger/hamiltonian/device_hamiltonian.hpp"
#include "schrodinger/propagators/wave_function.hpp"
#include <heddle/schrodinger/observables.hpp>

namespace heddle::impl {

/// What schrodinger::observe() gives, of a psi in device memory: a few numbers come to the host, in one transfer. Nodes
/// and ends are looked at meanwhile in the psi that is on the host.
///
/// Sums are compensated and in an order that depends on the number of points and the backend alone, so that no number
/// of threads changes a bit.
class Observer {
 public:
  /// For `states` eigenstates.
  Observer(const ExecutionSpace& space, const schrodinger::Hamiltonian& hamiltonian, Index states);

  /// Those of the following observations; they are sent to the device, once. `eigenstates` must live until the next
  /// observe() returns.
  void use(const schrodinger::Eigenstates& eigenstates);
  /// `nodes_before`: node_positions of the observation before. Blocks.
  [[nodiscard]] schrodinger::Observables observe(double time, const WaveFunction& psi,
                                                 std::span<const double> nodes_before);

 private:
  ExecutionSpace space_;
  schrodinger::Hamiltonian hamiltonian_;
  DeviceHamiltonian device_;
  Index states_;
  std::vector<double> energies_;
  LocalMatrix<double> eigenstates_;
  DeviceState product_;
  LocalMatrix<double> sums_;
  LocalMatrix<double> rests_;
  Kokkos::View<double*, MemorySpace> totals_;
  Kokkos::View<double*, Kokkos::SharedHostPinnedSpace> host_totals_;
};

}  // namespace heddle::impl
