// Correctly rounded sums of many parts of one vector: of its segments, or of the elements that have the same key.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/strided.hpp>

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <memory>

namespace heddle::exact {

/// Integer types of offsets and keys.
template <class I>
concept SegmentIndex = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

/// Options of segmented_sum().
struct SegmentedSumOptions {
  bool add = false;  ///< Whether the value in `sums` on entry is one more term of each sum.
};
/// Report of segmented_sum().
struct SegmentedSumReport {
  Index reopened = 0;  ///< Number of sums that three times the precision left open and that were formed again.
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const SegmentedSumReport& report);
/// Options of keyed_sum().
struct KeyedSumOptions {
  bool add = false;  ///< Whether the value in `sums` on entry is one more term of each sum.
};
/// Report of keyed_sum().
struct KeyedSumReport {
  Index reopened = 0;  ///< Number of sums that three times the precision left open and that were formed again.
};
/// As above.
std::ostream& operator<<(std::ostream& out, const KeyedSumReport& report);

namespace compiled {

template <Scalar T, SegmentIndex I>
SegmentedSumReport segmented_sum(const ExecutionSpace& space, const StridedVector<const T>& x,
                                 const StridedVector<const I>& offsets, const StridedVector<T>& sums,
                                 const SegmentedSumOptions& options);
template <Scalar T, SegmentIndex I>
KeyedSumReport keyed_sum(const ExecutionSpace& space, const StridedVector<const T>& x,
                         const StridedVector<const I>& keys, const StridedVector<T>& sums,
                         const KeyedSumOptions& options);

}  // namespace compiled

/// Computes sums(s) = x(offsets(s)) + x(offsets(s) + 1) + ... + x(offsets(s + 1) - 1) for each segment s, as if exactly
/// and rounded once, to nearest, ties to even (for complex numbers, each part): 0 for an empty segment. x has n
/// elements; `offsets` has one more than `sums`, or none if `sums` has none: 32-bit or 64-bit integers from 0 to n in
/// ascending order. Elements before the first offset and from the last one on are ignored. Views of any strides.
///
/// Infinities and NaNs are treated as in Accumulator; a sum is -0 only if every term is. Throws Error(argument), and
/// writes nothing, if the lengths don't fit, offsets are invalid, or `sums` shares elements with x or `offsets`.
///
/// Bits: the same for any order within segments, number of threads and backend, whatever the caller's rounding mode.
/// Blocks. Cost: one pass over x for each part of its numbers, 14 flops a number, if three times the precision decides
/// how sums round, sums of zero included; sums that it leaves open are formed again.
template <class ViewX, class ViewOffsets, class ViewSums>
SegmentedSumReport segmented_sum(const ExecutionSpace& space, const ViewX& x, const ViewOffsets& offsets,
                                 const ViewSums& sums, const SegmentedSumOptions& options = {}) {
  return compiled::segmented_sum<typename ViewSums::non_const_value_type, typename ViewOffsets::non_const_value_type>(
      space, strided(x), strided(offsets), strided(sums), options);
}

/// Computes sums(k) = the sum of all x(i) with keys(i) = k, as if exactly and rounded once, as segmented_sum() does; 0
/// for a key that no element has. x and `keys` have the same length; keys are 32-bit or 64-bit integers, at least 0 and
/// below the length of `sums`, in any order. Views of any strides.
///
/// Throws Error(argument), and writes nothing, if the lengths don't fit, a key is out of range, or `sums` shares
/// elements with x or `keys`. Bits: the same for any order of the elements together with their keys, number of threads
/// and backend. Blocks. Cost: on CPUs, 14 flops an element and part into a table of 32 bytes for each key, one table
/// per thread; more than 2^18 keys are first distributed over tables of 2^14, for which elements are copied. On GPUs,
/// elements whose keys are not in ascending order are sorted with them, by as many bits as keys have (memory: twice the
/// bytes of both), and summed as segments.
template <class ViewX, class ViewKeys, class ViewSums>
KeyedSumReport keyed_sum(const ExecutionSpace& space, const ViewX& x, const ViewKeys& keys, const ViewSums& sums,
                         const KeyedSumOptions& options = {}) {
  return compiled::keyed_sum<typename ViewSums::non_const_value_type, typename ViewKeys::non_const_value_type>(
      space, strided(x), strided(keys), strided(sums), options);
}

/// Repeated keyed_sum() that keeps the memory of its sorts and lists: on GPUs up to three times the bytes of x and
/// `keys` and 9 bytes a key, which take some milliseconds to allocate and free for 10^8 elements. Results and errors
/// are those of keyed_sum(). A plan serves one thread at a time.
class KeyedSumPlan {
 public:
  explicit KeyedSumPlan(const ExecutionSpace& space);
  ~KeyedSumPlan();
  KeyedSumPlan(KeyedSumPlan&&) noexcept;
  KeyedSumPlan& operator=(KeyedSumPlan&&) noexcept;
  KeyedSumPlan(const KeyedSumPlan&) = delete;
  KeyedSumPlan& operator=(const KeyedSumPlan&) = delete;

  template <class ViewX, class ViewKeys, class ViewSums>
  KeyedSumReport execute(const ViewX& x, const ViewKeys& keys, const ViewSums& sums,
                         const KeyedSumOptions& options = {}) {
    return sum<typename ViewSums::non_const_value_type, typename ViewKeys::non_const_value_type>(
        strided(x), strided(keys), strided(sums), options);
  }

 private:
  struct State;
  template <Scalar T, SegmentIndex I>
  KeyedSumReport sum(const StridedVector<const T>& x, const StridedVector<const I>& keys, const StridedVector<T>& sums,
                     const KeyedSumOptions& options);

  std::unique_ptr<State> state_;
};

}  // namespace heddle::exact
