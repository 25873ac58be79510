// Scatter of keys to buckets: keys are counted, then written to their buckets' records.
#pragma once

#include "search/duplicates/buckets.hpp"
#include "search/duplicates/recorder.hpp"

#include <algorithm>
#include <string>

namespace heddle::search::impl {

/// Calls f(slot, key) for each packed key of an item.
template <Packing packing, class Source, class F>
KOKKOS_INLINE_FUNCTION void each_key(const Source& source, Index item, const F& f) {
  if constexpr (packing == Packing::hashed) {
    source.each_hashed(item, f);
  } else {
    source.template each<words_of<packing>>(item, f);
  }
}

/// Bucket of a key. Bucket and record together determine the key.
template <Packing packing> struct BucketOf {
  Word seed;
  int bucket_bits;
  KOKKOS_INLINE_FUNCTION Index operator()(const PackedFor<packing>& key) const {
    const Word kept = Record<packing>(key, 0).mixed_by(seed);
    return static_cast<Index>((kept + Record<packing>::left(key)) & ((Word{1} << bucket_bits) - 1));
  }
};

/// Buckets [first, last) of a pass.
struct BucketRange {
  Index first;
  Index last;
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool holds(Index bucket) const { return bucket >= first && bucket < last; }
};

template <Packing packing, class Source> struct CountKeysOfItem {
  Source source;
  BucketOf<packing> bucket_of;
  Kokkos::View<Index*, MemorySpace> counts;

  KOKKOS_INLINE_FUNCTION void operator()(Index item) const {
    each_key<packing>(source, item,
                      [&](Index, const PackedFor<packing>& key) { Kokkos::atomic_inc(&counts(bucket_of(key))); });
  }
};
template <Packing packing, class Source> struct ScatterKeysOfItem {
  Source source;
  BucketOf<packing> bucket_of;
  Kokkos::View<Record<packing>*, MemorySpace> records;
  BucketRange pass;
  Kokkos::View<Index*, MemorySpace> cursors;

  KOKKOS_INLINE_FUNCTION void operator()(Index item) const {
    each_key<packing>(source, item, [&](Index slot, const PackedFor<packing>& key) {
      const Index bucket = bucket_of(key);
      if (!pass.holds(bucket)) return;
      const Index at = Kokkos::atomic_fetch_inc(&cursors(bucket - pass.first));
      records(at) = Record<packing>(key, slot);
    });
  }
};

/// Scatter on devices: one atomic addition a key to count, and one to find its place. The order of records in a bucket
/// is not deterministic; records written at about the same time are adjacent, and combine in the second-level cache.
template <Packing packing> class DeviceScatter {
 public:
  using Counts = Kokkos::View<Index*, MemorySpace>;

  DeviceScatter(SearchRecorder& recorder, const BucketOf<packing>& bucket_of)
      : recorder_(recorder),
        bucket_of_(bucket_of),
        counts_(recorder.array<Index>("heddle::search::counts", Index{1} << bucket_of.bucket_bits)) {
    Kokkos::deep_copy(recorder.space(), counts_, Index{0});
  }
  ~DeviceScatter() { recorder_.drop(counts_); }
  DeviceScatter(const DeviceScatter&) = delete;
  DeviceScatter& operator=(const DeviceScatter&) = delete;

  [[nodiscard]] const Counts& counts() const { return counts_; }

  template <class Source> void count(const Source& source) {
    Kokkos::parallel_for("heddle::search::count", range(source),
                         CountKeysOfItem<packing, Source>{source, bucket_of_, counts_});
  }
  /// `cursors` holds the place of the next record of each bucket of the pass, initially the first.
  template <class Source>
  void scatter(const Source& source, const Kokkos::View<Record<packing>*, MemorySpace>& records,
               const BucketRange& pass, const Counts& cursors) {
    Kokkos::parallel_for("heddle::search::scatter", range(source),
                         ScatterKeysOfItem<packing, Source>{source, bucket_of_, records, pass, cursors});
  }

 private:
  template <class Source> auto range(const Source& source) const {
    return Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>, Kokkos::LaunchBounds<256>>(recorder_.space(),
                                                                                                    0, source.items);
  }

  SearchRecorder& recorder_;
  BucketOf<packing> bucket_of_;
  Counts counts_;
};

template <Packing packing, class Source> struct CountKeysOfPiece {
  Source source;
  BucketOf<packing> bucket_of;
  Index pieces;
  Index buckets;
  Kokkos::View<Index*, MemorySpace> by_piece;

  KOKKOS_INLINE_FUNCTION void operator()(Index piece) const {
    Index* const mine = by_piece.data() + piece * buckets;
    for (Index b = 0; b < buckets; ++b) mine[b] = 0;
    for (Index item = source.items * piece / pieces; item < source.items * (piece + 1) / pieces; ++item) {
      each_key<packing>(source, item, [&](Index, const PackedFor<packing>& key) { ++mine[bucket_of(key)]; });
    }
  }
};
struct SumCountsOfBucket {
  Index pieces;
  Index buckets;
  Kokkos::View<Index*, MemorySpace> by_piece;
  Kokkos::View<Index*, MemorySpace> counts;

