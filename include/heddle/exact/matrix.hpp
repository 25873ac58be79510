// Matrices and vectors, each element rounded once.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/exact/reduce.hpp>

namespace heddle::exact {

enum class Triangle { lower, upper };
enum class Diagonal { unit, stored };

namespace compiled {

template <Scalar T>
void gemv(const ExecutionSpace& space, Operation op, T alpha, const StridedMatrix<const T>& A,
          const StridedVector<const T>& x, T beta, const StridedVector<T>& y);
template <Scalar T>
void gemm(const ExecutionSpace& space, Operation op_a, Operation op_b, T alpha, const StridedMatrix<const T>& A,
          const StridedMatrix<const T>& B, T beta, const StridedMatrix<T>& C);
template <Scalar T>
void trsv(const ExecutionSpace& space, Triangle triangle, Operation op, Diagonal diagonal,
          const StridedMatrix<const T>& A, const StridedVector<T>& x, int refinements);

}  // namespace compiled

/// y = alpha op(A) x + beta y: every element correctly rounded, for any alpha and beta: as if alpha times the exact
/// inner product plus beta y_i were computed without error and rounded once (of complex numbers, each part).
///
/// op(A) is m x n, x has n elements, y m. Any strides. beta == 0 does not read y; alpha == 0 or n == 0 reads neither A
/// nor x. Elements that overflow do so only where the exact result does; zero results of alpha other than 1 are +0.
/// Throws Error(argument) for shapes that don't fit, and where an element of y is one of A or x too. Blocks. Cost: on
/// tame data 11 flops a product (44 if complex), so mostly that of reading A; rows whose rounding these do not tell
/// (those that cancel) are summed again in integers, some 60 operations a product.
template <class ViewA, class ViewX, class ViewY>
void gemv(const ExecutionSpace& space, Operation op, typename ViewY::non_const_value_type alpha, const ViewA& A,
          const ViewX& x, typename ViewY::non_const_value_type beta, const ViewY& y) {
  using T = typename ViewY::non_const_value_type;
  compiled::gemv<T>(space, op, alpha, strided(A), strided(x), beta, strided(y));
}

/// C = alpha op(A) op(B) + beta C, every element correctly rounded, as gemv() does it. op(A) is m x k, op(B) k x n, C
/// m x n; an element of C that is one of A or B too is refused. Cost: 11 mnk flops and more where sums cancel.
template <class ViewA, class ViewB, class ViewC>
void gemm(const ExecutionSpace& space, Operation op_a, Operation op_b, typename ViewC::non_const_value_type alpha,
          const ViewA& A, const ViewB& B, typename ViewC::non_const_value_type beta, const ViewC& C) {
  using T = typename ViewC::non_const_value_type;
  compiled::gemm<T>(space, op_a, op_b, alpha, strided(A), strided(B), beta, strided(C));
}

/// Solves op(A) x = b for triangular A; x holds b before. Reproducible: x_i is b_i minus the exact inner product of
/// what is known already, rounded once, and divided by the diagonal as invscal() does it (not, if that is a unit). The
/// other triangle, and a unit diagonal, are not read.
///
/// `refinements`: so many times the residual b - op(A) x is computed, each element correctly rounded, and x corrected
/// by its solution; where residuals are denormal or overflow, solve() does better. A zero on the diagonal gives
/// infinities and NaNs, as BLAS does. Throws Error(argument) for shapes that don't fit. Blocks. Cost: that of gemv for
/// half of A, for each refinement twice that again; on GPUs one team of threads goes through A.
template <class ViewA, class ViewX>
void trsv(const ExecutionSpace& space, Triangle triangle, Operation op, Diagonal diagonal, const ViewA& A,
          const ViewX& x, int refinements = 0) {
  using T = typename ViewX::non_const_value_type;
  compiled::trsv<T>(space, triangle, op, diagonal, strided(A), strided(x), refinements);
}

}  // namespace heddle::exact
