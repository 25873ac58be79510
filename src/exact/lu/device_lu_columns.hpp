// Operands of the GPU factorization's kernels: columns of a matrix, with the sums of their elements.
#pragma once

#include "exact/lu/host_lu.hpp"
#include "exact/products/device.hpp"
#include <heddle/dist/placement.hpp>

#include <algorithm>

namespace heddle::exact::impl {

/// Columns factored by one kernel: as many as a thread can keep the sums of its row for in registers.
template <Scalar T> inline constexpr Index device_leaf_columns = 16 / parts_of_scalar<T>;

/// Columns of a leaf: the first is column `row` of the whole matrix, and column `column` here.
struct LeafPlace {
  Index row;
  Index column;
  int width;
};

/// L left of the current panel; `order` gives the position of its rows.
template <Scalar T> using LeftFactor = PanelElements<T>;

/// Bounds for the rounding of a sum from which up to `known` columns of L have been subtracted, the last `block` of
/// them one by one: an upper bound of the number of terms added in sequence, and of the loss to underflow.
template <Scalar T> struct SumBounds {
  Index terms;
  double absolute;
  KOKKOS_INLINE_FUNCTION SumBounds(Index known, Index block)
      : terms(block + known / block + 2), absolute(lost_to_underflow<T>(known)) {}
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool rounds(const InnerSum<T>& sum, T& value) const {
    return sum.rounds_to(terms, absolute, value);
  }
};

/// n columns of m rows, any strides, and their sums.
template <Scalar T> struct DeviceColumns {
  T* data;
  Index m;
  Index n;
  Index row_stride;
  Index column_stride;
  Kokkos::View<InnerSum<T>*, MemorySpace> sum_storage;  // m x n, column-major
  InnerSum<T>* sums;
  LeftFactor<T> left;
  Kokkos::View<Index*, MemorySpace> order;
  Index panel_row = Index{1} << 62;  ///< First column of L in the current panel, stored in the matrix itself.
  Index panel_column = 0;            ///< First column of the panel here.
  Index panel_width = 0;             ///< Number of columns of the panel.

  DeviceColumns(const ExecutionSpace& space, const StridedMatrix<T>& A)
      : data(A.data()),
        m(static_cast<Index>(A.extent(0))),
        n(static_cast<Index>(A.extent(1))),
        row_stride(static_cast<Index>(A.stride(0))),
        column_stride(static_cast<Index>(A.stride(1))),
        sum_storage(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::sums"),
                    static_cast<std::size_t>(m * n)),
        sums(sum_storage.data()),
        left{A.data(), row_stride, column_stride},
        order(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::order"),
              static_cast<std::size_t>(m)) {}

  KOKKOS_INLINE_FUNCTION T& at(Index i, Index c) const { return data[i * row_stride + c * column_stride]; }
  KOKKOS_INLINE_FUNCTION InnerSum<T>& sum(Index i, Index c) const { return sums[c * m + i]; }
  [[nodiscard]] PanelElements<T> elements(Index column) const {
    return {data + column * column_stride, row_stride, column_stride};
  }
  /// Returns these columns with `width` of them, from `column` on, marked as columns of L from `row` on while they are
  /// factored.
  [[nodiscard]] DeviceColumns with_panel(Index row, Index column, Index width) const {
    DeviceColumns columns = *this;
    columns.panel_row = row;
    columns.panel_column = column;
    columns.panel_width = width;
    return columns;
  }
  /// Returns element k of L in a row, left of the columns being factored.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION const T& known_l(Index i, Index k) const {
    return k < panel_row ? left(order(i), k) : at(i, panel_column + (k - panel_row));
  }

  /// Adds the products of row i of L with U for element (i, c) to a shared sum, for columns `first`, first + step, ...
  /// below `known`.
  HEDDLE_APART KOKKOS_INLINE_FUNCTION void add_known(ExactSum<T>& exact, Index i, Index c, Index known, Index first,
                                                     Index step) const {
    for (Index k = first; k < known; k += step) {
      for_each_product(known_l(i, k), -at(k, c), [&](int p, Real<T> x, Real<T> y) {
        exact.part[p].add_product_atomically(static_cast<double>(x), static_cast<double>(y));
      });
    }
  }
  /// Returns element (i, c), rounded, by one thread.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T finished(Index i, Index c, Index known, const SumBounds<T>& bounds) const {
    T value;
    if (!bounds.rounds(sum(i, c), value)) {
      value = exactly(i, c, known);
    }
    return value;
  }
  /// The same without reading the sum.
  [[nodiscard]] HEDDLE_APART KOKKOS_INLINE_FUNCTION T exactly(Index i, Index c, Index known) const {
    ExactSum<T> exact;
    exact.add(at(i, c));
    for (Index k = 0; k < known; ++k) {
      exact.add_product(known_l(i, k), -at(k, c));
    }
    return exact.value();
  }
};

