// Factorization of a few columns on a GPU by one kernel, whose teams synchronise once a column.
#pragma once

#include "core/launch_bounds.hpp"
#include "core/meeting_teams.hpp"
#include "exact/lu/cluster_leaf.hpp"
#include "exact/lu/device_lu_batched.hpp"
#include "exact/lu/device_lu_columns.hpp"

#include <cstdint>

namespace heddle::exact::impl {

/// Columns of a leaf, all rows from its own on, one a thread. A thread keeps the sums of its row from beginning to end;
/// rows stay in place and only their numbers move: `position` is the current position of a thread's row. Results are
/// written to the row's old place, and DeviceMoves gets the pending moves.
///
/// A step rounds the column's elements, and each warp proposes its largest; the first warp of each team sends the best
/// row of its team to all teams, with its sums so far, waits for theirs, and rounds the rest of the pivot's row,
/// redundantly in each team. Elements that twice the precision leaves open are summed exactly by the warp that meets
/// them.
template <Scalar T, int most, int most_threads> struct ExactLeaf {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<most_threads, 1>>;
  using Team = typename Policy::member_type;
  using Proposal = heddle::impl::Proposal;
  using FirstOfLargest = heddle::impl::FirstOfLargest;
  static constexpr int lanes = heddle::impl::lanes_of_warp;
  static constexpr int most_warps = most_threads / lanes;

  /// A row as teams send it.
  struct Row {
    InnerSum<T> sum[most];  ///< Sums of the columns from this one on.
    T l[most - 1];          ///< Elements of L in the columns before it.
    T value;                ///< This column's element.
  };
  static constexpr int words_of_row = static_cast<int>(sizeof(Row) / sizeof(std::uint32_t));
  using Teams = heddle::impl::BestRowOfTeams<(words_of_row + lanes - 1) / lanes, true>;  // A note is a row's place.
  union PaddedRow {
    Row row;
    std::uint32_t words[Teams::words_of_row];
    KOKKOS_INLINE_FUNCTION PaddedRow() {}
  };
  // Fast memory of a team.
  struct Shared {
    PaddedRow rows[most_warps];
    PaddedRow chosen_row;
    T u[most][most];        // Rows of U: (j, c) is column c of the leaf.
    T l[most_warps][most];  // Elements of L in rows that are summed exactly.
    ExactSum<T> exact[most_warps];
    Proposal proposals[most_warps];
    Proposal chosen;
    std::uint32_t places[most_warps];  // Rows of the proposals.
    std::uint32_t chosen_place;
  };
  using SharedView = Kokkos::View<Shared*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  // Elements of L: (r, j) is column j in the row of thread r. In registers they would displace sums.
  using LView = Kokkos::View<T* [most], Kokkos::LayoutLeft, typename ExecutionSpace::scratch_memory_space,
                             Kokkos::MemoryUnmanaged>;
  [[nodiscard]] static int scratch_bytes(int threads) {
    return static_cast<int>(SharedView::shmem_size(1) + LView::shmem_size(static_cast<std::size_t>(threads)));
  }

  DeviceColumns<T> columns;
  LeafPlace leaf;
  SumBounds<T> bounds;
  Teams teams;
  std::uint32_t first_step;
  Kokkos::View<Index*, MemorySpace> pivots;  // Pivots of the whole matrix and, last, info.
  DeviceMoves moves;

  /// Sums element c of the leaf in the row at `place` by a warp; `l`, in fast memory, has the row's last `products`
  /// elements of L, those of this leaf. The value is on lane `owner`.
  KOKKOS_INLINE_FUNCTION T sum_exactly(const Team& team, Shared& shared, int lane, int owner, Index place, int c,
                                       const T* l, int products) const {
    ExactSum<T>& exact = shared.exact[team.team_rank()];
    if (lane == owner) exact = {};
    heddle::impl::meet_in_warp(team);
    columns.add_known(exact, place, leaf.column + c, leaf.row, lane, lanes);
    heddle::impl::meet_in_warp(team);
    T value(0);
    if (lane == owner) {
      exact.add(columns.at(place, leaf.column + c));
      for (int k = 0; k < products; ++k) exact.add_product(l[k], -shared.u[k][c]);
      value = exact.value();
    }
    heddle::impl::meet_in_warp(team);
    return value;
  }
  /// Sums column j's elements in the open rows of a warp's lanes; the first lane's row is at `place`.
  HEDDLE_APART KOKKOS_INLINE_FUNCTION T close_column(Team team, Shared& shared, LView l, int j, int lane, Index place,
                                                     bool is_open, T value) const {
    const int warp = team.team_rank();
    while (true) {
      const Proposal open = heddle::impl::best_of_warp(team, {is_open ? 1U : 0U, lane, lane});
      if (open.rank == 0) return value;
      const int owner = open.from;
      if (lane == owner) {
        for (int k = 0; k < j; ++k) shared.l[warp][k] = l(warp * lanes + lane, k);
      }
      const T found = sum_exactly(team, shared, lane, owner, place + owner, j, shared.l[warp], j);
      if (lane == owner) {
        value = found;
        is_open = false;
      }
    }
  }
  /// Sums the open elements of the pivot's row, by the first warp.
  HEDDLE_APART KOKKOS_INLINE_FUNCTION void close_row_of_u(Team team, Shared& shared, int j, int lane,
                                                          bool is_open) const {
    while (true) {
      const Proposal open = heddle::impl::best_of_warp(team, {is_open ? 1U : 0U, lane, lane});
      if (open.rank == 0) return;
      const int c = j + open.from;
      const T value = sum_exactly(team, shared, lane, open.from, static_cast<Index>(shared.chosen_place), c,
                                  shared.chosen_row.row.l, j);
      if (lane == open.from) {
        shared.u[j][c] = value;
        is_open = false;
      }
    }
  }
  /// Writes the sums of a row to memory while another is summed exactly: that needs their registers, and without the
  /// write compilers would keep them out of registers all the time.
  KOKKOS_FORCEINLINE_FUNCTION void put_away(const InnerSum<T> (&sum)[most], int r, int j) const {
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) {
      if (r < columns.m && c < leaf.width - j) columns.sum(r, leaf.column + j + c) = sum[c];
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void take_back(InnerSum<T> (&sum)[most], int r, int j) const {
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) {
      sum[c] = {};
      if (r < columns.m && c < leaf.width - j) sum[c] = columns.sum(r, leaf.column + j + c);
    }
  }

  /// The first warp: sends the best row of this team to all teams, and finds the best of all.
  KOKKOS_INLINE_FUNCTION void choose(const Team& team, Shared& shared, int j, int lane) const {
    Proposal none;
    FirstOfLargest{&none}.init(none);
    const Proposal mine = heddle::impl::best_of_warp(team, lane < team.team_size() ? shared.proposals[lane] : none);
    std::uint32_t place = shared.places[mine.from];
    const Proposal chosen = teams.agree(team, lane, first_step + static_cast<std::uint32_t>(j), mine, place,
                                        shared.rows[mine.from].words, shared.chosen_row.words);
    if (lane == chosen.from % lanes) {
      shared.chosen = chosen;
      shared.chosen_place = place;
    }
    heddle::impl::meet_in_warp(team);
  }
  /// Rounds the pivot's row from column j on, a lane for each element, and returns whether this lane's is open.
  KOKKOS_INLINE_FUNCTION bool round_row_of_u(Shared& shared, int j, int lane) const {
    const Row& row = shared.chosen_row.row;
    if (lane == 0) {
      shared.u[j][j] = row.value;
    } else if (lane < leaf.width - j) {
      T value;
      const bool is_known = bounds.rounds(row.sum[lane], value);
      shared.u[j][j + lane] = value;
      return !is_known;
    }
    return false;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    Shared& shared = *SharedView(team.team_scratch(0), 1).data();
    const LView l(team.team_scratch(0), team.team_size() * lanes);
    const int lane = heddle::impl::lane_of(team);
    const int warp = team.team_rank();
    const int thread = warp * lanes + lane;
    const int top = static_cast<int>(leaf.row);
    const int r = top + team.league_rank() * team.team_size() * lanes + thread;
    const bool here = r < columns.m;
    const bool speaks = team.league_rank() == 0 && warp == 0 && lane == 0;
    int position = r;
    InnerSum<T> sum[most];
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) {
      if (here && c < leaf.width) sum[c] = columns.sum(r, leaf.column + c);
    }
    if (speaks) {
      moves.clear();
      Kokkos::memory_fence();
    }
    // Column j is in sum[0]: each step shifts the row by one element.
    for (int j = 0; j < leaf.width; ++j) {
      T value(0);
      const bool is_candidate = here && position >= top + j;
      const bool is_open = is_candidate && !bounds.rounds(sum[0], value);
      // An open lane precedes all others: among equal ranks the first position is taken.
      const auto proposal = [&](bool open) {
        Proposal mine;
        FirstOfLargest{&mine}.init(mine);
        if (is_candidate) mine = {open ? ~std::uint64_t{0} : pivot_rank(value), open ? -1 : position, warp};
        return mine;
      };
      Proposal best = heddle::impl::best_of_warp(team, proposal(is_open));
      if (best.position < 0) {
        put_away(sum, r, j);
        value = close_column(team, shared, l, j, lane, Index{r - lane}, is_open, value);
        take_back(sum, r, j);
        best = heddle::impl::best_of_warp(team, proposal(false));
      }
      if (is_candidate && best.position == position) {
        Row& row = shared.rows[warp].row;
        HEDDLE_UNROLL
        for (int c = 0; c < most; ++c) row.sum[c] = sum[c];
        for (int k = 0; k < j; ++k) row.l[k] = l(thread, k);
        row.value = value;
        shared.places[warp] = static_cast<std::uint32_t>(r);
      }
      if (lane == 0) shared.proposals[warp] = best;
      team.team_barrier();
      if (warp == 0) {
        choose(team, shared, j, lane);
        const bool is_open_in_u = round_row_of_u(shared, j, lane);
        if (heddle::impl::best_of_warp(team, {is_open_in_u ? 1U : 0U, lane, lane}).rank != 0) {
          put_away(sum, r, j);
          close_row_of_u(team, shared, j, lane, is_open_in_u);
          take_back(sum, r, j);
        }
      }
      team.team_barrier();
      const Proposal chosen = shared.chosen;
      if (position == chosen.position) {
        position = top + j;
      } else if (position == top + j) {
        position = chosen.position;
      }
      if (speaks) {
        pivots(leaf.row + j) = chosen.position;
        Index& info = pivots(pivots.extent(0) - 1);
        if (chosen.rank == pivot_rank_of_zero && info == 0) info = leaf.row + j + 1;
      }
      const T pivot = shared.u[j][j];
      const bool below = here && position > top + j;
      if (below && pivot != T(0)) {
        if constexpr (is_complex<T>) {
          value = quotient(value, pivot);
        } else {
          value /= pivot;
        }
      }
      l(thread, j) = value;
      HEDDLE_UNROLL
      for (int c = 0; c + 1 < most; ++c) {
        sum[c] = sum[c + 1];
        if (below && c + 1 < leaf.width - j) sum[c].add_product(value, -shared.u[j][j + c + 1]);
      }
    }
    if (!here) return;
    // A former pivot's row holds U from its step on.
    for (int k = 0; k < leaf.width; ++k) {
      columns.at(r, leaf.column + k) = position - top <= k ? shared.u[position - top][k] : l(thread, k);
    }
    if (position != r) moves.append(position, r);
  }
};

