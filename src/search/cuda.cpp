// CUB's radix sort.
#include "search/sort.hpp"
#include <heddle/core/error.hpp>

#include <cub/device/device_radix_sort.cuh>

namespace heddle::search::impl {

template <class Key, class Value>
void sort_pairs(const ExecutionSpace& space, Kokkos::View<Key*, MemorySpace>& keys,
                Kokkos::View<Value*, MemorySpace>& values, int bits) {
  const auto n = static_cast<Index>(keys.extent(0));
  if (n == 0 || bits == 0) return;
  const auto uninitialised = Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::search::sorted");
  Kokkos::View<Key*, MemorySpace> other_keys(uninitialised, keys.extent(0));
  Kokkos::View<Value*, MemorySpace> other_values(uninitialised, keys.extent(0));
  cub::DoubleBuffer<Key> key_buffers(keys.data(), other_keys.data());
  cub::DoubleBuffer<Value> value_buffers(values.data(), other_values.data());
  Kokkos::View<char*, MemorySpace> scratch;
  std::size_t bytes = 0;
  for (int step = 0; step < 2; ++step) {  // The first only asks for the bytes.
    const cudaError_t status = cub::DeviceRadixSort::SortPairs(step == 0 ? nullptr : scratch.data(), bytes, key_buffers,
                                                               value_buffers, n, 0, bits, space.cuda_stream());
    if (status != cudaSuccess) {
      throw Error(ErrorKind::computation, message_of("search: the radix sort failed: ", cudaGetErrorString(status)));
    }
    if (step == 0) scratch = Kokkos::View<char*, MemorySpace>(uninitialised, bytes + 1);
  }
  if (key_buffers.selector != 0) keys = other_keys;
  if (value_buffers.selector != 0) values = other_values;
}

#define HEDDLE_INSTANCE(KEY, VALUE)                                                             \
  template void sort_pairs<KEY, VALUE>(const ExecutionSpace&, Kokkos::View<KEY*, MemorySpace>&, \
                                       Kokkos::View<VALUE*, MemorySpace>&, int);
HEDDLE_INSTANCE(std::uint32_t, std::uint32_t)
HEDDLE_INSTANCE(std::uint32_t, std::uint64_t)
HEDDLE_INSTANCE(std::uint64_t, std::uint32_t)
HEDDLE_INSTANCE(std::uint64_t, std::uint64_t)
#undef HEDDLE_INSTANCE

}  // namespace heddle::search::impl
