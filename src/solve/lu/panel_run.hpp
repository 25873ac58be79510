// A run of panels, factored with partial pivoting on one rank.
#pragma once

#include "solve/grid/subtraction.hpp"
#include "solve/lu/panel.hpp"
#include "solve/lu/schedule.hpp"

#include <set>

namespace heddle::impl {

/// The inner dimensions of all updates within runs of `together` panels.
[[nodiscard]] std::set<Index> inner_within_runs(const LuSchedule& schedule, Index together);

/// Factors runs of panels in LuSchedule's order within a group, panel by panel: each panel is applied to columns of the
/// run. Bits: those of the panels without runs.
template <Scalar T> class PanelRun {
 public:
  /// `together`: number of panels of a run. A native product is one BLAS call for each `piece` columns.
  PanelRun(const ExecutionSpace& space, Arithmetic arithmetic, const LuSchedule& schedule, Index together, Index piece);

  /// The longest inner dimension of products of panels within a run.
  [[nodiscard]] static Index longest_inner(const LuSchedule& schedule, Index together) {
    return std::max<Index>(together / 2, 1) * schedule.block;
  }
  /// Bytes of its products' workspace.
  [[nodiscard]] static double bytes(Arithmetic arithmetic, const LuSchedule& schedule, Index together);
  /// P is a run from its first row on; `results` has a PanelResult::extent() for each panel. Ordered on the instance;
  /// on GPUs it does not block.
  void operator()(const MatrixView<T>& P, const Kokkos::View<Index*, MemorySpace>& results);

 private:
  [[nodiscard]] PanelResult result(Index p) const;
  void apply(const LuSchedule& order, const LuSchedule::Update& update);

  LuSchedule schedule_;
  Index together_;
  Subtraction<T> subtract_;
  Subtraction<T> subtract_in_panel_;
  PanelFactor<T> factor_panel_;
  MatrixView<T> run_;
  Kokkos::View<Index*, MemorySpace> results_;
};

}  // namespace heddle::impl
