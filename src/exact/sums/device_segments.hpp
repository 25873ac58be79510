// On GPUs: segments summed by a thread, lanes of a warp or a team each, by length; the longest by the whole device.
#pragma once

#include "core/memory/workspace.hpp"
#include "exact/sums/segments.hpp"

namespace heddle::exact::impl {

/// Pending work of a segment.
enum class SegmentState : char { done, open, long_one };
using SegmentStates = Kokkos::View<SegmentState*, MemorySpace>;

struct CountInState {
  SegmentStates states;
  SegmentState state;

  KOKKOS_INLINE_FUNCTION void operator()(Index s, Index& mine) const { mine += states(s) == state ? 1 : 0; }
};
struct ListInState {
  SegmentStates states;
  SegmentState state;
  Kokkos::View<Index*, MemorySpace> list;

  KOKKOS_INLINE_FUNCTION void operator()(Index s, Index& before, bool is_final) const {
    if (states(s) == state) {
      if (is_final) {
        list(before) = s;
      }
      ++before;
    }
  }
};
/// Returns the segments in a state, in order.
inline Kokkos::View<Index*, MemorySpace> segments_in(heddle::impl::Workspace& workspace, const SegmentStates& states,
                                                     SegmentState state) {
  const ExecutionSpace& space = workspace.space();
  const auto count = static_cast<Index>(states.extent(0));
  const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>> all(space, 0, count);
  Index found = 0;
  Kokkos::parallel_reduce("heddle::exact::count", all, CountInState{states, state}, found);
  const auto list = workspace.take<Index>("heddle::exact::list", found);
  if (found > 0) {
    Kokkos::parallel_scan("heddle::exact::list", all, ListInState{states, state, list});
  }
  return list;
}

template <RealScalar T, class I> struct SumByThread {
  Segments<T, I> segments;
  Index longest;
  SegmentStates states;

  KOKKOS_INLINE_FUNCTION void operator()(Index s) const {
    const Index begin = segments.offset(s);
    const Index end = segments.offset(s + 1);
    if (end - begin > longest) {
      states(s) = SegmentState::long_one;
      return;
    }
    Threefold sum;
    for (Index k = begin; k < end; ++k) {
      sum.add(segments.terms.term(k));
    }
    states(s) = segments.finish(s, sum) ? SegmentState::done : SegmentState::open;
  }
};
/// Sums segments of up to `longest` terms, each by a thread.
template <RealScalar T, class I>
void sum_by_threads(const ExecutionSpace& space, const Segments<T, I>& segments, Index longest,
                    const SegmentStates& states) {
  Kokkos::parallel_for("heddle::exact::segments",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, segments.count),
                       SumByThread<T, I>{segments, longest, states});
}

template <RealScalar T, class I> struct SumByLanes {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Team = typename Policy::member_type;

  Segments<T, I> segments;
  int in_team;
  Index longest;
  SegmentStates states;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Index s = Index{team.league_rank()} * in_team + team.team_rank();
    if (s >= segments.count) {
      return;
    }
    const Index begin = segments.offset(s);
    const Index length = segments.offset(s + 1) - begin;
    if (length > longest) {
      Kokkos::single(Kokkos::PerThread(team), [&] { states(s) = SegmentState::long_one; });
      return;
    }
    Quick<Threefold> sum;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, length),
        [&](Index k, Quick<Threefold>& mine) { mine.sum.add(segments.terms.term(begin + k)); },
        Merged<Threefold>{&sum});
    Kokkos::single(Kokkos::PerThread(team),
                   [&] { states(s) = segments.finish(s, sum.sum) ? SegmentState::done : SegmentState::open; });
  }
};
/// Sums segments of up to `longest` terms, each by `lanes` lanes of a warp, 2 to 32.
template <RealScalar T, class I>
void sum_by_lanes(const ExecutionSpace& space, const Segments<T, I>& segments, int lanes, Index longest,
                  const SegmentStates& states) {
  const int in_team = 128 / lanes;
  const Index teams = (segments.count + in_team - 1) / in_team;
  Kokkos::parallel_for("heddle::exact::segments",
                       typename SumByLanes<T, I>::Policy(space, static_cast<int>(teams), in_team, lanes),
                       SumByLanes<T, I>{segments, in_team, longest, states});
}

