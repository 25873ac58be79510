// Columns of an LU panel factored on a GPU by one kernel, whose teams synchronize once a column.
#pragma once

#include "core/elementwise.hpp"
#include "core/launch_bounds.hpp"
#include "core/meeting_teams.hpp"
#include "exact/lu/device_lu_batched.hpp"
#include "solve/lu/cluster_leaf.hpp"
#include "solve/lu/leaf.hpp"
#include "solve/lu/moves.hpp"
#include "solve/lu/pivot.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace heddle::impl {

/// Rows of a team, one per thread: the smallest number with no more teams than multiprocessors, so that these share the
/// work.
inline constexpr int device_leaf_threads[] = {128, 256, 512};
inline constexpr int most_device_leaf_threads = 512;

/// Factors columns [first, first + width) of rows [first, rows) of a panel. A thread keeps its row in registers from
/// beginning to end; rows do not move, only their numbers change: `position` is the current place of a thread's row,
/// where it is written at the end.
///
/// A step takes two barriers of each team and two reads of memory that all teams share: each warp writes its best row
/// to its team's fast memory; the first warp sends the best of these to all teams, and waits for theirs.
template <Scalar T> struct DeviceLeaf {
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int lanes = lanes_of_warp;
  static constexpr int most_warps = most_device_leaf_threads / lanes;
  static constexpr int most = static_cast<int>(device_leaf_width<T>);
  static constexpr int words_each = static_cast<int>(sizeof(T) / sizeof(std::uint32_t));
  using Teams = BestRowOfTeams<(most * words_each + lanes - 1) / lanes, false>;

  // State in the fast memory of a team.
  struct Shared {
    T values[most_warps][most];
    T pivot_row[most];
    Proposal proposals[most_warps];
    Proposal chosen;
  };
  using SharedView = Kokkos::View<Shared*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  Elements<T> P;
  Index first;
  Index rows;
  int width;
  Teams teams;
  std::uint32_t step;  // Number of the first step.
  Index* pivots;
  Index* info;
  RowMoves moves;

  // The first warp sends this team's best row to all teams and finds the best of all, with its elements from column j
  // on.
  KOKKOS_INLINE_FUNCTION void choose(const Team& team, Shared& shared, int j, int lane) const {
    Proposal none;
    FirstOfLargest{&none}.init(none);
    const Proposal mine = best_of_warp(team, lane < team.team_size() ? shared.proposals[lane] : none);
    std::uint32_t note = 0;
    const Proposal chosen = teams.agree(team, lane, step + static_cast<std::uint32_t>(j), mine, note,
                                        reinterpret_cast<const std::uint32_t*>(shared.values[mine.from]),
                                        reinterpret_cast<std::uint32_t*>(shared.pivot_row));
    if (lane == 0) shared.chosen = chosen;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    Shared& shared = *SharedView(team.team_scratch(0), 1).data();
    const int lane = lane_of(team);
    const int warp = team.team_rank();
    const int top = static_cast<int>(first);
    const int r = top + (team.league_rank() * team.team_size() + warp) * lanes + lane;
    const bool here = r < rows;
    int position = r;
    T a[most];
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) a[c] = here && c < width ? P(r, first + c) : T(0);
    if (team.league_rank() == 0 && warp == 0 && lane == 0) {
      moves.data(0) = 0;
      Kokkos::memory_fence();
    }
    // Column j is in a[0]: the row is rotated by one place after each step.
    for (int j = 0; j < width; ++j) {
      Proposal mine;
      FirstOfLargest{&mine}.init(mine);
      if (here && position >= top + j) mine = {exact::impl::pivot_rank(a[0]), position, warp};
      const Proposal best = best_of_warp(team, mine);
      if (best.position == position && mine.position == position) {
        HEDDLE_UNROLL
        for (int c = 0; c < most; ++c) shared.values[warp][c] = a[c];
      }
      if (lane == 0) shared.proposals[warp] = {best.rank, best.position, warp};
      team.team_barrier();
      if (warp == 0) choose(team, shared, j, lane);
      team.team_barrier();
      const Proposal chosen = shared.chosen;
      if (position == chosen.position) {
        position = top + j;
      } else if (position == top + j) {
        position = chosen.position;
      }
      if (team.league_rank() == 0 && warp == 0 && lane == 0) {
        pivots[first + j] = chosen.position;
        if (chosen.rank == exact::impl::pivot_rank_of_zero && *info == 0) *info = first + j + 1;
      }
      const T pivot = shared.pivot_row[0];
      const bool below = here && position > top + j;
      if (below && pivot != T(0)) a[0] = PivotDivisor<T>(pivot)(a[0]);
      const T l = a[0];
      HEDDLE_UNROLL
      for (int c = 0; c + 1 < most; ++c) {
        const T x = a[c + 1];
        a[c] = below && c + 1 < width - j ? multiply_add(-l, shared.pivot_row[c + 1], x) : x;
      }
      a[most - 1] = l;
    }
    if (!here) return;
    // Column c is in a[most - width + c].
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) {
      if (c >= most - width) P(position, first + c - (most - width)) = a[c];
    }
    if (position != r) moves.set(Kokkos::atomic_fetch_add(&moves.data(0), Index{1}), position, r);
  }
};

