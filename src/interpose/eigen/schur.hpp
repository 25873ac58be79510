// The Schur form of general matrices, in a fixed sequence of operations.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl::interpose {

/// H = Z S Z^H of a Hessenberg matrix, triangular outside of rows and columns low ... high - 1, whose largest elements
/// are near 1: S is upper triangular, of real numbers with blocks of two on the diagonal for conjugate pairs, whose
/// diagonal elements are alike and others of different signs. By Francis's implicit QR steps with two shifts, of
/// complex numbers with one (J. G. F. Francis, Comput. J. 4, 1961 and 1962), subdiagonal elements are dropped as M.
/// Ahues and F. Tisseur say (LAPACK Working Note 122, 1997). S takes H's place where it is wanted (`whole`), else H is
/// destroyed; Z, n x n, is multiplied by the transformations unless it is null. w are the eigenvalues, the same bits
/// whatever is wanted besides. Elements that a sweep does not read are reflected after it, by several threads;
/// every element has its operations in one order. Cost: about 10 n^3 operations for S and Z. Returns 0, or k where the
/// eigenvalues up to the k-th were not found.
template <Scalar T>
Index schur(bool whole, Index n, Index low, Index high, T* H, Index leading, Kokkos::complex<Real<T>>* w, T* Z,
            Index leading_z);

}  // namespace heddle::impl::interpose
