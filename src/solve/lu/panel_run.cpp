// LU factorization of a run of panels on one rank.
#include "solve/lu/panel_run.hpp"

#include "core/instantiate.hpp"

namespace heddle::impl {

std::set<Index> inner_within_runs(const LuSchedule& schedule, Index together) {
  std::set<Index> inner;
  const LuSchedule runs = schedule.in_runs(together);
  for (Index r = 0; r < runs.panels(); ++r) {
    const Range columns = runs.panel(r);
    const LuSchedule order = schedule.within_run(together, schedule.rows - columns.begin, columns.size());
    for (const Range of : order.rows_of_updates([](Range all) { return !all.empty(); })) inner.insert(of.size());
  }
  return inner;
}

template <Scalar T>
PanelRun<T>::PanelRun(const ExecutionSpace& space, Arithmetic arithmetic, const LuSchedule& schedule, Index together,
                      Index piece)
    : schedule_(schedule),
      together_(together),
      subtract_(space, arithmetic, schedule.block, piece, schedule.rows, together * schedule.block,
                longest_inner(schedule, together)),
      subtract_in_panel_(space, arithmetic, schedule.block, piece, schedule.rows, schedule.block, schedule.block),
      factor_panel_(space, schedule.rows, schedule.block) {}

template <Scalar T> PanelResult PanelRun<T>::result(Index p) const {
  const Index extent = PanelResult::extent(schedule_.block);
  return {Kokkos::subview(results_, Kokkos::pair<Index, Index>(p * extent, (p + 1) * extent)), schedule_.block};
}

template <Scalar T>
void PanelRun<T>::operator()(const MatrixView<T>& P, const Kokkos::View<Index*, MemorySpace>& results) {
  run_ = P;
  results_ = results;
  const auto rows = static_cast<Index>(P.extent(0));
  const LuSchedule order = schedule_.within_run(together_, rows, static_cast<Index>(P.extent(1)));
  for (Index p = 0; p < order.panels(); ++p) {
    const Range panel = order.panel(p);
    factor_panel_(subtract_in_panel_, block_of(run_, panel.begin, rows, panel.begin, panel.end), result(p));
    if (p > 0) {
      move_rows<T>(subtract_.space(), result(p).moves(), block_of(run_, panel.begin, rows, 0, panel.begin));
    }
    const LuSchedule::Update update = order.update_after(p);
    if (!update.columns.empty()) apply(order, update);
  }
  run_ = {};
  results_ = {};
}

template <Scalar T> void PanelRun<T>::apply(const LuSchedule& order, const LuSchedule::Update& update) {
  const Range columns = update.columns;
  const Range inner = order.rows_of(update);
  for (Index p = update.first; p < update.last; ++p) {
    move_rows<T>(subtract_.space(), result(p).moves(),
                 block_of(run_, order.panel(p).begin, order.rows, columns.begin, columns.end));
  }
  const MatrixView<T> upper = block_of(run_, inner.begin, inner.end, columns.begin, columns.end);
  subtract_.solve(Triangle::lower, Diagonal::unit,
                  block_of<const T>(run_, inner.begin, inner.end, inner.begin, inner.end), upper);
  subtract_(block_of<const T>(run_, inner.end, order.rows, inner.begin, inner.end), upper,
            block_of(run_, inner.end, order.rows, columns.begin, columns.end));
}

template <Scalar T> double PanelRun<T>::bytes(Arithmetic arithmetic, const LuSchedule& schedule, Index together) {
  std::set<Index> inner;
  for (const Index k : inner_within_runs(schedule, together)) {
    Subtraction<T>::add_inner(k, schedule.block, Triangle::lower, inner);
    inner.insert(k);
  }
  const Index width = together * schedule.block;
  return Subtraction<T>::bytes(arithmetic, schedule.block, schedule.rows, width, width,
                               longest_inner(schedule, together), inner);
}

#define HEDDLE_INSTANTIATE(T) template class PanelRun<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
