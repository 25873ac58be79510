// Level-3 BLAS of one rank.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>

#include <memory>
#include <string>
#include <type_traits>

namespace heddle::blas {

/// What the products on one execution space instance share: with CUDA a cuBLAS handle and workspace of its own, so that
/// the kernels that cuBLAS chooses, and so the bits, do not depend on what runs on other instances. Making one costs
/// about a millisecond there; copies share it.
class Context {
 public:
  Context(const ExecutionSpace& space);  // NOLINT(google-explicit-constructor): an instance is a context

  [[nodiscard]] const ExecutionSpace& space() const noexcept { return space_; }

  struct State;
  [[nodiscard]] State* state() const noexcept { return state_.get(); }

 private:
  ExecutionSpace space_;
  std::shared_ptr<State> state_;
};

/// Whether products on contexts of different instances run side by side with the bits they have alone. (On CPU backends
/// they run one after the other.)
[[nodiscard]] bool runs_side_by_side();

/// C = alpha op(A) op(B) + beta C; op(A) is m x k, op(B) is k x n, C is m x n; all column-major with any leading
/// dimension.
///
/// cuBLAS with CUDA; else Kokkos Kernels where Heddle was built with it (which calls the vendor's BLAS on GPUs), the
/// host BLAS otherwise. Ordered on the context's instance; does not block on GPUs. beta == 0 does not read C (NaN
/// included); alpha == 0 or k == 0 reads neither A nor B. Throws Error(argument) for shapes that don't fit,
/// strides that are not column-major, and where an element of C is one of A or B too. Bits: those of the BLAS in use: a
/// function of shape, operations and number of threads, not of leading dimensions or addresses. cuBLAS looks at both
/// where C has one row or column, and in double precision at whether all columns begin on 16 bytes: what is not as it
/// is to be then is copied first, to memory that the context keeps. (Of rocBLAS nobody has looked.) Errors: those of a
/// sum of k products in any order; a BLAS may multiply a factor by alpha before it multiplies the factors, and what
/// underflows there is lost times the other factor. Cost: 2mnk flops (8mnk for complex T).
template <Scalar T>
void gemm(const Context& context, Operation op_a, Operation op_b, std::type_identity_t<T> alpha,
          const MatrixView<const std::type_identity_t<T>>& A, const MatrixView<const std::type_identity_t<T>>& B,
          std::type_identity_t<T> beta, const MatrixView<T>& C);

/// Which library does the work: "OpenBLAS 0.3.21 (SkylakeX)", "cuBLAS 13.1.0".
[[nodiscard]] std::string description();

}  // namespace heddle::blas
