// Cholesky factors with complete pivoting, and triangular systems with them.
#pragma once

#include "eigen/dense/matrices.hpp"
#include <heddle/core/triangle.hpp>

#include <vector>

namespace heddle::eigen::impl {

/// Result of a factorization.
struct PivotedCholesky {
  std::vector<Index> order;  ///< Row r of L is row order[r] of A.
  double least = 1;          ///< The least share that a pivot has of its diagonal element.
  Index failed = -1;         ///< The pivot, counted from 0, that was too small; -1 where A is positive definite.
  Index row = -1;            ///< The row of A of that pivot.
  double share = 0;          ///< Ratio of that pivot to its diagonal element.
};

/// A(order, order) = L L^H; L, lower triangular with zeros above, takes the place of A, whose lower triangle is read.
/// The largest pivot that is left comes first, so that columns of L are graded and |l_ij| <= l_jj. A pivot of at most
/// `least_share` of its diagonal element ends it, with L undefined. Blocks. Bits: reproducible for any number of
/// threads. Cost: n^3 / 3 flops.
template <Scalar T>
[[nodiscard]] PivotedCholesky pivoted_cholesky(const ExecutionSpace& space, const Dense<T>& A, double least_share);

/// X = A^-1 X for a triangular A with a real diagonal; the other triangle is not read. Ordered on `space`. Bits:
/// reproducible for any number of threads. Cost: n^2 flops for each column of X.
template <Scalar T>
void solve_triangular(const ExecutionSpace& space, Triangle triangle, const Dense<T>& A, const MatrixView<T>& X);

}  // namespace heddle::eigen::impl
