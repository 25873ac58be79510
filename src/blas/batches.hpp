// Many eigenproblems and products of one shape by the library of a GPU's vendor.
#pragma once

#include "blas/backend.hpp"

#include <vector>

namespace heddle::impl {

/// Whether there is such a library in this build: cuSOLVER, from the release on that came with CUDA 12.6.
#if defined(KOKKOS_ENABLE_CUDA) && CUDART_VERSION >= 12060
inline constexpr bool backend_has_batches = true;
#else
inline constexpr bool backend_has_batches = false;
#endif

/// Column-major matrices of one size, at one distance in elements.
template <class T> struct BatchOperand {
  T* first;
  Index leading;
  Index stride;
};

/// Bytes of the device workspace of backend_batched_eigenvectors().
template <Scalar T> std::size_t batched_eigenvectors_bytes(const blas::Context& context, Index n, Index count);

/// The lower triangles of `count` Hermitian n x n matrices, one after another without gaps, give way to eigenvectors,
/// and w (n for each) to the eigenvalues, ascending; info: 0 for each matrix whose iteration converged
/// (cusolverDnXsyevBatched). Vectors are not always orthonormal (pytorch/pytorch issue 192483). Ordered on the
/// context's instance. Bits: none.
template <Scalar T>
void backend_batched_eigenvectors(const blas::Context& context, Index n, Index count, T* A, Real<T>* w, int* info);

/// C_b = op(A_b) B_b, m x n of k terms, for the numbers b in `numbers`, of which `chosen` is a copy in device memory.
/// Ordered on the context's instance. Bits: none.
template <Scalar T>
void backend_batched_gemm(const blas::Context& context, Operation op_a, Index m, Index n, Index k,
                          const BatchOperand<const T>& A, const BatchOperand<const T>& B, const BatchOperand<T>& C,
                          const std::vector<int>& numbers, const Kokkos::View<int*, MemorySpace>& chosen);

}  // namespace heddle::impl
