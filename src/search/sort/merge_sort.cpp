// Merge sort of pairs by tiles and merge path.
#include "search/sort/merge_sort.hpp"

#include "core/on_host.hpp"
#include <heddle/core/error.hpp>

#include <cstdint>
#include <limits>
#include <utility>

namespace heddle::search::impl {
namespace {

using heddle::impl::on_host;

/// Pairs that one team sorts, or writes in a merge.
constexpr int tile = on_host ? 2048 : 1024;
/// Pairs that one thread of a GPU's team sorts by insertion, or writes in a merge within a tile; a CPU's team is one
/// thread, which merges whole runs.
constexpr int chunk = 8;
constexpr int team_threads = on_host ? 1 : tile / chunk;
constexpr int scratch_level = on_host ? 1 : 0;

using TilePolicy = Kokkos::TeamPolicy<ExecutionSpace>;
using Member = TilePolicy::member_type;

template <class Key, class Value> struct Pairs {
  Key* keys;
  Value* values;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION Pairs from(Index begin) const { return {keys + begin, values + begin}; }
  KOKKOS_INLINE_FUNCTION void take(Index at, const Pairs& other, Index from) const {
    keys[at] = other.keys[from];
    values[at] = other.values[from];
  }
};

/// Returns how many of the first `diagonal` pairs of a merge are from `a`; pairs of `a` precede equal ones of `b`.
template <class Key>
KOKKOS_INLINE_FUNCTION Index split(const Key* a, Index in_a, const Key* b, Index in_b, Index diagonal) {
  Index low = diagonal > in_b ? diagonal - in_b : 0;
  Index high = diagonal < in_a ? diagonal : in_a;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (b[diagonal - 1 - middle] < a[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Writes pairs [diagonal, diagonal + count) of the merge of `a` and `b` to the beginning of `out`.
template <class Key, class Value>
KOKKOS_INLINE_FUNCTION void merge(const Pairs<Key, Value>& a, Index in_a, const Pairs<Key, Value>& b, Index in_b,
                                  Index diagonal, Index count, const Pairs<Key, Value>& out) {
  Index i = split(a.keys, in_a, b.keys, in_b, diagonal);
  Index j = diagonal - i;
  Index at = 0;
  while (at < count && i < in_a && j < in_b) {
    const Key left = a.keys[i];
    const Key right = b.keys[j];
    const bool takes_right = right < left;
    out.keys[at] = takes_right ? right : left;
    out.values[at] = takes_right ? b.values[j] : a.values[i];
    i += takes_right ? 0 : 1;
    j += takes_right ? 1 : 0;
    ++at;
  }
  while (at < count && i < in_a) out.take(at++, a, i++);
  while (at < count) out.take(at++, b, j++);
}

/// Two tiles of pairs in the memory of a team.
template <class Key, class Value> struct TileBuffers {
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t bytes = 2 * tile * (sizeof(Key) + sizeof(Value));

  Pairs<Key, Value> half[2];

  KOKKOS_INLINE_FUNCTION explicit TileBuffers(const Member& team) {
    constexpr int level = scratch_level;
    // Copies: a reference to a static member would refer to host memory.
    auto* const memory =
        static_cast<char*>(team.team_scratch(level).get_shmem_aligned(std::size_t{bytes}, std::size_t{alignment}));
    auto* const keys = reinterpret_cast<Key*>(memory);
    auto* const values = reinterpret_cast<Value*>(memory + 2 * tile * sizeof(Key));
    half[0] = {keys, values};
    half[1] = {keys + tile, values + tile};
  }
  static void set(TilePolicy& policy) {
    policy.set_scratch_size(scratch_level, Kokkos::PerTeam(static_cast<int>(bytes + alignment)));
  }
};

template <class Key, class Value>
KOKKOS_INLINE_FUNCTION void copy_pairs(const Member& team, const Pairs<Key, Value>& from, int count,
                                       const Pairs<Key, Value>& to) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int k) { to.take(k, from, k); });
}

/// Sorts each tile in place.
template <class Key, class Value> struct SortTiles {
  Pairs<Key, Value> pairs;
  Index size;

  KOKKOS_INLINE_FUNCTION static void sort_chunk(const Pairs<Key, Value>& some, int begin, int end) {
    for (int k = begin + 1; k < end; ++k) {
      const Key key = some.keys[k];
      const Value value = some.values[k];
      int at = k;
      for (; at > begin && key < some.keys[at - 1]; --at) some.take(at, some, at - 1);
      some.keys[at] = key;
      some.values[at] = value;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const TileBuffers<Key, Value> buffers(team);
    const Pairs<Key, Value> mine = pairs.from(static_cast<Index>(team.league_rank()) * tile);
    const Index left = size - static_cast<Index>(team.league_rank()) * tile;
    const int count = left < tile ? static_cast<int>(left) : tile;
    int now = 0;
    copy_pairs(team, mine, count, buffers.half[0]);
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (count + chunk - 1) / chunk), [&](int k) {
      const int end = (k + 1) * chunk;
      sort_chunk(buffers.half[0], k * chunk, end < count ? end : count);
    });
    team.team_barrier();
    for (int run = chunk; run < count; run *= 2) {
      const Pairs<Key, Value> from = buffers.half[now];
      const Pairs<Key, Value> to = buffers.half[1 - now];
      const int unit = on_host ? 2 * run : chunk;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (count + unit - 1) / unit), [&](int k) {
        const int begin = k * unit;
        const int a = begin / (2 * run) * (2 * run);
        const int b = a + run < count ? a + run : count;
        const int end = b + run < count ? b + run : count;
        const int written = begin + unit < end ? unit : end - begin;
        merge(from.from(a), b - a, from.from(b), end - b, begin - a, written, to.from(begin));
      });
      team.team_barrier();
      now = 1 - now;
    }
    copy_pairs(team, buffers.half[now], count, mine);
  }
};

