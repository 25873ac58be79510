// Observables of psi, reduced on the device.
#pragma once

#include "schrodinger/hamiltonian/device_hamiltonian.hpp"
#include "schrodinger/propagators/wave_function.hpp"
#include <heddle/schrodinger/observables.hpp>

namespace heddle::impl {

/// Computes schrodinger::observe() for a psi in device memory: a few numbers are copied to the host, in one transfer.
/// Meanwhile the host finds nodes and the values at the ends in its own copy of psi.
///
/// Sums are compensated and in an order that depends on the number of points and the backend alone, so that bits do not
/// depend on the number of threads.
class Observer {
 public:
  /// For `states` eigenstates.
  Observer(const ExecutionSpace& space, const schrodinger::Hamiltonian& hamiltonian, Index states);

  /// Set the eigenstates of the following observations; they are copied to the device once. `eigenstates` must live
  /// until the next observe() returns.
  void use(const schrodinger::Eigenstates& eigenstates);
  /// `nodes_before`: node_positions of the previous observation. Blocks.
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
