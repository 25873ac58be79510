// Cholesky's trailing updates, and runs of panels factored on one rank.
#include "solve/cholesky/panel_run.hpp"

#include "core/instantiate.hpp"
#include "solve/lu/panel_run.hpp"
#include <heddle/transpose/transpose.hpp>

#include <algorithm>

namespace heddle::impl {
namespace {

// A run of a matrix of `rows` rows as a matrix of one rank.
RankGrid grid_of_run(Index rows, Index columns) {
  return RankGrid::of_columns(rows, {columns, std::max<Index>(columns, 1), 1}, 0);
}

}  // namespace

Index cholesky_width(const LuSchedule& schedule, const CyclicAxis& columns, Arithmetic arithmetic) {
  const Index most = std::min(columns.block, std::max<Index>(columns.extent, 1));
  return arithmetic == Arithmetic::native ? most : std::min(most, 4 * schedule.block);
}

template <Scalar T>
CholeskyUpdate<T>::CholeskyUpdate(const ExecutionSpace& space, Arithmetic arithmetic, const LuSchedule& schedule,
                                  const RankGrid& grid, Index inner)
    : subtract_(space, arithmetic, schedule.block, grid.columns.block, grid.row_count(),
                cholesky_width(schedule, grid.columns, arithmetic), inner, rows_across<T>(grid)),
      width_(cholesky_width(schedule, grid.columns, arithmetic)),
      turned_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::turned_panels"),
              static_cast<std::size_t>(inner * width_)) {}

template <Scalar T>
void CholeskyUpdate<T>::operator()(const RankGrid& grid, Range columns, const MatrixView<T>& L,
                                   const MatrixView<T>& across, const MatrixView<T>& local) {
  const Range mine = grid.local_columns(columns);
  if (mine.empty()) return;
  const auto inner = static_cast<Index>(L.extent(1));
  const Index n = grid.rows.extent;
  const auto row_of = [&](Index j) { return grid.columns.global(grid.column(), j); };
  // Position of column j's row of L in `across`.
  const auto place = [&](Index j) { return grid.divides_rows() ? j : row_of(j); };
  const Range below = grid.local_rows({row_of(mine.begin), n});
  const bool takes_rows = subtract_.takes_rows(inner);
  if (takes_rows) {
    const Index end = grid.divides_rows() ? mine.end : n;
    subtract_.take_rows(block_of(L, below.begin, below.end, 0, inner),
                        block_of(across, place(mine.begin), end, 0, inner));
  }
  for (Index j = mine.begin; j < mine.end;) {
    const Index block = grid.columns.block;
    const Index end = std::min({mine.end, (j / block + 1) * block, (j / width_ + 1) * width_});
    const Range rows = grid.local_rows(Range{row_of(j), n});
    const MatrixView<T> C = block_of(local, rows.begin, rows.end, j, end);
    if (takes_rows) {
      subtract_.subtract_rows(rows.begin - below.begin, place(j) - place(mine.begin), C);
      if (meanwhile_) meanwhile_();
    } else {
      const MatrixView<T> upper = matrix_view(turned_.data(), inner, end - j, inner);
      transpose(space(), T(1), block_of(across, place(j), place(j) + (end - j), 0, inner),
                Operation::conjugate_transpose, upper);
      subtract_(block_of(L, rows.begin, rows.end, 0, inner), upper, C, j);
    }
    j = end;
  }
}

template <Scalar T>
CholeskyRun<T>::CholeskyRun(const ExecutionSpace& space, Arithmetic arithmetic, const LuSchedule& schedule,
                            Index together, Index piece)
    : schedule_(schedule),
      together_(together),
      update_(space, arithmetic, schedule, grid_of_run(schedule.rows, together * schedule.block),
              PanelRun<T>::longest_inner(schedule, together)),
      subtract_in_panel_(space, arithmetic, schedule.block, piece, schedule.rows, schedule.block, schedule.block),
      factor_panel_(space, schedule.block) {}

template <Scalar T>
void CholeskyRun<T>::operator()(const MatrixView<T>& P, const Kokkos::View<Index*, MemorySpace>& infos) {
  const auto rows = static_cast<Index>(P.extent(0));
  const auto columns = static_cast<Index>(P.extent(1));
  const LuSchedule order = schedule_.within_run(together_, rows, columns);
  for (Index p = 0; p < order.panels(); ++p) {
    const Range panel = order.panel(p);
    factor_panel_(subtract_in_panel_, block_of(P, panel.begin, rows, panel.begin, panel.end),
                  Kokkos::subview(infos, Kokkos::pair<Index, Index>(p, p + 1)));
    const LuSchedule::Update update = order.update_after(p);
    if (update.columns.empty()) continue;
    const Range inner = order.rows_of(update);
    const MatrixView<T> L = block_of(P, 0, rows, inner.begin, inner.end);
    update_(grid_of_run(rows, columns), update.columns, L, L, P);
  }
}

template <Scalar T>
double CholeskyUpdate<T>::bytes(Arithmetic arithmetic, const LuSchedule& schedule, const RankGrid& grid, Index longest,
                                const std::set<Index>& inner) {
  const Index width = cholesky_width(schedule, grid.columns, arithmetic);
  const bool takes_rows = schedule.block % QuantisedVectors<T>::vector_padding == 0;
  return Subtraction<T>::bytes(arithmetic, schedule.block, grid.row_count(), width,
                               takes_rows ? rows_across<T>(grid) : width, longest, inner) +
         sizeof(T) * size_of_matrix(longest, width);
}

template <Scalar T> double CholeskyRun<T>::bytes(Arithmetic arithmetic, const LuSchedule& schedule, Index together) {
  return CholeskyUpdate<T>::bytes(arithmetic, schedule, grid_of_run(schedule.rows, together * schedule.block),
                                  PanelRun<T>::longest_inner(schedule, together),
                                  inner_within_runs(schedule, together)) +
         CholeskyPanel<T>::bytes(schedule.block);
}

#define HEDDLE_INSTANTIATE(T)       \
  template class CholeskyUpdate<T>; \
  template class CholeskyRun<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
