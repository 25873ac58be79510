// Sorting numbers by keys through comparisons alone: one source for every backend.
#pragma once

#include "search/workspace.hpp"

namespace heddle::search::impl {

/// Sorts values by keys, all bits of which count; values of equal keys keep their order. Both arrays have the same
/// length, and are what they were sorted to afterwards; as much memory again is taken from `workspace` meanwhile.
/// Ordered on its instance; does not block but to allocate. Bits: reproducible. Key: std::uint32_t or std::uint64_t;
/// Value: the same.
///
/// Method: tiles are sorted in the memory of a team, and runs are then merged in pairs, log2(n / tile) times. Each team
/// writes one tile of the result; which parts of both runs it merges is found by bisection on a diagonal ("merge path",
/// O. Green, R. McColl, D. Bader, "GPU Merge Path", ICS 2012). What comes from one run alone is copied without a
/// comparison, so that keys that are nearly in order take less time.
template <class Key, class Value>
void merge_sort_pairs(Workspace& workspace, Kokkos::View<Key*, MemorySpace>& keys,
                      Kokkos::View<Value*, MemorySpace>& values);

}  // namespace heddle::search::impl
