// A few columns factored on a GPU by one cluster of multiprocessors, which read and write each other's fast memory.
#pragma once

#include "dist/elementwise.hpp"
#include "solve/moves.hpp"

namespace heddle::impl {

/// Columns of panels that one cluster factors: what DeviceLeaf does by memory that all teams of a device share, at a
/// third of the time a column. Where a device has no such clusters, width() is 0 for any panel.
template <Scalar T> class ClusterLeaves {
 public:
  explicit ClusterLeaves(const ExecutionSpace& space);

  /// How many columns of `rows` rows a cluster can hold: fewer, the more rows there are, and 0 where not even a few.
  [[nodiscard]] Index width(Index rows) const;
  /// Columns [begin, end), width() of them at most, of rows [begin, ...) of a panel. No row of other columns moves:
  /// `moves` says which have to. Ordered on `space`, does not block. Bits: those of DeviceLeaf.
  void factor(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
              const Kokkos::View<Index*, MemorySpace>& pivots, const Kokkos::View<Index*, MemorySpace>& info,
              const RowMoves& moves) const;

 private:
  int most_blocks_ = 0;  // Of a cluster; 0 where there are none.
};

}  // namespace heddle::impl
