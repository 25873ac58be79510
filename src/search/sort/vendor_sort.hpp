// sort.hpp by a vendor's radix sort. Only cuda.cpp and hip.cpp include it, after they define HEDDLE_GPU(name), the
// vendor's spelling of a name, and Buffers, current() and radix_sort(), whose spellings differ otherwise. radix_sort()
// only returns the bytes it needs if its scratch is null.
#include "search/sort/sort.hpp"
#include <heddle/core/error.hpp>

namespace heddle::search::impl {

template <class Key, class Value>
void sort_pairs(Workspace& workspace, Kokkos::View<Key*, MemorySpace>& keys, Kokkos::View<Value*, MemorySpace>& values,
                int bits) {
  const ExecutionSpace& space = workspace.space();
  const auto n = static_cast<Index>(keys.extent(0));
  if (n == 0 || bits == 0) return;
  const auto other_keys = workspace.take<Key>("heddle::search::sorted", n);
  const auto other_values = workspace.take<Value>("heddle::search::sorted", n);
  Buffers<Key> key_buffers(keys.data(), other_keys.data());
  Buffers<Value> value_buffers(values.data(), other_values.data());
  const auto sort = [&](void* scratch, std::size_t& bytes) {
    const HEDDLE_GPU(Error_t) status = radix_sort(space, scratch, bytes, key_buffers, value_buffers, n, bits);
    if (status != HEDDLE_GPU(Success)) {
      throw Error(ErrorKind::computation,
                  message_of("search: the radix sort failed: ", HEDDLE_GPU(GetErrorString)(status)));
    }
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  const auto scratch = workspace.take<char>("heddle::search::sorted", static_cast<Index>(bytes) + 1);
  sort(scratch.data(), bytes);
  if (current(key_buffers) != keys.data()) keys = other_keys;
  if (current(value_buffers) != values.data()) values = other_values;
}

HEDDLE_INSTANTIATE_SORTS();

}  // namespace heddle::search::impl
