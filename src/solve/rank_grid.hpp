// Grids of ranks, and the ways of messages over them.
#pragma once

#include <heddle/dist/placement.hpp>

#include <algorithm>
#include <vector>

namespace heddle::impl {

/// Who has which rows and columns of a matrix: block-cyclically over a grid of ranks, which are numbered along its
/// rows, as this rank sees it.
struct RankGrid {
  CyclicAxis rows;
  CyclicAxis columns;
  int rank = 0;

  /// A grid of one row: all ranks have all rows, of columns that are dealt out.
  [[nodiscard]] static RankGrid of_columns(Index rows, const CyclicAxis& columns, int rank) {
    return {{rows, std::max<Index>(rows, 1), 1}, columns, rank};
  }
  /// Whether rows are dealt out as well.
  [[nodiscard]] bool divides_rows() const { return rows.processes > 1; }
  [[nodiscard]] int row_of(int of) const { return of / columns.processes; }
  [[nodiscard]] int column_of(int of) const { return of % columns.processes; }
  [[nodiscard]] int row() const { return row_of(rank); }
  [[nodiscard]] int column() const { return column_of(rank); }
  [[nodiscard]] int rank_of(int grid_row, int grid_column) const { return grid_row * columns.processes + grid_column; }
  /// The rank that has an element.
  [[nodiscard]] int owner(Index i, Index j) const { return rank_of(rows.owner(i), columns.owner(j)); }
  /// This rank's rows among `of` the matrix, and its columns, counted on this rank.
  [[nodiscard]] Range local_rows(Range of) const { return rows.locals(row(), of); }
  [[nodiscard]] Range local_columns(Range of) const { return columns.locals(column(), of); }
  [[nodiscard]] Index row_count() const { return rows.count(row()); }
  [[nodiscard]] Index column_count() const { return columns.count(column()); }
  [[nodiscard]] Placement placement() const {
    return Placement::block_cyclic(rows.extent, columns.extent, rows.block, columns.block, rows.processes,
                                   columns.processes);
  }
};

/// Rows of a panel of Cholesky that a rank multiplies by, beside those that it multiplies: none where they are the
/// same.
template <Scalar T> [[nodiscard]] Index rows_across(const RankGrid& grid) {
  return grid.divides_rows() ? grid.column_count() : is_complex<T> ? grid.row_count() : 0;
}

/// What a rank does with a message for a group of ranks.
struct Relay {
  int from = -1;        ///< The rank that it comes from; -1: it begins here, or passes by.
  std::vector<int> to;  ///< The ranks that it is passed on to, those that pass it on themselves first.
};

/// The way of a message from rank `root` to all ranks of `group`, as rank `me` of the group sees it: from node to node
/// along a chain, so that no link between nodes carries it more than once in a direction, and from the first of a
/// node's ranks to its others. `group` is ascending; node_of[r] is the node of rank r.
[[nodiscard]] Relay relay(const std::vector<int>& group, const std::vector<int>& node_of, int root, int me);

}  // namespace heddle::impl
