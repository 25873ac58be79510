// Least squares by singular values and by QR.
#pragma once

#include <heddle/core/scalar.hpp>

#include <vector>

namespace heddle::impl::interpose {

/// The shortest of the x that minimise |b - A x|, for each column b of B, which has max(m, n) rows; x takes the place
/// of its first n. Singular values up to `relative` times the largest are zeros. If A has more rows than columns,
/// the elements after x have the length of b - A x, if the rank is full. B = U^H B and V X are products of matrices,
/// each column of B scaled by a power of two. `values`: all min(m, n) of them; `V`, n x min(m, n), is set unless it is
/// null. Returns how many did not converge, 0 but for matrices with NaN or infinity, for which nothing is done.
template <Scalar T>
Index solve_by_svd(Index m, Index n, Index columns, const T* A, Index leading, T* B, Index leading_b, Real<T> relative,
                   std::vector<Real<T>>& values, Index& rank, std::vector<T>* V);

/// The same of matrices of full rank, by QR of A, or of A^H where it has more columns than rows; with `adjoint` of A^H
/// x = b. A becomes R and the reflectors, as LAPACK keeps those of QR or LQ. Returns the number of the first zero on
/// R's diagonal, with B as it was, or 0.
template <Scalar T>
Index solve_by_qr(bool adjoint, Index m, Index n, Index columns, T* A, Index leading, T* B, Index leading_b);

}  // namespace heddle::impl::interpose
