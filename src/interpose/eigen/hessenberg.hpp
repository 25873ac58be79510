// General square matrices made Hessenberg, in a fixed sequence of operations.
#pragma once

#include <heddle/core/scalar.hpp>

#include <vector>

namespace heddle::impl::interpose {

/// H = Q^H A Q, zeros below the first subdiagonal, of rows and columns low ... high - 1 of an n x n matrix that is
/// triangular outside: H in A's place, with the reflectors' vectors in place of the zeros as LAPACK keeps them, and tau
/// of n - 1. Reflector after reflector; every element has its operations in one order, whatever the number of threads.
/// Cost: 10/3 n^3 operations.
template <Scalar T> void gehrd(Index n, Index low, Index high, T* A, Index leading, T* tau);
/// Q of these reflectors, n x n.
template <Scalar T> std::vector<T> orghr(Index n, Index low, Index high, const T* A, Index leading, const T* tau);

}  // namespace heddle::impl::interpose
