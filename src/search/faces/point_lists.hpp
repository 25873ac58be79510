// Sides of cells on hosts, listed by their smallest points.
#pragma once

#include "core/memory/large_pages.hpp"
#include "search/duplicates/recorder.hpp"
#include "search/faces/listing.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace heddle::search::impl {

/// Returns true if consecutive cells mostly have near points, so that a point's list is still in the cache for the next
/// cell. Samples some cells.
template <class Source> bool cells_are_near(const Source& source, std::int64_t points) {
  constexpr Index samples = 2048;
  // Lists of this many points, about 200 bytes each, fit in a cache.
  constexpr std::int64_t near = 1 << 14;
  if (points <= 4 * near) return true;
  const auto smallest = [&](Index item) {
    std::int64_t least = source.points(source.begin_of(item));
    for (Index k = source.begin_of(item); k < source.begin_of(item + 1); ++k) {
      least = std::min<std::int64_t>(least, source.points(k));
    }
    return least;
  };
  Index far = 0;
  const Index step = std::max<Index>(1, (source.items - 1) / samples);
  for (Index item = 0; item + 1 < source.items; item += step) {
    const std::int64_t apart = smallest(item) - smallest(item + 1);
    far += apart > near || apart < -near ? 1 : 0;
  }
  return 4 * far * step <= source.items;
}

/// The points of a side beside its smallest, in 64 bits.
struct SideKey {
  Word word = 0;
  bool fits = true;  // Whether the word identifies the side.
};
template <Shape shape> KOKKOS_INLINE_FUNCTION SideKey side_key(const SidePoints& found) {
  const Word a = found.point[0];
  if constexpr (shape == Shape::tetrahedra) {
    return {(found.point[1] - a) << 32 | (found.point[2] - a), (found.point[2] - a) >> 32 == 0};
  } else {
    constexpr int bits = 21;
    const Word last = found.count == 4 ? found.point[3] - a : 0;
    const Word largest = found.count == 4 ? last : found.point[2] - a;
    return {((found.point[1] - a) << bits | (found.point[2] - a)) << bits | last, largest >> bits == 0};
  }
}

/// Reports to `sink` the sides of one list that are alone, and those whose key occurs at least three times. A short
/// list is a hash table on the stack; a longer one is sorted.
class ListMatcher {
 public:
  template <class Sink>
  void operator()(const Word* keys, const std::uint32_t* slots, std::uint32_t count, const Sink& sink) {
    if (count <= longest) {
      match_short(keys, slots, count, sink);
    } else {
      match_sorted(keys, slots, count, sink);
    }
  }

 private:
  static constexpr std::uint32_t longest = 96;

  [[nodiscard]] std::uint32_t place_of(Word key, std::uint32_t mask) const {
    auto place = static_cast<std::uint32_t>((key * 0x9E3779B97F4A7C15U) >> 40) & mask;
    while (times_[place] != 0 && keys_[place] != key) place = (place + 1) & mask;
    return place;
  }
  template <class Sink>
  void match_short(const Word* keys, const std::uint32_t* slots, std::uint32_t count, const Sink& sink) {
    const std::uint32_t mask = (std::uint32_t{2} << bits_of(count)) - 1;
    std::fill_n(times_, mask + 1, std::uint8_t{0});
    int alone = 0;
    bool several = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t place = place_of(keys[i], mask);
      keys_[place] = keys[i];
      first_[place] = slots[i];
      const int times = ++times_[place];
      alone += times == 1 ? 1 : times == 2 ? -1 : 0;
      several = times > 2 || several;
    }
    for (std::uint32_t place = 0; alone > 0 && place <= mask; ++place) {
      if (times_[place] == 1) sink.alone(static_cast<Index>(first_[place]));
    }
    for (std::uint32_t i = 0; several && i < count; ++i) {
      if (times_[place_of(keys[i], mask)] > 2) sink.many(static_cast<Index>(slots[i]));
    }
  }
  template <class Sink>
  void match_sorted(const Word* keys, const std::uint32_t* slots, std::uint32_t count, const Sink& sink) {
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t i, std::uint32_t j) { return keys[i] < keys[j]; });
    for (std::uint32_t first = 0; first < count;) {
      std::uint32_t last = first + 1;
      while (last < count && keys[order_[last]] == keys[order_[first]]) ++last;
      if (last - first == 1) sink.alone(static_cast<Index>(slots[order_[first]]));
      for (std::uint32_t i = first; last - first > 2 && i < last; ++i) {
        sink.many(static_cast<Index>(slots[order_[i]]));
      }
      first = last;
    }
  }

  Word keys_[256];
  std::uint32_t first_[256];
  std::uint8_t times_[256];
  std::vector<std::uint32_t> order_;
};

template <PointId Id, Shape shape> struct CountSidesOfPiece {
  FaceSource<Id, shape> source;
  Index pieces;
  std::int64_t points;
  Kokkos::View<std::uint32_t*, MemorySpace> next;

  KOKKOS_INLINE_FUNCTION void operator()(Index piece, int& any) const {
    std::uint32_t* const mine = next.data() + piece * points;
    std::fill_n(mine, points, 0U);
    bool all_fit = true;
    for (Index item = source.items * piece / pieces; item < source.items * (piece + 1) / pieces; ++item) {
      source.sides(item, [&](int, const SidePoints& found) {
        ++mine[found.point[0]];
        all_fit = all_fit && side_key<shape>(found).fits;
      });
    }
    if (!all_fit) any = 1;
  }
};
struct BeginList {
  Index pieces;
  std::int64_t points;
  Kokkos::View<std::uint32_t*, MemorySpace> next;
  Kokkos::View<std::uint32_t*, MemorySpace> begin;

