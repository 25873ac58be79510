// Eigenvalues and vectors of a pencil: how well they solve it, and a step of refinement in twice the precision.
#pragma once

#include "eigen/dense/matrices.hpp"
#include <heddle/eigen/jacobi.hpp>

#include <optional>
#include <vector>

namespace heddle::eigen::impl {

/// Eigenvalues, in any order, and S-orthonormal vectors of a pencil; no vectors where they are not wanted.
template <Scalar T> struct Pairs {
  std::vector<double> values;
  Dense<T> vectors;
};

/// Eigenvalues and orthonormal vectors of M, by rotations from both sides of every
/// element that is not small beside its own row and column, the largest diagonal elements first: they keep a grading.
template <Scalar T>
[[nodiscard]] Pairs<T> by_graded_rotations(const ExecutionSpace& space, const Dense<T>& M, const JacobiOptions& options,
                                           JacobiReport& report);

/// The largest of |H c_j - w_j S c_j| / (n u (|H|_F + |w_j| |S|_F) |c_j|) and of |c_i^H S c_j - delta_ij| / (n u |S|_F
/// |c_i| |c_j|), in working precision: by the library's products, or, where bits must be reproducible, by our own.
template <Scalar T>
[[nodiscard]] double backward_error(const ExecutionSpace& space, const Dense<T>& H, const Dense<T>& S,
                                    const Pairs<T>& pairs, bool reproducible);

/// The pencil in the basis of vectors that nearly solve it, C^H H C and C^H S C, in twice the precision, and its
/// rotations: what is left of it is small, and so are the angles. None where C^H S C is not positive definite.
///
/// Rows are ordered by |h_ii| / s_ii, ascending, before C^H S C = L L^H: so L^-1 adds small rows of C^H H C to large
/// ones, and rounded elements off the diagonal of C^H S C do not bring large rows into small ones. Elements h_ij have
/// errors of u^2 |c_i|^H |H| |c_j|. Each eigenvalue is found to some u of its own size where that is small beside
/// sqrt(w_i w_j), as it is of definite pencils whose vectors have small components in rows with large h_kk.
template <Scalar T>
[[nodiscard]] std::optional<Pairs<T>> refined(const ExecutionSpace& space, const Dense<T>& H, const Dense<T>& S,
                                              const Pairs<T>& pairs, const JacobiOptions& options,
                                              JacobiReport& report);

}  // namespace heddle::eigen::impl
