// LU factorization of a matrix in host memory by slabs of columns.
#include "solve/lu/lu_slabs.hpp"

#include "core/instantiate.hpp"
#include "solve/grid/factorization.hpp"
#include "solve/lu/elimination.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace heddle::impl {

template <Scalar T>
LuSlabs<T>::LuSlabs(const Communicator& comm, const ColumnSlabs& slabs, Arithmetic arithmetic)
    : comm_(comm),
      slabs_(slabs),
      arithmetic_(arithmetic),
      memory_(comm.space(), slabs.schedule.rows * slabs.most_columns(comm.rank())) {}

template <Scalar T>
void LuSlabs<T>::apply_panels_before(Range slab, const MatrixView<T>& local, const MatrixView<T>& columns,
                                     Watch& watch) {
  const LuSchedule& schedule = slabs_.schedule;
  const Index rows = schedule.rows;
  const CyclicAxis axis = slabs_.columns_of(slab);
  PanelStream<T> stream(comm_, memory_.queue(), slabs_.columns, rows, slabs_.batch(), slabs_.owners(slab));
  Subtraction<T> subtract(space(), arithmetic_, schedule.block, axis.block, std::max(rows, schedule.longest_inner()),
                          axis.count(comm_.rank()), schedule.longest_inner());
  subtract.set_meanwhile([&] { stream.progress(); });

  const auto apply = [&](const LuSchedule::Update& update, const MatrixView<T>& panels, Range batch) {
    const Range mine = axis.locals(comm_.rank(), {update.columns.begin - slab.begin, update.columns.end - slab.begin});
    const auto of = [&](Range some) { return block_of(columns, some.begin, some.end, mine.begin, mine.end); };
    for (Index p = update.first; p < update.last; ++p) {
      move_rows<T>(space(), results_[static_cast<std::size_t>(p)].moves(), of({schedule.panel(p).begin, rows}));
    }
    const Range inner = schedule.rows_of(update);
    const auto L = [&](Range some) {
      return block_of<const T>(panels, some.begin - batch.begin, some.end - batch.begin, inner.begin - batch.begin,
                               inner.end - batch.begin);
    };
    subtract.solve(Triangle::lower, Diagonal::unit, L(inner), of(inner), mine.begin);
    subtract(L({inner.end, rows}), of(inner), of({inner.end, rows}), mine.begin);
  };

  const std::vector<Range> batches = slabs_.batches_before(slab);
  const auto begin = [&](std::size_t k) {
    if (k < batches.size()) stream.begin(local, {batches[k].begin, rows}, batches[k]);
  };
  begin(0);
  for (std::size_t k = 0; k < batches.size(); ++k) {
    begin(k + 1);
    const MatrixView<T> panels = stream.next();
    for (const LuSchedule::Update& update : slabs_.updates(batches[k], slab, arithmetic_)) {
      if (axis.count(comm_.rank()) == 0) continue;
      watch.update(update.first, update.last, [&] { apply(update, panels, batches[k]); });
      stream.progress();
    }
    watch.done((batches[k].end - 1) / schedule.block);
  }
  stream.finish();
  space().fence("heddle::solve::applied");  // Buffers freed here are in use until then.
}

template <Scalar T>
void LuSlabs<T>::factor(Range slab, const MatrixView<T>& columns, std::vector<Index>& pivots, Index& info,
                        Watch& watch) {
  const LuSchedule of_slab = slabs_.schedule_of(slab);
  const RankGrid grid = RankGrid::of_columns(of_slab.rows, slabs_.columns_of(slab), comm_.rank());
  Elimination<T> elimination(space(), &comm_, of_slab, grid, arithmetic_, slabs_.schedule.longest_inner());
  std::vector<Index> found;
  Index here = 0;
  elimination.run(block_of(columns, slab.begin, slabs_.schedule.rows, 0, static_cast<Index>(columns.extent(1))), found,
                  here, watch);
  for (const Index pivot : found) pivots.push_back(slab.begin + pivot);
  if (info == 0 && here != 0) info = slab.begin + here;
  for (Index p = 0; p < of_slab.panels(); ++p) results_.push_back(elimination.result(p));
}

template <Scalar T> void LuSlabs<T>::move_rows_of_slab(Range slab, const MatrixView<T>& local) {
  const LuSchedule& schedule = slabs_.schedule;
  const Index rows = schedule.rows;
  const Index end = std::min(slab.end, schedule.steps());
  const Index group = schedule.group * schedule.block;
  const Range mine = local_columns({slab.begin, end});
  // The first panel behind the slab's first group.
  const Index first = (slab.begin / group + 1) * schedule.group;
  if (mine.empty() || first >= schedule.panels()) return;
  const MatrixView<T> host = block_of(local, slab.begin, rows, mine.begin, mine.end);
  const MatrixView<T> columns = memory_.bring(host);
  for (Index p = first; p < schedule.panels(); ++p) {
    const Index behind = std::min(end, schedule.panel(schedule.group_begin(p)).begin);
    const Range moved = local_columns({slab.begin, behind});
    move_rows<T>(space(), results_[static_cast<std::size_t>(p)].moves(),
                 block_of(columns, schedule.panel(p).begin - slab.begin, rows - slab.begin, moved.begin - mine.begin,
                          moved.end - mine.begin));
  }
  memory_.put_back(columns, host);
}

template <Scalar T>
void LuSlabs<T>::run(const MatrixView<T>& local, std::vector<Index>& pivots, Index& info, Watch& watch,
                     const Look& look) {
  const Kokkos::Profiling::ScopedRegion region("heddle::solve::lu");
  const Index rows = slabs_.schedule.rows;
  pivots.clear();
  info = 0;
  results_.clear();
  for (Index k = 0; k < slabs_.count(); ++k) {
    const Range slab = slabs_.slab(k);
    const Range mine = local_columns(slab);
    const MatrixView<T> host = block_of(local, 0, rows, mine.begin, mine.end);
    const MatrixView<T> columns = memory_.bring(host);
    const auto share = [&](Index panels) { return slabs_.share_done(FactorizationKind::lu, slab, panels); };
    look(columns, mine.begin, false);
    watch.count_from(0, 1, share);
    if (slab.begin > 0) apply_panels_before(slab, local, columns, watch);
    watch.count_from(slab.begin / slabs_.schedule.block,
                     panels_together(slabs_.schedule_of(slab), slabs_.columns.processes), share);
    if (slab.begin < slabs_.schedule.steps()) factor(slab, columns, pivots, info, watch);
    look(columns, mine.begin, true);
    memory_.put_back(columns, host);
  }
  watch.count_from(0);
  for (Index k = 0; k < slabs_.count() && slabs_.slab(k).begin < slabs_.schedule.steps(); ++k) {
    move_rows_of_slab(slabs_.slab(k), local);
  }
  memory_.finish();
}

#define HEDDLE_INSTANTIATE(T) template class LuSlabs<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
