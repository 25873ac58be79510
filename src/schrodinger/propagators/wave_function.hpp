// psi on the device and on the host of every rank.
#pragma once

#include "schrodinger/hamiltonian/device_hamiltonian.hpp"
#include <heddle/comm/communicator.hpp>

namespace heddle::impl {

/// The whole of psi on every rank, twice: in device memory, for steps and observables, and on the host, where the ranks
/// exchange the rows that they computed. A step moves only these rows between ranks and memories.
class WaveFunction {
 public:
  WaveFunction(const Communicator& comm, Index points);

  [[nodiscard]] const schrodinger::State& host() const { return state_; }
  [[nodiscard]] const DeviceState& device() const { return device_; }
  /// Whether all values are finite.
  [[nodiscard]] bool finite() const;

  /// psi = state, which every rank has. Blocks.
  void assign(const schrodinger::State& state);
  /// Storage of this rank's rows of a new psi, in row_bands(points, points, ranks), before assemble().
  [[nodiscard]] const DeviceState& band() const { return band_; }
  /// psi = the bands of all ranks. Collective. Blocks for one transfer of the band and its exchange, not for the
  /// transfer of the whole back to the device.
  void assemble();

 private:
  using PinnedState = Kokkos::View<Kokkos::complex<double>*, Kokkos::SharedHostPinnedSpace>;
  [[nodiscard]] PinnedState whole() const;

  Communicator comm_;
  Index points_;
  DeviceState band_;
  PinnedState host_band_;
  PinnedState gathered_;  // full bands of all ranks; the padding of the last ones is never read
  DeviceState device_;    // on CPUs the same memory
  schrodinger::State state_;
};

}  // namespace heddle::impl