/// The same by one team, in device memory: for panels with more rows than threads that run at the same time.
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

/// Factors columns of panels of up to `rows` rows, a few at a time.
template <Scalar T> class DeviceLeaves {
 public:
  DeviceLeaves() = default;
  DeviceLeaves(const ExecutionSpace& space, Index rows)
      : clusters_(std::in_place, space),
        most_teams_(resident_teams(space)),
        words_(space, "heddle::solve::leaf_words", 2 * most_teams_ * DeviceLeaf<T>::Teams::words_of_team),
        order_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::leaf_order"),
               static_cast<std::size_t>(fits(rows) ? 0 : rows)) {}

  /// Number of columns of `rows` rows that are best factored together.
  [[nodiscard]] Index width(Index rows) const {
    const Index of_clusters = clusters_->width(rows);
    return of_clusters > 0 ? of_clusters : device_leaf_width<T>;
  }
  /// Factors columns [begin, end) of rows [begin, ...) of a panel. No row of other columns moves; `moves` lists the
  /// moves they need. Ordered on `space`, does not block.
  void factor(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
              const Kokkos::View<Index*, MemorySpace>& pivots, const Kokkos::View<Index*, MemorySpace>& info,
              const RowMoves& moves) {
    const auto rows = static_cast<Index>(panel.extent(0));
    const auto width = static_cast<int>(end - begin);
    if (width <= clusters_->width(rows - begin)) {
      clusters_->factor(space, panel, begin, end, pivots, info, moves);
      return;
    }
    if (!fits(rows - begin)) {
      Kokkos::parallel_for(
          "heddle::solve::tall_leaf", Kokkos::TeamPolicy<ExecutionSpace>(space, 1, 512),
          DeviceTallLeaf<T>{Elements<T>(panel), begin, rows, width, pivots.data(), info.data(), order_.data()});
      find_moves(space, Kokkos::subview(order_, Kokkos::pair<Index, Index>(0, rows)), begin, moves);
      return;
    }
    using Leaf = DeviceLeaf<T>;
    using Policy = Kokkos::TeamPolicy<ExecutionSpace, LaunchBounds<most_device_leaf_threads, 1>>;
    const int* threads = device_leaf_threads;
    while ((rows - begin + *threads - 1) / *threads > most_teams_) ++threads;
    const auto teams = static_cast<int>((rows - begin + *threads - 1) / *threads);
    Policy policy(space, teams, *threads / Leaf::lanes, Leaf::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Leaf::SharedView::shmem_size(1))));
    Kokkos::parallel_for("heddle::solve::leaf", policy,
                         Leaf{Elements<T>(panel), begin, rows, width, typename Leaf::Teams{words_.data(), teams},
                              words_.next(space, width), pivots.data(), info.data(), moves});
  }

 private:
  [[nodiscard]] bool fits(Index rows) const { return rows <= most_teams_ * most_device_leaf_threads; }
  std::optional<ClusterLeaves<T>> clusters_;
  Index most_teams_ = 1;
  WordsOfSteps words_;
  Kokkos::View<Index*, MemorySpace> order_;  // Order of rows, for panels with too many rows for DeviceLeaf.
};

}  // namespace heddle::impl