template <Scalar T> struct FinishElement {
  DeviceColumns<T> columns;
  SumBounds<T> bounds;
  Index row;
  Index column;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    columns.at(i, column) = columns.finished(i, column, row, bounds);
  }
};
template <Scalar T> struct ChoosePivot {
  DeviceColumns<T> columns;
  Kokkos::View<Index*, MemorySpace> pivots;
  DeviceMoves moves;
  Index row;
  Index column;

  KOKKOS_INLINE_FUNCTION void operator()(const DeviceTeam& team) const {
    Pivot best;
    const LargestPivot reducer{&best};
    reducer.init(best);
    for (Index i = row + team.team_rank(); i < columns.m; i += team.team_size()) {
      reducer.join(best, {pivot_rank(columns.at(i, column)), i});
    }
    team.team_reduce(reducer);
    if (team.team_rank() == 0) {
      moves.clear();
      pivots(row) = best.row;
      Index& info = pivots(pivots.extent(0) - 1);
      if (best.rank == pivot_rank_of_zero && info == 0) info = row + 1;
      if (best.row != row) {
        moves.append(row, best.row);
        moves.append(best.row, row);
      }
    }
  }
};
/// Divides an element by the pivot, and finishes one of the pivot's row.
template <Scalar T> struct DivideAndFinish {
  DeviceColumns<T> columns;
  SumBounds<T> bounds;
  Index row;
  Index column;
  Index columns_left;

  KOKKOS_INLINE_FUNCTION void operator()(Index at) const {
    if (columns.at(row, column) != T(0)) {
      columns.at(row + at, column) = quotient(columns.at(row + at, column), columns.at(row, column));
    }
    // No leaf is wider than it is high.
    if (at < columns_left) {
      columns.at(row, column + at) = columns.finished(row, column + at, row, bounds);
    }
  }
};
/// Factors a leaf of any number of rows, by four kernels a column.
template <Scalar T>
void device_tall_leaf(const ExecutionSpace& space, const DeviceColumns<T>& columns, const LeafPlace& leaf,
                      const SumBounds<T>& bounds, const Kokkos::View<Index*, MemorySpace>& pivots,
                      const DeviceMoves& moves) {
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  for (int j = 0; j < leaf.width; ++j) {
    const Index row = leaf.row + j;
    const Index column = leaf.column + j;
    Kokkos::parallel_for("heddle::exact::lu_column", Range(space, row, columns.m),
                         FinishElement<T>{columns, bounds, row, column});
    Kokkos::parallel_for("heddle::exact::lu_pivot", DeviceTeams(space, 1, threads_of_device_team),
                         ChoosePivot<T>{columns, pivots, moves, row, column});
    const heddle::Range all{columns.panel_column, columns.panel_column + columns.panel_width};
    move_device_rows(space, columns, moves, all, column + 1, true);
    Kokkos::parallel_for("heddle::exact::lu_divide", Range(space, 1, columns.m - row),
                         DivideAndFinish<T>{columns, bounds, row, column, Index{leaf.width - j}});
    device_few_products(space, columns, columns.elements(column), row, 1,
                        {column + 1, leaf.column + Index{leaf.width}});
  }
  Kokkos::deep_copy(space, Kokkos::subview(moves.data, Kokkos::pair<int, int>(0, 1)), Index{0});
}

