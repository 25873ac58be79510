// A few columns factored on a GPU by one kernel, whose teams meet once a column.
#pragma once

#include "dist/elementwise.hpp"
#include "exact/device_lu.hpp"
#include "solve/pivot.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::impl {

/// Columns that are factored together: as many as a thread keeps of its row in registers.
inline constexpr Index device_leaf_width = 16;
/// Rows of a team, one a thread.
inline constexpr int device_leaf_threads = 512;

/// A row that a team proposes for a pivot, or the row that gives way to it.
template <Scalar T> struct LeafRow {
  std::uint64_t rank;
  Index row;
  Index order;
  T reciprocal;
  T values[device_leaf_width];
};

/// Teams that all run at the same time, whatever else the device does: one for each multiprocessor.
inline Index device_leaf_teams(const ExecutionSpace& space) {
  return std::max<Index>(1, static_cast<Index>(space.concurrency()) / 2048);
}

template <Scalar T>
Kokkos::View<std::uint64_t*, MemorySpace> device_leaf_memory(const ExecutionSpace& space, Index rows) {
  const Index teams = std::min((rows + device_leaf_threads - 1) / device_leaf_threads, device_leaf_teams(space));
  const std::size_t words = 2 + 2 * static_cast<std::size_t>(teams + 1) * sizeof(LeafRow<T>) / sizeof(std::uint64_t);
  return Kokkos::View<std::uint64_t*, MemorySpace>(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::leaf_memory"), words);
}

/// Columns [first, first + width) of rows [first, rows) of a panel.
template <Scalar T> struct DeviceLeaf {
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Pivot = exact::impl::Pivot;
  using LargestPivot = exact::impl::LargestPivot;
  static constexpr int width_at_most = static_cast<int>(device_leaf_width);

  Elements<T> P;
  Index first;
  Index rows;
  int width;
  int teams;
  Index* pivots;
  Index* info;
  Index* order;
  std::uint64_t* arrived;
  LeafRow<T>* proposals;  // Of each team, and then the row that gives way: twice, for steps in turn.

  [[nodiscard]] KOKKOS_INLINE_FUNCTION LeafRow<T>& proposal(int step, int team) const {
    return proposals[(step & 1) * (teams + 1) + team];
  }
  // Publishes what the team wrote, waits until all teams have done so, and sees what they wrote.
  KOKKOS_INLINE_FUNCTION void meet(const Team& team, int step) const {
    team.team_barrier();
    if (team.team_rank() == 0) {
      Kokkos::memory_fence();
      Kokkos::atomic_add(arrived, std::uint64_t{1});
      const auto all = static_cast<std::uint64_t>(teams) * static_cast<std::uint64_t>(step + 1);
      std::uint64_t here = 0;
      do {
        here = Kokkos::atomic_load(arrived);
      } while (here < all);
      Kokkos::memory_fence();
    }
    team.team_barrier();
  }
  KOKKOS_INLINE_FUNCTION void propose(LeafRow<T>& where, const Pivot& best, Index my_order, const T (&a)[width_at_most],
                                      const T& value) const {
    where.rank = best.rank;
    where.row = best.row;
    where.order = my_order;
    where.reciprocal = PivotDivisor<T>(value).reciprocal();
    for (int c = 0; c < width_at_most; ++c) where.values[c] = a[c];
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Pivot largest_of_all(const Team& team, int step) const {
    Pivot best;
    const LargestPivot reducer{&best};
    reducer.init(best);
    for (int other = team.team_rank(); other < teams; other += device_leaf_threads) {
      const LeafRow<T>& from = proposal(step, other);
      reducer.join(best, Pivot{from.rank, from.row});
    }
    team.team_reduce(reducer);
    return best;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Index r = first + Index{team.league_rank()} * device_leaf_threads + team.team_rank();
    const bool here = r < rows;
    Index my_order = r;
    T a[width_at_most];
    for (int c = 0; c < width_at_most; ++c) a[c] = here && c < width ? P(r, first + c) : T(0);
#ifdef KOKKOS_ENABLE_PRAGMA_UNROLL
#pragma unroll
#endif
    for (int j = 0; j < width_at_most; ++j) {
      if (j < width) {
        Pivot best;
        const LargestPivot reducer{&best};
        reducer.init(best);
        if (here && r >= first + j) best = Pivot{exact::impl::pivot_rank(a[j]), r};
        team.team_reduce(reducer);
        if (best.row == r) {
          propose(proposal(j, team.league_rank()), best, my_order, a, a[j]);
        } else if (team.team_rank() == 0 && best.row >= rows) {
          proposal(j, team.league_rank()).rank = best.rank;
          proposal(j, team.league_rank()).row = best.row;
        }
        if (r == first + j) propose(proposal(j, teams), best, my_order, a, T(1));
        meet(team, j);
        const Pivot chosen = largest_of_all(team, j);
        const LeafRow<T>& from = proposal(j, static_cast<int>((chosen.row - first) / device_leaf_threads));
        const T pivot = from.values[j];
        const PivotDivisor<T> divide(pivot, from.reciprocal);
        if (r == first + j) {
          for (int c = 0; c < width_at_most; ++c) a[c] = from.values[c];
          my_order = from.order;
          pivots[first + j] = chosen.row;
          if (chosen.rank == exact::impl::pivot_rank_of_zero && *info == 0) *info = first + j + 1;
        } else if (r == chosen.row) {
          const LeafRow<T>& away = proposal(j, teams);
          for (int c = 0; c < width_at_most; ++c) a[c] = away.values[c];
          my_order = away.order;
        }
        if (here && r > first + j) {
          if (pivot != T(0)) a[j] = divide(a[j]);
          for (int c = 0; c < width_at_most; ++c) {
            if (c > j) a[c] = multiply_add(-a[j], from.values[c], a[c]);
          }
        }
      }
    }
    if (here) {
      for (int c = 0; c < width_at_most; ++c) {
        if (c < width) P(r, first + c) = a[c];
      }
      order[r] = my_order;
    }
  }
};

/// The same by one team, in the device's memory: for panels with more rows than threads run at the same time.
template <Scalar T> struct DeviceTallLeaf {
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  Elements<T> P;
  Index first;
  Index rows;
  int width;
  Index* pivots;
  Index* info;
  Index* order;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int rank = team.team_rank();
    const int threads = team.team_size();
    for (Index r = first + rank; r < rows; r += threads) order[r] = r;
    team.team_barrier();
    for (Index j = first; j < first + width; ++j) {
      exact::impl::Pivot best;
      const exact::impl::LargestPivot reducer{&best};
      reducer.init(best);
      for (Index r = j + rank; r < rows; r += threads)
        reducer.join(best, exact::impl::Pivot{exact::impl::pivot_rank(P(r, j)), r});
      team.team_reduce(reducer);
      const Index other = best.row;
      if (rank < width && other != j) {
        const T value = P(j, first + rank);
        P(j, first + rank) = P(other, first + rank);
        P(other, first + rank) = value;
      }
      if (rank == 0) {
        const Index mine = order[j];
        order[j] = order[other];
        order[other] = mine;
        pivots[j] = other;
        if (best.rank == exact::impl::pivot_rank_of_zero && *info == 0) *info = j + 1;
      }
      team.team_barrier();
      const T pivot = P(j, j);
      const PivotDivisor<T> divide(pivot);
      for (Index r = j + 1 + rank; r < rows; r += threads) {
        const T l = pivot != T(0) ? divide(P(r, j)) : P(r, j);
        P(r, j) = l;
        for (Index c = j + 1; c < first + width; ++c) P(r, c) = multiply_add(-l, P(j, c), P(r, c));
      }
      team.team_barrier();
    }
  }
};

/// Factors columns [begin, end) of rows [begin, ...) of a panel, and moves no row of other columns: order(r) says which
/// row is now at r. Ordered on `space`, does not block.
template <Scalar T>
void device_factor_leaf(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
                        const Kokkos::View<Index*, MemorySpace>& pivots, const Kokkos::View<Index*, MemorySpace>& info,
                        const Kokkos::View<Index*, MemorySpace>& order,
                        const Kokkos::View<std::uint64_t*, MemorySpace>& memory) {
  const auto rows = static_cast<Index>(panel.extent(0));
  const auto width = static_cast<int>(end - begin);
  const Index teams = (rows - begin + device_leaf_threads - 1) / device_leaf_threads;
  if (teams > device_leaf_teams(space)) {
    Kokkos::parallel_for(
        "heddle::solve::tall_leaf", Kokkos::TeamPolicy<ExecutionSpace>(space, 1, 512),
        DeviceTallLeaf<T>{Elements<T>(panel), begin, rows, width, pivots.data(), info.data(), order.data()});
    return;
  }
  Kokkos::deep_copy(space, Kokkos::subview(memory, Kokkos::pair<int, int>(0, 1)), std::uint64_t{0});
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<device_leaf_threads, 1>>;
  Kokkos::parallel_for(
      "heddle::solve::leaf", Policy(space, static_cast<int>(teams), device_leaf_threads),
      DeviceLeaf<T>{Elements<T>(panel), begin, rows, width, static_cast<int>(teams), pivots.data(), info.data(),
                    order.data(), memory.data(), reinterpret_cast<LeafRow<T>*>(memory.data() + 2)});
}

}  // namespace heddle::impl