/// The two runs whose merge contains a tile of the result. Runs are whole tiles, except the last.
struct MergedRuns {
  Index a;    ///< Begin of the first run.
  Index b;    ///< Begin of the second run.
  Index end;  ///< End of the second run.

  KOKKOS_INLINE_FUNCTION MergedRuns(Index at, Index run, Index size) : a(at / (2 * run) * (2 * run)), b(a), end(a) {
    b = size - a < run ? size : a + run;
    end = size - b < run ? size : b + run;
  }
};

/// Merges each two adjacent runs of `run` pairs.
template <class Key, class Value> struct MergeTiles {
  Pairs<Key, Value> source;
  Pairs<Key, Value> target;
  Kokkos::View<const Index*, MemorySpace> splits;  ///< Number of the first run's pairs before each tile.
  Index size;
  Index run;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const Index begin = static_cast<Index>(team.league_rank()) * tile;
    const MergedRuns runs(begin, run, size);
    const int count = runs.end - begin < tile ? static_cast<int>(runs.end - begin) : tile;
    const Index from_a = splits(team.league_rank());
    const Index to_a = begin + count < runs.end ? splits(team.league_rank() + 1) : runs.b - runs.a;
    const int in_a = static_cast<int>(to_a - from_a);
    const Pairs<Key, Value> a = source.from(runs.a + from_a);
    const Pairs<Key, Value> b = source.from(runs.b + (begin - runs.a) - from_a);
    const Pairs<Key, Value> out = target.from(begin);
    if (in_a == count || in_a == 0) {
      copy_pairs(team, in_a == 0 ? b : a, count, out);
      return;
    }
    if (on_host) {
      merge(a, in_a, b, count - in_a, 0, count, out);
      return;
    }
    const TileBuffers<Key, Value> buffers(team);
    copy_pairs(team, a, in_a, buffers.half[0]);
    copy_pairs(team, b, count - in_a, buffers.half[0].from(in_a));
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (count + chunk - 1) / chunk), [&](int k) {
      const int first = k * chunk;
      merge(buffers.half[0], in_a, buffers.half[0].from(in_a), count - in_a, first,
            first + chunk < count ? chunk : count - first, buffers.half[1].from(first));
    });
    team.team_barrier();
    copy_pairs(team, buffers.half[1], count, out);
  }
};

template <class Key, class Value>
Kokkos::View<Index*, MemorySpace> splits_of(const ExecutionSpace& space, const Pairs<Key, Value>& pairs,
                                            const Kokkos::View<Index*, MemorySpace>& splits, Index size, Index run) {
  Kokkos::parallel_for(
      "heddle::search::merge_splits",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(splits.extent(0))),
      KOKKOS_LAMBDA(Index k) {
        const MergedRuns runs(k * tile, run, size);
        splits(k) =
            split(pairs.keys + runs.a, runs.b - runs.a, pairs.keys + runs.b, runs.end - runs.b, k * tile - runs.a);
      });
  return splits;
}

}  // namespace

template <class Key, class Value>
void merge_sort_pairs(Workspace& workspace, Kokkos::View<Key*, MemorySpace>& keys,
                      Kokkos::View<Value*, MemorySpace>& values) {
  const ExecutionSpace& space = workspace.space();
  const auto n = static_cast<Index>(keys.extent(0));
  if (n < 2) return;
  const Index tiles = (n + tile - 1) / tile;
  require(tiles <= std::numeric_limits<int>::max(), "search: ", n, " keys to sort by comparison; expected at most ",
          static_cast<Index>(std::numeric_limits<int>::max()) * tile);
  TilePolicy policy(space, static_cast<int>(tiles), team_threads);
  TileBuffers<Key, Value>::set(policy);
  Kokkos::parallel_for("heddle::search::sort_tiles", policy, SortTiles<Key, Value>{{keys.data(), values.data()}, n});
  if (tiles == 1) return;
  auto other_keys = workspace.take<Key>("heddle::search::sorted", n);
  auto other_values = workspace.take<Value>("heddle::search::sorted", n);
  const auto splits = workspace.take<Index>("heddle::search::splits", tiles);
  for (Index run = tile; run < n; run *= 2) {
    const Pairs<Key, Value> from{keys.data(), values.data()};
    Kokkos::parallel_for(
        "heddle::search::merge_tiles", policy,
        MergeTiles<Key, Value>{
            from, {other_keys.data(), other_values.data()}, splits_of(space, from, splits, n, run), n, run});
    std::swap(keys, other_keys);
    std::swap(values, other_values);
  }
}

#define HEDDLE_INSTANTIATE(KEY, VALUE)                                                     \
  template void merge_sort_pairs<KEY, VALUE>(Workspace&, Kokkos::View<KEY*, MemorySpace>&, \
                                             Kokkos::View<VALUE*, MemorySpace>&)
HEDDLE_INSTANTIATE(std::uint32_t, std::uint32_t);
HEDDLE_INSTANTIATE(std::uint32_t, std::uint64_t);
HEDDLE_INSTANTIATE(std::uint64_t, std::uint32_t);
HEDDLE_INSTANTIATE(std::uint64_t, std::uint64_t);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::search::impl
