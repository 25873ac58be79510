// Search for equal keys within buckets, each a hash table in a team's scratch memory.
#pragma once

#include "search/duplicates/sinks.hpp"

namespace heddle::search::impl {

/// Packing of a key in a record: 96 bits beside a slot of 32, 128 bits beside a slot of 64, or a hash of 64 bits, whose
/// equality does not prove that keys are equal.
enum class Packing { one, two, hashed };

/// Words of a packed key.
template <Packing packing> inline constexpr int words_of = packing == Packing::hashed ? 1 : 2;
template <Packing packing> using PackedFor = Packed<words_of<packing>>;

/// Bits of a key that a bucket stores, and the key's slot. The other bits, left(), are below 2^(bits of a bucket's
/// number) and take part in choosing the bucket, so two records of one bucket are equal if their stored bits are.
template <Packing packing> struct Record;
template <> struct alignas(16) Record<Packing::one> {
  Word low;
  Word high_and_slot;

  Record() = default;
  KOKKOS_INLINE_FUNCTION Record(const Packed<2>& key, Index slot)
      : low(key.word[0]), high_and_slot(key.word[1] << 32 | static_cast<std::uint32_t>(slot)) {}
  KOKKOS_INLINE_FUNCTION static Word left(const Packed<2>& key) { return key.word[1] >> 32; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index slot() const { return static_cast<std::uint32_t>(high_and_slot); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool same(const Record& other) const {
    return low == other.low && (high_and_slot ^ other.high_and_slot) >> 32 == 0;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word mixed_by(Word seed) const {
    return mixed_bits(mixed_bits(low + seed) + (high_and_slot >> 32));
  }
};
template <> struct Record<Packing::two> {
  Word word[2];
  Index number;

  Record() = default;
  KOKKOS_INLINE_FUNCTION Record(const Packed<2>& key, Index slot) : word{key.word[0], key.word[1]}, number(slot) {}
  KOKKOS_INLINE_FUNCTION static Word left(const Packed<2>& key) { return key.rest; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index slot() const { return number; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool same(const Record& other) const {
    return word[0] == other.word[0] && word[1] == other.word[1];
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word mixed_by(Word seed) const {
    return mixed_bits(mixed_bits(word[0] + seed) + word[1]);
  }
};
template <> struct alignas(16) Record<Packing::hashed> {
  Word hash;
  Index number;

  Record() = default;
  KOKKOS_INLINE_FUNCTION Record(const Packed<1>& key, Index slot) : hash(key.word[0]), number(slot) {}
  KOKKOS_INLINE_FUNCTION static Word left(const Packed<1>&) { return 0; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index slot() const { return number; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool same(const Record& other) const { return hash == other.hash; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word mixed_by(Word seed) const { return mixed_bits(hash + seed); }
};

/// A place of a hash table: empty, or the number of its first record. If only counts of 1, 2 and more matter, two bits
/// above the number mean "another" and "more than one other".
struct Place {
  static constexpr std::uint32_t empty = 0xFFFFFFFF;
  static constexpr std::uint32_t twice = 0x40000000;
  static constexpr std::uint32_t more = 0x80000000;
  static constexpr std::uint32_t record = 0x3FFFFFFF;
};

// On the host a bucket has one thread, which needs no atomics.
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

/// One team searches a bucket. If a bucket has more distinct keys than its table takes, `overfull` becomes 1.
template <Packing packing, class Source, class Sink> struct Buckets {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<256>, Kokkos::Schedule<Kokkos::Dynamic>>;
  using Member = typename Policy::member_type;
  using Count = std::uint32_t;

  Kokkos::View<const Record<packing>*, MemorySpace> records;
  Kokkos::View<const Index*, MemorySpace> begin;
  Source source;
  Sink sink;
  Word seed = 0;
  int table_bits = 0;
  Kokkos::View<int*, MemorySpace> overfull;  // One number.

  static constexpr int longest_search = 512;
  static constexpr int scratch_level = on_host ? 1 : 0;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION static std::size_t scratch_bytes(int table_bits) {
    const std::size_t size = std::size_t{1} << table_bits;
    return size * (Sink::groups ? 2 * sizeof(Count) + sizeof(Index) : sizeof(Count)) + 64;
  }

  KOKKOS_INLINE_FUNCTION bool equal(const Record<packing>& a, const Record<packing>& b) const {
    if constexpr (packing == Packing::hashed) {
      return a.same(b) && source.same(a.slot(), b.slot());
    } else {
      return a.same(b);
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Count home(const Record<packing>& record) const {
    return static_cast<Count>(record.mixed_by(seed) >> 32) & ((Count{1} << table_bits) - 1);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Count next(Count place) const {
    return (place + 1) & ((Count{1} << table_bits) - 1);
  }

  /// Returns the place of a record's key, claiming one for a new key; Place::empty if none is free within
  /// longest_search.
  KOKKOS_INLINE_FUNCTION Count insert(Count* table, Index bucket, Count i) const {
    const Record<packing> mine = records(bucket + i);
    Count place = home(mine);
    for (int k = 0; k < longest_search; ++k, place = next(place)) {
      const Count found = claim(table + place, Count{Place::empty}, i);
      if (found == Place::empty) return place;
      if (equal(mine, records(bucket + (Sink::groups ? found : found & Place::record)))) {
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
    const Record<packing> mine = records(bucket + i);
    Count place = home(mine);
    while (!equal(mine, records(bucket + (Sink::groups ? table[place] : table[place] & Place::record)))) {
      place = next(place);
    }
    return place;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const Index bucket = begin(team.league_rank());
    const Index here = begin(team.league_rank() + 1) - bucket;
    if (here == 0) return;
    if (here > (Sink::groups ? Index{0xFFFFFFFE} : Index{Place::record} - 1)) {
      Kokkos::single(Kokkos::PerTeam(team), [&] { overfull(0) = 1; });
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
      if (insert(table, bucket, i) == Place::empty) overfull(0) = 1;
    });
    team.team_barrier();
    int crowded = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, size),
        [&](Count place, int& any) {
          const Count found = table[place];
          if (found == Place::empty) return;
          if ((found & Place::twice) == 0) {
            sink.alone(records(bucket + found).slot());
          } else if ((found & Place::more) != 0) {
            any = 1;
          }
        },
        Kokkos::Max<int>(crowded));
    if (crowded != 1 || overfull(0) != 0) return;
    loop(team, count, [&](Count i) {
      if ((table[find(table, bucket, i)] & Place::more) != 0) {
        sink.many(records(bucket + i).slot());
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
          lower(first + place, records(bucket + i).slot());
        },
        Kokkos::Max<int>(full));
    if (full == 1) {
      Kokkos::single(Kokkos::PerTeam(team), [&] { overfull(0) = 1; });
      return;
    }
    team.team_barrier();
    loop(team, count, [&](Count i) { sink.member(records(bucket + i).slot(), first[find(table, bucket, i)]); });
    loop(team, size, [&](Count place) {
      if (table[place] != Place::empty) sink.group(first[place], static_cast<Index>(members[place]));
    });
  }
};

}  // namespace heddle::search::impl
