// A subset of the keys as a source of its own, for algorithms that hold all keys at once.
#pragma once

#include "search/duplicates/hash.hpp"
#include "search/duplicates/recorder.hpp"
#include "search/duplicates/sinks.hpp"

namespace heddle::search::impl {

/// A source of the listed slots of another, in increasing order: slot k is the list's k-th.
template <class Source> struct ChosenSource {
  Source source;
  Kokkos::View<const Index*, MemorySpace> chosen;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index slots() const { return static_cast<Index>(chosen.extent(0)); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool exists(Index) const { return true; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool same(Index slot, Index other) const {
    return source.same(chosen(slot), chosen(other));
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint32_t hash(HashFunction function, Index slot) const {
    return source.hash(function, chosen(slot));
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int word_bits(int k) const { return source.word_bits(k); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word word(Index slot, int k) const { return source.word(chosen(slot), k); }
};

/// Forwards results of listed slots to the slots of the original source.
template <class Sink> struct ChosenSink {
  static constexpr bool groups = Sink::groups;

  Sink sink;
  Kokkos::View<const Index*, MemorySpace> chosen;

  KOKKOS_INLINE_FUNCTION void alone(Index slot) const { sink.alone(chosen(slot)); }
  KOKKOS_INLINE_FUNCTION void many(Index slot) const { sink.many(chosen(slot)); }
  KOKKOS_INLINE_FUNCTION void member(Index slot, Index first) const { sink.member(chosen(slot), chosen(first)); }
  KOKKOS_INLINE_FUNCTION void group(Index first, Index members) const { sink.group(chosen(first), members); }
  KOKKOS_INLINE_FUNCTION void found(Index slot, Index first, Index equal) const {
    sink.found(chosen(slot), chosen(first), equal);
  }
};

/// Bytes that a search of `keys` keys at once takes by an algorithm that holds all of them, in slots of 32 bits.
[[nodiscard]] Index bytes_at_once(Algorithm algorithm, Index keys);
/// Returns the number of parts of the keys such that one takes no more than `memory` bytes (0: no bound), and has fewer
/// keys than 32 bits can number if keys do not repeat too often. Throws Error(argument) for more than most_passes.
[[nodiscard]] int parts_of(Algorithm algorithm, Index keys, Index memory);
/// Returns the bound on a search that needs `needed` bytes if `free` of `total` are free on the device: 0, no bound, if
/// they suffice or there is no device (total 0).
[[nodiscard]] Index bound_by_device(Index needed, Index free, Index total);

/// Number of slots that 32 bits can number.
inline constexpr Index most_short_slots = 0xFFFFFFF0;

/// Returns true if a slot exists and its key's hash is in one of several parts.
template <class Source> struct InPart {
  Source source;
  Word part;
  Word parts;

  KOKKOS_INLINE_FUNCTION bool operator()(Index slot) const {
    return source.exists(slot) && Word{source.hash(HashFunction::mixer, slot)} * parts >> 32 == part;
  }
};

template <class Source> struct CountChosen {
  InPart<Source> is_here;

  KOKKOS_INLINE_FUNCTION void operator()(Index slot, Index& sum) const { sum += is_here(slot) ? 1 : 0; }
};
template <class Source> struct ListChosen {
  InPart<Source> is_here;
  Kokkos::View<Index*, MemorySpace> chosen;

  KOKKOS_INLINE_FUNCTION void operator()(Index slot, Index& sum, bool last) const {
    if (!is_here(slot)) return;
    if (last) chosen(sum) = slot;
    ++sum;
  }
};

/// Returns the slots that exist and whose keys' hashes are in this part of `parts`. Equal keys are in one part.
template <class Source>
Kokkos::View<Index*, MemorySpace> chosen_slots(SearchRecorder& recorder, const Source& source, int part, int parts) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  const ExecutionSpace& space = recorder.space();
  const InPart<Source> is_here{source, static_cast<Word>(part), static_cast<Word>(parts)};
  Index count = 0;
  Kokkos::parallel_reduce("heddle::search::count_chosen", Policy(space, 0, source.slots()),
                          CountChosen<Source>{is_here}, count);
  const auto chosen = recorder.array<Index>("heddle::search::chosen", count);
  Kokkos::parallel_scan("heddle::search::choose", Policy(space, 0, source.slots()),
                        ListChosen<Source>{is_here, chosen});
  recorder.phase("prepare");
  return chosen;
}

}  // namespace heddle::search::impl
