// Trailing updates by panels of L, and runs of panels that one rank factors.
#pragma once

#include "solve/cholesky/panel.hpp"
#include "solve/grid/rank_grid.hpp"
#include "solve/lu/schedule.hpp"

#include <set>

namespace heddle::impl {

/// Number of columns that one product updates, from their own rows down. For emulated products, whose bits do not
/// depend on it, it is small, so that little is computed above the diagonal.
[[nodiscard]] Index cholesky_width(const LuSchedule& schedule, const CyclicAxis& columns, Arithmetic arithmetic);

/// C = C - L L^H in blocks of columns of a Hermitian matrix, each from its own rows down.
template <Scalar T> class CholeskyUpdate {
 public:
  /// For matrices up to the size of `grid`, and inner dimensions up to `inner`.
  CholeskyUpdate(const ExecutionSpace& space, Arithmetic arithmetic, const LuSchedule& schedule, const RankGrid& grid,
                 Index inner);

  /// Bytes of its workspace on this rank, for the inner dimensions `inner`, of which `longest` is the longest.
  [[nodiscard]] static double bytes(Arithmetic arithmetic, const LuSchedule& schedule, const RankGrid& grid,
                                    Index longest, const std::set<Index>& inner);

  [[nodiscard]] const ExecutionSpace& space() const { return subtract_.space(); }
  void set_meanwhile(const std::function<void()>& meanwhile) {
    meanwhile_ = meanwhile;
    subtract_.set_meanwhile(meanwhile);
  }
  /// Updates `columns` of the matrix of which this rank has `local`, by panels of which it has rows L; if rows are
  /// dealt out, `across` has the rows with the numbers of its columns. Does not block on GPUs.
  void operator()(const RankGrid& grid, Range columns, const MatrixView<T>& L, const MatrixView<T>& across,
                  const MatrixView<T>& local);

 private:
  Subtraction<T> subtract_;
  Index width_;
  Kokkos::View<T*, MemorySpace> turned_;  // Rows of L, transposed into columns of the right factor.
  std::function<void()> meanwhile_;
};

/// Factors runs of panels in LuSchedule's order within a group, panel by panel. Bits: those of the panels without runs.
template <Scalar T> class CholeskyRun {
 public:
  /// `together`: number of panels of a run.
  CholeskyRun(const ExecutionSpace& space, Arithmetic arithmetic, const LuSchedule& schedule, Index together,
              Index piece);
  /// Bytes of its workspace.
  [[nodiscard]] static double bytes(Arithmetic arithmetic, const LuSchedule& schedule, Index together);
  /// P is a run from its first row on; `infos` has an info for each panel (CholeskyPanel). Ordered on the instance; on
  /// GPUs it does not block.
  void operator()(const MatrixView<T>& P, const Kokkos::View<Index*, MemorySpace>& infos);

 private:
  LuSchedule schedule_;
  Index together_;
  CholeskyUpdate<T> update_;
  Subtraction<T> subtract_in_panel_;
  CholeskyPanel<T> factor_panel_;
};

}  // namespace heddle::impl
