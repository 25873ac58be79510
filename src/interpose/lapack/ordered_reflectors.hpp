// QR factorizations as those of reflectors.hpp, but reflector after reflector by sums of eight partial ones, in place
// of products of matrices: for singular values and QR with pivoting.
#pragma once

#include <heddle/core/scalar.hpp>

#include <vector>

namespace heddle::impl::interpose {

/// Q R of an m x n matrix, m >= n, as geqrf() leaves it. Sixteen reflectors at a time go over each column; every
/// element has its operations in one order, whatever the number of threads, here and below.
template <Scalar T> void ordered_geqrf(Index m, Index n, T* A, Index leading, T* tau);
/// C = Q C or Q^H C, m x n, of the first `count` reflectors that A holds.
template <Scalar T>
void ordered_ormqr(bool adjoint, Index m, Index n, Index count, const T* A, Index leading, const T* tau, T* C,
                   Index leading_c);
/// Q of n reflectors of n rows, by columns.
template <Scalar T> std::vector<T> ordered_orgqr(Index n, const T* A, Index leading, const T* tau);

}  // namespace heddle::impl::interpose
