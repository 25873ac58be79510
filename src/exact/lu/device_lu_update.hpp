// Trailing update of a factored panel on a GPU: rows of U, one after the other, and the sums below them.
#pragma once

#include "core/launch_bounds.hpp"
#include "core/meeting_teams.hpp"
#include "core/simd.hpp"
#include "exact/lu/device_lu_columns.hpp"
#include "exact/sums/placed_sum.hpp"

#include <algorithm>

namespace heddle::exact::impl {

/// Computes rows [row, row + width) of U in `rest`: a team for 32 columns, a lane for each, so that 32 elements of a
/// row are rounded at the same time, each by the thread that has their sums. A warp keeps the sums of a few rows. In
/// its turn it finds these rows one after the other, without synchronisation, and the warps behind it subtract their
/// products, all at once.
template <Scalar T> struct RowsOfU {
  static constexpr int lanes = heddle::impl::lanes_of_warp;
  static constexpr int rows_each = is_complex<T> ? 4 : 8;
  static constexpr int most_warps = 16;
  static constexpr int block = rows_each * rows_each;
  static constexpr int block_each = (block + lanes - 1) / lanes;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<most_warps * lanes, 1>>;
  using Team = typename Policy::member_type;
  using Sums = InnerSum<T>[rows_each];
  using Rows = T[rows_each][lanes];
  struct Shared {
    Rows u[2];                 // Rows of U, for alternate turns.
    T own[most_warps][block];  // Elements of L, by columns, for a warp's updates of its own rows by each other
    T l[most_warps][block];    // and by the rows of the current turn.
    ExactSum<T> exact;         // Sum of the warp whose turn it is.
  };
  using SharedView = Kokkos::View<Shared*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  DeviceColumns<T> columns;
  PanelElements<T> panel;
  Index row;
  int width;
  Range rest;
  SumBounds<T> bounds;

  /// Elements of L that multiply rows k, ... of U in the update of rows `first`, ..., spread over the lanes of a warp.
  struct Spread {
    T l[block_each];
    KOKKOS_FORCEINLINE_FUNCTION void store(T (&to)[block], int lane) const {
      HEDDLE_UNROLL
      for (int s = 0; s < block_each; ++s) {
        if (lane + s * lanes < block) to[lane + s * lanes] = l[s];
      }
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION Spread load(int first, int k, int lane) const {
    Spread spread;
    HEDDLE_UNROLL
    for (int s = 0; s < block_each; ++s) {
      const int i = first + (lane + s * lanes) % rows_each;
      const int q = k + (lane + s * lanes) / rows_each;
      spread.l[s] = lane + s * lanes < block && i < width && q < width ? panel(row + i, q) : T(0);
    }
    return spread;
  }

  /// Finds rows `first`, ... from their sums in memory, by a warp, if twice the precision leaves some of them open.
  HEDDLE_APART KOKKOS_INLINE_FUNCTION void find_exactly(Team team, Shared& shared, Rows& u, int first, int lane,
                                                        Index c) const {
    for (int r = 0; r < rows_each && first + r < width; ++r) {
      const Index i = row + first + r;
      T value(0);
      bool is_open = false;
      if (c < rest.end) {
        InnerSum<T> sum = columns.sum(i, c);
        for (int q = 0; q < first + r; ++q) sum.add_product(panel(i, q), -columns.at(row + q, c));
        is_open = !bounds.rounds(sum, value);
      }
      while (true) {
        const heddle::impl::Proposal open = heddle::impl::best_of_warp(team, {is_open ? 1U : 0U, lane, lane});
        if (open.rank == 0) break;
        if (lane == open.from) shared.exact = {};
        heddle::impl::meet_in_warp(team);
        columns.add_known(shared.exact, i, c - lane + open.from, i, lane, lanes);
        heddle::impl::meet_in_warp(team);
        if (lane == open.from) {
          shared.exact.add(columns.at(i, c));
          value = shared.exact.value();
          is_open = false;
        }
        heddle::impl::meet_in_warp(team);
      }
      u[r][lane] = value;
      if (c < rest.end) columns.at(i, c) = value;
      // Sums of other lanes need the value.
      heddle::impl::meet_in_warp(team);
    }
  }
  /// Finds rows `first`, ... by the warp that has their sums, to which only their own products remain to be applied.
  KOKKOS_FORCEINLINE_FUNCTION void find(const Team& team, Shared& shared, Rows& u, Sums& sum, int first, int lane,
                                        Index c) const {
    const T(&l)[block] = shared.own[team.team_rank()];
    int is_open = 0;
    HEDDLE_UNROLL
    for (int r = 0; r < rows_each; ++r) {
      T value(0);
      if (!bounds.rounds(sum[r], value) && first + r < width && c < rest.end) is_open = 1;
      u[r][lane] = value;
      HEDDLE_UNROLL
      for (int q = r + 1; q < rows_each; ++q) sum[q].add_product(l[r * rows_each + q], -value);
    }
    int any = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, lanes), [&](int, int& most) { most = Kokkos::max(most, is_open); },
        Kokkos::Max<int>(any));
    if (any != 0) {
      find_exactly(team, shared, u, first, lane, c);
      // The sums are dead here, but without this compilers would keep them for that path, out of registers, all the
      // time.
      HEDDLE_UNROLL
      for (int r = 0; r < rows_each; ++r) sum[r] = {};
      return;
    }
    HEDDLE_UNROLL
    for (int r = 0; r < rows_each; ++r) {
      if (first + r < width && c < rest.end) columns.at(row + first + r, c) = u[r][lane];
    }
  }
  /// Subtracts the products with rows of U, of which this lane's elements are u(0), u(1), ..., from this warp's sums.
  template <class U> KOKKOS_FORCEINLINE_FUNCTION static void take_off(Sums& sum, const T (&l)[block], const U& u) {
    HEDDLE_UNROLL
    for (int k = 0; k < rows_each; ++k) {
      const T minus = -u(k);
      HEDDLE_UNROLL
      for (int r = 0; r < rows_each; ++r) sum[r].add_product(l[k * rows_each + r], minus);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    Shared& shared = *SharedView(team.team_scratch(0), 1).data();
    const int lane = heddle::impl::lane_of(team);
    const int warp = team.team_rank();
    const int warps = team.team_size();
    const Index c = rest.begin + Index{team.league_rank()} * lanes + lane;
    T(&l)[block] = shared.l[warp];
    // As many rows at a time as the team keeps sums of.
    for (int begin = 0; begin < width; begin += warps * rows_each) {
      const int first = begin + warp * rows_each;
      Sums sum;
      HEDDLE_UNROLL
      for (int r = 0; r < rows_each; ++r) {
        if (first + r < width && c < rest.end) sum[r] = columns.sum(row + first + r, c);
      }
      load(first, first, lane).store(shared.own[warp], lane);
      for (int k = 0; k < begin; k += rows_each) {
        load(first, k, lane).store(l, lane);
        heddle::impl::meet_in_warp(team);
        take_off(sum, l, [&](int q) { return c < rest.end ? columns.at(row + k + q, c) : T(0); });
        heddle::impl::meet_in_warp(team);
      }
      for (int turn = 0; turn < warps && begin + turn * rows_each < width; ++turn) {
        Rows& u = shared.u[turn & 1];
        const Spread next = load(first, begin + turn * rows_each, lane);
        if (warp == turn) {
          heddle::impl::meet_in_warp(team);
          find(team, shared, u, sum, first, lane, c);
        }
        team.team_barrier();
        if (warp > turn && first < width) {
          next.store(l, lane);
          heddle::impl::meet_in_warp(team);
          take_off(sum, l, [&](int q) { return u[q][lane]; });
        }
      }
    }
  }
};
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): a panel and what it is taken off
void device_rows_of_u(const ExecutionSpace& space, const DeviceColumns<T>& columns, const PanelElements<T>& panel,
                      Index row, int width, Range rest, Index block) {
  using Rows = RowsOfU<T>;
  const auto teams = static_cast<int>((rest.size() + Rows::lanes - 1) / Rows::lanes);
  const int warps = std::min(Rows::most_warps, (width + Rows::rows_each - 1) / Rows::rows_each);
  typename Rows::Policy policy(space, teams, warps, Rows::lanes);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Rows::SharedView::shmem_size(1))));
  Kokkos::parallel_for("heddle::exact::lu_rows", policy,
                       Rows{columns, panel, row, width, rest, SumBounds<T>(row + width, block)});
}

