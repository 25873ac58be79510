// Cholesky factorization of a matrix in host memory, slab of columns after slab.
#pragma once

#include "solve/grid/host_columns.hpp"
#include "solve/grid/watch.hpp"

namespace heddle::impl {

/// As LuSlabs, without interchanges: only the rows of a slab, and of panels applied to it, from the slab's first
/// column's number on are copied to the devices.
///
/// Bits: those of CholeskyElimination with the whole matrix on the devices.
template <Scalar T> class CholeskySlabs {
 public:
  CholeskySlabs(const Communicator& comm, const ColumnSlabs& slabs, Arithmetic arithmetic);

  /// Replaces this rank's columns, in host memory, by its part of the factor, with zeros above the diagonal, and
  /// returns the info of CholeskyReport. Blocks. Collective.
  [[nodiscard]] Index run(const MatrixView<T>& local, Watch& watch);

 private:
  [[nodiscard]] const ExecutionSpace& space() const { return comm_.space(); }
  [[nodiscard]] RankGrid grid_of(Range slab) const {
    return RankGrid::of_columns(slabs_.schedule_of(slab).rows, slabs_.columns_of(slab), comm_.rank());
  }
  /// Subtracts all panels on the left of a slab from this rank's columns of it.
  void apply_panels_before(Range slab, const MatrixView<T>& local, const MatrixView<T>& columns, Watch& watch);

  Communicator comm_;
  ColumnSlabs slabs_;
  Arithmetic arithmetic_;
  SlabMemory<T> memory_;
};

}  // namespace heddle::impl
