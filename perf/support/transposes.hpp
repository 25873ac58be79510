// Helpers of the transpose benchmarks.
#pragma once

#include "support/measure.hpp"
#include <heddle/core/scalar.hpp>

#include <string>
#include <string_view>

namespace heddle::perf {

struct Shape {
  Index rows;
  Index columns;
};

inline std::string benchmark_name(std::string_view way, const Shape& shape) {
  return "transpose/double/" + std::string(way) + '/' + std::to_string(shape.rows) + 'x' +
         std::to_string(shape.columns);
}

/// Returns the bytes of reading and writing each element once.
template <Scalar T> double bytes_moved(const LocalMatrix<T>& A) {
  return 2.0 * static_cast<double>(A.size()) * sizeof(T);
}

/// Returns the seconds of one `work` of several in a row: on GPUs one alone is as short as the launch latency.
template <class Work> double seconds_of_one(const Work& work) {
  constexpr int times = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible ? 1 : 10;
  return seconds_of([&] {
           for (int i = 0; i < times; ++i) {
             work();
           }
         }) /
         times;
}

template <Scalar T> bool is_transpose(const LocalMatrix<T>& A, const LocalMatrix<T>& B) {
  Index wrong = 0;
  Kokkos::parallel_reduce(
      "heddle::perf::is_transpose",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(world().space(), 0,
                                                                    static_cast<Index>(A.extent(1))),
      KOKKOS_LAMBDA(Index j, Index & count) {
        for (std::size_t i = 0; i < A.extent(0); ++i) {
          count += B(j, i) == A(i, j) ? 0 : 1;
        }
      },
      wrong);
  return wrong == 0;
}

}  // namespace heddle::perf
