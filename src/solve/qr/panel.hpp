// Householder QR of one rank's panel, and the block reflections of its columns.
#pragma once

#include "solve/grid/subtraction.hpp"
#include "solve/qr/leaf.hpp"

#include <vector>

namespace heddle::impl {

/// Block reflector of one panel: Q = H_0 H_1 ... = I - V L^H V^H, L lower triangular. (LAPACK's xLARFT has T = L^H.)
template <Scalar T> struct BlockReflector {
  MatrixView<T> V;  ///< V from the panel's first row on, with ones on the diagonal and zeros above it.
  MatrixView<T> L;  ///< L with conj(tau) on the diagonal and zeros above it.
};

/// QR of panels P of up to `rows` x `width` in place, by recursion on the columns (E. Elmroth, F. Gustavson, IBM J.
/// Res. Dev. 44, 2000) down to qr_leaf_width columns, which are factored one after the other.
///
/// The left half's reflections are applied to the right half as C - V (L (V^H C)), and L of both is assembled from
/// those of the halves: its lower left block is -L2 (V2^H V1) L1. Sums over rows are RowSums'; all others are chains in
/// the order of the inner dimension, zeros of V and L included. Each product with L is subtracted from zero and, for L
/// (V^H C), negated before it is multiplied by V. Natively, large enough products are the BLAS's.
template <Scalar T> class QrPanel {
 public:
  QrPanel(const ExecutionSpace& space, Arithmetic arithmetic, Index rows, Index width);
  /// Bytes that it allocates.
  [[nodiscard]] static double bytes(Index rows, Index width);

  /// Replaces P, no wider than high, by R and v, and leaves V and L in `reflector`. Ordered on the instance of
  /// `subtract`; on GPUs it does not block.
  void factor(Subtraction<T>& subtract, const MatrixView<T>& P, const BlockReflector<T>& reflector);
  /// Computes V and L of a factored panel from its tau.
  void gather(Subtraction<T>& subtract, const MatrixView<const T>& P, const Kokkos::View<const T*, MemorySpace>& tau,
              const BlockReflector<T>& reflector);

 private:
  // Factor columns [begin, end).
  void factor(Subtraction<T>& subtract, Index begin, Index end);
  void gather(Subtraction<T>& subtract, Index begin, Index end);
  // Complete V of a leaf's columns, and its block of L, whose diagonal is set.
  void finish_leaf(const ExecutionSpace& space, Index begin, Index end);
  // Compute the block of L in rows [half, end) and columns [begin, half).
  void join(Subtraction<T>& subtract, Index begin, Index half, Index end);
  // S = -X^H Y over rows [begin, ...).
  void minus_inner(const ExecutionSpace& space, const MatrixView<const T>& X, const MatrixView<const T>& Y, Index begin,
                   const MatrixView<T>& S);
  [[nodiscard]] MatrixView<T> columns_of_v(Index begin, Index end) const;
  [[nodiscard]] MatrixView<T> block_of_l(Index row, Index row_end, Index column, Index column_end) const;

  blas::Context context_;
  Arithmetic arithmetic_;
  QrLeaf<T> leaf_;
  RowSums<T> sums_;
  Kokkos::View<T*, MemorySpace> inner_;    // -V^H C.
  Kokkos::View<T*, MemorySpace> product_;  // L V^H C.
  MatrixView<T> panel_;
  MatrixView<const T> source_;  // Source of V.
  BlockReflector<T> reflector_;
};

/// C = C - V (M (V^H C)) for M = L or L^H: applies panels' reflections to columns of a matrix.
template <Scalar T> class QrUpdate {
 public:
  /// For C of up to rows x columns and reflections of up to `width` columns. Natively, a product is one BLAS call for
  /// each `piece` columns of C. Emulated, V^H C is an emulated product with look = false, and both others are chains,
  /// as in QrPanel.
  QrUpdate(const ExecutionSpace& space, Arithmetic arithmetic, Index width, Index piece, Index rows, Index columns);
  /// Bytes that it allocates.
  [[nodiscard]] static double bytes(Arithmetic arithmetic, Index width, Index rows, Index columns);

  /// Subtractions in the same arithmetic.
  [[nodiscard]] Subtraction<T>& subtract() { return subtract_; }
  /// C = Q^H C if `adjoint`, otherwise C = Q C. Pieces begin at columns of C that are multiples of `piece` when its
  /// first column counts as `first`. Ordered on the instance; does not block on GPUs.
  void operator()(const BlockReflector<T>& reflector, bool adjoint, const MatrixView<T>& C, Index first);

 private:
  void minus_inner(const MatrixView<const T>& V, const MatrixView<T>& C, const MatrixView<T>& W, Index first);
  void minus_emulated(const MatrixView<const T>& V, const MatrixView<T>& C, const MatrixView<T>& W);

  blas::Context context_;
  Arithmetic arithmetic_;
  Index width_;
  Index piece_;
  Index columns_;
  int moduli_ = 0;
  Subtraction<T> subtract_;
  Kokkos::View<T*, MemorySpace> inner_;
  Kokkos::View<T*, MemorySpace> product_;
  Kokkos::View<T*, MemorySpace> turned_;          // L^H.
  std::unique_ptr<EmulatedProduct<T>> emulated_;  // Created on first use, as are its factors.
  std::unique_ptr<QuantisedVectors<T>> left_;
  std::unique_ptr<QuantisedVectors<T>> right_;
};

}  // namespace heddle::impl
