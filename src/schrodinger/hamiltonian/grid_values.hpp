// Real numbers on the grid in device memory.
#pragma once

#include <heddle/core/scalar.hpp>

#include <span>
#include <string>

namespace heddle::impl {

using DeviceValues = Kokkos::View<double*, MemorySpace>;
using GridRange = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;

[[nodiscard]] inline DeviceValues device_values(const ExecutionSpace& space, const std::string& label, Index size) {
  return DeviceValues(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), static_cast<std::size_t>(size));
}

/// A copy of `values`, which may be destroyed afterwards: blocks.
[[nodiscard]] inline DeviceValues device_copy(const ExecutionSpace& space, const std::string& label,
                                              std::span<const double> values) {
  const DeviceValues copy = device_values(space, label, static_cast<Index>(values.size()));
  using Host = Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(space, copy, Host(values.data(), values.size()));
  space.fence("heddle::schrodinger::device_copy");
  return copy;
}

}  // namespace heddle::impl
