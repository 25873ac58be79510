// Two-sided rotations on a whole matrix in memory: classical, cyclic, and n / 2 disjoint ones at a time.
#pragma once

#include "eigen/dense/convergence.hpp"
#include "eigen/dense/matrices.hpp"

namespace heddle::eigen::impl {

/// Reaction of a relative criterion to a diagonal element that is not positive.
enum class Indefinite {
  refused,        ///< Throws Error(argument).
  turns_to_norm,  ///< Goes on with the norm's criterion, as the report's accuracy then says.
  allowed         ///< Goes on: small eigenvalues of graded matrices keep digits of their own, without a promise.
};

/// A (n x n, both triangles) becomes diagonal but for what the criterion leaves; V (n x n or without elements) is
/// multiplied by the rotations. Sets the report's sweeps, rotations, off_norms, end and converged. Blocks.
template <Scalar T>
void two_sided(const ExecutionSpace& space, const Dense<T>& A, const Dense<T>& V, Criterion<Real<T>> criterion,
               Indefinite indefinite, const JacobiOptions& options, JacobiReport& report);

/// Norms of a matrix, in sums whose order is fixed.
template <class R> struct Norms {
  R off = 0;    ///< Frobenius norm of the elements off the diagonal.
  R all = 0;    ///< Frobenius norm of all elements.
  R least = 0;  ///< Smallest element of the diagonal.
};
template <Scalar T> Norms<Real<T>> norms_of(const ExecutionSpace& space, const Dense<T>& A);

}  // namespace heddle::eigen::impl
