// A factored panel taken off other columns on a GPU: rows of U, one after the other, and the sums below them.
#pragma once

#include "core/simd.hpp"
#include "exact/device_lu_columns.hpp"
#include "exact/placed_sum.hpp"

namespace heddle::exact::impl {

/// Rows [row, row + width) of U in `rest`: a team for a few columns, a thread for each row, whose sums it keeps while
/// it waits for the rows before it.
template <Scalar T> struct RowsOfU {
  static constexpr int columns_each = is_complex<T> ? 2 : 4;
  static constexpr int most_rows = 128;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<most_rows, 4>>;
  using Team = typename Policy::member_type;
  struct Shared {
    T u[most_rows][columns_each];
    ExactSum<T> exact;
    int open[2];  // Columns that steps, in turn, leave open.
  };
  using SharedView = Kokkos::View<Shared*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  DeviceColumns<T> columns;
  PanelElements<T> panel;
  Index row;
  int width;
  Range rest;
  SumBounds<T> bounds;

  /// Elements (row + step, first + q) that twice the precision leaves open, by all threads.
  HEDDLE_APART KOKKOS_INLINE_FUNCTION void close(Team team, Shared& shared, int step, Index first, int open) const {
    for (int q = 0; open >> q != 0; ++q) {
      if ((open >> q & 1) == 0) {
        continue;
      }
      if (team.team_rank() == 0) {
        shared.exact = {};
      }
      team.team_barrier();
      columns.add_known(shared.exact, row + step, first + q, row + step, team.team_rank(), team.team_size());
      team.team_barrier();
      if (team.team_rank() == step) {
        shared.exact.add(columns.at(row + step, first + q));
        shared.u[step][q] = shared.exact.value();
      }
      team.team_barrier();
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    Shared& shared = *SharedView(team.team_scratch(0), 1).data();
    const int t = team.team_rank();
    const Index first = rest.begin + Index{team.league_rank()} * columns_each;
    const int count = static_cast<int>(Kokkos::min<Index>(columns_each, rest.end - first));
    InnerSum<T> sum[columns_each];
    HEDDLE_UNROLL
    for (int q = 0; q < columns_each; ++q) {
      if (t < width && q < count) {
        sum[q] = columns.sum(row + t, first + q);
      }
    }
    T next = t > 0 && t < width ? panel(row + t, 0) : T(0);
    for (int step = 0; step < width; ++step) {
      const T l = next;
      if (t == step) {
        int open = 0;
        HEDDLE_UNROLL
        for (int q = 0; q < columns_each; ++q) {
          T value;
          if (!bounds.rounds(sum[q], value) && q < count) {
            open |= 1 << q;
          }
          shared.u[step][q] = value;
        }
        shared.open[step & 1] = open;
      }
      next = t > step + 1 && t < width ? panel(row + t, step + 1) : T(0);
      team.team_barrier();
      const int open = shared.open[step & 1];
      if (open != 0) {
        // Sums wait in their places: the registers that they have are needed.
        HEDDLE_UNROLL
        for (int q = 0; q < columns_each; ++q) {
          if (t < width && q < count) {
            columns.sum(row + t, first + q) = sum[q];
          }
        }
        close(team, shared, step, first, open);
        HEDDLE_UNROLL
        for (int q = 0; q < columns_each; ++q) {
          sum[q] = {};
          if (t < width && q < count) {
            sum[q] = columns.sum(row + t, first + q);
          }
        }
      }
      if (t == step) {
        for (int q = 0; q < count; ++q) {
          columns.at(row + step, first + q) = shared.u[step][q];
        }
      } else if (t > step && t < width) {
        HEDDLE_UNROLL
        for (int q = 0; q < columns_each; ++q) {
          sum[q].add_product(l, -shared.u[step][q]);
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
  const auto teams = static_cast<int>((rest.size() + Rows::columns_each - 1) / Rows::columns_each);
  typename Rows::Policy policy(space, teams, (width + 31) / 32 * 32);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Rows::SharedView::shmem_size(1))));
  Kokkos::parallel_for("heddle::exact::lu_rows", policy,
                       Rows{columns, panel, row, width, rest, SumBounds<T>(row + width, block)});
}

/// The sums in `rest` below row + width, a product after the other: for few columns of a panel.
template <Scalar T>
void device_few_products(const ExecutionSpace& space, const DeviceColumns<T>& columns, const PanelElements<T>& panel,
                         Index row, int width, Range rest) {
  const Index below = row + width;
  const Index height = columns.m - below;
  Kokkos::parallel_for(
      "heddle::exact::lu_panel",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, height * rest.size()),
      KOKKOS_LAMBDA(Index at) {
        const Index i = below + at % height;
        const Index c = rest.begin + at / height;
        InnerSum<T> sum = columns.sum(i, c);
        for (int k = 0; k < width; ++k) {
          sum.add_product(panel(i, k), -columns.at(row + k, c));
        }
        columns.sum(i, c) = sum;
      });
}

/// Powers of two above the elements of each row of a panel below row + width, and of each column of `rest` within rows
/// [row, row + width): scales(i) and scales(m + c).
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): a panel and what it is taken off
void device_scales(const ExecutionSpace& space, const DeviceColumns<T>& columns, const PanelElements<T>& panel,
                   Index row, int width, Range rest, const Kokkos::View<double*, MemorySpace>& scales) {
  const Index below = row + width;
  const Index height = columns.m - below;
  Kokkos::parallel_for(
      "heddle::exact::lu_scales",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, height + rest.size()),
      KOKKOS_LAMBDA(Index at) {
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
      });
}

/// The sums in `rest` below row + width, in tiles: a team of 16 x 16 threads, 4 x 4 elements each (4 x 2 complex),
/// whose sums are at their places in registers.
template <Scalar T> struct TileProducts {
  static constexpr int side = 16;
  static constexpr int threads = side * side;
  static constexpr int rows_each = 4;
  static constexpr int columns_each = is_complex<T> ? 2 : 4;
  static constexpr int rows = side * rows_each;
  static constexpr int tile_columns = side * columns_each;
  static constexpr int slice = 8;
  static constexpr int l_each = slice * rows / threads;  // Elements that a thread loads of a slice.
  static constexpr int u_each = slice * tile_columns / threads;
  static constexpr int parts = parts_of_scalar<T>;
  using Number = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<threads, 2>>;
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
  /// What a thread reads of the next slice, and lays into fast memory.
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
