// Equal keys by sorting: by the keys themselves, or by a hash of each.
#pragma once

#include "search/duplicates/recorder.hpp"
#include "search/duplicates/sinks.hpp"
#include "search/sort/merge_sort.hpp"
#include "search/sort/sort.hpp"

#include <utility>
#include <vector>

namespace heddle::search::impl {

using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;

/// Runs the chosen sort and counts its memory.
template <class Key, class Value>
void sort_recorded(SearchRecorder& recorder, Kokkos::View<Key*, MemorySpace>& keys,
                   Kokkos::View<Value*, MemorySpace>& values, int bits) {
  const auto bytes = static_cast<Index>(keys.extent(0) * (sizeof(Key) + sizeof(Value)));
  recorder.hold(bytes);
  const void* const keys_before = keys.data();
  const void* const values_before = values.data();
  if (recorder.report().sorting == Sorting::merge) {
    merge_sort_pairs(recorder.workspace(), keys, values);
  } else {
    sort_pairs(recorder.workspace(), keys, values, bits);
  }
  recorder.hold(-bytes);
  recorder.replace(keys_before, keys.data());
  recorder.replace(values_before, values.data());
  recorder.phase("sort");
}

template <class Slot, class Source> struct ListExisting {
  Source source;
  Kokkos::View<Slot*, MemorySpace> slots;

  KOKKOS_INLINE_FUNCTION void operator()(Index slot, Index& sum, bool last) const {
    if (!source.exists(slot)) return;
    if (last) slots(sum) = static_cast<Slot>(slot);
    ++sum;
  }
};

/// Returns the slots that exist, in order.
template <class Slot, class Source>
Kokkos::View<Slot*, MemorySpace> existing_slots(SearchRecorder& recorder, const Source& source) {
  const ExecutionSpace& space = recorder.space();
  auto slots = recorder.array<Slot>("heddle::search::slots", source.slots());
  Index count = 0;
  Kokkos::parallel_scan("heddle::search::existing", Policy(space, 0, source.slots()),
                        ListExisting<Slot, Source>{source, slots}, count);
  return Kokkos::subview(slots, std::pair<Index, Index>(0, count));
}

template <class Slot, class Source> struct CompareWithLast {
  Source source;
  Kokkos::View<Slot*, MemorySpace> slots;
  Index n;
  Kokkos::View<std::uint8_t*, MemorySpace> again;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    again(i) = i > 0 && i < n && source.same(static_cast<Index>(slots(i - 1)), static_cast<Index>(slots(i))) ? 1 : 0;
  }
};
template <class Slot, class Sink> struct MarkSorted {
  Kokkos::View<std::uint8_t*, MemorySpace> again;
  Kokkos::View<Slot*, MemorySpace> slots;
  Sink sink;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    if (again(i) == 0 && again(i + 1) == 0) {
      sink.alone(static_cast<Index>(slots(i)));
    } else if (again(i) != 0 && again(i + 1) != 0) {
      for (Index k = i - 1; k <= i + 1; ++k) sink.many(static_cast<Index>(slots(k)));
    }
  }
};
struct NumberGroup {
  Kokkos::View<std::uint8_t*, MemorySpace> again;
  Kokkos::View<Index*, MemorySpace> group;
  Kokkos::View<Index*, MemorySpace> begin;

  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index& sum, bool last) const {
    sum += 1 - again(i);
    if (last) {
      group(i) = sum - 1;
      if (again(i) == 0) begin(sum - 1) = i;
    }
  }
};
template <class Slot, class Sink> struct ReportSorted {
  Kokkos::View<std::uint8_t*, MemorySpace> again;
  Kokkos::View<Index*, MemorySpace> group;
  Kokkos::View<Index*, MemorySpace> begin;
  Kokkos::View<Slot*, MemorySpace> slots;
  Sink sink;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    const Index first = begin(group(i));
    sink.member(static_cast<Index>(slots(i)), static_cast<Index>(slots(first)));
    if (again(i + 1) == 0) sink.group(static_cast<Index>(slots(first)), i + 1 - first);
  }
};

/// Reports to `sink` on slots sorted so that equal keys are adjacent, each group in increasing order.
template <class Slot, class Source, class Sink>
void report_sorted(SearchRecorder& recorder, const Source& source, const Kokkos::View<Slot*, MemorySpace>& slots,
                   const Sink& sink) {
  const ExecutionSpace& space = recorder.space();
  const auto n = static_cast<Index>(slots.extent(0));
  // Whether a slot's key is that of the one before it.
  auto again = recorder.array<std::uint8_t>("heddle::search::again", n + 1);
  Kokkos::parallel_for("heddle::search::compare", Policy(space, 0, n + 1),
                       CompareWithLast<Slot, Source>{source, slots, n, again});
  if constexpr (!Sink::groups) {
    Kokkos::parallel_for("heddle::search::mark", Policy(space, 0, n), MarkSorted<Slot, Sink>{again, slots, sink});
  } else {
    auto group = recorder.array<Index>("heddle::search::group", n);
    auto begin = recorder.array<Index>("heddle::search::begin", n + 1);
    Index groups = 0;
    Kokkos::parallel_scan("heddle::search::groups", Policy(space, 0, n), NumberGroup{again, group, begin}, groups);
    Kokkos::parallel_for("heddle::search::members", Policy(space, 0, n),
                         ReportSorted<Slot, Sink>{again, group, begin, slots, sink});
    recorder.drop(group);
    recorder.drop(begin);
  }
  recorder.drop(again);
}

