#include "solve/elimination.hpp"

#include "core/instantiate.hpp"
#include "solve/host_copy.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace heddle::impl {
template <Scalar T>
Elimination<T>::Elimination(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule,
                            const CyclicAxis& columns, Arithmetic arithmetic)
    : schedule_(schedule),
      axis_(columns),
      ahead_(space, comm, schedule, columns, arithmetic),
      subtract_(space, arithmetic, schedule.block, columns.block, schedule.rows, columns.count(ahead_.rank()),
                schedule.longest_inner()),
      subtract_in_panel_(ahead_.space_of_panels(), arithmetic, schedule.block, columns.block, schedule.rows,
                         schedule.block, schedule.block),
      factor_panel_(ahead_.space_of_panels(), schedule.rows, schedule.block),
      results_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::results"),
               static_cast<std::size_t>(schedule.panels() * PanelResult::extent(schedule.block))) {
  subtract_.set_meanwhile([this] { ahead_.progress(); });
}

template <Scalar T> PanelResult Elimination<T>::result(Index p) const {
  const Index extent = PanelResult::extent(schedule_.block);
  return {Kokkos::subview(results_, Kokkos::pair<Index, Index>(p * extent, (p + 1) * extent)), schedule_.block};
}

template <Scalar T> void Elimination<T>::move_before(Index p) {
  const Index row = schedule_.panel(p).begin;
  const RowMoves moves = result(p).moves();
  const ExecutionSpace& space = subtract_.space();
  const Range before = local({0, row});
  move_rows<T>(space, moves, block_of(matrix_, row, schedule_.rows, before.begin, before.end));
  const Index group = schedule_.group_begin(p);
  if (ahead_.copies_panels() && group < p) {
    const MatrixView<T> received = ahead_.panels(matrix_, group, p);
    move_rows<T>(space, moves, block_of(received, row, schedule_.rows, 0, static_cast<Index>(received.extent(1))));
  }
}

template <Scalar T> void Elimination<T>::apply(const LuSchedule::Update& update) {
  const Range mine = local(update.columns);
  if (mine.empty()) return;
  const Index rows = schedule_.rows;
  for (Index p = update.first; p < update.last; ++p) {
    move_rows<T>(subtract_.space(), result(p).moves(),
                 block_of(matrix_, schedule_.panel(p).begin, rows, mine.begin, mine.end));
  }
  const Range inner = schedule_.rows_of(update);
  const MatrixView<const T> L = ahead_.panels(matrix_, update.first, update.last);
  const MatrixView<T> upper = block_of(matrix_, inner.begin, inner.end, mine.begin, mine.end);
  subtract_.solve(exact::Triangle::lower, exact::Diagonal::unit, block_of(L, inner.begin, inner.end, 0, inner.size()),
                  upper, mine.begin);
  subtract_(block_of(L, inner.end, rows, 0, inner.size()), upper,
            block_of(matrix_, inner.end, rows, mine.begin, mine.end), mine.begin, taken_ == update.last);
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
      [&](Index p) { move_before(p); }, [&](const LuSchedule::Update& update) { apply(update); });
  read_results(pivots, info);
  matrix_ = {};
}

#define HEDDLE_INSTANTIATE(T) template class Elimination<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
