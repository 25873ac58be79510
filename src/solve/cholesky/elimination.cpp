// Cholesky's elimination over the ranks of a grid.
#include "solve/cholesky/elimination.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "solve/grid/factorization.hpp"
#include "solve/grid/host_copy.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace heddle::impl {

template <Scalar T>
CholeskyElimination<T>::CholeskyElimination(const ExecutionSpace& space, const Communicator* comm,
                                            const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic,
                                            std::optional<Index> inner_of_all)
    : schedule_(schedule),
      together_(panels_together(schedule, grid.columns.processes)),
      runs_(schedule.in_runs(together_)),
      grid_(grid),
      ahead_(space, comm, runs_, grid, PanelSide::columns, arithmetic == Arithmetic::native || together_ > 1),
      update_(space, arithmetic, schedule, grid, inner_of_all.value_or(runs_.longest_inner())),
      factor_run_(ahead_.space_of_panels(), arithmetic, schedule, together_, grid.columns.block),
      infos_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::infos"),
             static_cast<std::size_t>(schedule.panels())) {
  update_.set_meanwhile([this] { ahead_.progress(); });
}

template <Scalar T> Kokkos::View<Index*, MemorySpace> CholeskyElimination<T>::infos_of(Index r) const {
  const Index end = std::min((r + 1) * together_, schedule_.panels());
  return Kokkos::subview(infos_, Kokkos::pair<Index, Index>(r * together_, end));
}

template <Scalar T> Index CholeskyElimination<T>::run(const MatrixView<T>& local, Watch& watch) {
  const Kokkos::Profiling::ScopedRegion region("heddle::solve::cholesky");
  ahead_.run(
      watch, local, [&](Index r) { return infos_of(r); },
      [&](Index r, const MatrixView<T>& run) { factor_run_(run, infos_of(r)); }, [](Index) {},
      [&](const LuSchedule::Update& due) {
        const MatrixView<T> L = ahead_.panels(local, due.first, due.last);
        // Rows of L whose numbers are those of this rank's columns.
        update_(grid_, due.columns, L, grid_.divides_rows() ? ahead_.sides(due.first, due.last) : L, local);
      });
  clear_above(update_.space(), grid_, local);
  return first_info();
}

template <Scalar T> Index CholeskyElimination<T>::first_info() const {
  const auto host = host_copy(update_.space(), infos_);
  for (Index p = 0; p < schedule_.panels(); ++p) {
    if (host(p) != 0) return schedule_.panel(p).begin + host(p);
  }
  return 0;
}

template <Scalar T>
double CholeskyElimination<T>::bytes(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic) {
  const Index together = panels_together(schedule, grid.columns.processes);
  const LuSchedule runs = schedule.in_runs(together);
  const double of_updates = most_of_ranks(grid, [&](const RankGrid& here) {
    std::set<Index> inner;
    for (const Range of : runs.rows_of_updates([&](Range all) { return !here.local_columns(all).empty(); })) {
      inner.insert(of.size());
    }
    return CholeskyUpdate<T>::bytes(arithmetic, schedule, here, runs.longest_inner(), inner);
  });
  return of_updates + CholeskyRun<T>::bytes(arithmetic, schedule, together) +
         PanelExchange<T>::bytes(runs, grid, PanelSide::columns);
}

template <Scalar T> void clear_above(const ExecutionSpace& space, const RankGrid& grid, const MatrixView<T>& local) {
  const Elements<T> a(local);
  const CyclicAxis rows = grid.rows;
  const CyclicAxis columns = grid.columns;
  const int row = grid.row();
  const int column = grid.column();
  for_each_element(
      space, "heddle::solve::clear_above", static_cast<Index>(local.extent(0)), static_cast<Index>(local.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) {
        if (rows.global(row, i) < columns.global(column, j)) a(i, j) = T(0);
      });
}

#define HEDDLE_INSTANTIATE(T)            \
  template class CholeskyElimination<T>; \
  template void clear_above<T>(const ExecutionSpace&, const RankGrid&, const MatrixView<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
