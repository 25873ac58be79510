// The elimination itself: what each rank does with its columns, panel after panel.
#pragma once

#include "solve/divided_rows.hpp"
#include "solve/look_ahead.hpp"
#include "solve/panel.hpp"
#include "solve/schedule.hpp"
#include "solve/subtraction.hpp"
#include "solve/watch.hpp"

#include <optional>
#include <vector>

namespace heddle::impl {

/// Factors a matrix whose columns, and perhaps rows, are dealt out in blocks, with its workspace. Without a
/// communicator it is of one rank, which has all of it.
template <Scalar T> class Elimination {
 public:
  /// `grid`: who has which rows and columns; blocks of columns are multiples of the schedule's. `comm` may be null.
  Elimination(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule, const RankGrid& grid,
              Arithmetic arithmetic);

  /// Replaces what this rank has of the matrix by its part of the factors; `pivots` and `info` are those of LuReport.
  /// Blocks.
  void run(const MatrixView<T>& local, std::vector<Index>& pivots, Index& info, Watch& watch);

 private:
  /// What panel p left besides the factors.
  [[nodiscard]] PanelResult result(Index p) const;
  /// The interchanges of panel p in the panels before it.
  void move_before(Index p);
  void apply(const LuSchedule::Update& update);
  /// What panel p's interchanges are, where rows are dealt out. Blocks.
  void learn(Index p);
  void read_results(std::vector<Index>& pivots, Index& info) const;

  LuSchedule schedule_;
  RankGrid grid_;
  LookAhead<T> ahead_;
  Subtraction<T> subtract_;
  Subtraction<T> subtract_in_panel_;
  PanelFactor<T> factor_panel_;
  Kokkos::View<Index*, MemorySpace> results_;
  std::optional<DividedRows<T>> divided_;  // Where rows are dealt out.
  MatrixView<T> matrix_;
  Index taken_ = -1;  // The last panel of those whose residues the products have.
};

}  // namespace heddle::impl
