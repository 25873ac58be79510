// Sums of many parts of one vector: of its segments, or of the elements that have the same key. Each is correctly
// rounded.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/strided.hpp>

#include <concepts>
#include <cstdint>
#include <memory>

namespace heddle::exact {

/// What offsets and keys are made of.
template <class I>
concept SegmentIndex = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

/// How segmented_sum() sums.
struct SegmentedSumOptions {
  bool add = false;  ///< What `sums` holds is one more term of each sum.
};
/// What segmented_sum() tells.
struct SegmentedSumReport {
  Index reopened = 0;  ///< Sums that three times the precision left open and that were formed again.
};
/// How keyed_sum() sums.
struct KeyedSumOptions {
  bool add = false;  ///< What `sums` holds is one more term of each sum.
};
/// What keyed_sum() tells.
struct KeyedSumReport {
  Index reopened = 0;  ///< Sums that three times the precision left open and that were formed again.
};

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

/// Computes sums(s) = x(offsets(s)) + x(offsets(s) + 1) + ... + x(offsets(s + 1) - 1) for each of the segments s, as if
/// exactly and rounded once, to nearest, ties to even (of complex numbers, each part): 0 for an empty segment. x has n
/// elements, `offsets` one more than `sums`, or none where `sums` has none; they are 32-bit or 64-bit integers from 0
/// to n in ascending order. Elements before the first and from the last offset on count nowhere. Views of any strides.
///
/// Infinities and NaNs are treated as in Accumulator; a sum is -0 only where every term is. Throws Error(argument), and
/// writes nothing, where the lengths don't fit, offsets are not such, or `sums` shares elements with x or `offsets`.
///
/// Bits: the same for any order within segments, number of threads and backend, whatever the caller's rounding mode.
/// Blocks. Cost: one pass over x for each part of its numbers, 14 flops a number, where three times the precision tells
/// how sums round, sums of zero included; those that it leaves open are formed again.
template <class ViewX, class ViewOffsets, class ViewSums>
SegmentedSumReport segmented_sum(const ExecutionSpace& space, const ViewX& x, const ViewOffsets& offsets,
                                 const ViewSums& sums, const SegmentedSumOptions& options = {}) {
  return compiled::segmented_sum<typename ViewSums::non_const_value_type, typename ViewOffsets::non_const_value_type>(
      space, strided(x), strided(offsets), strided(sums), options);
}

/// Computes sums(k) = the sum of all x(i) with keys(i) = k, as if exactly and rounded once, as segmented_sum() does; 0
/// for a key that no element has. x and `keys` are of one length; keys are 32-bit or 64-bit integers from 0 to the
/// length of `sums`, which is not one of them, in any order. Views of any strides.
///
/// Throws Error(argument), and writes nothing, where the lengths don't fit, a key is out of range, or `sums` shares
/// elements with x or `keys`. Bits: the same for any order of the elements together with their keys, number of threads
/// and backend. Blocks. Cost: on CPUs, 14 flops an element and part into a table of 32 bytes for each key, of which
/// threads have their own; more than 2^18 keys are dealt to tables of 2^14 first, for which elements are copied. On
/// GPUs, elements whose keys are not in ascending order are sorted with them, by as many bits as keys have (twice the
/// bytes of both of memory), and summed as segments.
template <class ViewX, class ViewKeys, class ViewSums>
KeyedSumReport keyed_sum(const ExecutionSpace& space, const ViewX& x, const ViewKeys& keys, const ViewSums& sums,
                         const KeyedSumOptions& options = {}) {
  return compiled::keyed_sum<typename ViewSums::non_const_value_type, typename ViewKeys::non_const_value_type>(
      space, strided(x), strided(keys), strided(sums), options);
}

/// keyed_sum() again and again, with the memory of its sorts and lists, which is kept: on GPUs up to three times the
/// bytes of x and `keys` and 9 bytes a key, which take some milliseconds to have and give back for 10^8 elements.
/// Results and errors are those of keyed_sum(). A plan serves one thread at a time.
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