template <Scalar T> struct AddFewProducts {
  DeviceColumns<T> columns;
  PanelElements<T> panel;
  Index row;
  int width;
  Range rest;

  KOKKOS_INLINE_FUNCTION void operator()(Index at) const {
    const Index below = row + width;
    const Index height = columns.m - below;
    const Index i = below + at % height;
    const Index c = rest.begin + at / height;
    InnerSum<T> sum = columns.sum(i, c);
    for (int k = 0; k < width; ++k) {
      sum.add_product(panel(i, k), -columns.at(row + k, c));
    }
    columns.sum(i, c) = sum;
  }
};
/// Updates the sums in `rest` below row + width, product by product: for few columns of a panel.
template <Scalar T>
void device_few_products(const ExecutionSpace& space, const DeviceColumns<T>& columns, const PanelElements<T>& panel,
                         Index row, int width, Range rest) {
  const Index height = columns.m - row - width;
  Kokkos::parallel_for("heddle::exact::lu_panel",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, height * rest.size()),
                       AddFewProducts<T>{columns, panel, row, width, rest});
}

template <Scalar T> struct FindScale {
  DeviceColumns<T> columns;
  PanelElements<T> panel;
  Index row;
  int width;
  Range rest;
  Kokkos::View<double*, MemorySpace> scales;

  KOKKOS_INLINE_FUNCTION void operator()(Index at) const {
    const Index below = row + width;
    const Index height = columns.m - below;
    const bool is_row = at < height;
    const Index i = below + at;
    const Index c = rest.begin + (at - height);
    double most = 0;
    for (int k = 0; k < width; ++k) {
      const T x = is_row ? panel(i, k) : columns.at(row + k, c);
      for (int p = 0; p < parts_of_scalar<T>; ++p) {
        most = Kokkos::fmax(most, Kokkos::abs(static_cast<double>(part_of(x, p))));
      }
    }
    scales(is_row ? i : columns.m + c) = power_above(most);
  }
};
/// Computes powers of two above the elements of each row of a panel below row + width, and of each column of `rest`
/// within rows [row, row + width): scales(i) and scales(m + c).
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): a panel and what it is taken off
void device_scales(const ExecutionSpace& space, const DeviceColumns<T>& columns, const PanelElements<T>& panel,
                   Index row, int width, Range rest, const Kokkos::View<double*, MemorySpace>& scales) {
  const Index height = columns.m - row - width;
  Kokkos::parallel_for("heddle::exact::lu_scales",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, height + rest.size()),
                       FindScale<T>{columns, panel, row, width, rest, scales});
}

