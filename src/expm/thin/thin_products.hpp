// Products of a matrix in row bands with thin blocks, a few vectors that every rank holds whole.
#pragma once

#include <heddle/dist/matrix.hpp>

namespace heddle::impl {

/// Products with one n x n matrix A. T, the blocks' scalar, is A's own, a wider one, or the complex one of either.
template <Scalar Element, Scalar T> class ThinProducts {
 public:
  /// A is in row bands over all ranks of `comm`; it is shared. Blocks for one pass over A.
  ThinProducts(const Communicator& comm, const DistributedMatrix<Element>& A);

  [[nodiscard]] Index size() const noexcept { return A_.rows(); }
  /// The largest |Re a_ij| or |Im a_ij|; infinity where A holds NaN or Inf.
  [[nodiscard]] double largest() const noexcept { return largest_; }

  /// Y = factor A (inner X), n x m, X and Y do not overlap. Every rank gets all of Y; blocks if there is more than one
  /// rank. Bits: rank-invariant: a rank sums whole rows, in an order that depends on n alone.
  void multiply(Real<T> factor, const MatrixView<const T>& X, const MatrixView<T>& Y, Real<T> inner = 1);
  /// Y = factor A^H (inner X). Bits: rank-invariant: sums over the rows of all ranks are sums of integers, each summand
  /// rounded to 2^-40 of the largest possible one. Blocks.
  void multiply_adjoint(Real<T> factor, const MatrixView<const T>& X, const MatrixView<T>& Y, Real<T> inner = 1);

 private:
  void gather_rows(Index columns, const MatrixView<T>& Y);

  using Pinned = Kokkos::View<T*, Kokkos::SharedHostPinnedSpace>;
  Communicator comm_;
  DistributedMatrix<Element> A_;
  Index first_row_ = 0;
  double largest_ = 0.0;
  Kokkos::View<T*, MemorySpace> partial_;  // Sums over chunks of rows of A.
  Kokkos::View<T*, MemorySpace> band_;     // This rank's rows of Y, then those of all ranks.
  Pinned host_band_;
  Kokkos::View<T*, MemorySpace> gathered_;
  Pinned host_gathered_;
  Kokkos::View<Index*, MemorySpace> steps_;
  Kokkos::View<Index*, Kokkos::SharedHostPinnedSpace> host_steps_;
};

}  // namespace heddle::impl
