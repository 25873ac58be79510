// Eigenvalues and eigenvectors of symmetric and Hermitian matrices, in a fixed sequence of operations.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl::interpose {

/// A = V diag(w) V^H, w ascending; V takes A's place where it is wanted, else A is destroyed. One triangle is read. By
/// reflectors to a tridiagonal matrix, from the end where the larger elements are, and that by QL or QR with implicit
/// shifts (H. Bowdler, R. S. Martin, C. Reinsch, J. H. Wilkinson, Numer. Math. 11, 1968; A. Dubrulle, R. S. Martin, J.
/// H. Wilkinson, Numer. Math. 12, 1968), whichever begins at the smaller elements, so that those of graded matrices
/// keep their digits. If ten steps do not find an eigenvalue, every second one takes no shift, which brings the
/// smaller elements to the beginning from between larger ones. Sums have eight partial ones, whatever vectors the
/// processor has; every element of V has its operations in one order, whatever the number of threads. Cost: 4 n^3
/// operations, and about 5 n^3 more for V. Returns 0, or the number of the eigenvalue that was not found.
template <Scalar T> Index heev(bool vectors, bool lower, Index n, T* A, Index leading, Real<T>* w);

}  // namespace heddle::impl::interpose
