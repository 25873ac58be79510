// Vectors that rotations begin at: how orthogonal they are, made orthonormal, and the matrix in their basis.
#pragma once

#include "eigen/dense/matrices.hpp"
#include <heddle/blas/blas.hpp>

namespace heddle::eigen::impl {

/// Q becomes the nearest matrix with orthonormal columns, by Newton and Schulz: Q (3 I - Q^H Q) / 2, as often as it
/// takes; false where Q is too far from one.
template <Scalar T> bool orthonormalise(const Scratch& scratch, const blas::Context& context, const Dense<T>& Q);

/// The largest |x_i^H x_j| / (|x_i| |x_j|) of two columns, by a product: faster than a sweep that finds nothing, on
/// GPUs.
template <Scalar T>
Real<T> largest_cosine(const Scratch& scratch, const blas::Context& context, const MatrixView<T>& X);

/// M = Q^H A Q, each element as if computed in twice the precision and rounded once.
template <Scalar T> void transform(const Scratch& scratch, const Dense<T>& A, const Dense<T>& Q, const Dense<T>& M);

/// C = A B, each element as if computed in twice the precision and rounded once.
template <Scalar T>
void doubled_product(const ExecutionSpace& space, const Dense<T>& A, const Dense<T>& B, const Dense<T>& C);

}  // namespace heddle::eigen::impl
