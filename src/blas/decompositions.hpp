// Whole eigenproblems by the libraries that tridiagonalise: LAPACK on the host, cuSOLVER and rocSOLVER on GPUs.
#pragma once

#include <heddle/blas/blas.hpp>

/// backend_eigenvectors() for all scalars, in namespace heddle::impl.
#define HEDDLE_INSTANTIATE_BACKEND_EIGENVECTORS(T)                                  \
  template void backend_eigenvectors<T>(const blas::Context&, const MatrixView<T>&, \
                                        const Kokkos::View<Real<T>*, MemorySpace>&)

namespace heddle::impl {

/// Whether there is one in this build.
bool backend_has_eigenvectors();

/// The lower triangle of Hermitian A (column-major) gives way to its orthonormal eigenvectors, w to the eigenvalues,
/// ascending (LAPACK's syevd and heevd, cusolverDnXsyevd). Blocks. Throws Error(computation) where it does not
/// converge. Bits: none.
template <Scalar T>
void backend_eigenvectors(const blas::Context& context, const MatrixView<T>& A,
                          const Kokkos::View<Real<T>*, MemorySpace>& w);

}  // namespace heddle::impl
