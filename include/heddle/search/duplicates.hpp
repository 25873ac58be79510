// Equal keys: which keys there are, how many of each, and where.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/search/algorithm.hpp>

#include <memory>
#include <type_traits>

namespace heddle::search {

/// Groups of equal keys, numbered in the order of their first keys.
struct Duplicates {
  Kokkos::View<Index*, MemorySpace> group;  ///< Group of each key.
  Kokkos::View<Index*, MemorySpace> first;  ///< First key of each group: keys(first(g)) are the unique keys.
  Kokkos::View<Index*, MemorySpace> count;  ///< Number of keys of each group.
  SearchReport report;                      ///< How the search was done.

  /// Number of groups, which is the number of unique keys.
  [[nodiscard]] Index groups() const { return static_cast<Index>(first.extent(0)); }
};

namespace compiled {

/// Strided words of keys, of one of eight integer types. They are read as unsigned integers of 64 bits in the same
/// order.
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
/// with m <= 64; integers have 8 to 64 bits, views have any layout and strides, and n < 2^63.
///
/// Groups are numbered by first occurrence, so the result is the same for any algorithm, hash function, backend and
/// number of threads. A key may repeat any number of times. Bits: reproducible.
///
/// Throws Error(argument) for other numbers of words, and as SearchOptions::memory says. Blocks until done. Cost: see
/// Algorithm. The results take 8 bytes for each key and 16 for each group; 16 more for
/// each key are used while the search runs.
template <class Keys>
[[nodiscard]] Duplicates find_duplicates(const ExecutionSpace& space, const Keys& keys,
                                         const SearchOptions& options = {}) {
  return compiled::find_duplicates(space, compiled::key_array(keys), options);
}

/// find_duplicates() for repeated use: the memory of the search and its results is kept from one execute() to the next.
/// A call that needs no more than earlier ones, as with equal numbers of keys and groups, allocates and frees nothing
/// (`hash_fight` may, since its rounds depend on which thread writes last).
class DuplicatesPlan {
 public:
  /// Makes a plan for searches on `space`. Takes no memory yet.
  explicit DuplicatesPlan(const ExecutionSpace& space, const SearchOptions& options = {});
  ~DuplicatesPlan();
  DuplicatesPlan(DuplicatesPlan&&) noexcept;
  DuplicatesPlan& operator=(DuplicatesPlan&&) noexcept;

  /// Run find_duplicates() on these keys, in the plan's memory. The returned reference is valid until the next
  /// execute(). Views that the caller has copied from it by then keep their contents; the plan allocates new memory
  /// instead. Blocks until done.
  template <class Keys> const Duplicates& execute(const Keys& keys) { return find(compiled::key_array(keys)); }
  /// Bytes that the plan keeps, including those of the last results.
  [[nodiscard]] Index memory() const;

 private:
  const Duplicates& find(const compiled::KeyArray& keys);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::search