/// Updates the sums in `rest` below row + width, in tiles: a team of 16 x 16 threads, 4 x 4 elements each (4 x 2
/// complex), whose sums are kept as PlacedSum in registers.
template <Scalar T> struct TileProducts {
  static constexpr int side = 16;
  static constexpr int threads = side * side;
  static constexpr int rows_each = 4;
  static constexpr int columns_each = is_complex<T> ? 2 : 4;
  static constexpr int rows = side * rows_each;
  static constexpr int tile_columns = side * columns_each;
  static constexpr int slice = 8;
  static constexpr int l_each = slice * rows / threads;  // Elements of a slice that a thread loads.
  static constexpr int u_each = slice * tile_columns / threads;
  static constexpr int parts = parts_of_scalar<T>;
  using Number = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<threads, 2>>;
  using Team = typename Policy::member_type;
  struct Shared {
    Number l[slice][rows];
    Number u[slice][tile_columns + 1];
  };
  using SharedView = Kokkos::View<Shared*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  DeviceColumns<T> columns;
  PanelElements<T> panel;
  Index row;
  int width;
  Range rest;
  Kokkos::View<const double*, MemorySpace> scales;
  PlacedBounds bounds;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION static Number number(const T& x) {
    if constexpr (is_complex<T>) {
      return Number(static_cast<double>(x.real()), static_cast<double>(x.imag()));
    } else {
      return static_cast<double>(x);
    }
  }
  /// Elements of the next slice that a thread reads and stores to fast memory.
  struct Next {
    T l[l_each];
    T u[u_each];
  };
  KOKKOS_INLINE_FUNCTION void load(Next& next, int thread, Index i, Index c, int from) const {
    HEDDLE_UNROLL
    for (int s = 0; s < l_each; ++s) {
      const int k = from + thread / rows + s * (threads / rows);
      const Index r = i + thread % rows;
      next.l[s] = r < columns.m && k < width ? panel(r, k) : T(0);
    }
    HEDDLE_UNROLL
    for (int s = 0; s < u_each; ++s) {
      const int k = from + thread % slice;
      const Index column = c + thread / slice + s * (threads / slice);
      next.u[s] = column < rest.end && k < width ? columns.at(row + k, column) : T(0);
    }
  }
  KOKKOS_INLINE_FUNCTION static void store(const Next& next, int thread, Shared& shared) {
    HEDDLE_UNROLL
    for (int s = 0; s < l_each; ++s) {
      shared.l[thread / rows + s * (threads / rows)][thread % rows] = number(next.l[s]);
    }
    HEDDLE_UNROLL
    for (int s = 0; s < u_each; ++s) {
      shared.u[thread % slice][thread / slice + s * (threads / slice)] = -number(next.u[s]);
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double place(Index i, Index c) const {
    return i < columns.m && c < rest.end ? bounds.place(scales(i), scales(columns.m + c)) : 1.0;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    Shared& shared = *SharedView(team.team_scratch(0), 1).data();
    const int thread = team.team_rank();
    const int tx = thread % side;
    const int ty = thread / side;
    const Index below = row + width;
    const Index tiles_down = (columns.m - below + rows - 1) / rows;
    const Index i = below + team.league_rank() % tiles_down * rows;
    const Index c = rest.begin + team.league_rank() / tiles_down * tile_columns;
    PlacedSum sum[rows_each][columns_each][parts];
    HEDDLE_UNROLL
    for (int r = 0; r < rows_each; ++r) {
      HEDDLE_UNROLL
      for (int q = 0; q < columns_each; ++q) {
        const double begin = place(i + tx + r * side, c + ty + q * side);
        HEDDLE_UNROLL
        for (int p = 0; p < parts; ++p) sum[r][q][p] = PlacedSum::at(begin);
      }
    }
    Next next;
    load(next, thread, i, c, 0);
    for (int from = 0; from < width; from += slice) {
      store(next, thread, shared);
      team.team_barrier();
      if (from + slice < width) load(next, thread, i, c, from + slice);
      HEDDLE_UNROLL
      for (int k = 0; k < slice; ++k) {
        Number l[rows_each];
        Number u[columns_each];
        HEDDLE_UNROLL
        for (int r = 0; r < rows_each; ++r) l[r] = shared.l[k][tx + r * side];
        HEDDLE_UNROLL
        for (int q = 0; q < columns_each; ++q) u[q] = shared.u[k][ty + q * side];
        HEDDLE_UNROLL
        for (int r = 0; r < rows_each; ++r) {
          HEDDLE_UNROLL
          for (int q = 0; q < columns_each; ++q) {
            for_each_product(l[r], u[q], [&](int p, double x, double y) { sum[r][q][p].add_product(x, y); });
          }
        }
      }
      team.team_barrier();
    }
    HEDDLE_UNROLL
    for (int r = 0; r < rows_each; ++r) {
      HEDDLE_UNROLL
      for (int q = 0; q < columns_each; ++q) {
        const Index element_row = i + tx + r * side;
        const Index column = c + ty + q * side;
        if (element_row < columns.m && column < rest.end) {
          const double begin = place(element_row, column);
          InnerSum<T> all = columns.sum(element_row, column);
          HEDDLE_UNROLL
          for (int p = 0; p < parts; ++p) sum[r][q][p].add_to(all.part[p], begin, bounds);
          columns.sum(element_row, column) = all;
        }
      }
    }
  }
};
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): a panel and what it is taken off
void device_many_products(const ExecutionSpace& space, const DeviceColumns<T>& columns, const PanelElements<T>& panel,
                          Index row, int width, Range rest, const Kokkos::View<double*, MemorySpace>& scales) {
  using Tiles = TileProducts<T>;
  const Index height = columns.m - row - width;
  if (height == 0) {
    return;
  }
  device_scales(space, columns, panel, row, width, rest, scales);
  const Index down = (height + Tiles::rows - 1) / Tiles::rows;
  const Index across = (rest.size() + Tiles::tile_columns - 1) / Tiles::tile_columns;
  typename Tiles::Policy policy(space, static_cast<int>(down * across), Tiles::threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Tiles::SharedView::shmem_size(1))));
  Kokkos::parallel_for("heddle::exact::lu_update", policy,
                       Tiles{columns, panel, row, width, rest, scales, PlacedBounds(width * terms_per_product<T>)});
}

}  // namespace heddle::exact::impl
