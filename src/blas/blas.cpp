// Checks, special cases and dispatch of matrix products by the BLAS on one rank.
#include "blas/backend.hpp"
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "core/product.hpp"
#include <heddle/core/error.hpp>

namespace heddle::blas {
namespace {

template <class T> void require_column_major(const char* name, const MatrixView<T>& matrix) {
  require((matrix.extent(0) <= 1 || matrix.stride(0) == 1) &&
              (matrix.extent(1) <= 1 || matrix.stride(1) >= matrix.extent(0)),
          "blas::gemm: ", name, " has strides ", matrix.stride(0), ", ", matrix.stride(1), " for ", matrix.extent(0),
          " x ", matrix.extent(1), " elements; expected column-major");
}

}  // namespace

Context::Context(const ExecutionSpace& space, MathMode math)
    : space_(space), math_(math), state_(impl::make_backend_state(space, math)) {}

bool runs_side_by_side() {
  return impl::backend_runs_side_by_side();
}

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void gemm(const Context& context, Operation op_a, Operation op_b, std::type_identity_t<T> alpha,
          const MatrixView<const std::type_identity_t<T>>& A, const MatrixView<const std::type_identity_t<T>>& B,
          std::type_identity_t<T> beta, const MatrixView<T>& C) {
  const bool plain_a = op_a == Operation::none;
  const bool plain_b = op_b == Operation::none;
  const std::size_t m = A.extent(plain_a ? 0 : 1);
  const std::size_t k = A.extent(plain_a ? 1 : 0);
  const std::size_t n = B.extent(plain_b ? 1 : 0);
  require(B.extent(plain_b ? 0 : 1) == k && C.extent(0) == m && C.extent(1) == n, "blas::gemm: op(A) is ", m, " x ", k,
          ", op(B) is ", B.extent(plain_b ? 0 : 1), " x ", n, ", C is ", C.extent(0), " x ", C.extent(1));
  require_column_major("A", A);
  require_column_major("B", B);
  require_column_major("C", C);
  impl::require_apart("blas::gemm", "A", A, "C", C);
  impl::require_apart("blas::gemm", "B", B, "C", C);
  if (context.math() != MathMode::automatic) {
    const std::string trouble = trouble_with<T>(context.math());
    require(trouble.empty(), "blas::gemm: ", trouble);
  }
  if (m == 0 || n == 0) {
    return;
  }
  if (k > 0 && alpha != T{0}) {
    impl::backend_gemm(context, op_a, op_b, alpha, A, B, beta, C);
    return;
  }
  T* const c = C.data();
  const Index leading = impl::leading_dimension(C);
  const auto rows = static_cast<Index>(m);
  const bool overwrite = beta == T{0};
  Kokkos::parallel_for(
      "heddle::blas::scale",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(context.space(), 0, rows * static_cast<Index>(n)),
      KOKKOS_LAMBDA(Index e) {
        T& element = c[e % rows + e / rows * leading];
        element = overwrite ? T{0} : impl::product(beta, element);
      });
}

std::string description() {
  return impl::backend_description();
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template void gemm<T>(const Context&, Operation, Operation, T, const MatrixView<const T>&, \
                        const MatrixView<const T>&, T, const MatrixView<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::blas