template <RealScalar T, class I> struct SumByTeam {
  Segments<T, I> segments;
  Kokkos::View<Index*, MemorySpace> list;
  Index longest;
  SegmentStates states;

  KOKKOS_INLINE_FUNCTION void operator()(const typename DevicePolicy::member_type& team) const {
    const Index s = list(team.league_rank());
    const Index begin = segments.offset(s);
    const Index end = segments.offset(s + 1);
    if (end - begin > longest) {
      return;
    }
    const Quick<Threefold> mine =
        quick_strided<Threefold>(segments.terms, begin + team.team_rank(), end, device_threads);
    Quick<Threefold> all = mine;
    team.team_reduce(Merged<Threefold>{&all});
    if (team.team_rank() == 0) {
      states(s) = segments.finish(s, all.sum) ? SegmentState::done : SegmentState::open;
    }
  }
};
/// Sums the segments of a list, of up to `longest` terms, each by a team.
template <RealScalar T, class I>
void sum_by_teams(const ExecutionSpace& space, const Segments<T, I>& segments,
                  const Kokkos::View<Index*, MemorySpace>& list, Index longest, const SegmentStates& states) {
  Kokkos::parallel_for("heddle::exact::segments", DevicePolicy(space, static_cast<int>(list.extent(0)), device_threads),
                       SumByTeam<T, I>{segments, list, longest, states});
}

template <RealScalar T, class I> struct SumExactlyByTeam {
  using Sum = Kokkos::View<Accumulator<double>, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  Segments<T, I> segments;
  Kokkos::View<Index*, MemorySpace> list;

  KOKKOS_INLINE_FUNCTION void operator()(const typename DevicePolicy::member_type& team) const {
    const Sum sum(team.team_scratch(0));
    const Index s = list(team.league_rank());
    if (team.team_rank() == 0) {
      sum() = {};
    }
    team.team_barrier();
    const Index end = segments.offset(s + 1);
    for (Index k = segments.offset(s) + team.team_rank(); k < end; k += device_threads) {
      sum().add_atomically(segments.terms.term(k));
    }
    team.team_barrier();
    if (team.team_rank() == 0) {
      segments.finish(s, sum());
    }
  }
};
/// Sums the segments of a list, each exactly by a team, whose fast memory holds the sum. 2^29 terms at most.
template <RealScalar T, class I>
void sum_exactly_by_teams(const ExecutionSpace& space, const Segments<T, I>& segments,
                          const Kokkos::View<Index*, MemorySpace>& list) {
  DevicePolicy policy(space, static_cast<int>(list.extent(0)), device_threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(SumExactlyByTeam<T, I>::Sum::shmem_size())));
  Kokkos::parallel_for("heddle::exact::segments", policy, SumExactlyByTeam<T, I>{segments, list});
}

/// Lists a segment, where it begins and where it ends.
template <RealScalar T, class I> struct ListBounds {
  Segments<T, I> segments;
  Kokkos::View<Index*, MemorySpace> longest;
  Kokkos::View<Index*, MemorySpace> bounds;

  KOKKOS_INLINE_FUNCTION void operator()(Index l) const {
    bounds(3 * l) = longest(l);
    bounds(3 * l + 1) = segments.offset(longest(l));
    bounds(3 * l + 2) = segments.offset(longest(l) + 1);
  }
};
/// Computes all sums of segments, of `elements` terms together; returns how many were formed again.
template <RealScalar T, class I>
Index sum_segments_on_device(heddle::impl::Workspace& workspace, const Segments<T, I>& segments, Index elements) {
  const ExecutionSpace& space = workspace.space();
  if (segments.count == 0) {
    return 0;
  }
  const SegmentStates states = workspace.take<SegmentState>("heddle::exact::states", segments.count);
  constexpr Index for_a_thread = 16;
  const Index length = elements / segments.count;
  if (length < for_a_thread) {
    sum_by_threads(space, segments, 16 * for_a_thread, states);
  } else {
    // At least eight terms a lane, since one lane rounds while the others of a segment are idle.
    int lanes = 4;
    while (lanes < 32 && 16 * lanes <= length) lanes *= 2;
    sum_by_lanes(space, segments, lanes, Index{256} * lanes, states);
  }
  constexpr Index for_a_team = Index{1} << 20;
  const auto long_ones = segments_in(workspace, states, SegmentState::long_one);
  Index reopened = 0;
  if (long_ones.extent(0) > 0) {
    sum_by_teams(space, segments, long_ones, for_a_team, states);
    const auto longest = segments_in(workspace, states, SegmentState::long_one);
    const auto count = static_cast<Index>(longest.extent(0));
    const Kokkos::View<Index*, MemorySpace> bounds(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::bounds"), 3 * longest.extent(0));
    Kokkos::parallel_for("heddle::exact::bounds",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, count),
                         ListBounds<T, I>{segments, longest, bounds});
    const auto host = Kokkos::create_mirror_view(bounds);
    Kokkos::deep_copy(space, host, bounds);
    space.fence("heddle::exact::segments");
    for (Index l = 0; l < count; ++l) {
      reopened += sum_long_segment(space, segments, host(3 * l), host(3 * l + 1), host(3 * l + 2)) ? 1 : 0;
    }
  }
  const auto open = segments_in(workspace, states, SegmentState::open);
  if (open.extent(0) > 0) {
    sum_exactly_by_teams(space, segments, open);
  }
  space.fence("heddle::exact::segments");
  return reopened + static_cast<Index>(open.extent(0));
}

}  // namespace heddle::exact::impl
