// Copies of matrices that eigensolvers begin with: a whole Hermitian matrix, one by other rows and columns, an
// adjoint, the identity.
#pragma once

#include "eigen/dense/matrices.hpp"
#include <heddle/core/strided.hpp>

namespace heddle::eigen::impl {

/// All of a Hermitian matrix of which one triangle is given, W being T or the wider type.
template <Scalar W, Scalar T>
[[nodiscard]] Dense<W> whole(const ExecutionSpace& space, const StridedMatrix<const T>& A, bool upper);

/// A(order, order)
template <Scalar T>
[[nodiscard]] Dense<T> permuted(const ExecutionSpace& space, const Dense<T>& A, const Values<Index>& order);

/// A^H
template <Scalar T> [[nodiscard]] Dense<T> adjoint(const Scratch& scratch, const Dense<T>& A);

/// The identity of n rows.
template <Scalar T> [[nodiscard]] Dense<T> identity(const ExecutionSpace& space, Index n);

/// to = from, rounded to T.
template <Scalar T, Scalar W>
void copy_rounded(const ExecutionSpace& space, const Dense<W>& from, const StridedMatrix<T>& to);

}  // namespace heddle::eigen::impl
