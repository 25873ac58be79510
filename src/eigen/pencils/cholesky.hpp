// The Cholesky factor whose columns one-sided rotations make orthogonal.
#pragma once

#include "eigen/dense/matrices.hpp"
#include <heddle/core/strided.hpp>

namespace heddle::eigen::impl {

/// The real parts of the diagonal, on the host.
template <Scalar T> std::vector<Real<T>> diagonal_of(const Scratch& scratch, const StridedMatrix<const T>& A);

/// Replace the lower triangle of A by L, A = L L^H, and the upper one by zeros; return false if A is not positive
/// definite. Bits: reproducible for any number of threads. Cost: n^3 / 3 flops.
template <Scalar T> bool cholesky(const Scratch& scratch, const Dense<T>& A);

/// Trailing update: subtract the product of columns begin ... end of a factor from the lower triangle of the rows and
/// columns after them.
template <Scalar T> void update_rest(const ExecutionSpace& space, const Dense<T>& A, Index begin, Index end);

/// L L^H = A(order, order), large diagonal elements first: L^H L is nearer to diagonal then than L L^H. Return the
/// least ratio of a pivot to its diagonal element, which is 1 for diagonal matrices and small if D^-1 A D^-1 is
/// ill-conditioned; 0 if A is not positive definite.
template <Scalar T>
double sorted_cholesky(const Scratch& scratch, const Dense<T>& A, std::vector<Index>& order, const Dense<T>& L);

}  // namespace heddle::eigen::impl
