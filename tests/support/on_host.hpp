// Whether the default device is the host.
#pragma once

#include <heddle/core/scalar.hpp>

#include <Kokkos_Core.hpp>

namespace heddle::test {

inline constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

}  // namespace heddle::test
