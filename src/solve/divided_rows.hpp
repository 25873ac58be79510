// Interchanges and rows of U where the rows of a matrix are dealt out.
#pragma once

#include "solve/row_exchange.hpp"
#include "solve/schedule.hpp"

#include <vector>

namespace heddle::impl {

/// Rows of the largest product of an elimination on a rank: those that it has, or, in the rows of U, all of them.
[[nodiscard]] inline Index rows_of_products(const LuSchedule& schedule, const RankGrid& grid) {
  return std::max(grid.row_count(), schedule.longest_inner());
}

/// What an elimination does with rows that lie on several ranks of a column of the grid. All but learn() is ordered on
/// the communicator's instance, blocks until rows are on their way, and is collective over those ranks.
template <Scalar T> class DividedRows {
 public:
  DividedRows(const Communicator& comm, const LuSchedule& schedule, const RankGrid& grid);

  /// Bytes that it allocates on a rank with so many columns.
  [[nodiscard]] static double bytes(const LuSchedule& schedule, Index columns) {
    return RowExchange<T>::bytes(most_rows(schedule), most_rows(schedule), most_columns(schedule, columns));
  }
  /// The pivots of columns, each after those that are known, by rows counted from the first of them.
  void learn(Range columns, const Index* pivots);
  /// Interchanges rows of the matrix as panel p asks for, in columns of which this rank has rows `local`.
  void move(Index p, const MatrixView<T>& local);
  /// The same in panels of p's group that were received, and in their rows of the group.
  void move(Index p, const MatrixView<T>& panels, const MatrixView<T>& sides);
  /// Interchanges rows as panels [first, last) ask for, in columns of which this rank has rows `local`, but not yet in
  /// rows `inner`, from the first panel's first row to the last one's: these are returned, all of them on every rank,
  /// and there until the next call.
  [[nodiscard]] MatrixView<T> fetch(Index first, Index last, Range inner, const MatrixView<T>& local);
  /// Rows `inner` of the matrix on this rank, out of all of them.
  void put_back(const MatrixView<T>& all, Range inner, const MatrixView<T>& local);
  /// Blocks until nothing that this rank sent is under way any more.
  void finish() { exchange_.finish(); }

 private:
  [[nodiscard]] static Index most_rows(const LuSchedule& schedule) {
    return std::max(schedule.longest_inner(), 2 * schedule.block);
  }
  [[nodiscard]] static Index most_columns(const LuSchedule& schedule, Index columns) {
    return std::max(columns, schedule.group > 1 ? std::min(schedule.group, schedule.panels()) * schedule.block : 0);
  }
  [[nodiscard]] std::vector<RowMove> moves(Index first, Index last);
  /// Of `moves` whose targets are not in `but`: sources for the ranks of each row of the grid, and this rank's targets,
  /// counted on it.
  std::vector<Index> add_others(const std::vector<RowMove>& moves, Range but, WantedRows& wanted) const;

  LuSchedule schedule_;
  RankGrid grid_;
  RowExchange<T> exchange_;
  std::vector<Index> pivots_;  // Of the panels that are known, by rows of the matrix.
  std::vector<Index> order_;   // Each row's own number.
};

}  // namespace heddle::impl
