#include "solve/elimination.hpp"

#include "core/instantiate.hpp"
#include "solve/host_copy.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace heddle::impl {

template <Scalar T>
Elimination<T>::Elimination(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule,
                            const RankGrid& grid, Arithmetic arithmetic)
    : schedule_(schedule),
      grid_(grid),
      ahead_(space, comm, schedule, grid, PanelSide::group, arithmetic),
      subtract_(space, arithmetic, schedule.block, grid.columns.block, rows_of_products(schedule, grid),
                grid.column_count(), schedule.longest_inner()),
      subtract_in_panel_(ahead_.space_of_panels(), arithmetic, schedule.block, grid.columns.block, schedule.rows,
                         schedule.block, schedule.block),
      factor_panel_(ahead_.space_of_panels(), schedule.rows, schedule.block),
      results_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::results"),
               static_cast<std::size_t>(schedule.panels() * PanelResult::extent(schedule.block))) {
  if (grid.divides_rows()) divided_.emplace(*comm, schedule, grid);
  subtract_.set_meanwhile([this] { ahead_.progress(); });
}

template <Scalar T> PanelResult Elimination<T>::result(Index p) const {
  const Index extent = PanelResult::extent(schedule_.block);
  return {Kokkos::subview(results_, Kokkos::pair<Index, Index>(p * extent, (p + 1) * extent)), schedule_.block};
}

template <Scalar T> void Elimination<T>::learn(Index p) {
  const ExecutionSpace& space = ahead_.space_of_panels();
  ahead_.numbers_before(space);
  divided_->learn(p, host_copy(space, result(p).pivots()).data());
}

template <Scalar T> void Elimination<T>::move_before(Index p) {
  const Index row = schedule_.panel(p).begin;
  const Index rows = schedule_.rows;
  const Range before = grid_.local_columns({0, row});
  const Index group = schedule_.group_begin(p);
  if (divided_) {
    divided_->move(p, block_of(matrix_, 0, grid_.row_count(), before.begin, before.end));
    if (group < p) divided_->move(p, ahead_.panels(matrix_, group, p), ahead_.sides(group, p));
    return;
  }
  const RowMoves moves = result(p).moves();
  const ExecutionSpace& space = subtract_.space();
  move_rows<T>(space, moves, block_of(matrix_, row, rows, before.begin, before.end));
  if (ahead_.copies_panels() && group < p) {
    const MatrixView<T> received = ahead_.panels(matrix_, group, p);
    move_rows<T>(space, moves, block_of(received, row, rows, 0, static_cast<Index>(received.extent(1))));
  }
}

template <Scalar T> void Elimination<T>::apply(const LuSchedule::Update& update) {
  const Range mine = grid_.local_columns(update.columns);
  if (mine.empty()) return;
  const Range inner = schedule_.rows_of(update);
  const MatrixView<T> columns = block_of(matrix_, 0, grid_.row_count(), mine.begin, mine.end);
  const MatrixView<T> L = ahead_.panels(matrix_, update.first, update.last);
  MatrixView<T> upper = block_of(columns, inner.begin, inner.end, 0, mine.size());
  MatrixView<T> triangle = block_of(L, inner.begin, inner.end, 0, inner.size());
  if (divided_) {
    const Index first = inner.begin - schedule_.group_begin(update.first) * schedule_.block;
    upper = divided_->fetch(update.first, update.last, inner, columns);
    triangle = block_of(ahead_.sides(update.first, update.last), first, first + inner.size(), 0, inner.size());
  } else {
    for (Index p = update.first; p < update.last; ++p) {
      move_rows<T>(subtract_.space(), result(p).moves(),
                   block_of(columns, schedule_.panel(p).begin, schedule_.rows, 0, mine.size()));
    }
  }
  subtract_.solve(exact::Triangle::lower, exact::Diagonal::unit, triangle, upper, mine.begin);
  if (divided_) divided_->put_back(upper, inner, columns);
  const Range below = grid_.local_rows({inner.end, schedule_.rows});
  subtract_(block_of(L, below.begin, below.end, 0, inner.size()), upper,
            block_of(columns, below.begin, below.end, 0, mine.size()), mine.begin, taken_ == update.last);
  taken_ = update.last;
}

template <Scalar T> void Elimination<T>::read_results(std::vector<Index>& pivots, Index& info) const {
  const auto host = host_copy(subtract_.space(), results_);
  pivots.clear();
  info = 0;
  for (Index p = 0; p < schedule_.panels(); ++p) {
    const Range columns = schedule_.panel(p);
    const Index* const numbers = host.data() + p * PanelResult::extent(schedule_.block);
    if (info == 0 && numbers[0] != 0) info = columns.begin + numbers[0];
    for (Index k = 0; k < columns.size(); ++k) pivots.push_back(columns.begin + numbers[1 + k]);
  }
}

template <Scalar T>
void Elimination<T>::run(const MatrixView<T>& local_matrix, std::vector<Index>& pivots, Index& info, Watch& watch) {
  const Kokkos::Profiling::ScopedRegion region("heddle::solve::lu");
  matrix_ = local_matrix;
  taken_ = -1;
  ahead_.run(
      watch, matrix_, [&](Index p) { return result(p).data; },
      [&](Index p, const MatrixView<T>& panel) { factor_panel_(subtract_in_panel_, panel, result(p)); },
      [&](Index p) {
        if (divided_) learn(p);
        move_before(p);
      },
      [&](const LuSchedule::Update& update) { apply(update); });
  if (divided_) divided_->finish();
  read_results(pivots, info);
  matrix_ = {};
}

#define HEDDLE_INSTANTIATE(T) template class Elimination<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
