// The LU elimination: the work of each rank on its columns, panel after panel.
#pragma once

#include "solve/grid/look_ahead.hpp"
#include "solve/grid/subtraction.hpp"
#include "solve/grid/watch.hpp"
#include "solve/lu/divided_rows.hpp"
#include "solve/lu/panel_run.hpp"
#include "solve/lu/schedule.hpp"

#include <optional>
#include <vector>

namespace heddle::impl {

/// Factors a matrix whose columns, and perhaps rows, are dealt out in blocks, with its workspace. Without a
/// communicator one rank has the whole matrix.
template <Scalar T> class Elimination {
 public:
  /// `grid`: distribution of rows and columns; blocks of columns are multiples of the schedule's. `comm` may be null.
  /// `inner_of_all`: for a slab of a larger matrix's columns, the longest inner dimension there; columns of L then keep
  /// the order of rows that their group of panels left.
  Elimination(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule, const RankGrid& grid,
              Arithmetic arithmetic, std::optional<Index> inner_of_all = {});

  /// Bytes of the workspace, on the rank of the grid that needs most.
  [[nodiscard]] static double bytes(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic);

  /// Replaces this rank's part of the matrix by its part of the factors; `pivots` and `info` are those of LuReport.
  /// Blocks.
  void run(const MatrixView<T>& local, std::vector<Index>& pivots, Index& info, Watch& watch);
  /// Pivots, info and moves of panel p.
  [[nodiscard]] PanelResult result(Index p) const { return {results({p, p + 1}), schedule_.block}; }

 private:
  /// The panels of run r.
  [[nodiscard]] Range panels(Index r) const {
    return {r * together_, std::min((r + 1) * together_, schedule_.panels())};
  }
  /// Pivots, infos and moves of panels `of`.
  [[nodiscard]] Kokkos::View<Index*, MemorySpace> results(Range of) const;
  /// Applies the interchanges of run r in the runs before it.
  void move_before(Index r);
  void apply(const LuSchedule::Update& update);
  /// Passes run r's interchanges to `divided_` if rows are dealt out. Blocks.
  void learn(Index r);
  void read_results(std::vector<Index>& pivots, Index& info) const;

  LuSchedule schedule_;
  Index together_;   // Panels of a run.
  LuSchedule runs_;  // Schedule with runs in place of panels.
  RankGrid grid_;
  bool is_slab_;
  LookAhead<T> ahead_;
  Subtraction<T> subtract_;
  PanelRun<T> factor_run_;
  Kokkos::View<Index*, MemorySpace> results_;
  std::optional<DividedRows<T>> divided_;  // Set if rows are dealt out.
  MatrixView<T> matrix_;
  Index taken_ = -1;  // The last of the runs whose residues the products hold.
};

}  // namespace heddle::impl
