// Radix sort of pairs by rocPRIM.
#include <heddle/core/scalar.hpp>

#include <rocprim/rocprim.hpp>

namespace heddle::search::impl {
namespace {

template <class T> using Buffers = rocprim::double_buffer<T>;

template <class T> T* current(const rocprim::double_buffer<T>& buffers) {
  return buffers.current();
}

template <class Key, class Value>
hipError_t radix_sort(const ExecutionSpace& space, void* scratch, std::size_t& bytes, Buffers<Key>& keys,
                      Buffers<Value>& values, Index size, int bits) {
  return rocprim::radix_sort_pairs(scratch, bytes, keys, values, static_cast<std::size_t>(size), 0,
                                   static_cast<unsigned>(bits), space.hip_stream());
}

}  // namespace
}  // namespace heddle::search::impl

#define HEDDLE_GPU(name) hip##name
#include "search/sort/vendor_sort.hpp"
