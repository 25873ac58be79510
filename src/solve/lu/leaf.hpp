// Widths of leaves: columns that are factored one after the other, where the recursion on the columns of a panel ends.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>

namespace heddle::impl {

/// On GPUs: as many elements of a row as a thread keeps in registers.
template <Scalar T> inline constexpr Index device_leaf_width = std::min<Index>(32, 256 / static_cast<Index>(sizeof(T)));
template <Scalar T> inline constexpr Index leaf_width = on_host ? 8 : device_leaf_width<T>;
/// On GPUs: columns of a panel that leaves are applied to one after the other; wider panels are halved.
inline constexpr Index device_run_width = 256;

}  // namespace heddle::impl
