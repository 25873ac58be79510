// Interface of a BLAS for blas::gemm, which does checks and special cases itself.
#pragma once

#include <heddle/blas/blas.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace heddle::impl {

/// backend_gemm() for all scalars, in namespace heddle::impl.
#define HEDDLE_INSTANTIATE_BACKEND_GEMM(T)                                                                 \
  template void backend_gemm<T>(const blas::Context&, Operation, Operation, T, const MatrixView<const T>&, \
                                const MatrixView<const T>&, T, const MatrixView<T>&)

/// C = alpha op(A) op(B) + beta C with m, n, k > 0 and alpha != 0.
template <Scalar T>
void backend_gemm(const blas::Context& context, Operation op_a, Operation op_b, T alpha, const MatrixView<const T>& A,
                  const MatrixView<const T>& B, T beta, const MatrixView<T>& C);

/// Bytes of each context's workspace for cuBLAS: NVIDIA's advice for Hopper, and enough elsewhere.
inline constexpr std::size_t cublas_workspace_bytes = std::size_t{32} << 20;

std::string backend_description();
bool backend_runs_side_by_side();
/// Why no scalar's products can have this mode, other than automatic, on this backend and device; empty: some can.
std::string backend_math_trouble(MathMode mode);
/// State of a context for this backend; may be null.
std::shared_ptr<blas::Context::State> make_backend_state(const ExecutionSpace& space, MathMode math);

/// Leading dimension as BLAS wants it, also where a matrix has one column and no stride to speak of.
template <class T> Index leading_dimension(const MatrixView<T>& matrix) {
  const auto rows = static_cast<Index>(matrix.extent(0));
  const auto stride = static_cast<Index>(matrix.stride(1));
  return stride < rows ? rows : stride;
}

}  // namespace heddle::impl
