// A rectangular matrix transposed where it lies: B. Catanzaro, A. Keller and M. Garland, "A decomposition for in-place
// matrix transposition" (PPoPP 2014), their C2R: three passes, each a permutation within columns or within rows.
//
// Here a matrix is row-major, as theirs: `rows` contiguous runs of `columns` elements.
#pragma once

#include "transpose/tiles.hpp"

#include <numeric>

namespace heddle::impl {

/// x / d and x mod d for 0 <= x < 2^52 by a product with 1 / d, which is off by one at most: several times faster than
/// a processor's division of 64-bit integers, and vectors can do it.
class Divider {
 public:
  explicit Divider(Index divisor) : divisor_(divisor), inverse_(1.0 / static_cast<double>(divisor)) {}
  KOKKOS_INLINE_FUNCTION Index quotient(Index x) const {
    const auto near = static_cast<Index>(static_cast<double>(x) * inverse_);
    const Index rest = x - near * divisor_;
    return near - (rest < 0 ? 1 : 0) + (rest >= divisor_ ? 1 : 0);
  }
  KOKKOS_INLINE_FUNCTION Index remainder(Index x) const {
    const Index rest = x - static_cast<Index>(static_cast<double>(x) * inverse_) * divisor_;
    return rest + (rest < 0 ? divisor_ : 0) - (rest >= divisor_ ? divisor_ : 0);
  }

 private:
  Index divisor_;
  double inverse_;
};

/// The paper's r_j(i) = (i + floor(j / b)) mod rows and s'_j(i) = (j + i columns - floor(i / a)) mod rows, both a sum
/// of what depends on j and what depends on i, modulo rows; and d'_i(j). c = gcd(rows, columns), a = rows / c, b =
/// columns / c.
struct RotatedColumn {
  Divider rows;
  Divider b;
  KOKKOS_INLINE_FUNCTION Index of_column(Index j) const { return rows.remainder(b.quotient(j)); }
  KOKKOS_INLINE_FUNCTION Index of_row(Index i) const { return i; }
};
struct ShuffledColumn {
  Divider rows;
  Index columns;
  Divider a;
  KOKKOS_INLINE_FUNCTION Index of_column(Index j) const { return rows.remainder(j); }
  KOKKOS_INLINE_FUNCTION Index of_row(Index i) const { return rows.remainder(i * columns - a.quotient(i)); }
};
struct ShuffledRow {
  Index rows;
  Divider by_rows;
  Divider columns;
  Divider b;
  KOKKOS_INLINE_FUNCTION Index operator()(Index i, Index j) const {
    return columns.remainder(by_rows.remainder(i + b.quotient(j)) + j * rows);
  }
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
        width(std::min<Index>(columns, on_host ? 512 / static_cast<Index>(sizeof(T)) : 16)),
        each(std::max(columns, rows * width)),
        // As many as fill the device, where what they hold is small beside the matrix.
        teams(std::clamp<Index>(rows * columns / 8 / each, 1, on_host ? space.concurrency() : 512)),
        held(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::transpose::held"),
             static_cast<std::size_t>(teams * each)) {}
};

/// x(i, j) = x((from.of_row(i) + from.of_column(j)) mod rows, j): the columns turned as they are read, the rows
/// permuted as they are written back, both by neighbouring elements.
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
            const Index turned = i + from.of_column(first + q);
            mine[i * x.width + q] = x.data[(turned < x.rows ? turned : turned - x.rows) * x.columns + first + q];
          });
          team.team_barrier();
          for_each_in_team(team, count, x.rows, [&](Index q, Index i) {
            x.data[i * x.columns + first + q] = mine[from.of_row(i) * x.width + q];
          });
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
    gather_columns(space, "heddle::transpose::rotate_columns", x, RotatedColumn{Divider(rows), Divider(b)});
  }
  scatter_rows(space, "heddle::transpose::shuffle_rows", x,
               ShuffledRow{rows, Divider(rows), Divider(columns), Divider(b)}, map);
  gather_columns(space, "heddle::transpose::shuffle_columns", x,
                 ShuffledColumn{Divider(rows), columns, Divider(rows / common)});
}

}  // namespace heddle::impl
