// Hash-Fight: the last slot written to a place of the hash table wins it.
#pragma once

#include "search/duplicates/sorted.hpp"

namespace heddle::search::impl {

/// Rounds after which the remaining slots are sorted if they hardly get fewer: a bad hash can need as many rounds as
/// keys.
inline constexpr int patient_rounds = 24;

/// The place of a hash in the table of a round in which `active` keys fight, one at least: hash mod m of m = 2 `active`
/// places. (A mask would drop the high bits, in which Morton codes differ.) The remainder is taken without a division,
/// which costs more than the round's accesses to a table in the cache. Its quotient is floor(h / active) of
/// h = floor(hash / 2) < 2^31, which equals floor(h f / 2^s) where 2^(s - 31) is the least power of two from `active`
/// on, and f the least integer above 2^s / active (Granlund, Montgomery, PLDI 1994, theorem 4.2).
class TablePlaces {
 public:
  /// Most places of a table: the number of values of a hash.
  static constexpr Index most = Index{1} << 32;
  [[nodiscard]] static Index for_keys(Index active) { return std::min(2 * active, most); }

  explicit TablePlaces(Index active) : places_(static_cast<Word>(for_keys(active))) {
    if (2 * active >= most) return;  // Each hash is its own remainder.
    shift_ = 31 + bits_of(static_cast<Word>(active - 1));
    factor_ = (Word{1} << shift_) / static_cast<Word>(active) + 1;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index operator()(std::uint32_t hash) const {
    return static_cast<Index>(hash - ((hash >> 1) * factor_ >> shift_) * places_);
  }

 private:
  Word places_;
  Word factor_ = 0;
  int shift_ = 0;
};

template <class Slot, class Source> struct HashOfSlot {
  Kokkos::View<Slot*, MemorySpace> fighting;
  Source source;
  HashFunction function;
  Kokkos::View<std::uint32_t*, MemorySpace> hashes;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    const auto slot = static_cast<Index>(fighting(i));
    hashes(slot) = source.hash(function, slot);
  }
};
template <class Slot> struct WriteToTable {
  Kokkos::View<Slot*, MemorySpace> from;
  TablePlaces place;
  Kokkos::View<std::uint32_t*, MemorySpace> hashes;
  Kokkos::View<Slot*, MemorySpace> table;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    const Slot slot = from(i);
    // Any order of stores is correct.
    Kokkos::atomic_store(&table(place(hashes(slot))), slot);
  }
};
template <class Slot, class Source> struct CheckWinner {
  Kokkos::View<Slot*, MemorySpace> from;
  TablePlaces place;
  Kokkos::View<std::uint32_t*, MemorySpace> hashes;
  Kokkos::View<Slot*, MemorySpace> table;
  Source source;
  Kokkos::View<Slot*, MemorySpace> joined;
  Kokkos::View<Slot*, MemorySpace> to;

  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index& sum, bool last) const {
    const Slot slot = from(i);
    const Slot winner = table(place(hashes(slot)));
    const bool same = winner == slot || source.same(static_cast<Index>(winner), static_cast<Index>(slot));
    if (same) {
      if (last) joined(slot) = winner;
      return;
    }
    if (last) to(sum) = slot;
    ++sum;
  }
};

/// Returns the slot that each slot joined: itself, or the winner of its place that it equals. -1 marks slots that
/// joined none: those left in `fighting`, and slots that don't exist.
template <class Slot, class Source>
Kokkos::View<Slot*, MemorySpace> fight(SearchRecorder& recorder, const Source& source, HashFunction function,
                                       Kokkos::View<Slot*, MemorySpace>& fighting) {
  const ExecutionSpace& space = recorder.space();
  fighting = existing_slots<Slot>(recorder, source);
  auto n = static_cast<Index>(fighting.extent(0));
  recorder.phase("prepare");
  auto hashes = recorder.array<std::uint32_t>("heddle::search::hashes", source.slots());
  Kokkos::parallel_for("heddle::search::hash", Policy(space, 0, n),
                       HashOfSlot<Slot, Source>{fighting, source, function, hashes});
  recorder.phase("hash");
  auto table = recorder.array<Slot>("heddle::search::table", TablePlaces::for_keys(n));
  auto joined = recorder.array<Slot>("heddle::search::joined", source.slots());
  Kokkos::deep_copy(space, joined, static_cast<Slot>(-1));
  auto losers = recorder.array<Slot>("heddle::search::losers", n);
  int rounds = 0;
  while (n > 0) {
    const TablePlaces place(n);
    Kokkos::parallel_for("heddle::search::fight", Policy(space, 0, n),
                         WriteToTable<Slot>{fighting, place, hashes, table});
    Index remaining = 0;
    Kokkos::parallel_scan("heddle::search::check", Policy(space, 0, n),
                          CheckWinner<Slot, Source>{fighting, place, hashes, table, source, joined, losers}, remaining);
    ++rounds;
    recorder.report().collisions += remaining;
    std::swap(fighting, losers);
    const bool hopeless = rounds >= patient_rounds && remaining > n - n / 8;
    n = remaining;
    if (hopeless) break;
  }
  recorder.report().iterations = std::max(recorder.report().iterations, rounds);
  recorder.phase("fight");
  fighting = Kokkos::subview(fighting, std::pair<Index, Index>(0, n));
  recorder.drop(table);
  recorder.drop(hashes);
  recorder.drop(losers);
  return joined;
}

