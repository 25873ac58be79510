// Largest cosine between columns, and orthonormalisation in working precision.
#include "eigen/dense/orthonormal.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/copies.hpp"
#include "eigen/dense/rotation.hpp"

#include <algorithm>

namespace heddle::eigen::impl {

using heddle::impl::for_each_element;

template <Scalar T>
Real<T> largest_cosine(const Scratch& scratch, const blas::Context& context, const MatrixView<T>& X) {
  using R = Real<T>;
  const ExecutionSpace& space = context.space();
  const auto n = static_cast<Index>(X.extent(1));
  const Dense<T> G = dense<T>(scratch, "heddle::eigen::inner_products", n, n);
  blas::gemm<T>(context, Operation::conjugate_transpose, Operation::none, T(1), X, X, T(0), G);
  const R worst = largest_in_columns<R>(
      space, "heddle::eigen::largest_cosine", n, true, KOKKOS_LAMBDA(Index i, Index j) {
        const R size = magnitude(G(i, j));
        const R length = Kokkos::sqrt(real_part(G(j, j)));
        return size > 0 ? size / (length * Kokkos::sqrt(real_part(G(i, i)))) : R(0);
      });
  return std::max(worst, R(0));
}

template <Scalar T> bool orthonormalise(const Scratch& scratch, const blas::Context& context, const Dense<T>& Q) {
  using R = Real<T>;
  const ExecutionSpace& space = context.space();
  const auto n = static_cast<Index>(Q.extent(1));
  const Dense<T> G = dense<T>(scratch, "heddle::eigen::inner_products", n, n);
  Dense<T> next;
  const R enough = static_cast<R>(n) * unit_roundoff<T> / 8 + 4 * unit_roundoff<T>;
  R before = 1;
  while (true) {
    blas::gemm<T>(context, Operation::conjugate_transpose, Operation::none, T(1), Q, Q, T(0), G);
    const R worst = largest_in_columns<R>(
        space, "heddle::eigen::orthogonality", n, false,
        KOKKOS_LAMBDA(Index i, Index j) { return magnitude(T(G(i, j) - (i == j ? T(1) : T(0)))); });
    if (worst <= enough) {
      return true;
    }
    // It converges quadratically from less than 1 in the 2-norm; from more, or where rounding stops it, not.
    if (!(worst < before / 2)) {
      return worst <= 8 * enough;
    }
    before = worst;
    for_each_element(
        space, "heddle::eigen::newton_schulz", n, n,
        KOKKOS_LAMBDA(Index i, Index j) { G(i, j) = (i == j ? T(R(1.5)) : T(0)) - G(i, j) * R(0.5); });
    if (next.size() == 0) {
      next = dense<T>(scratch, "heddle::eigen::next_vectors", static_cast<Index>(Q.extent(0)), n);
    }
    blas::gemm<T>(context, Operation::none, Operation::none, T(1), Q, G, T(0), next);
    Kokkos::deep_copy(space, flat(Q), flat(next));
  }
}

#define HEDDLE_INSTANTIATE(T)                                                             \
  template bool orthonormalise<T>(const Scratch&, const blas::Context&, const Dense<T>&); \
  template Real<T> largest_cosine<T>(const Scratch&, const blas::Context&, const MatrixView<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