/// Puts words [begin, end) of the key of slot `from(i)` in one.
template <class Slot, class Source> struct JoinWords {
  Source source;
  Kokkos::View<Slot*, MemorySpace> from;
  int begin;
  int end;
  Kokkos::View<Word*, MemorySpace> to;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    Word key = 0;
    for (int k = begin; k < end; ++k) {
      const int more = source.word_bits(k);
      key = (more == 64 ? 0 : key << more) | source.word(static_cast<Index>(from(i)), k);
    }
    to(i) = key;
  }
};

/// Sorts slots, initially in increasing order, by their keys, and reports.
template <class Slot, class Source, class Sink>
void search_sorted_by_id(SearchRecorder& recorder, const Source& source, Kokkos::View<Slot*, MemorySpace>& slots,
                         const std::vector<int>& word_bits, const Sink& sink) {
  const ExecutionSpace& space = recorder.space();
  const auto n = static_cast<Index>(slots.extent(0));
  auto keys = recorder.array<Word>("heddle::search::keys", n);
  // From the last words to the first, as many together as 64 bits hold.
  for (int end = static_cast<int>(word_bits.size()); end > 0;) {
    int begin = end - 1;
    int bits = word_bits[static_cast<std::size_t>(begin)];
    while (begin > 0 && bits + word_bits[static_cast<std::size_t>(begin - 1)] <= 64) {
      bits += word_bits[static_cast<std::size_t>(--begin)];
    }
    if (bits > 0) {
      Kokkos::parallel_for("heddle::search::keys", Policy(space, 0, n),
                           JoinWords<Slot, Source>{source, slots, begin, end, keys});
      recorder.phase("hash");
      sort_recorded(recorder, keys, slots, bits);
    }
    end = begin;
  }
  recorder.drop(keys);
  report_sorted(recorder, source, slots, sink);
  recorder.phase("find");
}

/// Longest run of one hash whose slots are compared directly; longer runs are sorted by their keys.
inline constexpr Index longest_run = 48;

template <class Slot, class Source> struct HashInOrder {
  Source source;
  HashFunction function;
  Kokkos::View<Slot*, MemorySpace> from;
  Kokkos::View<std::uint32_t*, MemorySpace> to;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const { to(i) = source.hash(function, static_cast<Index>(from(i))); }
};
template <class Slot, class Source, class Sink> struct CompareInRun {
  Source source;
  Kokkos::View<Slot*, MemorySpace> ordered;
  Kokkos::View<std::uint32_t*, MemorySpace> hash;
  Index n;
  Kokkos::View<std::uint8_t*, MemorySpace> crowded;
  Sink sink;

  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index& collided) const {
    const std::uint32_t mine = hash(i);
    Index begin = i;
    while (begin > 0 && i - begin < longest_run && hash(begin - 1) == mine) --begin;
    Index end = i + 1;
    while (end < n && end - begin <= longest_run && hash(end) == mine) ++end;
    crowded(i) = end - begin > longest_run || i - begin == longest_run ? 1 : 0;
    if (crowded(i) != 0) {
      ++collided;
      return;
    }
    const auto slot = static_cast<Index>(ordered(i));
    Index equal = 0;
    Index first = slot;
    for (Index k = begin; k < end; ++k) {
      const auto other = static_cast<Index>(ordered(k));
      if (k != i && !source.same(other, slot)) continue;
      ++equal;
      if (other < first) first = other;
    }
    if (equal < end - begin) ++collided;
    sink.found(slot, first, equal);
  }
};
template <class Slot> struct ListCrowded {
  Kokkos::View<std::uint8_t*, MemorySpace> crowded;
  Kokkos::View<Slot*, MemorySpace> ordered;
  Kokkos::View<Slot*, MemorySpace> to;

  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index& sum, bool last) const {
    if (crowded(i) == 0) return;
    if (last) to(sum) = ordered(i);
    ++sum;
  }
};

/// Sorts all slots by a hash, and tells apart keys of equal hash.
template <class Slot, class Source, class Sink>
void search_sorted_by_hash(SearchRecorder& recorder, const Source& source, HashFunction function,
                           const std::vector<int>& word_bits, const Sink& sink) {
  const ExecutionSpace& space = recorder.space();
  auto slots = existing_slots<Slot>(recorder, source);
  const auto n = static_cast<Index>(slots.extent(0));
  recorder.phase("prepare");
  auto hashes = recorder.array<std::uint32_t>("heddle::search::hashes", n);
  Kokkos::parallel_for("heddle::search::hash", Policy(space, 0, n),
                       HashInOrder<Slot, Source>{source, function, slots, hashes});
  recorder.phase("hash");
  sort_recorded(recorder, hashes, slots, 32);
  auto crowded = recorder.array<std::uint8_t>("heddle::search::crowded", n);
  Index collisions = 0;
  Kokkos::parallel_reduce("heddle::search::runs", Policy(space, 0, n),
                          CompareInRun<Slot, Source, Sink>{source, slots, hashes, n, crowded, sink}, collisions);
  recorder.report().collisions += collisions;
  // A run is crowded as a whole, and its slots are in increasing order.
  auto rest = recorder.array<Slot>("heddle::search::rest", n);
  Index resting = 0;
  Kokkos::parallel_scan("heddle::search::rest", Policy(space, 0, n), ListCrowded<Slot>{crowded, slots, rest}, resting);
  recorder.phase("find");
  recorder.drop(hashes);
  recorder.drop(crowded);
  recorder.drop(slots);
  auto few = recorder.array<Slot>("heddle::search::rest", resting);
  Kokkos::deep_copy(space, few, Kokkos::subview(rest, std::pair<Index, Index>(0, resting)));
  recorder.drop(rest);
  if (resting > 0) search_sorted_by_id(recorder, source, few, word_bits, sink);
  recorder.drop(few);
}

}  // namespace heddle::search::impl
