// The elimination itself: what each rank does with its columns, panel after panel.
#pragma once

#include "solve/look_ahead.hpp"
#include "solve/panel.hpp"
#include "solve/schedule.hpp"
#include "solve/subtraction.hpp"
#include "solve/watch.hpp"

#include <vector>

namespace heddle::impl {

/// Factors a matrix whose columns are dealt out in blocks, with its workspace. Without an exchange it is of one rank,
/// which has all columns.
template <Scalar T> class Elimination {
 public:
  /// `columns`: who has which columns; blocks are multiples of the schedule's. `comm` may be null.
  Elimination(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule,
              const CyclicAxis& columns, Arithmetic arithmetic);

  /// Replaces this rank's columns by its part of the factors; `pivots` and `info` are those of LuReport. Blocks.
  void run(const MatrixView<T>& local, std::vector<Index>& pivots, Index& info, Watch& watch);

 private:
  /// This rank's columns among `columns` of the matrix.
  [[nodiscard]] Range local(Range columns) const { return axis_.locals(ahead_.rank(), columns); }
  /// What panel p left besides the factors.
  [[nodiscard]] PanelResult result(Index p) const;
  /// The interchanges of panel p in the panels before it.
  void move_before(Index p);
  void apply(const LuSchedule::Update& update);
  void read_results(std::vector<Index>& pivots, Index& info) const;

  LuSchedule schedule_;
  CyclicAxis axis_;
  LookAhead<T> ahead_;
  Subtraction<T> subtract_;
  Subtraction<T> subtract_in_panel_;
  PanelFactor<T> factor_panel_;
  Kokkos::View<Index*, MemorySpace> results_;
  MatrixView<T> matrix_;
  Index taken_ = -1;  // The last panel of those whose residues the products have.
};

}  // namespace heddle::impl
