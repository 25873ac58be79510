// Loops over the elements of a column-major matrix.
#pragma once

#include "core/on_host.hpp"

#include <string>
#include <type_traits>

namespace heddle::impl {

/// Column-major elements as a kernel wants them: a pointer and a leading dimension, stride one known at compile time.
template <class T> struct Elements {
  T* data;
  Index leading;
  template <class Layout, class... Properties>
  explicit Elements(const Kokkos::View<T**, Layout, Properties...>& view)
      : data(view.data()), leading(static_cast<Index>(view.stride(1))) {}
  KOKKOS_INLINE_FUNCTION T& operator()(Index i, Index j) const { return data[i + j * leading]; }
};

// Kernels of headers are classes, not lambdas: nvcc's wrapper of a lambda works in one source alone
// (ci/lints/kokkos_use.py).

/// body(i, j) down a run of rows of column j, and the run of one row.
template <class Body> struct EachOfRun {
  Body body;
  KOKKOS_INLINE_FUNCTION void operator()(Index j, Index begin, Index end) const {
    for (Index i = begin; i < end; ++i) {
      body(i, j);
    }
  }
};
template <class Body> struct RunOfOne {
  Body body;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { body(j, i, i + 1); }
};
/// target(i, j) = source(i, j).
template <class T> struct CopyElement {
  Elements<const T> source;
  Elements<T> target;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { target(i, j) = source(i, j); }
};
/// body(j, begin, end) for run k of all columns of `rows` elements, `chunks` runs each.
template <class Body> struct HostRun {
  static constexpr Index chunk = 1024;
  Body body;
  Index rows;
  Index chunks;
  void operator()(Index k) const {
    const Index begin = k % chunks * chunk;
    body(k / chunks, begin, begin + chunk < rows ? begin + chunk : rows);
  }
};

/// body(j, begin, end) for runs of rows that make up each column j, on the host: long enough to vectorise, and many
/// enough to share out evenly among the threads.
template <class Body>
void for_each_host_run(const ExecutionSpace& space, const std::string& label, Index rows, Index columns,
                       const Body& body) {
  const Index chunks = (rows + HostRun<Body>::chunk - 1) / HostRun<Body>::chunk;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, chunks * columns),
                       HostRun<Body>{body, rows, chunks});
}

/// body(i, j) for 0 <= i < rows, 0 <= j < columns, down the columns; ordered on `space`, does not block.
template <class Body>
void for_each_element(const ExecutionSpace& space, const std::string& label, Index rows, Index columns,
                      const Body& body) {
  if (rows == 0 || columns == 0) {
    return;
  }
  if constexpr (on_host) {
    for_each_host_run(space, label, rows, columns, EachOfRun<Body>{body});
  } else {
    Kokkos::parallel_for(
        label,
        Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<2, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                              Kokkos::IndexType<Index>>(space, {0, 0}, {rows, columns}, {64, 4}),
        body);
  }
}

/// body(j, begin, end) for runs of consecutive rows that together are all of 0 ... rows of each column j; ordered on
/// `space`, does not block. A run is long enough on CPUs to vectorise, and one element on GPUs, where neighbouring
/// threads take neighbouring elements: for bodies that keep something from one element to the next.
template <class Body>
void for_each_run(const ExecutionSpace& space, const std::string& label, Index rows, Index columns, const Body& body) {
  if (rows == 0 || columns == 0) {
    return;
  }
  if constexpr (on_host) {
    for_each_host_run(space, label, rows, columns, body);
  } else {
    for_each_element(space, label, rows, columns, RunOfOne<Body>{body});
  }
}

/// to = from, element by element; same extents, any leading dimensions.
template <class T>
void copy_elements(const ExecutionSpace& space, const std::string& label, const MatrixView<const T>& from,
                   const MatrixView<T>& to) {
  for_each_element(space, label, static_cast<Index>(to.extent(0)), static_cast<Index>(to.extent(1)),
                   CopyElement<T>{Elements<const T>(from), Elements<T>(to)});
}

/// Column-major view of rows x columns elements at `data` with a leading dimension; unowned.
template <class T> MatrixView<T> matrix_view(T* data, Index rows, Index columns, Index leading) {
  return MatrixView<T>(data, Kokkos::LayoutStride(static_cast<std::size_t>(rows), 1, static_cast<std::size_t>(columns),
                                                  static_cast<std::size_t>(leading)));
}

/// Rows and columns of a local matrix, by local ranges [begin, end).
template <class T>
MatrixView<T> block_of(const MatrixView<T>& matrix, Index row_begin, Index row_end, Index column_begin,
                       Index column_end) {
  return matrix_view(matrix.data() + row_begin + column_begin * static_cast<Index>(matrix.stride(1)),
                     row_end - row_begin, column_end - column_begin, static_cast<Index>(matrix.stride(1)));
}

}  // namespace heddle::impl
