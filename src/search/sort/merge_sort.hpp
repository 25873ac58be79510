// Sorting of numbers by keys by comparisons only: one source for all backends.
#pragma once

#include "search/duplicates/workspace.hpp"

namespace heddle::search::impl {

/// Sorts values by keys, all bits of which count; values of equal keys keep their order. Both arrays have the same
/// length and are replaced by the sorted ones; `workspace` lends as much memory again meanwhile. Ordered on the
/// workspace's instance; blocks only to allocate. Bits: reproducible. Key: std::uint32_t or std::uint64_t; Value: the
/// same.
///
/// Method: tiles are sorted in the memory of a team, and runs are then merged in pairs, log2(n / tile) times. Each team
/// writes one tile of the result; bisection on a diagonal finds the parts of both runs that it merges ("merge path", O.
/// Green, R. McColl, D. Bader, "GPU Merge Path", ICS 2012). Tiles that come from one run alone are copied without
/// comparisons, so that keys that are nearly in order take less time.
template <class Key, class Value>
void merge_sort_pairs(Workspace& workspace, Kokkos::View<Key*, MemorySpace>& keys,
                      Kokkos::View<Value*, MemorySpace>& values);

}  // namespace heddle::search::impl
