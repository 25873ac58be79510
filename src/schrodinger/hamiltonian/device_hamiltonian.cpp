// Kernels that fill the matrix of H(t) and multiply it by a vector.
#include "schrodinger/hamiltonian/device_hamiltonian.hpp"

#include "core/elementwise.hpp"

#include <string>

namespace heddle::impl {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::PotentialKind;
using DeviceNumbers = Kokkos::View<const double*, MemorySpace>;

DeviceNumbers to_device(const ExecutionSpace& space, const char* label, std::span<const double> values) {
  const Kokkos::View<double*, MemorySpace> device(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, std::string(label)), values.size());
  const Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(values.data(), values.size());
  Kokkos::deep_copy(space, device, host);
  // The host copy may be destroyed after the return.
  space.fence("heddle::schrodinger::to_device");
  return device;
}

// Global index of a local one. In bands indices are a range, without the divisions of block-cyclic ones.
struct GlobalIndex {
  GlobalIndex(const CyclicAxis& from, int rank)
      : axis(from),
        process(rank),
        shift(from.block * rank),
        is_range(from.processes == 1 || from.count(rank) <= from.block) {
    if (from.processes == 1) shift = 0;
  }
  KOKKOS_INLINE_FUNCTION Index operator()(Index local) const {
    return is_range ? shift + local : axis.global(process, local);
  }
  CyclicAxis axis;
  int process;
  Index shift;
  bool is_range;
};

void fill_matrix(double factor, const DeviceNumbers& kinetic, const DevicePotential& potential,
                 const DistributedMatrix<double>& A) {
  const Elements<double> a(A.local());
  const GlobalIndex row(A.placement().row_axis(), A.grid_row());
  const GlobalIndex column(A.placement().column_axis(), A.grid_column());
  const auto width = static_cast<Index>(kinetic.extent(0));
  for_each_element(
      A.communicator().space(), "heddle::schrodinger::fill", static_cast<Index>(A.local().extent(0)),
      static_cast<Index>(A.local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
        const Index p = row(i);
        const Index q = column(j);
        const Index distance = p < q ? q - p : p - q;
        double value = distance < width ? kinetic(distance) : 0.0;
        if (distance == 0) value += potential(p);
        a(i, j) = factor * value;
      });
}

// One item is a block of rows whose loops vectorise, or on GPUs one row. The diagonal comes first, then pairs of
// diagonals outwards, as in Hamiltonian::apply.
struct ApplyBand {
  static constexpr Index rows_per_item = on_host ? 256 : 1;
  DeviceNumbers kinetic;
  DevicePotential potential;
  DeviceState state;
  DeviceState result;
  Index n;

  KOKKOS_INLINE_FUNCTION void operator()(Index item) const {
    const auto width = static_cast<Index>(kinetic.extent(0));
    if constexpr (on_host) {
      const Index begin = item * rows_per_item;
      const Index end = begin + rows_per_item < n ? begin + rows_per_item : n;
      for (Index i = begin; i < end; ++i) result(i) = (potential(i) + kinetic(0)) * state(i);
      for (Index d = 1; d < width; ++d) {
        const Index last = end < n - d ? end : n - d;
        for (Index i = begin; i < last; ++i) result(i) += kinetic(d) * state(i + d);
        for (Index i = begin < d ? d : begin; i < end; ++i) result(i) += kinetic(d) * state(i - d);
      }
    } else {
      Kokkos::complex<double> sum = (potential(item) + kinetic(0)) * state(item);
      for (Index d = 1; d < width; ++d) {
        if (item + d < n) sum += kinetic(d) * state(item + d);
        if (item >= d) sum += kinetic(d) * state(item - d);
      }
      result(item) = sum;
    }
  }
};

}  // namespace

DeviceHamiltonian::DeviceHamiltonian(const ExecutionSpace& space, const Hamiltonian& hamiltonian)
    : space_(space),
      hamiltonian_(hamiltonian),
      kinetic_(to_device(space, "heddle::schrodinger::kinetic", hamiltonian.kinetic())) {
  // Only the nuclei of a soft-core potential move.
  if (hamiltonian.potential().kind != PotentialKind::soft_core) {
    potential_ = to_device(space, "heddle::schrodinger::potential", hamiltonian.bare().potential_at(0.0));
  }
}

DevicePotential DeviceHamiltonian::potential_at(double time) const {
  const auto& grid = hamiltonian_.grid();
  const auto centres = hamiltonian_.nuclei().positions(time);
  return {potential_,
          grid.xmin,
          grid.xmax,
          grid.spacing(),
          grid.points - 1,
          hamiltonian_.potential().charge,
          hamiltonian_.potential().softening,
          {{centres[0], centres[1]}},
          hamiltonian_.field(time)};
}

void DeviceHamiltonian::fill(double factor, double time, const DistributedMatrix<double>& A) const {
  fill_matrix(factor, kinetic_, potential_at(time), A);
}

void DeviceHamiltonian::apply(double time, const DeviceState& state, const DeviceState& result) const {
  const Index n = hamiltonian_.grid().points;
  constexpr Index most = ApplyBand::rows_per_item;
  Kokkos::parallel_for("heddle::schrodinger::apply_hamiltonian",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space_, 0, (n + most - 1) / most),
                       ApplyBand{kinetic_, potential_at(time), state, result, n});
}

}  // namespace heddle::impl
