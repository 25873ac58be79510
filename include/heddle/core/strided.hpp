// Views with any strides: LayoutLeft, LayoutRight, sub-views, padded matrices.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle {

/// A vector with any stride. Functions that take views of any layout are templates that only pass on their views as a
/// StridedVector, StridedMatrix or StridedBatch: the functions that they call, in a namespace `compiled`, are compiled
/// once in the library for each type of elements.
template <class T> using StridedVector = Kokkos::View<T*, Kokkos::LayoutStride, MemorySpace>;
/// A matrix with any strides.
template <class T> using StridedMatrix = Kokkos::View<T**, Kokkos::LayoutStride, MemorySpace>;
/// A batch of matrices along the third extent, with any strides.
template <class T> using StridedBatch = Kokkos::View<T***, Kokkos::LayoutStride, MemorySpace>;

/// The elements of a view as a StridedVector, StridedMatrix or StridedBatch, by the rank of the view.
template <class View> auto strided(const View& view) {
  static_assert(Kokkos::SpaceAccessibility<MemorySpace, typename View::memory_space>::accessible,
                "heddle: views in heddle::MemorySpace, please");
  static_assert(View::rank() >= 1 && View::rank() <= 3, "heddle: a vector, a matrix or a batch of matrices, please");
  using T = typename View::value_type;
  // An empty view may have no strides at all.
  const auto stride = [&](int extent) { return view.size() > 0 ? view.stride(extent) : 1; };
  if constexpr (View::rank() == 1) {
    return StridedVector<T>(view.data(), Kokkos::LayoutStride(view.extent(0), stride(0)));
  } else if constexpr (View::rank() == 2) {
    return StridedMatrix<T>(view.data(), Kokkos::LayoutStride(view.extent(0), stride(0), view.extent(1), stride(1)));
  } else {
    return StridedBatch<T>(view.data(), Kokkos::LayoutStride(view.extent(0), stride(0), view.extent(1), stride(1),
                                                             view.extent(2), stride(2)));
  }
}

/// The elements of a contiguous view as a list in the order of memory, unowned. Kokkos::deep_copy(flat(to), flat(from))
/// of views of one layout costs the compiler a fifth of what it costs for the views themselves.
template <class T, class... Properties> auto flat(const Kokkos::View<T, Properties...>& view) {
  using View = Kokkos::View<T, Properties...>;
  return Kokkos::View<typename View::value_type*, typename View::memory_space, Kokkos::MemoryUnmanaged>(view.data(),
                                                                                                        view.size());
}

}  // namespace heddle
