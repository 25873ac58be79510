// Products and triangular systems of matrices and vectors, with each element rounded once.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/exact/reduce.hpp>

namespace heddle::exact {

/// Which triangle of a matrix is read.
enum class Triangle { lower, upper };
/// Whether a triangular matrix has ones on its diagonal, which is then not read, or the diagonal that is stored.
enum class Diagonal { unit, stored };

/// Rows that trsv() corrects together where it refines blocks.
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
/// op(A) is m x n, x has n elements, y has m. Any strides. y is not read where beta == 0; neither A nor x is read where
/// alpha == 0 or n == 0. An element overflows only where the exact result does; zero results with an alpha other than 1
/// are +0. Throws Error(argument) for shapes that don't fit, and where y shares an element with A or x. Blocks. Cost:
/// 11 flops for each product on well-behaved data (44 if complex), so mostly that of reading A. Rows whose rounding
/// these do not settle (those that cancel) are summed again in integers, with some 60 operations for each product. All
/// this is of Algorithm::automatic; others may be chosen to compare them, and copy A on the host where the elements of
/// op(A)'s rows don't lie side by side.
template <class ViewA, class ViewX, class ViewY>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void gemv(const ExecutionSpace& space, Operation op, typename ViewY::non_const_value_type alpha, const ViewA& A,
          const ViewX& x, typename ViewY::non_const_value_type beta, const ViewY& y,
          Algorithm algorithm = Algorithm::automatic) {
  using T = typename ViewY::non_const_value_type;
  compiled::gemv<T>(space, op, alpha, strided(A), strided(x), beta, strided(y), algorithm);
}

/// Computes C = alpha op(A) op(B) + beta C with every element correctly rounded, as gemv() does it. op(A) is m x k,
/// op(B) is k x n, C is m x n. Throws Error(argument) for shapes that don't fit, and where C shares an element with A
/// or B. Cost: 11 mnk flops, and more where sums cancel.
template <class ViewA, class ViewB, class ViewC>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void gemm(const ExecutionSpace& space, Operation op_a, Operation op_b, typename ViewC::non_const_value_type alpha,
          const ViewA& A, const ViewB& B, typename ViewC::non_const_value_type beta, const ViewC& C,
          Algorithm algorithm = Algorithm::automatic) {
  using T = typename ViewC::non_const_value_type;
  compiled::gemm<T>(space, op_a, op_b, alpha, strided(A), strided(B), beta, strided(C), algorithm);
}

/// Solves op(A) x = b for triangular A; x holds b on entry and the solution afterwards. Reproducible: x_i is b_i minus
/// the exact inner product of the elements found before it, rounded once, and divided by the diagonal element as
/// invscal() divides it (not with Diagonal::unit). The other triangle, and a unit diagonal, are not read.
///
/// `refinements` is how often the residual b - op(A) x is computed, with each element correctly rounded, and x
/// corrected by its solution. Where residuals are denormal or overflow, solve() does better. A zero on the diagonal
/// gives infinities and NaNs, as in BLAS. Throws Error(argument) for shapes that don't fit. Blocks. Cost: that of
/// gemv() for half of A, and twice that for each refinement; on GPUs besides the time in which n elements are rounded
/// and divided one after the other, 0.21 microseconds each on an H100.
///
/// `block_refinements` is how often each block of trsv_block rows, counted from the row that is solved first, is so
/// corrected before other rows take its x: by the solution for the residual of its own rows, each element rounded once.
/// Each costs as much as the solution does. Systems of at most trsv_block rows get the same bits by either refinement.
/// It is there on CPUs, for Algorithm::automatic and twice; otherwise it throws Error(argument).
///
/// By another `algorithm` the sums are formed as it says, those of the residuals too; on GPUs, which have no
/// accumulator in these kernels, only Algorithm::twice and plain are taken besides, and others throw Error(argument).
/// Both refinements are those that R. Iakymchuk, S. Graillat, D. Defour and E. S. Quintana-Ortí propose ("Hierarchical
/// approach for deriving a reproducible unblocked LU factorization", IJHPCA 2019, section 3).
template <class ViewA, class ViewX>
void trsv(const ExecutionSpace& space, Triangle triangle, Operation op, Diagonal diagonal, const ViewA& A,
          const ViewX& x, int refinements = 0, Algorithm algorithm = Algorithm::automatic, int block_refinements = 0) {
  using T = typename ViewX::non_const_value_type;
  compiled::trsv<T>(space, triangle, op, diagonal, strided(A), strided(x), refinements, algorithm, block_refinements);
}

}  // namespace heddle::exact
