// Copies of psi between device, host and ranks.
#include "schrodinger/propagators/wave_function.hpp"

#include "core/elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::impl {

WaveFunction::WaveFunction(const Communicator& comm, Index points)
    : comm_(comm), points_(points), state_(static_cast<std::size_t>(points)) {
  const ExecutionSpace& space = comm.space();
  const Index rows = Placement::row_bands(points, points, comm.size()).row_axis().block;
  band_ = DeviceState(Kokkos::view_alloc(space, "heddle::schrodinger::state_band"), rows);
  host_band_ = Kokkos::create_mirror_view(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::SharedHostPinnedSpace{}), band_);
  gathered_ =
      PinnedState(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::schrodinger::state"), rows * comm.size());
  device_ = Kokkos::create_mirror_view(Kokkos::view_alloc(Kokkos::WithoutInitializing, space, MemorySpace{}), whole());
}

WaveFunction::PinnedState WaveFunction::whole() const {
  return Kokkos::subview(gathered_, std::pair<Index, Index>(0, points_));
}

bool WaveFunction::finite() const {
  return std::all_of(state_.begin(), state_.end(),
                     [](const auto& value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); });
}

void WaveFunction::assign(const schrodinger::State& state) {
  state_ = state;
  for (Index i = 0; i < points_; ++i) gathered_(i) = Kokkos::complex<double>(state[i].real(), state[i].imag());
  if constexpr (!on_host) {
    Kokkos::deep_copy(comm_.space(), device_, whole());
    // The next assign() overwrites the source of this transfer.
    comm_.space().fence("heddle::schrodinger::assign");
  }
}

void WaveFunction::assemble() {
  using Complex = Kokkos::complex<double>;
  if constexpr (!on_host) Kokkos::deep_copy(comm_.space(), host_band_, band_);
  comm_.space().fence("heddle::schrodinger::assemble");
  comm_.all_gather(std::span<const Complex>(host_band_.data(), host_band_.size()),
                   std::span<Complex>(gathered_.data(), gathered_.size()));
  if constexpr (!on_host) {
    // Done before the next assemble() overwrites its source, since that begins with a fence.
    Kokkos::deep_copy(comm_.space(), device_, whole());
  }
  for (Index i = 0; i < points_; ++i) state_[i] = {gathered_(i).real(), gathered_(i).imag()};
}

}  // namespace heddle::impl
