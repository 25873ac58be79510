// Grids of ranks, and routes of messages over them.
#pragma once

#include <heddle/dist/placement.hpp>

#include <algorithm>
#include <vector>

namespace heddle::impl {

/// Block-cyclic distribution of a matrix's rows and columns over a grid of ranks, numbered along the grid's rows, as
/// this rank sees it.
struct RankGrid {
  CyclicAxis rows;
  CyclicAxis columns;
  int rank = 0;

  /// A grid of one row: all ranks have all rows of the columns dealt out to them.
  [[nodiscard]] static RankGrid of_columns(Index rows, const CyclicAxis& columns, int rank) {
    return {{rows, std::max<Index>(rows, 1), 1}, columns, rank};
  }
  /// Whether rows are dealt out too.
  [[nodiscard]] bool divides_rows() const { return rows.processes > 1; }
  [[nodiscard]] int row_of(int of) const { return of / columns.processes; }
  [[nodiscard]] int column_of(int of) const { return of % columns.processes; }
  [[nodiscard]] int row() const { return row_of(rank); }
  [[nodiscard]] int column() const { return column_of(rank); }
  [[nodiscard]] int rank_of(int grid_row, int grid_column) const { return grid_row * columns.processes + grid_column; }
  /// The rank that has an element.
  [[nodiscard]] int owner(Index i, Index j) const { return rank_of(rows.owner(i), columns.owner(j)); }
  /// This rank's rows, as local numbers, among rows `of` of the matrix; likewise its columns.
  [[nodiscard]] Range local_rows(Range of) const { return rows.locals(row(), of); }
  [[nodiscard]] Range local_columns(Range of) const { return columns.locals(column(), of); }
  [[nodiscard]] Index row_count() const { return rows.count(row()); }
  [[nodiscard]] Index column_count() const { return columns.count(column()); }
  [[nodiscard]] Placement placement() const {
    return Placement::block_cyclic(rows.extent, columns.extent, rows.block, columns.block, rows.processes,
                                   columns.processes);
  }
};

/// The largest bytes(grid as a rank sees it) over the ranks of a grid.
template <class Bytes> [[nodiscard]] double most_of_ranks(RankGrid grid, const Bytes& bytes) {
  double most = 0.0;
  for (grid.rank = 0; grid.rank < grid.rows.processes * grid.columns.processes; ++grid.rank) {
    most = std::max(most, static_cast<double>(bytes(grid)));
  }
  return most;
}
/// Number of elements of a matrix of this shape.
[[nodiscard]] inline double size_of_matrix(Index rows, Index columns) {
  return static_cast<double>(rows) * static_cast<double>(columns);
}

/// Rows of a Cholesky panel that a rank needs as right factor, besides those of the left factor: none if they are the
/// same.
template <Scalar T> [[nodiscard]] Index rows_across(const RankGrid& grid) {
  return grid.divides_rows() ? grid.column_count() : is_complex<T> ? grid.row_count() : 0;
}

/// A rank's part in sending a message to a group of ranks.
struct Relay {
  int from = -1;        ///< The rank that it comes from; -1 if it begins here or this rank is not on the route.
  std::vector<int> to;  ///< The ranks that it is forwarded to; those that forward it themselves come first.
};

/// The route of a message from rank `root` to all ranks of `group`, as rank `me` of the group sees it: from node to
/// node along a chain, so that no link between nodes carries it more than once in a direction, and from the first of a
/// node's ranks to its others. `group` is ascending; node_of[r] is the node of rank r.
[[nodiscard]] Relay relay(const std::vector<int>& group, const std::vector<int>& node_of, int root, int me);

}  // namespace heddle::impl
