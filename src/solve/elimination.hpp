// The elimination itself: what each rank does with its columns, panel after panel.
#pragma once

#include "solve/panel.hpp"
#include "solve/panel_exchange.hpp"
#include "solve/schedule.hpp"
#include "solve/subtraction.hpp"
#include "solve/watch.hpp"

#include <memory>
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
  [[nodiscard]] int rank() const { return exchange_ ? exchange_->rank() : 0; }
  /// This rank's columns among `columns` of the matrix.
  [[nodiscard]] Range local(Range columns) const { return axis_.locals(rank(), columns); }
  /// What panel p left besides the factors.
  [[nodiscard]] PanelResult result(Index p) const;
  /// Panels [first, last), by rows and columns: where they were factored, or where they were received.
  [[nodiscard]] MatrixView<T> panels(Index first, Index last) const;
  void factor(Index p);
  /// The interchanges of panel p in the panels before it.
  void move_before(Index p);
  void apply(const LuSchedule::Update& update);
  void read_results(std::vector<Index>& pivots, Index& info) const;

  LuSchedule schedule_;
  CyclicAxis axis_;
  Subtraction<T> subtract_;
  PanelFactor<T> factor_panel_;
  std::unique_ptr<PanelExchange<T>> exchange_;  // Null on one rank.
  Kokkos::View<Index*, MemorySpace> results_;
  MatrixView<T> matrix_;
  Watch* watch_ = nullptr;  // During run().
};

}  // namespace heddle::impl
