// The elimination itself: what each rank does with its columns, panel after panel.
#pragma once

#include "solve/divided_rows.hpp"
#include "solve/look_ahead.hpp"
#include "solve/panel_run.hpp"
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
  /// `inner_of_all`: of a slab of a larger matrix's columns, the longest inner dimension there; columns of L then keep
  /// the order of rows that their group of panels left.
  Elimination(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule, const RankGrid& grid,
              Arithmetic arithmetic, std::optional<Index> inner_of_all = {});

  /// Replaces what this rank has of the matrix by its part of the factors; `pivots` and `info` are those of LuReport.
  /// Blocks.
  void run(const MatrixView<T>& local, std::vector<Index>& pivots, Index& info, Watch& watch);
  /// What panel p left besides the factors.
  [[nodiscard]] PanelResult result(Index p) const { return {results({p, p + 1}), schedule_.block}; }

 private:
  /// The panels of run r.
  [[nodiscard]] Range panels(Index r) const {
    return {r * together_, std::min((r + 1) * together_, schedule_.panels())};
  }
  /// What panels left besides the factors.
  [[nodiscard]] Kokkos::View<Index*, MemorySpace> results(Range of) const;
  /// The interchanges of run r in the runs before it.
  void move_before(Index r);
  void apply(const LuSchedule::Update& update);
  /// What run r's interchanges are, where rows are dealt out. Blocks.
  void learn(Index r);
  void read_results(std::vector<Index>& pivots, Index& info) const;

  LuSchedule schedule_;
  Index together_;   // Panels of a run.
  LuSchedule runs_;  // Which have the place of panels here.
  RankGrid grid_;
  bool is_slab_;
  LookAhead<T> ahead_;
  Subtraction<T> subtract_;
  PanelRun<T> factor_run_;
  Kokkos::View<Index*, MemorySpace> results_;
  std::optional<DividedRows<T>> divided_;  // Where rows are dealt out.
  MatrixView<T> matrix_;
  Index taken_ = -1;  // The last run of those whose residues the products have.
};

}  // namespace heddle::impl
