// Eigenvalues and eigenvectors of general matrices, in a fixed sequence of operations.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl::interpose {

/// Eigenvalues w of A, in the order of its Schur form, and where VL and VR are not null the left and right
/// eigenvectors, y^H A = w y^H and A x = w x, of length 1 and with a real largest element: column k that of eigenvalue
/// k; of conjugate pairs of a real matrix, the one with the positive imaginary part first, the real and then the
/// imaginary part of its vector. A is destroyed. By balancing, reflectors to a Hessenberg matrix and schur(); vectors
/// by substitution and multiply(). The bits of w do not depend on which vectors are wanted. Cost: 10 n^3 operations,
/// and some 15 n^3 more for vectors. Returns 0, or k where the eigenvalues up to the k-th were not found, n where A
/// holds what is no number.
template <Scalar T>
Index geev(Index n, T* A, Index leading, Kokkos::complex<Real<T>>* w, T* VL, Index leading_l, T* VR, Index leading_r);

/// The Schur form of A in its place, its eigenvalues, and the transformation in VS unless it is null: A = VS S VS^H. As
/// geev() does it, without the scaling of balancing. Returns what geev() does.
template <Scalar T> Index gees(Index n, T* A, Index leading, Kokkos::complex<Real<T>>* w, T* VS, Index leading_s);

}  // namespace heddle::impl::interpose
