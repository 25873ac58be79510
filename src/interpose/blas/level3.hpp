// The other products and systems of BLAS 3, all of which stand on multiply(): their blocks are part of what they
// compute, so that bits are the same everywhere.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl::interpose {

/// Matrices are column-major; letters are Fortran's, in capitals. Each returns 0, or does nothing and returns the
/// position among Fortran's arguments of the first one that is wrong.

/// C = alpha A B + beta C (side L) or alpha B A + beta C (R), A symmetric, or Hermitian: multiply() with all of A.
template <Scalar T, bool hermitian>
int symm(char side, char triangle, Index m, Index n, T alpha, const T* A, Index leading_a, const T* B, Index leading_b,
         T beta, T* C, Index leading_c);
/// C = alpha A op(A) + beta C (N) or alpha op(A) A + beta C (T, C): the triangle of multiply()'s result. For Hermitian
/// C the scalars are real, and so is the diagonal afterwards.
template <Scalar T, bool hermitian>
int syrk(char triangle, char op, Index n, Index k, T alpha, const T* A, Index leading_a, T beta, T* C, Index leading_c);
/// C = alpha P + (alpha P)^T + beta C, P = A B^T (N) or A^T B; of Hermitian C with conjugates. P is multiply()'s, the
/// two terms are rounded and added.
template <Scalar T, bool hermitian>
int syr2k(char triangle, char op, Index n, Index k, T alpha, const T* A, Index leading_a, const T* B, Index leading_b,
          T beta, T* C, Index leading_c);
/// B = alpha op(A) B or alpha B op(A), A triangular: multiply() with zeros for the other triangle. If A or B holds
/// NaN or infinity, B holds sums of the triangle's elements alone, rounded once.
template <Scalar T>
int trmm(char side, char triangle, char op, char diagonal, Index m, Index n, T alpha, const T* A, Index leading_a, T* B,
         Index leading_b);
/// Solves op(A) X = alpha B or X op(A) = alpha B; X takes B's place. Half of the unknowns after the other,
/// in multiples of 64, with multiply() between them; up to 64, each element is its right side minus the exact sum of
/// products, rounded once, and divided.
template <Scalar T>
int trsm(char side, char triangle, char op, char diagonal, Index m, Index n, T alpha, const T* A, Index leading_a, T* B,
         Index leading_b);

}  // namespace heddle::impl::interpose
