// Copies between matrices of different strides or in different memory.
#pragma once

#include <heddle/core/strided.hpp>

namespace heddle::impl {

// These two are compiled once for each scalar type: Kokkos::deep_copy of two layouts costs the compiler a second
// wherever it is called.

/// to = from, element by element, of the same extents and any strides; ordered on `space`, does not block.
template <Scalar T>
void copy_matrix(const ExecutionSpace& space, const StridedMatrix<const T>& from, const StridedMatrix<T>& to);
template <Scalar T>
void copy_vector(const ExecutionSpace& space, const StridedVector<const T>& from, const StridedVector<T>& to);

/// to = from, column by column where the elements of one of them do not lie together: both are column-major, of the
/// same extents, in any memory that Kokkos copies between.
template <class To, class From> void copy_columns(const ExecutionSpace& space, const To& to, const From& from) {
  if (to.size() == 0) return;
  if (to.span_is_contiguous() && from.span_is_contiguous()) {
    Kokkos::deep_copy(space, flat(to), flat(from));
    return;
  }
  for (std::size_t j = 0; j < to.extent(1); ++j) {
    Kokkos::deep_copy(space, flat(Kokkos::subview(to, Kokkos::ALL, j)), flat(Kokkos::subview(from, Kokkos::ALL, j)));
  }
}

}  // namespace heddle::impl
