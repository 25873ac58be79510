// On GPUs: sort of elements by their keys.
#pragma once

#include "core/memory/workspace.hpp"

namespace heddle::exact::impl {

/// Sorts keys and elements by the lowest `bits` bits of the keys, which are not negative, by the vendor's radix sort.
/// Inputs and outputs are contiguous, `count` of each. Elements of one key keep their order on NVIDIA's GPUs.
template <Scalar T, class I>
void sort_by_keys(heddle::impl::Workspace& workspace, const I* keys, const T* elements, I* sorted_keys,
                  T* sorted_elements, Index count, int bits);

}  // namespace heddle::exact::impl
