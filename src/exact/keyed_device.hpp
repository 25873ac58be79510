// On GPUs: elements in the order of their keys.
#pragma once

#include "core/workspace.hpp"

namespace heddle::exact::impl {

/// Keys and elements sorted by the lowest `bits` bits of keys, which are not negative, by the vendor's radix sort. Both
/// are contiguous, `count` of them, and so are what they go to. Elements of one key keep their order on NVIDIA's GPUs.
template <Scalar T, class I>
void sort_by_keys(heddle::impl::Workspace& workspace, const I* keys, const T* elements, I* sorted_keys,
                  T* sorted_elements, Index count, int bits);

}  // namespace heddle::exact::impl
