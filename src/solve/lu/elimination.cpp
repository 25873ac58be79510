// The LU elimination over the ranks of a grid.
#include "solve/lu/elimination.hpp"

#include "core/instantiate.hpp"
#include "solve/grid/factorization.hpp"
#include "solve/grid/host_copy.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace heddle::impl {

template <Scalar T>
Elimination<T>::Elimination(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule,
                            const RankGrid& grid, Arithmetic arithmetic, std::optional<Index> inner_of_all)
    : schedule_(schedule),
      together_(panels_together(schedule, grid.columns.processes)),
      runs_(schedule.in_runs(together_)),
      grid_(grid),
      is_slab_(inner_of_all.has_value()),
      ahead_(space, comm, runs_, grid, PanelSide::group, arithmetic == Arithmetic::native || together_ > 1),
      subtract_(space, arithmetic, schedule.block, grid.columns.block, rows_of_products(runs_, grid),
                grid.column_count(), inner_of_all.value_or(runs_.longest_inner())),
      factor_run_(ahead_.space_of_panels(), arithmetic, schedule, together_, grid.columns.block),
      results_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::results"),
               static_cast<std::size_t>(schedule.panels() * PanelResult::extent(schedule.block))) {
  if (grid.divides_rows()) divided_.emplace(*comm, runs_, grid);
  subtract_.set_meanwhile([this] { ahead_.progress(); });
}

template <Scalar T> Kokkos::View<Index*, MemorySpace> Elimination<T>::results(Range of) const {
  const Index extent = PanelResult::extent(schedule_.block);
  return Kokkos::subview(results_, Kokkos::pair<Index, Index>(of.begin * extent, of.end * extent));
}

template <Scalar T> void Elimination<T>::learn(Index r) {
  const ExecutionSpace& space = ahead_.space_of_panels();
  ahead_.numbers_before(space);
  const auto numbers = host_copy(space, results(panels(r)));
  const Index extent = PanelResult::extent(schedule_.block);
  for (Index p = panels(r).begin; p < panels(r).end; ++p) {
    divided_->learn(schedule_.panel(p), numbers.data() + (p - panels(r).begin) * extent + 1);
  }
}

template <Scalar T> void Elimination<T>::move_before(Index r) {
  const Index group = runs_.group_begin(r);
  const Range before = grid_.local_columns({is_slab_ ? runs_.panel(group).begin : 0, runs_.panel(r).begin});
  const MatrixView<T> columns = block_of(matrix_, 0, grid_.row_count(), before.begin, before.end);
  if (divided_) {
    divided_->move(r, columns);
    if (group < r) divided_->move(r, ahead_.panels(matrix_, group, r), ahead_.sides(group, r));
    return;
  }
  for (Index p = panels(r).begin; p < panels(r).end; ++p) {
    const Index row = schedule_.panel(p).begin;
    const auto move = [&](const MatrixView<T>& of) {
      move_rows<T>(subtract_.space(), result(p).moves(),
                   block_of(of, row, schedule_.rows, 0, static_cast<Index>(of.extent(1))));
    };
    move(columns);
    if (ahead_.copies_panels() && group < r) move(ahead_.panels(matrix_, group, r));
  }
}

template <Scalar T> void Elimination<T>::apply(const LuSchedule::Update& update) {
  const Range mine = grid_.local_columns(update.columns);
  if (mine.empty()) return;
  const Range inner = runs_.rows_of(update);
  const MatrixView<T> columns = block_of(matrix_, 0, grid_.row_count(), mine.begin, mine.end);
  const MatrixView<T> L = ahead_.panels(matrix_, update.first, update.last);
  MatrixView<T> upper = block_of(columns, inner.begin, inner.end, 0, mine.size());
  MatrixView<T> triangle = block_of(L, inner.begin, inner.end, 0, inner.size());
  if (divided_) {
    const Index first = inner.begin - runs_.group_begin(update.first) * runs_.block;
    upper = divided_->fetch(update.first, update.last, inner, columns);
    triangle = block_of(ahead_.sides(update.first, update.last), first, first + inner.size(), 0, inner.size());
  } else {
    for (Index p = panels(update.first).begin; p < panels(update.last - 1).end; ++p) {
      move_rows<T>(subtract_.space(), result(p).moves(),
                   block_of(columns, schedule_.panel(p).begin, schedule_.rows, 0, mine.size()));
    }
  }
  subtract_.solve(Triangle::lower, Diagonal::unit, triangle, upper, mine.begin);
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
      watch, matrix_, [&](Index r) { return results(panels(r)); },
      [&](Index r, const MatrixView<T>& run) { factor_run_(run, results(panels(r))); },
      [&](Index r) {
        if (divided_) learn(r);
        move_before(r);
      },
      [&](const LuSchedule::Update& update) { apply(update); });
  if (divided_) divided_->finish();
  read_results(pivots, info);
  matrix_ = {};
}

template <Scalar T>
double Elimination<T>::bytes(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic) {
  const Index together = panels_together(schedule, grid.columns.processes);
  const LuSchedule runs = schedule.in_runs(together);
  const double of_products = most_of_ranks(grid, [&](const RankGrid& here) {
    std::set<Index> inner;
    for (const Range of : runs.rows_of_updates([&](Range all) { return !here.local_columns(all).empty(); })) {
      Subtraction<T>::add_inner(of.size(), schedule.block, Triangle::lower, inner);
      if (of.end < schedule.rows) inner.insert(of.size());
    }
    const Index columns = here.column_count();
    return (here.divides_rows() ? DividedRows<T>::bytes(runs, columns) : 0.0) +
           Subtraction<T>::bytes(arithmetic, schedule.block, rows_of_products(runs, here), columns, columns,
                                 runs.longest_inner(), inner);
  });
  // Pivots and moves of each panel, and on GPUs the order of rows.
  const double of_panels = sizeof(Index) * (size_of_matrix(schedule.panels(), PanelResult::extent(schedule.block)) +
                                            (on_host ? 0.0 : static_cast<double>(schedule.rows)));
  return of_products + PanelRun<T>::bytes(arithmetic, schedule, together) + of_panels +
         PanelExchange<T>::bytes(runs, grid, PanelSide::group);
}

#define HEDDLE_INSTANTIATE(T) template class Elimination<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
