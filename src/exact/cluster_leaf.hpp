// A few columns of the factorization on a GPU by one cluster of multiprocessors, which write into each other's fast
// memory.
#pragma once

#include "exact/device_lu_columns.hpp"

namespace heddle::exact::impl {

/// Leaves that one cluster factors: what ExactLeaf does by memory that all teams of a device share, at a fraction of
/// the time a column. Where a device has no such clusters, width() is 0 for any leaf.
template <Scalar T> class ClusterLeaves {
 public:
  explicit ClusterLeaves(const ExecutionSpace& space);

  /// How many columns of `rows` rows a cluster can hold: half as many where there are more rows, and 0 where it is
  /// better not used.
  [[nodiscard]] Index width(Index rows) const;
  /// A leaf of width() columns at most. Sets pivots(leaf.row) and those after it, and what has to move in all other
  /// columns. Ordered on `space`, does not block. Bits: those of ExactLeaf.
  void factor(const ExecutionSpace& space, const DeviceColumns<T>& columns, const LeafPlace& leaf,
              const SumBounds<T>& bounds, const Kokkos::View<Index*, MemorySpace>& pivots,
              const DeviceMoves& moves) const;

 private:
  int most_blocks_ = 0;  // Of a cluster; 0 where there are none.
};

}  // namespace heddle::exact::impl
