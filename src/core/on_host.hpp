// Whether kernels run on the host.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl {

inline constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

}  // namespace heddle::impl