  KOKKOS_INLINE_FUNCTION void operator()(Index point, std::uint32_t& sum, bool last) const {
    if (last) begin(point) = sum;
    if (point == points) return;
    for (Index piece = 0; piece < pieces; ++piece) {
      const std::uint32_t here = next(piece * points + point);
      if (last) next(piece * points + point) = sum;
      sum += here;
    }
  }
};
template <PointId Id, Shape shape> struct WriteSidesOfPiece {
  using Source = FaceSource<Id, shape>;

  Source source;
  Index pieces;
  std::int64_t points;
  Kokkos::View<std::uint32_t*, MemorySpace> next;
  Word* keys;
  std::uint32_t* slots;

  KOKKOS_INLINE_FUNCTION void operator()(Index piece) const {
    std::uint32_t* const mine = next.data() + piece * points;
    for (Index item = source.items * piece / pieces; item < source.items * (piece + 1) / pieces; ++item) {
      source.sides(item, [&](int side, const SidePoints& found) {
        const std::uint32_t at = mine[found.point[0]]++;
        keys[at] = side_key<shape>(found).word;
        slots[at] = static_cast<std::uint32_t>(item * Source::per_item + side);
      });
    }
  }
};
template <class Sink> struct MatchLists {
  static constexpr Index points_a_run = 1024;

  std::int64_t points;
  Kokkos::View<std::uint32_t*, MemorySpace> begin;
  const Word* keys;
  const std::uint32_t* slots;
  Sink sink;

  KOKKOS_INLINE_FUNCTION void operator()(Index run) const {
    ListMatcher matcher;
    for (Index point = run * points_a_run; point < std::min((run + 1) * points_a_run, points); ++point) {
      const std::uint32_t first = begin(point);
      matcher(keys + first, slots + first, begin(point + 1) - first, sink);
    }
  }
};

/// The lists of all points of a mesh in host memory: each thread counts the sides of a run of cells, and then writes
/// them to its own part of their points' lists.
template <PointId Id, Shape shape> class PointLists {
 public:
  using Source = FaceSource<Id, shape>;

  /// Returns true if lists take no more memory than the records of a partition, and numbers are small enough.
  [[nodiscard]] static bool are_for(const ExecutionSpace& space, Index sides, std::int64_t points) {
    constexpr std::int64_t most = 0xFFFFFFF0;
    return sides < most && points < most && points * (space.concurrency() + 1) <= sides;
  }

  PointLists(SearchRecorder& recorder, const Source& source, Index sides, std::int64_t points)
      : recorder_(recorder),
        source_(source),
        sides_(sides),
        points_(points),
        pieces_(recorder.space().concurrency()),
        next_(recorder.array<std::uint32_t>("heddle::search::next", pieces_ * points_)),
        begin_(recorder.array<std::uint32_t>("heddle::search::begin", points_ + 1)) {}
  ~PointLists() {
    recorder_.drop(next_);
    recorder_.drop(begin_);
  }
  PointLists(const PointLists&) = delete;
  PointLists& operator=(const PointLists&) = delete;

  /// Marks sides in `sink`. Returns false, and marks nothing, if keys of 64 bits do not tell all sides apart.
  template <class Sink> bool search(const Sink& sink) {
    if (!count()) return false;
    begin_lists();
    recorder_.phase("count");
    auto keys = recorder_.array<Word>("heddle::search::keys", sides_);
    auto slots = recorder_.array<std::uint32_t>("heddle::search::slots", sides_);
    heddle::impl::advise_large_pages(keys.data(), keys.size() * sizeof(Word));
    heddle::impl::advise_large_pages(slots.data(), slots.size() * sizeof(std::uint32_t));
    write(keys.data(), slots.data());
    recorder_.phase("scatter");
    match(keys.data(), slots.data(), sink);
    recorder_.phase("buckets");
    recorder_.drop(keys);
    recorder_.drop(slots);
    return true;
  }

 private:
  bool count() {
    int wide = 0;
    Kokkos::parallel_reduce("heddle::search::count", each_piece(),
                            CountSidesOfPiece<Id, shape>{source_, pieces_, points_, next_}, Kokkos::Max<int>(wide));
    return wide < 1;
  }
  void begin_lists() {
    Kokkos::parallel_scan(
        "heddle::search::begin",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(recorder_.space(), 0, points_ + 1),
        BeginList{pieces_, points_, next_, begin_});
  }
  void write(Word* keys, std::uint32_t* slots) {
    Kokkos::parallel_for("heddle::search::scatter", each_piece(),
                         WriteSidesOfPiece<Id, shape>{source_, pieces_, points_, next_, keys, slots});
  }
  template <class Sink> void match(const Word* keys, const std::uint32_t* slots, const Sink& sink) {
    constexpr Index points_a_run = MatchLists<Sink>::points_a_run;
    Kokkos::parallel_for(
        "heddle::search::buckets",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>, Kokkos::Schedule<Kokkos::Dynamic>>(
            recorder_.space(), 0, (points_ + points_a_run - 1) / points_a_run),
        MatchLists<Sink>{points_, begin_, keys, slots, sink});
  }
  auto each_piece() const {
    return Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(recorder_.space(), 0, pieces_);
  }

  SearchRecorder& recorder_;
  Source source_;
  Index sides_;
  std::int64_t points_;
  Index pieces_;
  Kokkos::View<std::uint32_t*, MemorySpace> next_;   // Place of each piece's next side of each point, by piece.
  Kokkos::View<std::uint32_t*, MemorySpace> begin_;  // Begin of each list.
};

}  // namespace heddle::search::impl
