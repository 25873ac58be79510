// Eigenvectors of Schur forms, in a fixed sequence of operations.
#pragma once

#include <heddle/core/scalar.hpp>

#include <vector>

namespace heddle::impl::interpose {

/// Vectors x of (S - w) x = 0, or y of y^H (S - w) = 0, of the Schur form that schur() leaves, n x n, by substitution:
/// column k that of eigenvalue k; of conjugate pairs of real matrices the real part, then the imaginary one, of the
/// first's. If eigenvalues are alike, their difference is taken to be a round-off of them, and columns whose
/// elements would overflow are scaled by powers of two. Cost: n^3 / 3 operations.
template <Scalar T> std::vector<T> schur_vectors(bool left, Index n, const T* S, Index leading);

}  // namespace heddle::impl::interpose
