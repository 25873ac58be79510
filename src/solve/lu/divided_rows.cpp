// Interchanges and rows of U of matrices whose rows are dealt out.
#include "solve/lu/divided_rows.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::impl {

template <Scalar T>
DividedRows<T>::DividedRows(const Communicator& comm, const LuSchedule& schedule, const RankGrid& grid)
    : schedule_(schedule),
      grid_(grid),
      exchange_(comm, grid, most_rows(schedule), most_rows(schedule), most_columns(schedule, grid.column_count())),
      order_(static_cast<std::size_t>(schedule.rows)) {
  std::iota(order_.begin(), order_.end(), Index{0});
}

template <Scalar T> void DividedRows<T>::learn(Range columns, const Index* pivots) {
  pivots_.resize(static_cast<std::size_t>(columns.begin));
  for (Index k = 0; k < columns.size(); ++k) pivots_.push_back(columns.begin + pivots[k]);
}

template <Scalar T> std::vector<RowMove> DividedRows<T>::moves(Index first, Index last) {
  return moves_of(pivots_, schedule_.panel(first).begin, schedule_.panel(last - 1).end, order_);
}

template <Scalar T>
std::vector<Index> DividedRows<T>::add_others(const std::vector<RowMove>& moves, Range but, WantedRows& wanted) const {
  std::vector<Index> targets;
  wanted.by_row.resize(static_cast<std::size_t>(grid_.rows.processes));
  for (const RowMove& move : moves) {
    if (move.target >= but.begin && move.target < but.end) continue;
    const int row = grid_.rows.owner(move.target);
    wanted.by_row[static_cast<std::size_t>(row)].push_back(move.source);
    if (row == grid_.row()) targets.push_back(grid_.rows.local(move.target));
  }
  return targets;
}

template <Scalar T> void DividedRows<T>::move(Index p, const MatrixView<T>& local) {
  WantedRows wanted;
  const std::vector<Index> targets = add_others(moves(p, p + 1), {}, wanted);
  exchange_.put(exchange_.fetch(local, wanted), 0, targets, local);
}

template <Scalar T> void DividedRows<T>::move(Index p, const MatrixView<T>& panels, const MatrixView<T>& sides) {
  const std::vector<RowMove> all = moves(p, p + 1);
  const Index first = schedule_.group_begin(p) * schedule_.block;
  const Index end = first + static_cast<Index>(sides.extent(0));
  WantedRows wanted;
  std::vector<Index> in_sides;
  for (const RowMove& move : all) {
    if (move.target >= end) continue;
    wanted.common.push_back(move.source);
    in_sides.push_back(move.target - first);
  }
  const std::vector<Index> targets = add_others(all, {}, wanted);
  const MatrixView<T> rows = exchange_.fetch(panels, wanted);
  exchange_.put(rows, 0, in_sides, sides);
  exchange_.put(rows, static_cast<Index>(in_sides.size()), targets, panels);
}

template <Scalar T>
MatrixView<T> DividedRows<T>::fetch(Index first, Index last, Range inner, const MatrixView<T>& local) {
  WantedRows wanted;
  for (Index row = inner.begin; row < inner.end; ++row) wanted.common.push_back(row);
  const std::vector<RowMove> all = moves(first, last);
  for (const RowMove& move : all) {
    if (move.target < inner.end) wanted.common[static_cast<std::size_t>(move.target - inner.begin)] = move.source;
  }
  const std::vector<Index> targets = add_others(all, inner, wanted);
  const MatrixView<T> rows = exchange_.fetch(local, wanted);
  exchange_.put(rows, inner.size(), targets, local);
  return block_of(rows, 0, inner.size(), 0, static_cast<Index>(local.extent(1)));
}

template <Scalar T> void DividedRows<T>::put_back(const MatrixView<T>& all, Range inner, const MatrixView<T>& local) {
  const auto columns = static_cast<Index>(local.extent(1));
  const CyclicAxis& rows = grid_.rows;
  // Copy block by block: rows of a block are contiguous on both sides.
  for (Index begin = inner.begin; begin < inner.end;) {
    const Index end = std::min(inner.end, (begin / rows.block + 1) * rows.block);
    if (rows.owner(begin) == grid_.row()) {
      const Index at = rows.local(begin);
      copy_elements<T>(exchange_.space(), "heddle::solve::put_back",
                       block_of(all, begin - inner.begin, end - inner.begin, 0, columns),
                       block_of(local, at, at + (end - begin), 0, columns));
    }
    begin = end;
  }
}

#define HEDDLE_INSTANTIATE(T) template class DividedRows<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