  KOKKOS_INLINE_FUNCTION void operator()(Index b) const {
    Index sum = 0;
    for (Index piece = 0; piece < pieces; ++piece) sum += by_piece(piece * buckets + b);
    counts(b) = sum;
  }
};
/// Computes where each piece's records of a bucket begin.
struct PlaceBucket {
  Index pieces;
  Index buckets;
  Kokkos::View<Index*, MemorySpace> by_piece;
  BucketRange pass;
  Kokkos::View<Index*, MemorySpace> cursors;

  KOKKOS_INLINE_FUNCTION void operator()(Index b) const {
    Index at = cursors(b - pass.first);
    for (Index piece = 0; piece < pieces; ++piece) {
      const Index here = by_piece(piece * buckets + b);
      by_piece(piece * buckets + b) = at;
      at += here;
    }
    cursors(b - pass.first) = at;
  }
};
/// Buffer of a bucket's records, at their places in a cache line of memory.
template <Packing packing> struct alignas(64) RecordLine {
  static constexpr Index size = packing == Packing::two ? 8 : 4;
  Record<packing> record[size];

  void flush(const Kokkos::View<Record<packing>*, MemorySpace>& records, Index begin, Index end) const {
    Record<packing>* const to = records.data();
    for (Index at = begin; at < end; ++at) to[at] = record[at % size];
  }
};
template <Packing packing, class Source> struct ScatterKeysOfPiece {
  using Line = RecordLine<packing>;

  Source source;
  BucketOf<packing> bucket_of;
  Index pieces;
  Index buckets;
  Kokkos::View<Index*, MemorySpace> by_piece;
  Kokkos::View<Record<packing>*, MemorySpace> records;
  BucketRange pass;
  Index width;
  Kokkos::View<Line*, MemorySpace> lines;
  Kokkos::View<Index*, MemorySpace> begins;

  KOKKOS_INLINE_FUNCTION void operator()(Index piece) const {
    Index* const next = by_piece.data() + piece * buckets + pass.first;
    Index* const begin = begins.data() + piece * width;
    Line* const mine = lines.data() + piece * width;
    std::copy_n(next, width, begin);
    for (Index item = source.items * piece / pieces; item < source.items * (piece + 1) / pieces; ++item) {
      each_key<packing>(source, item, [&](Index slot, const PackedFor<packing>& key) {
        const Index bucket = bucket_of(key);
        if (!pass.holds(bucket)) return;
        const Index b = bucket - pass.first;
        const Index at = next[b]++;
        mine[b].record[at % Line::size] = Record<packing>(key, slot);
        if (at % Line::size == Line::size - 1) {
          mine[b].flush(records, begin[b], at + 1);
          begin[b] = at + 1;
        }
      });
    }
    for (Index b = 0; b < width; ++b) mine[b].flush(records, begin[b], next[b]);
  }
};

/// Scatter on hosts: each thread has a run of items and its own counts, and writes a cache line of records at a time.
template <Packing packing> class HostScatter {
 public:
  using Counts = Kokkos::View<Index*, MemorySpace>;

  HostScatter(SearchRecorder& recorder, const BucketOf<packing>& bucket_of)
      : recorder_(recorder),
        bucket_of_(bucket_of),
        pieces_(recorder.space().concurrency()),
        buckets_(Index{1} << bucket_of.bucket_bits),
        counts_(recorder.array<Index>("heddle::search::counts", buckets_)),
        by_piece_(recorder.array<Index>("heddle::search::counts_of_pieces", pieces_ * buckets_)) {}
  ~HostScatter() {
    recorder_.drop(counts_);
    recorder_.drop(by_piece_);
  }
  HostScatter(const HostScatter&) = delete;
  HostScatter& operator=(const HostScatter&) = delete;

  [[nodiscard]] const Counts& counts() const { return counts_; }

  template <class Source> void count(const Source& source) {
    Kokkos::parallel_for("heddle::search::count", each_piece(),
                         CountKeysOfPiece<packing, Source>{source, bucket_of_, pieces_, buckets_, by_piece_});
    Kokkos::parallel_for("heddle::search::count_all", each_bucket(0, buckets_),
                         SumCountsOfBucket{pieces_, buckets_, by_piece_, counts_});
  }
  template <class Source>
  void scatter(const Source& source, const Kokkos::View<Record<packing>*, MemorySpace>& records,
               const BucketRange& pass, const Counts& cursors) {
    const Index width = pass.last - pass.first;
    Kokkos::parallel_for("heddle::search::places", each_bucket(pass.first, pass.last),
                         PlaceBucket{pieces_, buckets_, by_piece_, pass, cursors});
    auto lines = recorder_.array<RecordLine<packing>>("heddle::search::lines", pieces_ * width);
    auto begins = recorder_.array<Index>("heddle::search::begins", pieces_ * width);
    Kokkos::parallel_for("heddle::search::scatter", each_piece(),
                         ScatterKeysOfPiece<packing, Source>{source, bucket_of_, pieces_, buckets_, by_piece_, records,
                                                             pass, width, lines, begins});
    recorder_.drop(lines);
    recorder_.drop(begins);
  }

 private:
  auto each_piece() const {
    return Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(recorder_.space(), 0, pieces_);
  }
  auto each_bucket(Index first, Index last) const {
    return Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(recorder_.space(), first, last);
  }

  SearchRecorder& recorder_;
  BucketOf<packing> bucket_of_;
  Index pieces_;
  Index buckets_;
  Counts counts_;
  Kokkos::View<Index*, MemorySpace> by_piece_;
};

}  // namespace heddle::search::impl
