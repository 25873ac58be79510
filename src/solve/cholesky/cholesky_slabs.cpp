// Cholesky factorization of a matrix in host memory by slabs of columns.
#include "solve/cholesky/cholesky_slabs.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "solve/cholesky/elimination.hpp"
#include "solve/grid/factorization.hpp"

namespace heddle::impl {
namespace {

template <Scalar T> void clear_elements(const ExecutionSpace& space, const MatrixView<T>& M) {
  const Elements<T> m(M);
  for_each_element(
      space, "heddle::solve::clear", static_cast<Index>(M.extent(0)), static_cast<Index>(M.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { m(i, j) = T(0); });
}

}  // namespace

template <Scalar T>
CholeskySlabs<T>::CholeskySlabs(const Communicator& comm, const ColumnSlabs& slabs, Arithmetic arithmetic)
    : comm_(comm),
      slabs_(slabs),
      arithmetic_(arithmetic),
      memory_(comm.space(), slabs.schedule.rows * slabs.most_columns(comm.rank())) {}

template <Scalar T>
void CholeskySlabs<T>::apply_panels_before(Range slab, const MatrixView<T>& local, const MatrixView<T>& columns,
                                           Watch& watch) {
  const LuSchedule& schedule = slabs_.schedule;
  const Range rows = {slab.begin, schedule.rows};
  const RankGrid grid = grid_of(slab);
  PanelStream<T> stream(comm_, memory_.queue(), slabs_.columns, rows.size(), slabs_.batch(), slabs_.owners(slab));
  CholeskyUpdate<T> take_off(space(), arithmetic_, slabs_.schedule_of(slab), grid, schedule.longest_inner());
  take_off.set_meanwhile([&] { stream.progress(); });
  const std::vector<Range> batches = slabs_.batches_before(slab);
  const auto begin = [&](std::size_t k) {
    if (k < batches.size()) stream.begin(local, rows, batches[k]);
  };
  begin(0);
  for (std::size_t k = 0; k < batches.size(); ++k) {
    begin(k + 1);
    const MatrixView<T> panels = stream.next();
    for (const LuSchedule::Update& update : slabs_.updates(batches[k], slab, arithmetic_)) {
      if (grid.column_count() == 0) continue;
      const Range inner = schedule.rows_of(update);
      const MatrixView<T> L =
          block_of(panels, 0, rows.size(), inner.begin - batches[k].begin, inner.end - batches[k].begin);
      const Range of = {update.columns.begin - slab.begin, update.columns.end - slab.begin};
      watch.update(update.first, update.last, [&] { take_off(grid, of, L, L, columns); });
      stream.progress();
    }
    watch.done((batches[k].end - 1) / schedule.block);
  }
  stream.finish();
  space().fence("heddle::solve::applied");  // Buffers freed here are in use until then.
}

template <Scalar T> Index CholeskySlabs<T>::run(const MatrixView<T>& local, Watch& watch) {
  const LuSchedule& schedule = slabs_.schedule;
  Index info = 0;
  for (Index k = 0; k < slabs_.count(); ++k) {
    const Range slab = slabs_.slab(k);
    const Range mine = slabs_.columns.locals(comm_.rank(), slab);
    const MatrixView<T> host = block_of(local, slab.begin, schedule.rows, mine.begin, mine.end);
    const MatrixView<T> columns = memory_.bring(host);
    const LuSchedule of_slab = slabs_.schedule_of(slab);
    const auto share = [&](Index panels) { return slabs_.share_done(FactorizationKind::cholesky, slab, panels); };
    watch.count_from(0, 1, share);
    if (slab.begin > 0) apply_panels_before(slab, local, columns, watch);
    watch.count_from(slab.begin / schedule.block, panels_together(of_slab, slabs_.columns.processes), share);
    CholeskyElimination<T> elimination(space(), &comm_, of_slab, grid_of(slab), arithmetic_, schedule.longest_inner());
    const Index here = elimination.run(columns, watch);
    if (info == 0 && here != 0) info = slab.begin + here;
    memory_.put_back(columns, host);
    clear_elements(space(), block_of(local, 0, slab.begin, mine.begin, mine.end));
  }
  watch.count_from(0);
  memory_.finish();
  space().fence("heddle::solve::cleared");
  return info;
}

#define HEDDLE_INSTANTIATE(T) template class CholeskySlabs<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
