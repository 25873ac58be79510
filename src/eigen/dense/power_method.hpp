// Lower bound of |A|_2 by the power method, from which shifts that make a matrix positive definite are computed. The
// bits of shifted eigenvalues depend on every number here.
#pragma once

#include "eigen/dense/matrices.hpp"
#include <heddle/comm/communicator.hpp>

#include <vector>

namespace heddle::eigen::impl {

/// An estimate of |A|_2 from below, most often within a tenth.
template <Scalar T> Real<T> norm_estimate(const ExecutionSpace& space, const Dense<T>& A);

/// Columns of a matrix that begin at `begin` of all.
template <Scalar T> struct Panel {
  MatrixView<T> columns;
  Index begin;
};
/// norm_estimate() of the n x n matrix whose columns are in the panels of all ranks, with the same bits. Collective.
template <Scalar T> Real<T> norm_estimate(const Communicator& comm, Index n, const std::vector<Panel<T>>& panels);

}  // namespace heddle::eigen::impl
