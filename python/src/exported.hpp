// Views as arrays of Python, which own them.
#pragma once

#include "arrays.hpp"

#include <array>
#include <memory>
#include <utility>

namespace heddle::python {

/// Return a capsule that keeps `value` alive for an array. A value that is still held when Kokkos has ended, or in a
/// forked process, is left to the system.
template <class Value> [[nodiscard]] nb::capsule owner_of(Value value) {
  auto owned = std::make_unique<Value>(std::move(value));
  nb::capsule owner(owned.get(), [](void* pointer) noexcept {
    if (running()) delete static_cast<Value*>(pointer);
  });
  static_cast<void>(owned.release());
  return owner;
}

/// The list `view` as an array that shares its memory; where it is asked for on the host, and is on a GPU, as a copy.
template <class T> [[nodiscard]] nb::object exported(const Kokkos::View<T*, MemorySpace>& view, bool on_host = false) {
  const std::array<std::size_t, 1> shape = {view.extent(0)};
  if constexpr (!views_on_host) {
    if (on_host) {
      const auto host = run([&] {
        const auto copy = Kokkos::create_mirror(view);
        Kokkos::deep_copy(space(), copy, view);
        return copy;
      });
      return nb::cast(nb::ndarray<nb::array_api>(host.data(), 1, shape.data(), owner_of(host), nullptr, dtype_of<T>(),
                                                 nb::device::cpu::value));
    }
  }
  return nb::cast(nb::ndarray<nb::array_api>(view.data(), 1, shape.data(), owner_of(view), nullptr, dtype_of<T>(),
                                             device_of_views, device_number(device_of_views)));
}

/// A column-major matrix that `value` keeps alive, likewise.
template <class Value, class T>
[[nodiscard]] nb::object exported_matrix(const Value& value, T* data, std::size_t rows, std::size_t columns,
                                         std::size_t leading, int device_type) {
  const std::array<std::size_t, 2> shape = {rows, columns};
  const std::array<std::int64_t, 2> strides = {1, static_cast<std::int64_t>(leading)};
  return nb::cast(nb::ndarray<nb::array_api>(data, 2, shape.data(), owner_of(value), strides.data(), dtype_of<T>(),
                                             device_type, device_number(device_type)));
}

}  // namespace heddle::python
