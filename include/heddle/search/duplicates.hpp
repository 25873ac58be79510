// Equal keys: which keys there are, how many of each, and where.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/search/algorithm.hpp>

#include <memory>
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

template <class Keys> KeyArray key_array(const Keys& keys) {
  using Word = typename Keys::non_const_value_type;
  static_assert(Keys::rank() == 1 || Keys::rank() == 2, "find_duplicates: keys are a View of rank 1 or 2");
  static_assert(std::is_integral_v<Word> && sizeof(Word) <= 8 && !std::is_same_v<Word, bool>,
                "find_duplicates: keys are integers of 8 to 64 bits; other types can be copied into such words");
  static_assert(Kokkos::SpaceAccessibility<ExecutionSpace, typename Keys::memory_space>::accessible,
                "find_duplicates: keys lie where kernels run: copy them there, as with create_mirror_view_and_copy");
  KeyArray array;
  array.data = keys.data();
  array.keys = static_cast<Index>(keys.extent(0));
  array.words = Keys::rank() == 1 ? 1 : static_cast<Index>(keys.extent(1));
  array.key_stride = static_cast<Index>(keys.stride(0));
  array.word_stride = Keys::rank() == 1 ? 1 : static_cast<Index>(keys.stride(1));
  array.bytes = static_cast<int>(sizeof(Word));
  array.is_signed = std::is_signed_v<Word>;
  return array;
}

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
  return compiled::find_duplicates(space, compiled::key_array(keys), options);
}

/// find_duplicates() for repeated use: what the search and its results take of memory is kept from one execute() to the
/// next. One that needs no more than those before it, as with as many keys of as many groups, allocates and frees
/// nothing (`hash_fight`, whose rounds depend on which thread comes last, may).
class DuplicatesPlan {
 public:
  /// Makes a plan for searches on `space`. Takes no memory yet.
  explicit DuplicatesPlan(const ExecutionSpace& space, const SearchOptions& options = {});
  ~DuplicatesPlan();
  DuplicatesPlan(DuplicatesPlan&&) noexcept;
  DuplicatesPlan& operator=(DuplicatesPlan&&) noexcept;

  /// What find_duplicates() gives for these keys, in the plan's memory: a reference that holds until the next
  /// execute(). Views that the caller has copied from it by then stay as they are, and the plan takes new memory in
  /// their place. Blocks until done.
  template <class Keys> const Duplicates& execute(const Keys& keys) { return find(compiled::key_array(keys)); }
  /// Bytes that the plan keeps, those of the last results included.
  [[nodiscard]] Index memory() const;

 private:
  const Duplicates& find(const compiled::KeyArray& keys);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::search
