// The partition: keys are scattered to buckets, and equal keys are found within buckets.
#pragma once

#include "search/duplicates/scatter.hpp"
#include <heddle/core/error.hpp>

#include <vector>

namespace heddle::search::impl {

/// Buckets of about this many keys: their tables fit in a multiprocessor's scratch memory several times, or in a core's
/// second-level cache. Few buckets make scattering cheap: each has a partly written cache line.
template <class Sink> inline constexpr int bucket_size_bits = on_host ? 15 : (Sink::groups ? 9 : 11);

inline constexpr int most_bucket_bits = 24;
inline constexpr int most_passes = 4096;

/// Bits of a bucket's number for this many keys.
template <class Sink> int bucket_bits_for(Index keys) {
  const int bits = bits_of(static_cast<Word>(keys)) - bucket_size_bits<Sink>;
  return std::clamp(bits, 0, most_bucket_bits);
}

/// Runs of buckets whose records take no more than `memory` bytes (0: all), or one bucket each.
template <Packing packing> std::vector<BucketRange> passes_of(const std::vector<Index>& counts, Index memory) {
  const Index most = memory > 0 ? std::max<Index>(1, memory / Index{sizeof(Record<packing>)}) : 0;
  std::vector<BucketRange> passes;
  Index first = 0;
  Index held = 0;
  for (Index b = 0; b < static_cast<Index>(counts.size()); ++b) {
    const Index more = counts[static_cast<std::size_t>(b)];
    if (most > 0 && b > first && held + more > most) {
      passes.push_back({first, b});
      first = b;
      held = 0;
    }
    held += more;
  }
  passes.push_back({first, static_cast<Index>(counts.size())});
  require(static_cast<Index>(passes.size()) <= most_passes, "search: ", memory, " bytes would take ", passes.size(),
          " passes, over ", most_passes, "; more memory, please");
  return passes;
}

/// Number of keys of a search.
struct KeyCounts {
  Index most = 0;    ///< Upper bound: the number of slots.
  Index exact = -1;  ///< Exact number; -1 if unknown.
};

struct Passes {
  std::vector<BucketRange> ranges;
  Index most_keys = 0;     ///< Of one of them.
  Index most_buckets = 0;  ///< Of one of them.
};

/// The passes of keys that were counted by bucket. The host reads the counts only if there may be several passes or the
/// number of keys is unknown; otherwise the device does not wait.
template <Packing packing>
Passes planned_passes(const ExecutionSpace& space, const Kokkos::View<Index*, MemorySpace>& counts,
                      const KeyCounts& keys, Index memory) {
  const auto buckets = static_cast<Index>(counts.extent(0));
  if (keys.exact >= 0 && (memory == 0 || keys.exact <= memory / Index{sizeof(Record<packing>)})) {
    return {{{0, buckets}}, keys.exact, buckets};
  }
  std::vector<Index> host(static_cast<std::size_t>(buckets));
  Kokkos::deep_copy(space, Kokkos::View<Index*, Kokkos::HostSpace>(host.data(), host.size()), counts);
  space.fence("heddle::search::counts");
  Passes passes{passes_of<packing>(host, memory), 0, 0};
  for (const BucketRange& pass : passes.ranges) {
    Index held = 0;
    for (Index b = pass.first; b < pass.last; ++b) held += host[static_cast<std::size_t>(b)];
    passes.most_keys = std::max(passes.most_keys, held);
    passes.most_buckets = std::max(passes.most_buckets, pass.last - pass.first);
  }
  return passes;
}

struct BeginBucket {
  Kokkos::View<Index*, MemorySpace> counts;
  BucketRange pass;
  Kokkos::View<Index*, MemorySpace> begin;
  Kokkos::View<Index*, MemorySpace> cursors;
  Index width;

  KOKKOS_INLINE_FUNCTION void operator()(Index b, Index& sum, bool last) const {
    if (last) {
      begin(b) = sum;
      if (b < width) cursors(b) = sum;
    }
    if (b < width) sum += counts(pass.first + b);
  }
};

/// Computes where the records of each bucket of a pass begin; the last element of `begin` is their end.
inline void place_buckets(const ExecutionSpace& space, const Kokkos::View<Index*, MemorySpace>& counts,
                          const BucketRange& pass, const Kokkos::View<Index*, MemorySpace>& begin,
                          const Kokkos::View<Index*, MemorySpace>& cursors) {
  const Index width = pass.last - pass.first;
  Kokkos::parallel_scan("heddle::search::begin",
                        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, width + 1),
                        BeginBucket{counts, pass, begin, cursors, width});
}

/// Searches all keys of `blocks`, which calls its argument with each Source in turn, the same every time. `whole` is a
/// source of all keys; any Source serves if keys are not hashed. Returns false if a bucket has far more distinct keys
/// than usual; another seed may then work.
template <Packing packing, class Source, class Blocks, class Sink>
bool search_partition(SearchRecorder& recorder, const Source& whole, const Blocks& blocks, const KeyCounts& keys_there,
                      const Sink& sink, Index memory, Word seed) {
  using Scatter = std::conditional_t<on_host, HostScatter<packing>, DeviceScatter<packing>>;
  const ExecutionSpace& space = recorder.space();
  const Index keys = keys_there.most;
  const int bits = bucket_bits_for<Sink>(keys);
  Scatter scatter(recorder, BucketOf<packing>{seed, bits});
  blocks([&](const Source& source) { scatter.count(source); });

  const Passes passes = planned_passes<packing>(space, scatter.counts(), keys_there, memory);
  recorder.phase("count");
  recorder.report().passes = static_cast<int>(passes.ranges.size());

  auto records = recorder.array<Record<packing>>("heddle::search::records", passes.most_keys);
  auto begin = recorder.array<Index>("heddle::search::begin", passes.most_buckets + 1);
  auto cursors = recorder.array<Index>("heddle::search::cursors", passes.most_buckets);
  const auto overfull = recorder.workspace().take<int>("heddle::search::overfull", 1);
  Kokkos::deep_copy(space, overfull, 0);

  for (const BucketRange& pass : passes.ranges) {
    const Index width = pass.last - pass.first;
    place_buckets(space, scatter.counts(), pass, begin, cursors);
    blocks([&](const Source& source) { scatter.scatter(source, records, pass, cursors); });
    recorder.phase("scatter");

    Buckets<packing, Source, Sink> buckets;
    buckets.records = records;
    buckets.begin = begin;
    buckets.source = whole;
    buckets.sink = sink;
    buckets.seed = seed;
    // Tables have twice the places of a usual bucket's keys, which number 2^(bits_of(keys) - bits).
    buckets.table_bits = std::clamp(bits_of(static_cast<Word>(keys)) - bits + 1, 4, 31);
    buckets.overfull = overfull;
    typename Buckets<packing, Source, Sink>::Policy policy(space, static_cast<int>(width), on_host ? 1 : 256);
    policy.set_scratch_size(buckets.scratch_level,
                            Kokkos::PerTeam(static_cast<int>(buckets.scratch_bytes(buckets.table_bits))));
    Kokkos::parallel_for("heddle::search::buckets", policy, buckets);
    recorder.phase("buckets");
  }
  int failed = 0;
  Kokkos::deep_copy(space, Kokkos::View<int*, Kokkos::HostSpace>(&failed, 1), overfull);
  space.fence("heddle::search::overfull");
  recorder.drop(records);
  recorder.drop(begin);
  recorder.drop(cursors);
  return failed == 0;
}

}  // namespace heddle::search::impl
