// Copies of numbers between a device and the host, ordered on an instance.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string>
#include <vector>

namespace heddle::impl {

/// Return a host copy of a view after all work given to `space`. Blocks.
template <class View> auto host_copy(const ExecutionSpace& space, const View& view) {
  const auto host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, view);
  Kokkos::deep_copy(space, host, view);
  space.fence("heddle::solve::host_copy");
  return host;
}

/// Return a device copy of a list of numbers. Blocks until they are read.
template <class T>
Kokkos::View<T*, MemorySpace> device_copy(const ExecutionSpace& space, const std::vector<T>& numbers,
                                          const std::string& label) {
  const Kokkos::View<T*, MemorySpace> copy(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label),
                                           numbers.size());
  Kokkos::deep_copy(space, copy,
                    Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(numbers.data(), numbers.size()));
  space.fence("heddle::solve::device_copy");
  return copy;
}

}  // namespace heddle::impl
