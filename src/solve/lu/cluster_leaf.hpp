// A few columns factored on a GPU by one cluster of multiprocessors, which read and write each other's fast memory.
#pragma once

#include "core/elementwise.hpp"
#include "solve/lu/moves.hpp"

namespace heddle::impl {

/// Factors columns of panels by one cluster: DeviceLeaf's work, which communicates there by memory shared by all teams
/// of a device, at a third of the time per column. On a device without such clusters, width() is 0 for any panel.
template <Scalar T> class ClusterLeaves {
 public:
  explicit ClusterLeaves(const ExecutionSpace& space);

  /// Number of columns of `rows` rows that a cluster can hold: fewer for more rows, and 0 if it cannot hold even a few.
  [[nodiscard]] Index width(Index rows) const;
  /// Factors columns [begin, end), at most width() of them, of rows [begin, ...) of a panel. No row of other columns
  /// moves; `moves` lists the moves they need. Ordered on `space`, does not block. Bits: those of DeviceLeaf.
  void factor(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
              const Kokkos::View<Index*, MemorySpace>& pivots, const Kokkos::View<Index*, MemorySpace>& info,
              const RowMoves& moves) const;

 private:
  int most_blocks_ = 0;  // Most blocks of a cluster; 0 if the device has no clusters.
};

}  // namespace heddle::impl
