// Cholesky's elimination: the work of each rank on its columns, panel after panel.
#pragma once

#include "solve/cholesky/panel_run.hpp"
#include "solve/grid/look_ahead.hpp"
#include "solve/grid/watch.hpp"

#include <optional>

namespace heddle::impl {

/// Factors a matrix whose columns, and perhaps rows, are dealt out in blocks, with its workspace. Without a
/// communicator one rank has the whole matrix.
template <Scalar T> class CholeskyElimination {
 public:
  /// `grid`: distribution of rows and columns; blocks of columns are multiples of the schedule's. `comm` may be null.
  /// `inner_of_all`: for a slab of a larger matrix's columns, with the rows from its first column's number on, the
  /// longest inner dimension there.
  CholeskyElimination(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule,
                      const RankGrid& grid, Arithmetic arithmetic, std::optional<Index> inner_of_all = {});

  /// Bytes of the workspace, on the rank of the grid that needs most.
  [[nodiscard]] static double bytes(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic);

  /// Replaces this rank's part of the matrix by its part of the factor, with zeros above the diagonal, and returns the
  /// info of CholeskyReport. Blocks.
  [[nodiscard]] Index run(const MatrixView<T>& local, Watch& watch);

 private:
  /// The infos of the panels of run r.
  [[nodiscard]] Kokkos::View<Index*, MemorySpace> infos_of(Index r) const;
  [[nodiscard]] Index first_info() const;

  LuSchedule schedule_;
  Index together_;   // Panels of a run.
  LuSchedule runs_;  // Schedule with runs in place of panels.
  RankGrid grid_;
  LookAhead<T> ahead_;
  CholeskyUpdate<T> update_;
  CholeskyRun<T> factor_run_;
  Kokkos::View<Index*, MemorySpace> infos_;  // Info of each panel, counted from its first column.
};

/// Sets this rank's elements above the diagonal to zero. Ordered on `space`, and does not block.
template <Scalar T> void clear_above(const ExecutionSpace& space, const RankGrid& grid, const MatrixView<T>& local);

}  // namespace heddle::impl
