// Linear systems with as many right-hand sides as unknowns, over the ranks of a communicator.
#pragma once

#include <heddle/blas/blas.hpp>
#include <heddle/dist/matrix.hpp>

namespace heddle::impl {

/// X = Q^-1 P for n x n matrices, with its workspace, for repeated use.
///
/// Right-looking LU with partial pivoting of Q and P side by side, then back substitution, in panels of columns. A
/// panel's owner factors it on the host (LAPACK's getrf) and inverts its triangles there (trtri), so that all else is
/// products: block columns of both matrices are multiplied by the inverse of a triangle and updated by blas::gemm.
/// Backward stable but for the inverses, whose errors grow with the condition of the panel's triangles alone (J. Du
/// Croz, N. Higham 1992), not with that of Q.
///
/// Bits: rank-invariant: which block columns there are depends on n alone, and each is one product of its own shape.
/// Cost: 8/3 n^3 flops (32/3 n^3 complex), n^2 / 2 elements of L, as many of U, broadcast through the host. Memory, all
/// ranks together: a panel and a block row on each, and two matrices more where Q and P come in other placements.
/// Blocks. Source of the algorithm: G. Golub, C. Van Loan, Matrix Computations (2013), 3.4.
template <Scalar T> class LuSolver {
 public:
  LuSolver(const Communicator& comm, Index n);

  /// Columns in blocks, dealt out over the ranks: with Q and P here, nothing is redistributed.
  [[nodiscard]] const Placement& placement() const noexcept { return placement_; }
  /// P = Q^-1 P; Q, n x n as P in any placement, is destroyed. Throws Error(computation), on every rank alike, where Q
  /// is singular to working precision; NaN and Inf in, NaN out.
  void solve(const DistributedMatrix<T>& Q, const DistributedMatrix<T>& P);

 private:
  using Pinned = Kokkos::View<T*, Kokkos::SharedHostPinnedSpace>;
  // Columns [begin, end) of Q.
  void eliminate(Range panel);
  void substitute(Range panel);
  // From the panel's rows [begin, n): inverse of U, inverse of L's triangle, L below; rows to interchange, and 0 or the
  // number of the column without a pivot.
  void factor_on_host(Range panel);
  // `count` elements of the panel's buffer on rank `owner`'s host to every rank's device.
  void share(int owner, Index count);
  // body(block) for the block columns of `matrix`, q_ or p_, from its local column `first`.
  template <class Body> void for_each_block(const MatrixView<T>& matrix, Index first, const Body& body) const;
  [[nodiscard]] MatrixView<T> inverse_of_upper(Range panel) const;

  Communicator comm_;
  blas::Context context_;
  Index n_;
  Placement placement_;
  DistributedMatrix<T> redistributed_q_;
  DistributedMatrix<T> redistributed_p_;
  MatrixView<T> q_;
  MatrixView<T> p_;
  Kokkos::View<T*, MemorySpace> panel_;
  Pinned host_panel_;  // The same memory on CPUs.
  Kokkos::View<T*, MemorySpace> inverses_;
  Kokkos::View<T*, MemorySpace> top_;
  Kokkos::View<int*, MemorySpace> pivots_;
  Kokkos::View<int*, Kokkos::SharedHostPinnedSpace> host_pivots_;
};

}  // namespace heddle::impl
