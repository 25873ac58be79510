// Interchanges and rows of U of matrices whose rows are dealt out.
#pragma once

#include "solve/grid/row_exchange.hpp"
#include "solve/lu/schedule.hpp"

#include <vector>

namespace heddle::impl {

/// Rows of the largest product of an elimination on a rank: its own rows, or, in the rows of U, all of them.
[[nodiscard]] inline Index rows_of_products(const LuSchedule& schedule, const RankGrid& grid) {
  return std::max(grid.row_count(), schedule.longest_inner());
}

/// Moves rows that lie on several ranks of a column of the grid. All functions but learn() are ordered on the
/// communicator's instance, block until rows are on their way, and are collective over those ranks.
template <Scalar T> class DividedRows {
 public:
  DividedRows(const Communicator& comm, const LuSchedule& schedule, const RankGrid& grid);

  /// Bytes that it allocates on a rank with `columns` columns.
  [[nodiscard]] static double bytes(const LuSchedule& schedule, Index columns) {
    return RowExchange<T>::bytes(most_rows(schedule), most_rows(schedule), most_columns(schedule, columns));
  }
  /// Appends the pivots of `columns` to the known ones; they are counted from the first row of `columns`.
  void learn(Range columns, const Index* pivots);
  /// Applies panel p's interchanges in columns of which this rank has rows `local`.
  void move(Index p, const MatrixView<T>& local);
  /// The same in received panels of p's group, and in their rows of the group.
  void move(Index p, const MatrixView<T>& panels, const MatrixView<T>& sides);
  /// Applies the interchanges of panels [first, last) in columns of which this rank has rows `local`, except in rows
  /// `inner`, from the first panel's first row to the last one's: these are returned, all of them on every rank, valid
  /// until the next call.
  [[nodiscard]] MatrixView<T> fetch(Index first, Index last, Range inner, const MatrixView<T>& local);
  /// Writes this rank's rows `inner` of the matrix, taken from all of them.
  void put_back(const MatrixView<T>& all, Range inner, const MatrixView<T>& local);
  /// Blocks until all messages of this rank are sent.
  void finish() { exchange_.finish(); }

 private:
  [[nodiscard]] static Index most_rows(const LuSchedule& schedule) {
    return std::max(schedule.longest_inner(), 2 * schedule.block);
  }
  [[nodiscard]] static Index most_columns(const LuSchedule& schedule, Index columns) {
    return std::max(columns, schedule.group > 1 ? std::min(schedule.group, schedule.panels()) * schedule.block : 0);
  }
  [[nodiscard]] std::vector<RowMove> moves(Index first, Index last);
  /// Adds the `moves` whose targets are not in `but`: sources for the ranks of each row of the grid. Returns this
  /// rank's targets as local rows.
  std::vector<Index> add_others(const std::vector<RowMove>& moves, Range but, WantedRows& wanted) const;

  LuSchedule schedule_;
  RankGrid grid_;
  RowExchange<T> exchange_;
  std::vector<Index> pivots_;  // Pivots of the known panels, as rows of the matrix.
  std::vector<Index> order_;   // The identity permutation of rows.
};

}  // namespace heddle::impl
