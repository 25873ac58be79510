// Radix sort of pairs by CUB.
#include <heddle/core/scalar.hpp>

#include <cub/device/device_radix_sort.cuh>

namespace heddle::search::impl {
namespace {

template <class T> using Buffers = cub::DoubleBuffer<T>;

template <class T> T* current(cub::DoubleBuffer<T>& buffers) {
  return buffers.Current();
}

template <class Key, class Value>
cudaError_t radix_sort(const ExecutionSpace& space, void* scratch, std::size_t& bytes, Buffers<Key>& keys,
                       Buffers<Value>& values, Index size, int bits) {
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, size, 0, bits, space.cuda_stream());
}

}  // namespace
}  // namespace heddle::search::impl

#define HEDDLE_GPU(name) cuda##name
#include "search/sort/vendor_sort.hpp"
