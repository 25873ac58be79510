// Whether two vectors, matrices or batches in memory have a byte in common.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/scalar.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle::impl {

/// The bytes of a view: [first + i stride[0] + j stride[1] + k stride[2], + width) for 0 <= i < count[0], 0 <= j <
/// count[1], 0 <= k < count[2]. Dimensions without gaps are in the width; strides ascend; width 0 is no byte.
struct Storage {
  using Three = std::array<Index, 3>;
  std::int64_t first = 0;
  Index width = 0;
  Three count{1, 1, 1};
  Three stride{1, 1, 1};

  Storage() = default;
  /// `extent` elements of `bytes` each, `steps` elements from one to the next, in each of three dimensions.
  Storage(const void* data, Index bytes, Three extent, Three steps);
};

/// Exact: columns or rows of one array that take turns are apart, however their strides interleave. Cost: constant for
/// ranges of addresses that are apart, and for blocks of one array, strided ones too; at worst the product of all
/// counts whose strides differ.
[[nodiscard]] bool share(const Storage& one, const Storage& other);

/// The bytes of a view of rank 1, 2 or 3 with any strides.
template <class View> [[nodiscard]] Storage storage_of(const View& view) {
  static_assert(View::rank() >= 1 && View::rank() <= 3);
  Storage::Three extent{1, 1, 1};
  Storage::Three stride{1, 1, 1};
  for (std::size_t d = 0; d < View::rank(); ++d) {
    extent[d] = static_cast<Index>(view.extent(d));
    stride[d] = static_cast<Index>(view.stride(d));
  }
  return {view.data(), static_cast<Index>(sizeof(typename View::value_type)), extent, stride};
}

template <class One, class Other> [[nodiscard]] bool share_storage(const One& one, const Other& other) {
  return share(storage_of(one), storage_of(other));
}

/// Throws Error(argument) where an operation would write what it still reads.
template <class Input, class Output>
void require_apart(std::string_view operation, std::string_view input_name, const Input& input,
                   std::string_view output_name, const Output& output) {
  require(!share_storage(input, output), operation, ": ", output_name, " shares storage with ", input_name,
          "; expected storage of its own");
}

}  // namespace heddle::impl
