// Products and triangular systems of matrices and vectors, with each element rounded once.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/core/triangle.hpp>
#include <heddle/exact/reduce.hpp>

namespace heddle::exact {

using heddle::Diagonal;
using heddle::Triangle;

/// Number of rows that trsv() corrects together when it refines blocks.
inline constexpr Index trsv_block = 64;

namespace compiled {

template <Scalar T>
void gemv(const ExecutionSpace& space, Operation op, T alpha, const StridedMatrix<const T>& A,
          const StridedVector<const T>& x, T beta, const StridedVector<T>& y,
          Algorithm algorithm = Algorithm::automatic);
template <Scalar T>
void gemm(const ExecutionSpace& space, Operation op_a, Operation op_b, T alpha, const StridedMatrix<const T>& A,
          const StridedMatrix<const T>& B, T beta, const StridedMatrix<T>& C,
          Algorithm algorithm = Algorithm::automatic);
template <Scalar T>
void trsv(const ExecutionSpace& space, Triangle triangle, Operation op, Diagonal diagonal,
          const StridedMatrix<const T>& A, const StridedVector<T>& x, int refinements,
          Algorithm algorithm = Algorithm::automatic, int block_refinements = 0);

}  // namespace compiled

/// Computes y = alpha op(A) x + beta y with every element correctly rounded, for any alpha and beta: as if alpha times
/// the exact inner product plus beta y_i were computed without error and rounded once (for complex numbers, each part).
///
/// op(A) is m x n, x has n elements, y has m. Any strides. y is not read if beta == 0; neither A nor x is read if alpha
/// == 0 or n == 0. An element overflows only if the exact result does; zero results with an alpha other than 1 are +0.
/// Throws Error(argument) for shapes that don't fit, and if y shares an element with A or x. Blocks. Cost: 11 flops for
/// each product on well-behaved data (44 if complex), so mostly that of reading A. Rows whose rounding these do not
/// settle (those that cancel) are summed again in integers, with some 60 operations for each product. All this applies
/// to Algorithm::automatic; others may be chosen for comparison, and copy A on the host if the elements of op(A)'s rows
/// are not contiguous.
template <class ViewA, class ViewX, class ViewY>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void gemv(const ExecutionSpace& space, Operation op, typename ViewY::non_const_value_type alpha, const ViewA& A,
          const ViewX& x, typename ViewY::non_const_value_type beta, const ViewY& y,
          Algorithm algorithm = Algorithm::automatic) {
  using T = typename ViewY::non_const_value_type;
  compiled::gemv<T>(space, op, alpha, strided(A), strided(x), beta, strided(y), algorithm);
}

/// Computes C = alpha op(A) op(B) + beta C with every element correctly rounded, as gemv() does. op(A) is m x k, op(B)
/// is k x n, C is m x n. Throws Error(argument) for shapes that don't fit, and if C shares an element with A or B.
/// Cost: 11 mnk flops, and more if sums cancel.
template <class ViewA, class ViewB, class ViewC>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void gemm(const ExecutionSpace& space, Operation op_a, Operation op_b, typename ViewC::non_const_value_type alpha,
          const ViewA& A, const ViewB& B, typename ViewC::non_const_value_type beta, const ViewC& C,
          Algorithm algorithm = Algorithm::automatic) {
  using T = typename ViewC::non_const_value_type;
  compiled::gemm<T>(space, op_a, op_b, alpha, strided(A), strided(B), beta, strided(C), algorithm);
}

/// Solves op(A) x = b for triangular A. On entry x holds b; on return the solution: x_i is b_i minus the exact inner
/// product with the elements found before it, rounded once, and divided by the diagonal element as by invscal(). The
/// other triangle, and a unit diagonal, are not read.
/// - Refinement (R. Iakymchuk, S. Graillat, D. Defour, E. S. Quintana-Ortí, IJHPCA 2019, section 3): x is corrected by
///   the solution for its residual, rounded once by element, `refinements` times; each block of trsv_block rows is,
///   `block_refinements` times, before other rows use it (on CPUs, for Algorithm::automatic and twice). solve() does
///   better if residuals are denormal or overflow.
/// - Errors: throws Error(argument) for shapes and what trsv_takes() denies. A zero diagonal gives infinities and NaNs.
/// - Bits: reproducible. Blocks. Cost: half of gemv(), twice that for each refinement, once for one of blocks; on GPUs
///   0.2 microseconds a row too.
template <class ViewA, class ViewX>
void trsv(const ExecutionSpace& space, Triangle triangle, Operation op, Diagonal diagonal, const ViewA& A,
          const ViewX& x, int refinements = 0, Algorithm algorithm = Algorithm::automatic, int block_refinements = 0) {
  using T = typename ViewX::non_const_value_type;
  compiled::trsv<T>(space, triangle, op, diagonal, strided(A), strided(x), refinements, algorithm, block_refinements);
}

}  // namespace heddle::exact
