// Observables of psi, reduced on the device.
#pragma once

#include "schrodinger/hamiltonian/device_hamiltonian.hpp"
#include <heddle/schrodinger/observables.hpp>

namespace heddle::impl {

/// What schrodinger::observe() gives, of a psi in device memory: a few numbers come to the host, in one transfer.
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
  /// Blocks.
  [[nodiscard]] schrodinger::Observables observe(double time, const DeviceState& state);

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
  Kokkos::View<Index*, MemorySpace> largest_;
  Kokkos::View<Index**, Kokkos::LayoutLeft, MemorySpace> signs_;
  Kokkos::View<double*, MemorySpace> totals_;
  Kokkos::View<double*, Kokkos::SharedHostPinnedSpace> host_totals_;
};

}  // namespace heddle::impl
