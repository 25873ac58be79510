// Factorizations of LAPACK and what is solved with them, on level 3's products: of LU half of the columns after the
// other, of Cholesky blocks of 64; within 64 columns each element takes the exact sum of its products, rounded once.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl::interpose {

/// P L U of an m x n matrix by partial pivoting, of complex numbers by |Re| + |Im|, the first of equals; pivots count
/// from 1. Returns the number of the first pivot that is zero, or 0. Nothing here is checked.
template <Scalar T, class I> Index getrf(Index m, Index n, T* A, Index leading, I* pivots);
/// Solves op(A) X = B with these factors; B becomes X.
template <Scalar T, class I>
void getrs(char op, Index n, Index columns, const T* A, Index leading, const I* pivots, T* B, Index leading_b);
/// A^-1 from these factors. Returns the number of the first zero on U's diagonal, or 0.
template <Scalar T, class I> Index getri(Index n, T* A, Index leading, const I* pivots);
/// L L^H or U^H U of a positive definite matrix. Returns the order of the first leading minor that is not positive, or
/// 0.
template <Scalar T> Index potrf(bool lower, Index n, T* A, Index leading);
/// Solves A X = B with these factors.
template <Scalar T> void potrs(bool lower, Index n, Index columns, const T* A, Index leading, T* B, Index leading_b);
/// Solves op(A) X = B with a triangle. Returns the number of the first zero on its diagonal, with nothing done, or 0.
template <Scalar T>
Index trtrs(bool lower, char op, bool unit, Index n, Index columns, const T* A, Index leading, T* B, Index leading_b);
/// The inverse of a triangle. Returns the number of the first zero on its diagonal, or 0.
template <Scalar T> Index trtri(bool lower, bool unit, Index n, T* A, Index leading);

}  // namespace heddle::impl::interpose
