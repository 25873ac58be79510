// Whether kernels run on the host, and memory there that a device copies to.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl {

inline constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

/// A view's place on the host, of memory that a device copies from and to without a stage; on the host the view itself.
template <class View> auto pinned_mirror(const View& view) {
  return Kokkos::create_mirror_view(Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::SharedHostPinnedSpace{}),
                                    view);
}

}  // namespace heddle::impl
