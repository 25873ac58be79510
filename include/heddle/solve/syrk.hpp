// Rank-k updates of one triangle, C = alpha A A^T + beta C and C = alpha A A^H + beta C, over all ranks or on one.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/exact/matrix.hpp>
#include <heddle/gemm/emulation.hpp>

#include <type_traits>

namespace heddle {

/// How a rank-k update is computed.
struct SyrkOptions {
  /// `native`: by the BLAS. `emulated`: by integers, with the same bits on any machine. `automatic`: `native`.
  Arithmetic arithmetic = Arithmetic::native;
  /// C is computed in tiles of so many rows and columns; 0 lets the library choose by n and the backend. Bits of native
  /// updates depend on it.
  Index block = 0;
  /// Of emulated products, as EmulationOptions::moduli; bits depend on it. Factors are not probed.
  int moduli = 0;
};
/// How a Hermitian rank-k update is computed: the choices are the same.
using HerkOptions = SyrkOptions;

/// How a rank-k update was computed.
struct SyrkReport {
  double seconds = 0.0;                        ///< Time of the slowest rank.
  double gflops = 0.0;                         ///< n (n + 1) k flops a second, four times as many of complex numbers.
  Arithmetic arithmetic = Arithmetic::native;  ///< The arithmetic that was used, native or emulated.
  Index block = 0;                             ///< Rows and columns of a tile.
  double multiply_adds = 0.0;                  ///< That all ranks did together: those of whole tiles on the diagonal.
};
using HerkReport = SyrkReport;

/// Computes one triangle of C = alpha A A^T + beta C (op none, A of n x k) or of C = alpha A^T A + beta C (op
/// transpose, A of k x n), C of n x n. The other triangle of C is not read and keeps its elements. As in BLAS, C is not
/// read where beta is zero, nor A where alpha or k is.
///
/// A and C may have any placement, and share no element. Algorithm: columns of C, and the vectors of A that belong to
/// them, are dealt out in blocks; the blocks of A go by, and each rank multiplies them by those of its own whose tile
/// of C is in the triangle. The next block travels while one is multiplied.
///
/// Bits: with Arithmetic::emulated *reproducible*, those of the same triangle of gemm(), GemmOptions::arithmetic being
/// emulated, with as many moduli and EmulationOptions::look false. Natively *rank-invariant*: a tile is one product of
/// the BLAS over the whole inner dimension, and tiles follow from n and SyrkOptions::block.
///
/// Error: that of the products. Cost: n^2 k flops (4 n^2 k complex) and half of a tile more for each tile on the
/// diagonal; A travels to every rank once. Memory on each rank: two blocks of A and a tile; copies of A and C where
/// they lie otherwise; of emulated products residues of this rank's share of A. Blocks. Collective. Throws
/// Error(argument), on every rank alike, for shapes that don't fit, for an operation that is not of the two (of complex
/// matrices conjugate_transpose, which herk() has), and where C shares an element with A.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
SyrkReport syrk(const Communicator& comm, exact::Triangle triangle, Operation op, std::type_identity_t<T> alpha,
                const DistributedMatrix<T>& A, std::type_identity_t<T> beta, const DistributedMatrix<T>& C,
                const SyrkOptions& options = {});
/// The same of one rank's matrices, column-major, without a communicator and without a call of MPI. Bits: those over
/// ranks.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
SyrkReport syrk(const ExecutionSpace& space, exact::Triangle triangle, Operation op, std::type_identity_t<T> alpha,
                const MatrixView<const std::type_identity_t<T>>& A, std::type_identity_t<T> beta,
                const MatrixView<T>& C, const SyrkOptions& options = {});

/// Computes one triangle of C = alpha A A^H + beta C (op none) or of C = alpha A^H A + beta C (op conjugate_transpose),
/// as syrk(), with real alpha and beta. Imaginary parts on the diagonal of C are taken to be zero, and are zero
/// afterwards. Of real matrices it is syrk().
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
HerkReport herk(const Communicator& comm, exact::Triangle triangle, Operation op, Real<std::type_identity_t<T>> alpha,
                const DistributedMatrix<T>& A, Real<std::type_identity_t<T>> beta, const DistributedMatrix<T>& C,
                const HerkOptions& options = {});
/// The same of one rank's matrices.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
HerkReport herk(const ExecutionSpace& space, exact::Triangle triangle, Operation op,
                Real<std::type_identity_t<T>> alpha, const MatrixView<const std::type_identity_t<T>>& A,
                Real<std::type_identity_t<T>> beta, const MatrixView<T>& C, const HerkOptions& options = {});

}  // namespace heddle