/// Instead of a slot: none, or several.
template <class Slot> inline constexpr Slot no_slot = static_cast<Slot>(-1);
template <class Slot> inline constexpr Slot many_slots = static_cast<Slot>(-2);

template <class Slot> struct FindMate {
  Kokkos::View<Slot*, MemorySpace> joined;
  Kokkos::View<Slot*, MemorySpace> mate;

  KOKKOS_INLINE_FUNCTION void operator()(Index slot) const {
    const Slot winner = joined(slot);
    if (winner != no_slot<Slot> && static_cast<Index>(winner) != slot) {
      Kokkos::atomic_store(&mate(winner), static_cast<Slot>(slot));
    }
  }
};
template <class Slot, class Sink> struct ReportAlone {
  Kokkos::View<Slot*, MemorySpace> joined;
  Kokkos::View<Slot*, MemorySpace> mate;
  Sink sink;

  KOKKOS_INLINE_FUNCTION void operator()(Index slot, Index& crowded) const {
    const Slot winner = joined(slot);
    if (winner == no_slot<Slot>) return;
    if (static_cast<Index>(winner) == slot) {
      if (Kokkos::atomic_load(&mate(slot)) == no_slot<Slot>) sink.alone(slot);
    } else if (Kokkos::atomic_load(&mate(winner)) != static_cast<Slot>(slot)) {
      Kokkos::atomic_store(&mate(winner), many_slots<Slot>);
      ++crowded;
    }
  }
};
template <class Slot, class Sink> struct ReportMany {
  Kokkos::View<Slot*, MemorySpace> joined;
  Kokkos::View<Slot*, MemorySpace> mate;
  Sink sink;

  KOKKOS_INLINE_FUNCTION void operator()(Index slot) const {
    const Slot winner = joined(slot);
    if (winner != no_slot<Slot> && mate(winner) == many_slots<Slot>) sink.many(slot);
  }
};
template <class Slot> struct CountMember {
  Kokkos::View<Slot*, MemorySpace> joined;
  Kokkos::View<Index*, MemorySpace> first;
  Kokkos::View<Index*, MemorySpace> members;

  KOKKOS_INLINE_FUNCTION void operator()(Index slot) const {
    const Slot winner = joined(slot);
    if (winner == no_slot<Slot>) return;
    Kokkos::atomic_min(&first(winner), slot);
    Kokkos::atomic_inc(&members(winner));
  }
};
template <class Slot, class Sink> struct ReportMember {
  Kokkos::View<Slot*, MemorySpace> joined;
  Kokkos::View<Index*, MemorySpace> first;
  Kokkos::View<Index*, MemorySpace> members;
  Sink sink;

  KOKKOS_INLINE_FUNCTION void operator()(Index slot) const {
    const Slot winner = joined(slot);
    if (winner == no_slot<Slot>) return;
    sink.member(slot, first(winner));
    if (first(winner) == slot) sink.group(slot, members(winner));
  }
};

template <class Slot, class Source, class Sink>
void search_hash_fight(SearchRecorder& recorder, const Source& source, HashFunction function,
                       const std::vector<int>& word_bits, const Sink& sink) {
  const ExecutionSpace& space = recorder.space();
  Kokkos::View<Slot*, MemorySpace> left;
  auto joined = fight<Slot>(recorder, source, function, left);
  const Policy all(space, 0, source.slots());
  if constexpr (!Sink::groups) {
    // A second fight finds one slot equal to each winner.
    auto mate = recorder.array<Slot>("heddle::search::mate", source.slots());
    Kokkos::deep_copy(space, mate, no_slot<Slot>);
    Kokkos::parallel_for("heddle::search::mate", all, FindMate<Slot>{joined, mate});
    Index crowds = 0;
    Kokkos::parallel_reduce("heddle::search::alone", all, ReportAlone<Slot, Sink>{joined, mate, sink}, crowds);
    if (crowds > 0) Kokkos::parallel_for("heddle::search::many", all, ReportMany<Slot, Sink>{joined, mate, sink});
    recorder.phase("find");
    recorder.drop(mate);
  } else {
    auto first = recorder.array<Index>("heddle::search::first", source.slots());
    auto members = recorder.array<Index>("heddle::search::members", source.slots());
    Kokkos::deep_copy(space, first, Kokkos::reduction_identity<Index>::min());
    Kokkos::deep_copy(space, members, Index{0});
    Kokkos::parallel_for("heddle::search::count", all, CountMember<Slot>{joined, first, members});
    Kokkos::parallel_for("heddle::search::members", all, ReportMember<Slot, Sink>{joined, first, members, sink});
    recorder.phase("find");
    recorder.drop(first);
    recorder.drop(members);
  }
  recorder.drop(joined);
  if (left.extent(0) > 0) {
    auto few = recorder.workspace().template take<Slot>("heddle::search::rest", static_cast<Index>(left.extent(0)));
    Kokkos::deep_copy(space, few, left);
    search_sorted_by_id(recorder, source, few, word_bits, sink);
  }
  recorder.drop(left);
}

}  // namespace heddle::search::impl