/// Factors leaves, one after the other.
template <Scalar T> class DeviceLeaves {
 public:
  DeviceLeaves(const ExecutionSpace& space, Index block)
      : block_(block),
        clusters_(space),
        most_teams_(heddle::impl::resident_teams(space)),
        words_(space, "heddle::exact::leaf_words", 2 * most_teams_ * Leaf::Teams::words_of_team) {}

  /// Returns the best number of columns of `rows` rows to factor together.
  [[nodiscard]] Index width(Index rows) const {
    const Index of_clusters = clusters_.width(rows);
    return of_clusters > 0 ? of_clusters : device_leaf_columns<T>;
  }
  /// Sets pivots(row) and those after it, and the moves for all other columns.
  void factor(const ExecutionSpace& space, const DeviceColumns<T>& columns, const LeafPlace& leaf,
              const Kokkos::View<Index*, MemorySpace>& pivots, const DeviceMoves& moves) {
    const Index rows = columns.m - leaf.row;
    const SumBounds<T> bounds(leaf.row + leaf.width, block_);
    if (leaf.width <= clusters_.width(rows)) {
      clusters_.factor(space, columns, leaf, bounds, pivots, moves);
      return;
    }
    const int threads = threads_for(rows);
    if (threads == 0) {
      device_tall_leaf(space, columns, leaf, bounds, pivots, moves);
      return;
    }
    const auto teams = static_cast<int>((rows + threads - 1) / threads);
    typename Leaf::Policy policy(space, teams, threads / Leaf::lanes, Leaf::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(Leaf::scratch_bytes(threads)));
    Kokkos::parallel_for(
        "heddle::exact::lu_leaf", policy,
        Leaf{columns, leaf, bounds, {words_.data(), teams}, words_.next(space, leaf.width), pivots, moves});
  }

 private:
  static constexpr int choices[4] = {64, 128, 160, 192};
  using Leaf = ExactLeaf<T, static_cast<int>(device_leaf_columns<T>), 192>;

  // Returns the rows of a team, one a thread: the fewest that fit its fast memory and need no more teams than
  // multiprocessors, so that these share the work, but at least 128 if they fit. 0 if there would be more teams.
  [[nodiscard]] int threads_for(Index rows) const {
    constexpr int fast_memory = 47 * 1024;  // The remainder is for Kokkos.
    int most = 0;
    for (const int threads : choices) {
      if (Leaf::scratch_bytes(threads) > fast_memory) break;
      most = threads;
      if (threads >= 128 && rows <= most_teams_ * threads) break;
    }
    return rows <= most_teams_ * most ? most : 0;
  }

  Index block_;
  ClusterLeaves<T> clusters_;
  Index most_teams_;
  heddle::impl::WordsOfSteps words_;
};

}  // namespace heddle::exact::impl
