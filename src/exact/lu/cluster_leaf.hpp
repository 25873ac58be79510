// Factorization of a few columns on a GPU by one cluster of multiprocessors, which write into each other's fast memory.
#pragma once

#include "exact/lu/device_lu_columns.hpp"

namespace heddle::exact::impl {

/// Leaves factored by one cluster: the same as ExactLeaf, which uses memory shared by all teams of a device, at a
/// fraction of the time a column. On devices without clusters width() is 0 for any leaf.
template <Scalar T> class ClusterLeaves {
 public:
  explicit ClusterLeaves(const ExecutionSpace& space);

  /// Returns how many columns of `rows` rows a cluster can hold: half as many for more rows, and 0 if the cluster would
  /// not pay.
  [[nodiscard]] Index width(Index rows) const;
  /// Factors a leaf of at most width() columns. Sets pivots(leaf.row) and those after it, and the moves for all other
  /// columns. Ordered on `space`, does not block. Bits: those of ExactLeaf.
  void factor(const ExecutionSpace& space, const DeviceColumns<T>& columns, const LeafPlace& leaf,
              const SumBounds<T>& bounds, const Kokkos::View<Index*, MemorySpace>& pivots,
              const DeviceMoves& moves) const;

 private:
  int most_blocks_ = 0;  // Blocks of a cluster; 0 if the device has no clusters.
};

}  // namespace heddle::exact::impl
