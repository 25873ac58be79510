// Two-sided rotations on a whole matrix in memory: classical, cyclic, and n / 2 disjoint ones at a time.
#pragma once

#include "eigen/dense/convergence.hpp"
#include "eigen/dense/matrices.hpp"

namespace heddle::eigen::impl {

/// A (n x n, both triangles) becomes diagonal but for what the criterion leaves; V (n x n or without elements) is
/// multiplied by the rotations. Sets the report's sweeps, rotations, off_norms, end and converged. Blocks.
template <Scalar T>
void two_sided(const ExecutionSpace& space, const Dense<T>& A, const Dense<T>& V, Criterion<Real<T>> criterion,
               bool may_turn_to_norm, const JacobiOptions& options, JacobiReport& report);

/// Norms of a matrix, in sums whose order is fixed.
template <class R> struct Norms {
  R off = 0;    ///< Frobenius, of what is off the diagonal.
  R all = 0;    ///< Frobenius.
  R least = 0;  ///< Of the diagonal.
};
template <Scalar T> Norms<Real<T>> norms_of(const ExecutionSpace& space, const Dense<T>& A);

}  // namespace heddle::eigen::impl
