// QR factorizations of LAPACK by Householder's reflectors, on level 3's products.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl::interpose {

/// A number of elements, as containers take it.
inline std::size_t count(Index k) {
  return static_cast<std::size_t>(k);
}

/// H = I - tau v v^H with v_0 = 1 and H^H (alpha, x) = (beta, 0), beta real: alpha becomes beta, x the rest of v. Sums
/// of squares are exact and rounded once. n counts alpha.
template <Scalar T> T make_reflector(Index n, T& alpha, T* x);

/// Q R of an m x n matrix, as LAPACK keeps it: R above, the reflectors' vectors below the diagonal, their tau. Within
/// 32 columns reflectors are applied one by one, each element by an exact inner product, rounded once; 32 at once are
/// I - V S V^H for other columns, by multiply(). Nothing is checked, here and below.
template <Scalar T> void geqrf(Index m, Index n, T* A, Index leading, T* tau);
/// The first n columns of the product of k such reflectors.
template <Scalar T> void orgqr(Index m, Index n, Index k, T* A, Index leading, const T* tau);
/// C = op(Q) C (left) or C op(Q), Q the product of k reflectors; `adjoint`: op(Q) = Q^H.
template <Scalar T>
void ormqr(bool left, bool adjoint, Index m, Index n, Index k, const T* A, Index leading, const T* tau, T* C,
           Index leading_c);

}  // namespace heddle::impl::interpose
