// LU factorization of a matrix in host memory, slab of columns after slab.
#pragma once

#include "solve/grid/host_columns.hpp"
#include "solve/grid/watch.hpp"
#include "solve/lu/panel.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace heddle::impl {

/// The left-looking algorithm over slabs (ColumnSlabs): the panels on a slab's left come from host memory and are
/// applied to it group by group, each with the rows of L in the order that the group left; then Elimination factors the
/// slab. Interchanges of later panels are applied to L at the end, in one pass.
///
/// Bits: those of Elimination with the whole matrix on the devices. Cost: the matrix is copied to the devices and back
/// once, L once more, and for each slab the columns on its left once.
template <Scalar T> class LuSlabs {
 public:
  /// Called with the columns of each slab on this rank, all rows of them, in device memory, before they are factored
  /// and after; `first` is the number of the first one on this rank.
  using Look = std::function<void(const MatrixView<T>& columns, Index first, bool factored)>;

  LuSlabs(const Communicator& comm, const ColumnSlabs& slabs, Arithmetic arithmetic);

  /// Replaces this rank's columns, in host memory, by its part of the factors; `pivots` and `info` are those of
  /// LuReport. Blocks. Collective.
  void run(const MatrixView<T>& local, std::vector<Index>& pivots, Index& info, Watch& watch, const Look& look);

 private:
  [[nodiscard]] const ExecutionSpace& space() const { return comm_.space(); }
  [[nodiscard]] Range local_columns(Range columns) const { return slabs_.columns.locals(comm_.rank(), columns); }
  /// Applies all panels on the left of a slab to this rank's columns of it.
  void apply_panels_before(Range slab, const MatrixView<T>& local, const MatrixView<T>& columns, Watch& watch);
  void factor(Range slab, const MatrixView<T>& columns, std::vector<Index>& pivots, Index& info, Watch& watch);
  /// Applies the interchanges of all panels behind a group to the group's columns of L.
  void move_rows_of_slab(Range slab, const MatrixView<T>& local);

  Communicator comm_;
  ColumnSlabs slabs_;
  Arithmetic arithmetic_;
  SlabMemory<T> memory_;
  std::vector<PanelResult> results_;  // Results of all panels so far.
};

}  // namespace heddle::impl
