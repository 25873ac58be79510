// Rank-k updates of one triangle, C = alpha A A^T + beta C and C = alpha A A^H + beta C, over all ranks or on one.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/core/triangle.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/emulation/emulation.hpp>

#include <iosfwd>
#include <type_traits>

namespace heddle {

/// Options of a rank-k update.
struct SyrkOptions {
  /// `native`: by the BLAS. `emulated`: by integers, with the same bits on any machine. `automatic`: `native`.
  Arithmetic arithmetic = Arithmetic::native;
  /// Rows and columns of a tile of C; 0 lets the library choose by n and the backend. Bits of native updates depend on
  /// it.
  Index block = 0;
  /// Number of moduli of emulated products, as EmulationOptions::moduli. Bits depend on it. Factors are not probed.
  int moduli = 0;
};
/// Options of a Hermitian rank-k update.
using HerkOptions = SyrkOptions;

/// Report of a rank-k update.
struct SyrkReport {
  double seconds = 0.0;                        ///< Time of the slowest rank.
  double gflops = 0.0;                         ///< n (n + 1) k flops a second, four times as many for complex numbers.
  Arithmetic arithmetic = Arithmetic::native;  ///< The arithmetic that was used, native or emulated.
  Index block = 0;                             ///< Rows and columns of a tile.
  double multiply_adds = 0.0;                  ///< Multiply-adds of all ranks, with whole tiles on the diagonal.
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const SyrkReport& report);
using HerkReport = SyrkReport;

/// Computes one triangle of C = alpha A A^T + beta C (op none, A of n x k) or of C = alpha A^T A + beta C (op
/// transpose, A of k x n), C of n x n. The other triangle of C is not read and keeps its elements. As in BLAS, C is not
/// read if beta is zero, nor A if alpha or k is.
///
/// A and C may have any placement, and share no element. Algorithm: columns of C, and the vectors of A that belong to
/// them, are dealt out in blocks. The blocks of A are sent to every rank in turn, which multiplies them by those of its
/// own blocks whose tile of C is in the triangle; the next block travels meanwhile.
///
/// Bits: with Arithmetic::emulated *reproducible*, those of the same triangle of gemm(), GemmOptions::arithmetic being
/// emulated, with as many moduli and EmulationOptions::look false. Natively *rank-invariant*: a tile is one BLAS
/// product over the whole inner dimension, and tiles follow from n and SyrkOptions::block.
///
/// Error: that of the products. Cost: n^2 k flops (4 n^2 k complex) and half of a tile more for each tile on the
/// diagonal; A travels to every rank once. Memory on each rank: two blocks of A and a tile; copies of A and C if they
/// are placed otherwise; for emulated products, residues of this rank's share of A. Blocks. Collective. Throws
/// Error(argument), on every rank alike, for shapes that don't fit, for any other operation (conjugate_transpose of
/// complex matrices is herk()'s), and if C shares an element with A.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
SyrkReport syrk(const Communicator& comm, Triangle triangle, Operation op, std::type_identity_t<T> alpha,
                const DistributedMatrix<T>& A, std::type_identity_t<T> beta, const DistributedMatrix<T>& C,
                const SyrkOptions& options = {});
/// syrk() of one rank's matrices, column-major, without a communicator and without a call of MPI. Bits: those over
/// ranks.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
SyrkReport syrk(const ExecutionSpace& space, Triangle triangle, Operation op, std::type_identity_t<T> alpha,
                const MatrixView<const std::type_identity_t<T>>& A, std::type_identity_t<T> beta,
                const MatrixView<T>& C, const SyrkOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
SyrkReport syrk(const ExecutionSpace& space, Triangle triangle, Operation op, std::type_identity_t<T> alpha,
                const MatrixView<const std::type_identity_t<T>>& A, std::type_identity_t<T> beta,
                const Kokkos::View<T**, Properties...>& C, const SyrkOptions& options = {}) {
  return syrk<T>(space, triangle, op, alpha, A, beta, MatrixView<T>(C), options);
}

/// Computes one triangle of C = alpha A A^H + beta C (op none) or of C = alpha A^H A + beta C (op conjugate_transpose),
/// as syrk(), with real alpha and beta. Imaginary parts on the diagonal of C are taken to be zero, and are zero
/// afterwards. For real matrices it is syrk().
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
HerkReport herk(const Communicator& comm, Triangle triangle, Operation op, Real<std::type_identity_t<T>> alpha,
                const DistributedMatrix<T>& A, Real<std::type_identity_t<T>> beta, const DistributedMatrix<T>& C,
                const HerkOptions& options = {});
/// herk() of one rank's matrices.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
HerkReport herk(const ExecutionSpace& space, Triangle triangle, Operation op, Real<std::type_identity_t<T>> alpha,
                const MatrixView<const std::type_identity_t<T>>& A, Real<std::type_identity_t<T>> beta,
                const MatrixView<T>& C, const HerkOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
HerkReport herk(const ExecutionSpace& space, Triangle triangle, Operation op, Real<std::type_identity_t<T>> alpha,
                const MatrixView<const std::type_identity_t<T>>& A, Real<std::type_identity_t<T>> beta,
                const Kokkos::View<T**, Properties...>& C, const HerkOptions& options = {}) {
  return herk<T>(space, triangle, op, alpha, A, beta, MatrixView<T>(C), options);
}

}  // namespace heddle
