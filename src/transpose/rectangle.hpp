// A rectangular matrix transposed where it lies: B. Catanzaro, A. Keller and M. Garland, "A decomposition for in-place
// matrix transposition" (PPoPP 2014), their C2R: three passes, each a permutation within columns or within rows.
//
// Here a matrix is row-major, as theirs: `rows` contiguous runs of `columns` elements.
#pragma once

#include "core/launch_bounds.hpp"
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
/// of a term in j and a term in i, modulo rows; and d'_i(j). c = gcd(rows, columns), a = rows / c, b =
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
  Index step;  ///< rows mod columns: from one j to the next, within b of them.
  Index length;
  Divider by_rows;
  Divider columns;
  Divider b;
  ShuffledRow(Index row_count, Index column_count, Index b_count)
      : rows(row_count),
        step(row_count % column_count),
        length(column_count),
        by_rows(row_count),
        columns(column_count),
        b(b_count) {}
  KOKKOS_INLINE_FUNCTION Index operator()(Index i, Index j) const {
    return columns.remainder(by_rows.remainder(i + b.quotient(j)) + j * rows);
  }
  /// The same for j + 1 where both are of the same b.
  KOKKOS_INLINE_FUNCTION Index next(Index at) const {
    const Index sum = at + step;
    return sum < length ? sum : sum - length;
  }
};

/// The matrix and the workspace of its passes: for each team a row, or a few neighbouring columns.
template <class T> struct Rectangle {
  /// Columns at a time: several cache lines of each row on CPUs; on GPUs one, since the workspace is to keep as many
  /// teams busy as possible.
  static constexpr int width = (on_host ? 512 : 64) / static_cast<int>(sizeof(T));
  static constexpr int threads = on_host ? 1 : 1024;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, LaunchBounds<threads, 1>>;
  using Team = typename Policy::member_type;

  T* data;
  Index rows;
  Index columns;
  Index teams_of_columns;
  Index teams_of_rows;
  Kokkos::View<T*, MemorySpace> held;

  Rectangle(const ExecutionSpace& space, T* elements, Index row_count, Index column_count)
      : data(elements), rows(row_count), columns(column_count) {
    // As many teams as fill the device, if their workspace is small beside the matrix.
    const Index most = on_host ? space.concurrency() : 512;
    const auto teams = [&](Index each) { return std::clamp<Index>(rows * columns / 8 / each, 1, most); };
    teams_of_columns = teams(rows * width);
    teams_of_rows = teams(columns);
    held = Kokkos::View<T*, MemorySpace>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::transpose::held"),
        static_cast<std::size_t>(std::max(teams_of_columns * rows * width, teams_of_rows * columns)));
  }
};

/// body(q, i, prepared) for the rows i of each of `count` neighbouring columns q, prepared = prepare(q).
template <int width, int threads, class Team, class Prepare, class Body>
KOKKOS_INLINE_FUNCTION void for_each_of_columns(const Team& team, Index count, Index rows, const Prepare& prepare,
                                                const Body& body) {
  if constexpr (on_host) {
    Index prepared[width];
    for (Index q = 0; q < count; ++q) {
      prepared[q] = prepare(q);
    }
    for (Index i = 0; i < rows; ++i) {
      for (Index q = 0; q < count; ++q) {
        body(q, i, prepared[q]);
      }
    }
  } else {
    const Index q = team.team_rank() % width;
    if (q < count) {
      const Index prepared = prepare(q);
      for (Index i = team.team_rank() / width; i < rows; i += threads / width) {
        body(q, i, prepared);
      }
    }
  }
}

/// x(i, j) = x((from.of_row(i) + from.of_column(j)) mod rows, j): the columns turned as they are read, the rows
/// permuted as they are written back, both by neighbouring elements.
template <class T, class From>
void gather_columns(const ExecutionSpace& space, const std::string& label, const Rectangle<T>& x, const From& from) {
  constexpr int width = Rectangle<T>::width;
  constexpr int threads = Rectangle<T>::threads;
  const Index groups = (x.columns + width - 1) / width;
  const Index teams = std::min(x.teams_of_columns, groups);
  Kokkos::parallel_for(
      label, typename Rectangle<T>::Policy(space, static_cast<int>(teams), threads),
      KOKKOS_LAMBDA(const typename Rectangle<T>::Team& team) {
        T* const mine = x.held.data() + team.league_rank() * x.rows * width;
        for (Index group = team.league_rank(); group < groups; group += teams) {
          const Index first = group * width;
          const Index count = x.columns - first < width ? x.columns - first : Index{width};
          for_each_of_columns<width, threads>(
              team, count, x.rows, [&](Index q) { return from.of_column(first + q); },
              [&](Index q, Index i, Index by) {
                const Index turned = i + by;
                mine[i * width + q] = x.data[(turned < x.rows ? turned : turned - x.rows) * x.columns + first + q];
              });
          team.team_barrier();
          for_each_of_columns<width, threads>(
              team, count, x.rows, [](Index) { return Index{0}; },
              [&](Index q, Index i, Index) { x.data[i * x.columns + first + q] = mine[from.of_row(i) * width + q]; });
          team.team_barrier();
        }
      });
}

/// mine(to(i, j)) = map(row(j)), by the threads of a team.
template <class T, class Team>
KOKKOS_INLINE_FUNCTION void scatter_row(const Team& team, const Rectangle<T>& x, const ShuffledRow& to, Index b,
                                        const Map<T>& map, Index i, T* mine) {
  const T* const row = x.data + i * x.columns;
  if constexpr (on_host) {
    for (Index begin = 0; begin < x.columns; begin += b) {
      Index at = to(i, begin);
      for (Index j = begin; j < begin + b; ++j) {
        mine[at] = map(row[j]);
        at = to.next(at);
      }
    }
  } else {
    for (Index j = team.team_rank(); j < x.columns; j += Rectangle<T>::threads) {
      mine[to(i, j)] = map(row[j]);
    }
  }
}

/// x(i, to(i, j)) = map(x(i, j)).
template <class T>
void scatter_rows(const ExecutionSpace& space, const std::string& label, const Rectangle<T>& x, const ShuffledRow& to,
                  Index b, const Map<T>& map) {
  constexpr int threads = Rectangle<T>::threads;
  const Index teams = std::min(x.teams_of_rows, x.rows);
  Kokkos::parallel_for(
      label, typename Rectangle<T>::Policy(space, static_cast<int>(teams), threads),
      KOKKOS_LAMBDA(const typename Rectangle<T>::Team& team) {
        T* const mine = x.held.data() + team.league_rank() * x.columns;
        for (Index i = team.league_rank(); i < x.rows; i += teams) {
          scatter_row(team, x, to, b, map, i, mine);
          team.team_barrier();
          for (Index j = team.team_rank(); j < x.columns; j += threads) {
            x.data[i * x.columns + j] = mine[j];
          }
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
  scatter_rows(space, "heddle::transpose::shuffle_rows", x, ShuffledRow(rows, columns, b), b, map);
  gather_columns(space, "heddle::transpose::shuffle_columns", x,
                 ShuffledColumn{Divider(rows), columns, Divider(rows / common)});
}

}  // namespace heddle::impl
