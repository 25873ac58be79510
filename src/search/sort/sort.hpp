// Sorting numbers by keys: the vendor's radix sort on devices, our own on hosts.
#pragma once

#include "search/duplicates/workspace.hpp"

#include <cstdint>

namespace heddle::search::impl {

/// Sorts values by the lowest `bits` bits of keys; values of equal keys keep their order. Both arrays have the same
/// length, and are replaced by the sorted ones, which may be in other memory; `workspace` lends as much memory again
/// meanwhile. Ordered on the workspace's instance; blocks only on hosts. Key: std::uint32_t or std::uint64_t; Value:
/// the same.
template <class Key, class Value>
void sort_pairs(Workspace& workspace, Kokkos::View<Key*, MemorySpace>& keys, Kokkos::View<Value*, MemorySpace>& values,
                int bits);

}  // namespace heddle::search::impl

/// sort_pairs() for the types of keys and values that searches have; in namespace heddle::search::impl.
#define HEDDLE_INSTANTIATE_SORT(KEY, VALUE)                                          \
  template void sort_pairs<KEY, VALUE>(Workspace&, Kokkos::View<KEY*, MemorySpace>&, \
                                       Kokkos::View<VALUE*, MemorySpace>&, int)
#define HEDDLE_INSTANTIATE_SORTS()                       \
  HEDDLE_INSTANTIATE_SORT(std::uint32_t, std::uint32_t); \
  HEDDLE_INSTANTIATE_SORT(std::uint32_t, std::uint64_t); \
  HEDDLE_INSTANTIATE_SORT(std::uint64_t, std::uint32_t); \
  HEDDLE_INSTANTIATE_SORT(std::uint64_t, std::uint64_t)