template <Scalar T> struct BeginElement {
  DeviceColumns<T> columns;

  KOKKOS_INLINE_FUNCTION void operator()(Index at) const {
    if (at < columns.m) {
      columns.order(at) = at;
    }
    if (at < columns.m * columns.n) {
      InnerSum<T> sum;
      sum.add(columns.at(at % columns.m, at / columns.m));
      columns.sums[at] = sum;
    }
  }
};
/// Sets the sums to the elements alone, and the rows to their order.
template <Scalar T> void begin_device_columns(const ExecutionSpace& space, const DeviceColumns<T>& columns) {
  Kokkos::parallel_for("heddle::exact::lu_begin",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(
                           space, 0, std::max(columns.m, columns.m * columns.n)),
                       BeginElement<T>{columns});
}

/// Row moves: row source(k) of the old order goes to row target(k), k = 0, ..., count() - 1.
struct DeviceMoves {
  Kokkos::View<Index*, MemorySpace> data;  ///< count, then targets, then sources
  Index most;

  /// Allocates room for the moves of `steps` interchanges.
  DeviceMoves(const ExecutionSpace& space, Index steps)
      : data(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::moves"),
             static_cast<std::size_t>(1 + 4 * steps)),
        most(2 * steps) {}
  KOKKOS_INLINE_FUNCTION void clear() const { data(0) = 0; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index count() const { return data(0); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index target(Index k) const { return data(1 + k); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index source(Index k) const { return data(1 + most + k); }
  KOKKOS_INLINE_FUNCTION void append(Index target, Index source) const {
    const Index k = Kokkos::atomic_fetch_add(&data(0), Index{1});
    data(1 + k) = target;
    data(1 + most + k) = source;
  }
};

/// Moves the rows of a column, or their numbers, by a team.
template <Scalar T> struct MoveRows {
  DeviceColumns<T> columns;
  DeviceMoves moves;
  Range which;
  Index sums_from;

  KOKKOS_INLINE_FUNCTION void operator()(const DeviceTeam& team) const {
    const Index c = which.begin + team.league_rank();
    const bool is_number = c == which.end;
    const bool mine = team.team_rank() < moves.count();
    const Index source = mine ? moves.source(team.team_rank()) : 0;
    const Index target = mine ? moves.target(team.team_rank()) : 0;
    const bool has_sum = mine && !is_number && c >= sums_from;
    T value(0);
    Index number = 0;
    InnerSum<T> sum;
    if (mine && is_number) {
      number = columns.order(source);
    } else if (mine) {
      value = columns.at(source, c);
    }
    if (has_sum) {
      sum = columns.sum(source, c);
    }
    team.team_barrier();
    if (mine && is_number) {
      columns.order(target) = number;
    } else if (mine) {
      columns.at(target, c) = value;
    }
    if (has_sum) {
      columns.sum(target, c) = sum;
    }
  }
};
/// Moves rows in columns `which`, the sums of columns from `sums_from` on and, if `numbers`, the order.
template <Scalar T>
void move_device_rows(const ExecutionSpace& space, const DeviceColumns<T>& columns, const DeviceMoves& moves,
                      Range which, Index sums_from, bool numbers) {
  const Index count = which.size() + (numbers ? 1 : 0);
  if (count == 0) {
    return;
  }
  Kokkos::parallel_for("heddle::exact::lu_move",
                       DeviceTeams(space, static_cast<int>(count), static_cast<int>((moves.most + 31) / 32 * 32)),
                       MoveRows<T>{columns, moves, which, sums_from});
}

template <Scalar T> struct FindMove {
  DeviceColumns<T> columns;
  DeviceMoves moves;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    const Index source = columns.order(i);
    if (source != i) {
      moves.append(i, source);
      columns.order(i) = i;
    }
  }
};
/// Finds the moves that brought rows from `begin` on into their present order, and resets the order.
template <Scalar T>
void find_device_moves(const ExecutionSpace& space, const DeviceColumns<T>& columns, Index begin,
                       const DeviceMoves& moves) {
  Kokkos::deep_copy(space, Kokkos::subview(moves.data, Kokkos::pair<int, int>(0, 1)), Index{0});
  Kokkos::parallel_for("heddle::exact::lu_moves",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, begin, columns.m),
                       FindMove<T>{columns, moves});
}

}  // namespace heddle::exact::impl
