// Sums of the segments of a vector of real numbers.
#pragma once

#include "exact/sums/chunks.hpp"
#include "exact/sums/reductions.hpp"

#include <atomic>
#include <vector>

namespace heddle::exact::impl {

/// Terms x_order[0], x_order[1], ... in sequence; x_0, x_1, ... if `order` is null.
template <RealScalar T> struct ListedNumbers {
  static constexpr int parts = 1;
  using Number = T;
  const T* x;
  Index stride;
  const Index* order = nullptr;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION double term(Index k) const {
    return static_cast<double>(x[(order == nullptr ? k : order[k]) * stride]);
  }
  KOKKOS_INLINE_FUNCTION void load(Index k, double& value, double& error) const {
    value = term(k);
    error = 0;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_tame(Index /*k*/, double value) const {
    return Kokkos::abs(value) < largest_tame;
  }
  template <bool atomic> KOKKOS_INLINE_FUNCTION void add_to(Accumulator<double>& sum, Index k) const {
    if constexpr (atomic) {
      sum.add_atomically(term(k));
    } else {
      sum.add(term(k));
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION ListedNumbers from(Index k) const {
    return {order == nullptr ? x + k * stride : x, stride, order == nullptr ? nullptr : order + k};
  }
};

/// Operands of a sum of segments: sum s takes the terms from offset(s) to offset(s + 1).
template <RealScalar T, class I> struct Segments {
  ListedNumbers<T> terms;
  const I* offsets;
  Index offset_stride;
  Index count;
  T* sums;
  Index sum_stride;
  bool add;  // Whether the value in `sums` on entry is one more term.

  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index offset(Index s) const {
    return static_cast<Index>(offsets[s * offset_stride]);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index length(Index s) const { return offset(s + 1) - offset(s); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T& sum(Index s) const { return sums[s * sum_stride]; }

  /// Writes sum s if its terms in three times the precision decide it, and returns whether they do.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool finish(Index s, Threefold found) const {
    if (add) {
      found.add(static_cast<double>(sum(s)));
    }
    T result;
    const bool is_known = found.rounds_to(length(s) + 8192, 0, result);
    if (is_known) {
      sum(s) = result;
    }
    return is_known;
  }
  /// Writes sum s from the exact sum of its terms.
  KOKKOS_INLINE_FUNCTION void finish(Index s, Accumulator<double>& found) const {
    if (add) {
      found.add(static_cast<double>(sum(s)));
    }
    sum(s) = found.value<T>();
  }
};

/// On the host: returns the sum of terms `begin` to `end` in three times the precision, in vector lanes.
template <class Terms> Threefold threefold_range(const Terms& terms, Index begin, Index end) {
  constexpr int lanes = 16;
  constexpr Index fewest = 128;  // Merging the lanes costs as much.
  Threefold total;
  Index k = begin;
  if (end - begin >= fewest) {
    alignas(64) double sums[lanes];
    alignas(64) double lost[lanes];
    alignas(64) double rests[lanes] = {};
    alignas(64) double sizes[lanes] = {};
    std::fill_n(sums, lanes, Threefold().sum);
    std::fill_n(lost, lanes, Threefold().lost);
    for (; k + lanes <= end; k += lanes) {
      for (int l = 0; l < lanes; ++l) {
        Threefold::add(sums[l], lost[l], rests[l], sizes[l], terms.term(k + l));
      }
    }
    for (int l = 0; l < lanes; ++l) {
      Threefold lane;
      lane.sum = sums[l];
      lane.lost = lost[l];
      lane.rest = rests[l];
      lane.size = sizes[l];
      total.merge(lane);
    }
  }
  for (; k < end; ++k) {
    total.add(terms.term(k));
  }
  return total;
}

/// Sums a segment of so many terms that all threads take part in it.
template <RealScalar T, class I>
bool sum_long_segment(const ExecutionSpace& space, const Segments<T, I>& segments, Index s, Index begin, Index end) {
  const ListedNumbers<T> terms = segments.terms.from(begin);
  const Kokkos::View<T, MemorySpace, Kokkos::MemoryUnmanaged> target(segments.sums + s * segments.sum_stride);
  T result = 0;
  if (!segments.add && rounds_quickly(space, terms, end - begin, result)) {
    Kokkos::deep_copy(space, target, result);
    space.fence("heddle::exact::segments");
    return false;
  }
  Accumulator<double> sum = accumulated(space, terms, end - begin);
  if (segments.add) {
    Kokkos::deep_copy(space, result, target);
    space.fence("heddle::exact::segments");
    sum.add(static_cast<double>(result));
  }
  Kokkos::deep_copy(space, target, sum.value<T>());
  space.fence("heddle::exact::segments");
  return true;
}

/// Computes all sums of segments on the host, of `elements` terms together; returns how many were formed again.
template <RealScalar T, class I>
Index sum_segments_on_host(const ExecutionSpace& space, const Segments<T, I>& segments, Index elements) {
  // Longer segments would keep the other threads waiting.
  const Index longest = std::max<Index>(Index{1} << 16, elements / (8 * space.concurrency()));
  const Index chunk = std::clamp<Index>(segments.count * 16384 / (elements + segments.count + 1), 1, 4096);
  std::atomic<Index> reopened = 0;
  for_each_chunk(space, "heddle::exact::segments", 0, segments.count, chunk, true, [&](Index first, Index last) {
    for (Index s = first; s < last; ++s) {
      const Index begin = segments.offset(s);
      const Index end = segments.offset(s + 1);
      if (end - begin > longest || segments.finish(s, threefold_range(segments.terms, begin, end))) {
        continue;
      }
      Accumulator<double> exact;
      add_exactly(segments.terms, begin, end, exact);
      segments.finish(s, exact);
      ++reopened;
    }
  });
  const DefaultArithmetic arithmetic;
  for (Index s = 0; s < segments.count && elements > longest; ++s) {
    if (segments.length(s) > longest) {
      reopened += sum_long_segment(space, segments, s, segments.offset(s), segments.offset(s + 1)) ? 1 : 0;
    }
  }
  return reopened;
}

}  // namespace heddle::exact::impl
