// Generalised eigenproblems of symmetric and Hermitian matrices.
#include "interpose/eigen/generalised.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/level3.hpp"
#include "interpose/eigen/spectrum.hpp"
#include "interpose/lapack/factors.hpp"

#include <vector>

namespace heddle::impl::interpose {

template <Scalar T> void hegst(int type, bool lower, Index n, T* A, Index leading_a, const T* B, Index leading_b) {
  if (n == 0) return;
  std::vector<T> whole(static_cast<std::size_t>(n * n));
  const auto at = [&](Index i, Index j) -> T& { return whole[static_cast<std::size_t>(i + j * n)]; };
  for (Index j = 0; j < n; ++j) {
    at(j, j) = T(real_of<Real<T>>(A[j + j * leading_a]));
    for (Index i = lower ? j + 1 : 0; i < (lower ? n : j); ++i) {
      at(i, j) = A[i + j * leading_a];
      at(j, i) = conjugate(A[i + j * leading_a]);
    }
  }
  const char triangle = lower ? 'L' : 'U';
  // L on the left of type 1 and L^H of the others, which U is; the adjoint on the right.
  const bool as_it_is = (type == 1) == lower;
  const char left = as_it_is ? 'N' : 'C';
  const char right = as_it_is ? 'C' : 'N';
  if (type == 1) {
    trsm<T>('L', triangle, left, 'N', n, n, T{1}, B, leading_b, whole.data(), n);
    trsm<T>('R', triangle, right, 'N', n, n, T{1}, B, leading_b, whole.data(), n);
  } else {
    trmm<T>('L', triangle, left, 'N', n, n, T{1}, B, leading_b, whole.data(), n);
    trmm<T>('R', triangle, right, 'N', n, n, T{1}, B, leading_b, whole.data(), n);
  }
  for (Index j = 0; j < n; ++j) {
    A[j + j * leading_a] = T(real_of<Real<T>>(at(j, j)));
    for (Index i = lower ? j + 1 : 0; i < (lower ? n : j); ++i) A[i + j * leading_a] = at(i, j);
  }
}

template <Scalar T>
Index hegv(int type, bool vectors, bool lower, Index n, T* A, Index leading_a, T* B, Index leading_b, Real<T>* w) {
  const Index not_positive = potrf<T>(lower, n, B, leading_b);
  if (not_positive != 0) return n + not_positive;
  hegst<T>(type, lower, n, A, leading_a, B, leading_b);
  const Index not_found = heev<T>(vectors, lower, n, A, leading_a, w);
  if (not_found != 0 || !vectors || n == 0) return not_found;
  const char triangle = lower ? 'L' : 'U';
  if (type == 3) {
    trmm<T>('L', triangle, lower ? 'N' : 'C', 'N', n, n, T{1}, B, leading_b, A, leading_a);
  } else {
    trsm<T>('L', triangle, lower ? 'C' : 'N', 'N', n, n, T{1}, B, leading_b, A, leading_a);
  }
  return 0;
}

#define HEDDLE_INSTANTIATE(T)                                           \
  template void hegst<T>(int, bool, Index, T*, Index, const T*, Index); \
  template Index hegv<T>(int, bool, bool, Index, T*, Index, T*, Index, Real<T>*)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
