// A panel of columns of a positive definite matrix, factored on one rank.
#pragma once

#include "solve/grid/subtraction.hpp"

namespace heddle::impl {

/// P = L L^H of the first rows of a panel, `width` at most, and L of the rows below, in place: recursion on the columns
/// down to a few, which are factored one after the other. Elements above the diagonal are not read, and are undefined
/// afterwards.
///
/// Bits: where products are chains, each element is one chain of fused multiply-adds in the order of the columns, and
/// then divided by the root of the pivot; on the diagonal it is this root. Otherwise the bits are those of the BLAS.
template <Scalar T> class CholeskyPanel {
 public:
  CholeskyPanel(const ExecutionSpace& space, Index width);
  /// Bytes that it allocates.
  [[nodiscard]] static double bytes(Index width);
  /// `info(0)`: 0, or k + 1 if the pivot of column k is the first that is not positive. Ordered on the instance of
  /// `subtract`; on GPUs it does not block.
  void operator()(Subtraction<T>& subtract, const MatrixView<T>& P, const Kokkos::View<Index*, MemorySpace>& info);

 private:
  // Factor columns [begin, end).
  void factor(Subtraction<T>& subtract, Index begin, Index end);
  void factor_leaves_on_device(const ExecutionSpace& space, Index begin, Index end);
  void factor_leaf_on_host(const ExecutionSpace& space, Index begin, Index end);

  MatrixView<T> panel_;
  Kokkos::View<Index*, MemorySpace> info_;
  Kokkos::View<T*, MemorySpace> turned_;     // Rows of L, transposed into columns of the right factor.
  Kokkos::View<T*, MemorySpace> diagonals_;  // On GPUs: diagonal blocks, until they are copied into the panel.
};

}  // namespace heddle::impl
