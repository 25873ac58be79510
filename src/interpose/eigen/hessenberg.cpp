// Reduction of general square matrices to Hessenberg form.
#include "interpose/eigen/hessenberg.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/eigen/fixed_order.hpp"
#include "interpose/lapack/ordered_reflectors.hpp"
#include "interpose/lapack/reflectors.hpp"

namespace heddle::impl::interpose {
namespace {

// Elements that a thread is worth.
constexpr Index worth = 60000;
int threads_for(Index elements) {
  return static_cast<int>(std::min<Index>(usual_threads(), elements / worth + 1));
}

// sums_i = sum_j A_ij v_j of `rows` rows.
template <Scalar T>
void multiply_columns(Index rows, Index columns, const T* A, Index leading, const T* v, std::vector<T>& sums) {
  sums.assign(static_cast<std::size_t>(rows), T{0});
  in_parts(rows, threads_for(rows * columns), [&](Index begin, Index end) {
    for (Index j = 0; j < columns; ++j) {
      const T* const column = A + j * leading;
      for (Index i = begin; i < end; ++i) sums[static_cast<std::size_t>(i)] += product(column[i], v[j]);
    }
  });
}

}  // namespace

template <Scalar T> void gehrd(Index n, Index low, Index high, T* A, Index leading, T* tau) {
  const Arithmetic arithmetic;
  std::fill_n(tau, std::max<Index>(0, n - 1), T{0});
  std::vector<T> v;
  std::vector<T> sums;
  for (Index k = low; k + 1 < high; ++k) {
    const Index size = high - k - 1;
    T* const own = A + k + 1 + k * leading;
    tau[k] = make_reflector(size, own[0], own + 1);
    if (tau[k] == T{0}) continue;
    v.assign(own, own + size);
    v[0] = T{1};
    // A (I - tau v v^H), and (I - conj(tau) v v^H) from the left: a column is read once for both.
    multiply_columns(high, size, A + (k + 1) * leading, leading, v.data(), sums);
    in_parts(n - k - 1, threads_for(high * (n - k - 1)), [&](Index begin, Index end) {
      for (Index j = begin; j < end; ++j) {
        T* const column = A + (k + 1 + j) * leading;
        if (j < size) {
          const T factor = product(tau[k], conjugate(v[static_cast<std::size_t>(j)]));
          for (Index i = 0; i < high; ++i) column[i] -= product(sums[static_cast<std::size_t>(i)], factor);
        }
        const T factor = product(conjugate(tau[k]), fixed_dot(size, v.data(), column + k + 1));
        for (Index i = 0; i < size; ++i) column[k + 1 + i] -= product(v[static_cast<std::size_t>(i)], factor);
      }
    });
  }
}

template <Scalar T> std::vector<T> orghr(Index n, Index low, Index high, const T* A, Index leading, const T* tau) {
  std::vector<T> Q(static_cast<std::size_t>(n * n), T{0});
  for (Index i = 0; i < n; ++i) Q[static_cast<std::size_t>(i + i * n)] = T{1};
  const Index size = high - low - 1;
  if (size <= 0) return Q;
  const std::vector<T> inner = ordered_orgqr(size, A + low + 1 + low * leading, leading, tau + low);
  for (Index j = 0; j < size; ++j) {
    std::copy_n(inner.data() + j * size, size, Q.data() + low + 1 + (low + 1 + j) * n);
  }
  return Q;
}

#define HEDDLE_INSTANTIATE(T)                                 \
  template void gehrd<T>(Index, Index, Index, T*, Index, T*); \
  template std::vector<T> orghr<T>(Index, Index, Index, const T*, Index, const T*)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
