// A rectangular matrix transposed where it lies: B. Catanzaro, A. Keller and M. Garland, "A decomposition for in-place
// matrix transposition" (PPoPP 2014), their C2R: three passes, each a permutation within columns or within rows.
//
// Here a matrix is row-major, as theirs: `rows` contiguous runs of `columns` elements.
#pragma once

#include "transpose/tiles.hpp"

#include <numeric>

namespace heddle::impl {

/// The paper's r, d' and s', with c = gcd(rows, columns), a = rows / c, b = columns / c.
struct RotatedColumn {
  Index rows;
  Index b;
  KOKKOS_INLINE_FUNCTION Index operator()(Index i, Index j) const { return (i + j / b) % rows; }
};
struct ShuffledRow {
  Index rows;
  Index columns;
  Index b;
  KOKKOS_INLINE_FUNCTION Index operator()(Index i, Index j) const { return ((i + j / b) % rows + j * rows) % columns; }
};
struct ShuffledColumn {
  Index rows;
  Index columns;
  Index a;
  KOKKOS_INLINE_FUNCTION Index operator()(Index i, Index j) const { return (j + i * columns - i / a) % rows; }
};

/// The matrix and what its passes hold beside it: for each team a row, or a few neighbouring columns.
template <class T> struct Rectangle {
  T* data;
  Index rows;
  Index columns;
  Index width;  ///< Columns at a time.
  Index each;   ///< Elements that a team holds.
  Index teams;
  Kokkos::View<T*, MemorySpace> held;

  Rectangle(const ExecutionSpace& space, T* elements, Index row_count, Index column_count)
      : data(elements),
        rows(row_count),
        columns(column_count),
        width(std::min<Index>(columns, on_host ? 64 / static_cast<Index>(sizeof(T)) : 16)),
        each(std::max(columns, rows * width)),
        // As many as fill the device, where what they hold is small beside the matrix.
        teams(std::clamp<Index>(rows * columns / 8 / each, 1, on_host ? space.concurrency() : 512)),
        held(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::transpose::held"),
             static_cast<std::size_t>(teams * each)) {}
};

/// x(i, j) = x(from(i, j), j).
template <class T, class From>
void gather_columns(const ExecutionSpace& space, const std::string& label, const Rectangle<T>& x, const From& from) {
  const Index groups = (x.columns + x.width - 1) / x.width;
  const Index teams = std::min(x.teams, groups);
  Kokkos::parallel_for(
      label, TeamPolicy(space, static_cast<int>(teams), team_threads), KOKKOS_LAMBDA(const Team& team) {
        T* const mine = x.held.data() + team.league_rank() * x.each;
        for (Index group = team.league_rank(); group < groups; group += teams) {
          const Index first = group * x.width;
          const Index count = x.columns - first < x.width ? x.columns - first : x.width;
          for_each_in_team(team, count, x.rows, [&](Index q, Index i) {
            mine[i * x.width + q] = x.data[from(i, first + q) * x.columns + first + q];
          });
          team.team_barrier();
          for_each_in_team(team, count, x.rows,
                           [&](Index q, Index i) { x.data[i * x.columns + first + q] = mine[i * x.width + q]; });
          team.team_barrier();
        }
      });
}

/// x(i, to(i, j)) = map(x(i, j)).
template <class T, class To>
void scatter_rows(const ExecutionSpace& space, const std::string& label, const Rectangle<T>& x, const To& to,
                  const Map<T>& map) {
  const Index teams = std::min(x.teams, x.rows);
  Kokkos::parallel_for(
      label, TeamPolicy(space, static_cast<int>(teams), team_threads), KOKKOS_LAMBDA(const Team& team) {
        T* const mine = x.held.data() + team.league_rank() * x.each;
        for (Index i = team.league_rank(); i < x.rows; i += teams) {
          T* const row = x.data + i * x.columns;
          for_each_in_team(team, x.columns, Index{1}, [&](Index j, Index) { mine[to(i, j)] = map(row[j]); });
          team.team_barrier();
          for_each_in_team(team, x.columns, Index{1}, [&](Index j, Index) { row[j] = mine[j]; });
          team.team_barrier();
        }
      });
}

template <class T>
void transpose_rectangle(const ExecutionSpace& space, T* data, Index rows, Index columns, const Map<T>& map) {
  const Rectangle<T> x(space, data, rows, columns);
  const Index common = std::gcd(rows, columns);
  const Index b = columns / common;
  if (common > 1) {
    gather_columns(space, "heddle::transpose::rotate_columns", x, RotatedColumn{rows, b});
  }
  scatter_rows(space, "heddle::transpose::shuffle_rows", x, ShuffledRow{rows, columns, b}, map);
  gather_columns(space, "heddle::transpose::shuffle_columns", x, ShuffledColumn{rows, columns, rows / common});
}

}  // namespace heddle::impl
