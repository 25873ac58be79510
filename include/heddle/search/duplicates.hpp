// Equal keys: which keys there are, how many of each, and where.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/search/algorithm.hpp>

#include <type_traits>

namespace heddle::search {

/// Groups of equal keys, numbered in the order of their first keys.
struct Duplicates {
  Kokkos::View<Index*, MemorySpace> group;  ///< For each key, the group that it is in.
  Kokkos::View<Index*, MemorySpace> first;  ///< For each group, its first key: keys(first(g)) are the unique keys.
  Kokkos::View<Index*, MemorySpace> count;  ///< For each group, the number of its keys.
  SearchReport report;                      ///< How the search was done.

  /// Number of groups, which is that of unique keys.
  [[nodiscard]] Index groups() const { return static_cast<Index>(first.extent(0)); }
};

namespace compiled {

/// The words of keys, with any strides and of one of eight integer types, which are read as unsigned integers of 64
/// bits in the same order.
struct KeyArray {
  const void* data = nullptr;
  Index keys = 0;
  Index words = 0;
  Index key_stride = 0;
  Index word_stride = 0;
  int bytes = 0;
  bool is_signed = false;
};

Duplicates find_duplicates(const ExecutionSpace& space, const KeyArray& keys, const SearchOptions& options);

}  // namespace compiled

/// Finds equal keys among keys(0), ..., keys(n - 1). A key is an integer, or the words keys(i, 0) to keys(i, m - 1)
/// with m <= 64; integers have 8 to 64 bits, and views any layout and strides, with n < 2^63.
///
/// Groups are numbered by first occurrence, so the result is the same for any algorithm, hash function, backend and
/// number of threads. A key may repeat as often as it likes. Bits: reproducible.
///
/// Blocks until done. Cost: see Algorithm. The results take 8 bytes for each key and 16 for each group; 16 more for
/// each key are used while the search runs.
template <class Keys>
[[nodiscard]] Duplicates find_duplicates(const ExecutionSpace& space, const Keys& keys,
                                         const SearchOptions& options = {}) {
  using Word = typename Keys::non_const_value_type;
  static_assert(Keys::rank() == 1 || Keys::rank() == 2, "find_duplicates: keys are a View of rank 1 or 2");
  static_assert(std::is_integral_v<Word> && sizeof(Word) <= 8 && !std::is_same_v<Word, bool>,
                "find_duplicates: keys are integers of 8 to 64 bits; other types can be copied into such words");
  static_assert(Kokkos::SpaceAccessibility<ExecutionSpace, typename Keys::memory_space>::accessible,
                "find_duplicates: keys lie where kernels run: copy them there, as with create_mirror_view_and_copy");
  compiled::KeyArray array;
  array.data = keys.data();
  array.keys = static_cast<Index>(keys.extent(0));
  array.words = Keys::rank() == 1 ? 1 : static_cast<Index>(keys.extent(1));
  array.key_stride = static_cast<Index>(keys.stride(0));
  array.word_stride = Keys::rank() == 1 ? 1 : static_cast<Index>(keys.stride(1));
  array.bytes = static_cast<int>(sizeof(Word));
  array.is_signed = std::is_signed_v<Word>;
  return compiled::find_duplicates(space, array, options);
}

}  // namespace heddle::search
