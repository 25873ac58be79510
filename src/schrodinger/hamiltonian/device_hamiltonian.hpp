// H(t) on the device.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::impl {

/// A vector over the grid in device memory.
using DeviceState = Kokkos::View<Kokkos::complex<double>*, MemorySpace>;

/// V(x_i, t) at one time, for kernels.
struct DevicePotential {
  Kokkos::View<const double*, MemorySpace> values;  ///< V_nuclei if it does not depend on time; otherwise empty.
  double xmin = 0.0, xmax = 0.0, spacing = 0.0;
  Index last = 0;
  double charge = 0.0, softening = 1.0;
  Kokkos::Array<double, 2> centres{};
  double field = 0.0;  ///< Field E at that time.

  /// The same as Grid::x and Hamiltonian::potential_at, with the same roundings.
  KOKKOS_INLINE_FUNCTION double x(Index i) const { return i == last ? xmax : xmin + static_cast<double>(i) * spacing; }
  KOKKOS_INLINE_FUNCTION double operator()(Index i) const {
    double value = 0.0;
    if (values.data() != nullptr) {
      value = values(i);
    } else {
      for (int k = 0; k < 2; ++k) {
        const double distance = x(i) - centres[k];
        value -= charge / Kokkos::sqrt(distance * distance + softening);
      }
    }
    return field == 0.0 ? value : value + x(i) * field;
  }
};

/// The kinetic band and the potential on the device, copied there once: a step copies nothing of H.
class DeviceHamiltonian {
 public:
  /// Blocks until both are on the device.
  DeviceHamiltonian(const ExecutionSpace& space, const schrodinger::Hamiltonian& hamiltonian);

  [[nodiscard]] DevicePotential potential_at(double time) const;
  /// A = factor H(t); A is n x n, in any placement. Does not block.
  void fill(double factor, double time, const DistributedMatrix<double>& A) const;
  /// result = H(t) state: (2w + 1) n multiplications, each sum in fixed order. Does not block.
  void apply(double time, const DeviceState& state, const DeviceState& result) const;

 private:
  ExecutionSpace space_;
  schrodinger::Hamiltonian hamiltonian_;
  Kokkos::View<const double*, MemorySpace> kinetic_;
  Kokkos::View<const double*, MemorySpace> potential_;
};

}  // namespace heddle::impl
