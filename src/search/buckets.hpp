// Equal keys within buckets, each a hash table in a team's scratch memory.
#pragma once

#include "search/sinks.hpp"

namespace heddle::search::impl {

/// How a key travels: whole in one or two words, or as a hash of 64 bits, which proves nothing.
enum class Packing { one, two, hashed };

template <Packing packing> inline constexpr int words_of = packing == Packing::two ? 2 : 1;
/// Of a slot's number: hashed keys are the way out where there are too many slots, too.
template <Packing packing>
using SlotNumber = std::conditional_t<packing == Packing::hashed, std::uint64_t, std::uint32_t>;

/// Keys sorted into buckets: bucket b of those at hand has records begin(b) to begin(b + 1) - 1.
template <Packing packing> struct Records {
  Kokkos::View<Word*, MemorySpace> words;  // The first word of all, then the second of all.
  Kokkos::View<SlotNumber<packing>*, MemorySpace> slots;
  Index capacity = 0;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word first_word(Index record) const { return words(record); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word mixed_at(Index record, Word seed) const {
    Word word[words_of<packing>];
    for (int k = 0; k < words_of<packing>; ++k) word[k] = words(record + k * capacity);
    return mixed_words(word, seed);
  }
};

/// A table's place: nothing, or the record that came there first. Where only 1, 2 and more are told apart, two bits
/// above its number say "another" and "more than one other".
struct Place {
  static constexpr std::uint32_t empty = 0xFFFFFFFF;
  static constexpr std::uint32_t twice = 0x40000000;
  static constexpr std::uint32_t more = 0x80000000;
  static constexpr std::uint32_t record = 0x3FFFFFFF;
};

// On the host a bucket has one thread.
template <class T> KOKKOS_INLINE_FUNCTION T fetch_or(T* place, T bits) {
  if constexpr (on_host) {
    const T old = *place;
    *place |= bits;
    return old;
  } else {
    return Kokkos::atomic_fetch_or(place, bits);
  }
}
template <class T> KOKKOS_INLINE_FUNCTION T claim(T* place, T expected, T value) {
  if constexpr (on_host) {
    const T old = *place;
    if (old == expected) *place = value;
    return old;
  } else {
    return Kokkos::atomic_compare_exchange(place, expected, value);
  }
}
template <class T> KOKKOS_INLINE_FUNCTION void add_one(T* place) {
  if constexpr (on_host) {
    ++*place;
  } else {
    Kokkos::atomic_add(place, T{1});
  }
}
template <class T> KOKKOS_INLINE_FUNCTION void lower(T* place, T value) {
  if constexpr (on_host) {
    if (value < *place) *place = value;
  } else {
    Kokkos::atomic_min(place, value);
  }
}

/// A team a bucket. Where a bucket has more distinct keys than its table takes, `overfull` becomes 1.
template <Packing packing, class Source, class Sink> struct Buckets {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<256>, Kokkos::Schedule<Kokkos::Dynamic>>;
  using Member = typename Policy::member_type;
  using Count = std::uint32_t;

  Records<packing> records;
  Kokkos::View<const Index*, MemorySpace> begin;
  Source source;
  Sink sink;
  Word seed = 0;
  int table_bits = 0;
  Kokkos::View<int, MemorySpace> overfull;

  static constexpr int longest_search = 512;
  static constexpr int scratch_level = on_host ? 1 : 0;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION static std::size_t scratch_bytes(int table_bits) {
    const std::size_t size = std::size_t{1} << table_bits;
    return size * (Sink::groups ? 2 * sizeof(Count) + sizeof(Index) : sizeof(Count)) + 64;
  }

  KOKKOS_INLINE_FUNCTION bool equal(Index a, Index b) const {
    if constexpr (packing == Packing::hashed) {
      return records.words(a) == records.words(b) &&
             source.same(static_cast<Index>(records.slots(a)), static_cast<Index>(records.slots(b)));
    } else {
      bool same = records.words(a) == records.words(b);
      if constexpr (packing == Packing::two) {
        same = same && records.words(a + records.capacity) == records.words(b + records.capacity);
      }
      return same;
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Count home(Index record) const {
    return static_cast<Count>(records.mixed_at(record, seed) >> 32) & ((Count{1} << table_bits) - 1);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Count next(Count place) const {
    return (place + 1) & ((Count{1} << table_bits) - 1);
  }

  /// The place of a record's key, made where there is none; Place::empty if none was found.
  KOKKOS_INLINE_FUNCTION Count insert(Count* table, Index bucket, Count i) const {
    Count place = home(bucket + i);
    for (int k = 0; k < longest_search; ++k, place = next(place)) {
      const Count found = claim(table + place, Count{Place::empty}, i);
      if (found == Place::empty) return place;
      if (equal(bucket + i, bucket + (Sink::groups ? found : found & Place::record))) {
        if constexpr (!Sink::groups) {
          if ((fetch_or(table + place, Count{Place::twice}) & Place::twice) != 0) {
            fetch_or(table + place, Count{Place::more});
          }
        }
        return place;
      }
    }
    return Place::empty;
  }
  KOKKOS_INLINE_FUNCTION Count find(const Count* table, Index bucket, Count i) const {
    Count place = home(bucket + i);
    while (!equal(bucket + i, bucket + (Sink::groups ? table[place] : table[place] & Place::record))) {
      place = next(place);
    }
    return place;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const Index bucket = begin(team.league_rank());
    const Index here = begin(team.league_rank() + 1) - bucket;
    if (here == 0) return;
    if (here > (Sink::groups ? Index{0xFFFFFFFE} : Index{Place::record} - 1)) {
      Kokkos::single(Kokkos::PerTeam(team), [&] { overfull() = 1; });
      return;
    }
    const auto count = static_cast<Count>(here);
    const Count size = Count{1} << table_bits;
    auto* const table =
        static_cast<Count*>(team.team_scratch(int{scratch_level})
                                .get_shmem_aligned(static_cast<std::ptrdiff_t>(scratch_bytes(table_bits) - 16), 16));
    if constexpr (Sink::groups) {
      with_groups(team, bucket, count, size, table);
    } else {
      with_classes(team, bucket, count, size, table);
    }
  }

 private:
  template <class Body> KOKKOS_INLINE_FUNCTION static void loop(const Member& team, Count count, const Body& body) {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), body);
  }

  KOKKOS_INLINE_FUNCTION void with_classes(const Member& team, Index bucket, Count count, Count size,
                                           Count* table) const {
    loop(team, size, [&](Count place) { table[place] = Place::empty; });
    team.team_barrier();
    loop(team, count, [&](Count i) {
      if (insert(table, bucket, i) == Place::empty) overfull() = 1;
    });
    team.team_barrier();
    int crowded = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, size),
        [&](Count place, int& any) {
          const Count found = table[place];
          if (found == Place::empty) return;
          if ((found & Place::twice) == 0) {
            sink.alone(static_cast<Index>(records.slots(bucket + found)));
          } else if ((found & Place::more) != 0) {
            any = 1;
          }
        },
        Kokkos::Max<int>(crowded));
    if (crowded != 1 || overfull() != 0) return;
    loop(team, count, [&](Count i) {
      if ((table[find(table, bucket, i)] & Place::more) != 0) {
        sink.many(static_cast<Index>(records.slots(bucket + i)));
      }
    });
  }

  KOKKOS_INLINE_FUNCTION void with_groups(const Member& team, Index bucket, Count count, Count size,
                                          Count* table) const {
    Count* const members = table + size;
    auto* const first = reinterpret_cast<Index*>(members + size);
    loop(team, size, [&](Count place) {
      table[place] = Place::empty;
      members[place] = 0;
      first[place] = Kokkos::reduction_identity<Index>::min();
    });
    team.team_barrier();
    int full = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, count),
        [&](Count i, int& any) {
          const Count place = insert(table, bucket, i);
          if (place == Place::empty) {
            any = 1;
            return;
          }
          add_one(members + place);
          lower(first + place, static_cast<Index>(records.slots(bucket + i)));
        },
        Kokkos::Max<int>(full));
    if (full == 1) {
      Kokkos::single(Kokkos::PerTeam(team), [&] { overfull() = 1; });
      return;
    }
    team.team_barrier();
    loop(team, count,
         [&](Count i) { sink.member(static_cast<Index>(records.slots(bucket + i)), first[find(table, bucket, i)]); });
    loop(team, size, [&](Count place) {
      if (table[place] != Place::empty) sink.group(first[place], static_cast<Index>(members[place]));
    });
  }
};

}  // namespace heddle::search::impl
