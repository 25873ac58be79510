// psi' = E psi with E in row bands.
#pragma once

#include <heddle/dist/matrix.hpp>
#include <heddle/dist/split_matrix.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::impl {

/// Product of a complex matrix in row bands with a vector that every rank has; owns its buffers.
///
/// A row's sum is taken over chunks of `chunk` columns, each in rising order, then over the chunks in rising order: the
/// same bits for any number of ranks and threads.
class ApplyExponential {
 public:
  static constexpr Index chunk = 128;

  ApplyExponential(const Communicator& comm, Index points);

  /// state = E state; both parts of E in row_bands(points, points, comm.size()). Collective, blocks.
  void operator()(const SplitMatrix<double>& E, schrodinger::State& state);

 private:
  using Vector = Kokkos::View<Kokkos::complex<double>*, MemorySpace>;
  using HostVector = Kokkos::View<Kokkos::complex<double>*, Kokkos::HostSpace>;

  Communicator comm_;
  Index points_;
  LocalMatrix<double> partial_real_;  // rows of this rank x chunks
  LocalMatrix<double> partial_imaginary_;
  Vector state_;
  Vector mine_;
  HostVector host_state_;
  HostVector host_mine_;
  std::vector<Kokkos::complex<double>> gathered_;
};

}  // namespace heddle::impl
