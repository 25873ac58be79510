// Two-sided rotations on a whole matrix in memory: classical, cyclic, and n / 2 disjoint ones at a time.
#pragma once

#include "eigen/dense/small.hpp"
#include <heddle/eigen/jacobi.hpp>

namespace heddle::eigen::impl {

template <Scalar T> using Dense = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;
template <class R> using Values = Kokkos::View<R*, MemorySpace>;

inline constexpr const char* not_definite =
    "eigen::jacobi: A is not positive definite; accuracy \"relative\" needs that";

/// Of a tolerance that the caller gave, or 0, with neither norm nor kind. Rotations go on to u, where they cost no more
/// sweep: that much of the Frobenius norm in every element is still n u of it in all.
template <Scalar T> Criterion<Real<T>> two_sided_criterion(double tolerance, Index n) {
  using R = Real<T>;
  const R chosen = tolerance > 0 ? static_cast<R>(tolerance) : 2 * Kokkos::sqrt(static_cast<R>(n)) * unit_roundoff<T>;
  return {tolerance > 0 ? chosen : unit_roundoff<T>, chosen, R(0), false};
}

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
