// Eigenproblems of two symmetric or Hermitian matrices, of which one is positive definite.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl::interpose {

/// The matrix whose eigenvalues those of a pair are, into A's triangle, from Cholesky factors in B's (L, or U = L^H):
/// L^-1 A L^-H for problems of type 1, A x = w B x, and L^H A L for types 2, A B x = w x, and 3, B A x = w x. By trsm()
/// and trmm() on both sides of the whole matrix, 2 n^3 operations.
template <Scalar T> void hegst(int type, bool lower, Index n, T* A, Index leading_a, const T* B, Index leading_b);

/// Eigenvalues w, ascending, and vectors where they are wanted, which take A's place: V^H B V = I for types 1 and 2,
/// V^H B^-1 V = I for type 3. B's triangle becomes its Cholesky factor. By potrf(), hegst() and heev();
/// vectors by trsm() or trmm(). Returns 0, heev()'s number, or n + the order of the first leading minor of
/// B that is not positive.
template <Scalar T>
Index hegv(int type, bool vectors, bool lower, Index n, T* A, Index leading_a, T* B, Index leading_b, Real<T>* w);

}  // namespace heddle::impl::interpose
