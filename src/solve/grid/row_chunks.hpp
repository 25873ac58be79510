// Loops over rows, shared among the threads of a CPU.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <string>

namespace heddle::impl {

/// Calls body(first, last) for runs of rows that make up [begin, end), with `columns` columns each: runs that fit into
/// the cache, with several threads if there is enough work. On CPUs alone.
template <class Body>
void for_row_chunks(const ExecutionSpace& space, const std::string& label, Index begin, Index end, Index columns,
                    const Body& body) {
  if constexpr (on_host) {
    constexpr Index chunk = 512;
    const Index chunks = (end - begin + chunk - 1) / chunk;
    const auto take = [=](Index k) { body(begin + k * chunk, std::min(begin + (k + 1) * chunk, end)); };
    if (chunks * columns < 64) {
      for (Index k = 0; k < chunks; ++k) take(k);
    } else {
      Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, chunks),
                           take);
    }
  }
}

}  // namespace heddle::impl
