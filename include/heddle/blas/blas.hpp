// Matrix products by the BLAS, on one rank.
#pragma once

#include <heddle/blas/math_mode.hpp>
#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>

#include <memory>
#include <string>
#include <type_traits>

namespace heddle::blas {

/// State shared by the matrix products on one execution space instance. With CUDA it has a cuBLAS handle and workspace
/// of its own, so that the kernels that cuBLAS chooses, and so the bits, do not depend on what runs on other instances;
/// making the first then costs about a millisecond. Up to four that no context uses any more are kept until Kokkos
/// ends, with 32 MiB of the device's memory each (twice as much after eigenvectors). Copies share it.
class Context {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): an instance is a context
  Context(const ExecutionSpace& space, MathMode math = MathMode::automatic);

  /// The instance on which the products are ordered.
  [[nodiscard]] const ExecutionSpace& space() const noexcept { return space_; }

  /// The math mode of the products.
  [[nodiscard]] MathMode math() const noexcept { return math_; }

  struct State;
  [[nodiscard]] State* state() const noexcept { return state_.get(); }

 private:
  ExecutionSpace space_;
  MathMode math_;
  std::shared_ptr<State> state_;
};

/// Whether products on contexts of different instances may run at the same time and have the bits that they have alone.
/// (On CPU backends they run one after the other.)
[[nodiscard]] bool runs_side_by_side();

/// Computes C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n, all column-major with
/// any leading dimension.
///
/// The product is that of cuBLAS with CUDA, of Kokkos Kernels on other GPUs (it calls the vendor's BLAS), and of the
/// host BLAS on CPUs. It is ordered on the context's instance and does not block on
/// GPUs. C is not read where beta == 0 (not even its NaNs); neither A nor B is read where alpha == 0 or k == 0. Throws
/// Error(argument) for shapes that don't fit, strides that are not column-major, where C shares an element with A or
/// B, and for a math mode of the context that trouble_with() refuses. Cost: 2mnk flops (8mnk for complex T).
///
/// Bits: those of the BLAS in use, a function of shape, operations and number of threads, but not of leading dimensions
/// or addresses. cuBLAS looks at leading dimensions and addresses where C has one row or column, and, in double
/// precision, at whether all columns begin on 16 bytes; operands with other layouts are then copied first, to memory
/// that the context keeps. They are copied in the mode tf32 too, which has not been examined. (Nor has rocBLAS.) Error:
/// that of a sum of k products in any order. A BLAS may multiply a factor by alpha before it multiplies the factors,
/// and what underflows in it is lost times the other factor.
template <Scalar T>
void gemm(const Context& context, Operation op_a, Operation op_b, std::type_identity_t<T> alpha,
          const MatrixView<const std::type_identity_t<T>>& A, const MatrixView<const std::type_identity_t<T>>& B,
          std::type_identity_t<T> beta, const MatrixView<T>& C);

/// The name and version of the BLAS in use, such as "OpenBLAS 0.3.21 (SkylakeX)" or "cuBLAS 13.1.0".
[[nodiscard]] std::string description();

}  // namespace heddle::blas
