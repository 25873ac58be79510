// Parallel loops on the host, in parts, each by a thread with default arithmetic.
#pragma once

#include "core/on_host.hpp"
#include "exact/sums/arithmetic.hpp"
#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <string>

namespace heddle::exact::impl {

/// Calls body(first, last) for parts of [begin, end), `chunk` at a time; blocks. If not `by_all_threads`, the caller
/// alone runs all parts, and its arithmetic must be the default one.
template <class Body>
void for_each_chunk(const ExecutionSpace& space, const std::string& label, Index begin, Index end, Index chunk,
                    bool by_all_threads, const Body& body) {
  const Index chunks = (end - begin + chunk - 1) / chunk;
  const auto run = [&](Index number) { body(begin + number * chunk, std::min(begin + (number + 1) * chunk, end)); };
  if (!by_all_threads) {
    for (Index number = 0; number < chunks; ++number) {
      run(number);
    }
    return;
  }
  Kokkos::parallel_for(label,
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>, Kokkos::Schedule<Kokkos::Dynamic>>(
                           space, 0, chunks, Kokkos::ChunkSize(1)),
                       [&](Index number) {
                         const DefaultArithmetic arithmetic;
                         run(number);
                       });
  space.fence(label);
}

/// Calls body(i) for 0 <= i < length, on the host `chunk` at a time; blocks.
template <class Body>
void for_each_index(const ExecutionSpace& space, const std::string& label, std::size_t length, Index chunk,
                    const Body& body) {
  const auto n = static_cast<Index>(length);
  if constexpr (heddle::impl::on_host) {
    for_each_chunk(space, label, 0, n, chunk, true, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        body(i);
      }
    });
  } else {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n), body);
    space.fence(label);
  }
}

}  // namespace heddle::exact::impl
