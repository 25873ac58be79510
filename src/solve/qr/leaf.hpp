// A leaf of a QR factorization: a few columns, one after the other.
#pragma once

#include "core/simd.hpp"
#include "solve/qr/reflector.hpp"
#include "solve/qr/sums.hpp"

namespace heddle::impl {

/// Width at which the recursion on the columns of a panel ends. Bits depend on it, so it is the same for all backends.
inline constexpr Index qr_leaf_width = 8;

/// Factors columns [begin, end) of rows [begin, rows) of panels, with its workspace. Each step computes the sums of a
/// column's squares and of its products with the columns on its right together, in RowSums' order, from the row below
/// the diagonal on; the column is first divided by a power of two (power_of_column() of the largest part from the
/// diagonal on). R is left on and above the diagonal, v below, and conj(tau) on the diagonal of `triangle`.
template <Scalar T> class QrLeaf {
 public:
  QrLeaf() = default;
  QrLeaf(const ExecutionSpace& space, Index rows);
  /// Ordered on `space`, does not block on GPUs.
  void factor(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
              const MatrixView<T>& triangle);

 private:
  void factor_on_host(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
                      const MatrixView<T>& triangle);

  Kokkos::View<T*, MemorySpace> sums_;                 // Sums of each run; those of one column are contiguous.
  Kokkos::View<T*, MemorySpace> heads_;                // A step's row of the leaf before the reflection.
  Kokkos::View<std::uint64_t*, MemorySpace> largest_;  // Bits of each column's largest part.
};

}  // namespace heddle::impl
