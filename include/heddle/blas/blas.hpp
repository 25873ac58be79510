// Level-3 BLAS of one rank.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>

#include <string>

namespace heddle::blas {

/// C = alpha op(A) op(B) + beta C; op(A) is m x k, op(B) is k x n, C is m x n; all column-major with any leading
/// dimension.
///
/// Kokkos Kernels where Heddle was built with it (which calls the vendor's BLAS on GPUs), the host BLAS otherwise.
/// Ordered on `space`; does not block on GPUs. beta == 0 does not read C (NaN included); alpha == 0 or k == 0 reads
/// neither A nor B. C must not overlap A or B. Throws Error(argument) for shapes that don't fit and strides that are
/// not column-major. Bits: those of the BLAS in use: a function of shape, operations and number of threads, not of
/// leading dimensions. Cost: 2mnk flops (8mnk for complex T).
template <Scalar T>
void gemm(const ExecutionSpace& space, Operation op_a, Operation op_b, T alpha, const MatrixView<const T>& A,
          const MatrixView<const T>& B, T beta, const MatrixView<T>& C);

/// Which library does the work: "OpenBLAS 0.3.21 (SkylakeX)", "Kokkos Kernels 4.6.1".
[[nodiscard]] std::string description();

}  // namespace heddle::blas
