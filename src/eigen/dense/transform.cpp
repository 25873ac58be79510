// A matrix in the basis of vectors that are nearly its eigenvectors: elements off the diagonal are small differences of
// much larger products, so twice the precision is used.
#include "core/instantiate.hpp"
#include "eigen/dense/copies.hpp"
#include "eigen/dense/orthonormal.hpp"
#include <heddle/exact/expansion.hpp>

#ifdef __FAST_MATH__
#error "eigen/dense/transform.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::eigen::impl {
namespace {

using heddle::impl::on_host;

// sum += a b in twice the precision; of complex numbers, each part by two products.
template <RealScalar R> KOKKOS_INLINE_FUNCTION void add_product(R& sum, R& rest, R a, R b) {
  R product = a;
  R error = b;
  exact::two_product(product, error);
  R carried = product;
  exact::two_sum(sum, carried);
  rest += carried + error;
}

// Inner products of some rows, in twice the precision.
template <Scalar T, int rows> struct DoubledSums {
  using R = Real<T>;
  static constexpr int parts = is_complex<T> ? 2 : 1;
  R sum[parts][rows] = {};
  R rest[parts][rows] = {};

  KOKKOS_INLINE_FUNCTION void add(int i, const T& a, const T& b, const T& b_rest) {
    if constexpr (is_complex<T>) {
      add_product(sum[0][i], rest[0][i], a.real(), b.real());
      add_product(sum[0][i], rest[0][i], -a.imag(), b.imag());
      add_product(sum[1][i], rest[1][i], a.real(), b.imag());
      add_product(sum[1][i], rest[1][i], a.imag(), b.real());
      const T more = a * b_rest;
      rest[0][i] += more.real();
      rest[1][i] += more.imag();
    } else {
      add_product(sum[0][i], rest[0][i], a, b);
      rest[0][i] += a * b_rest;
    }
  }
  /// The sum, rounded; `left` is what that lost.
  KOKKOS_INLINE_FUNCTION T get(int i, T& left) {
    for (int part = 0; part < parts; ++part) {
      exact::two_sum(sum[part][i], rest[part][i]);
    }
    if constexpr (is_complex<T>) {
      left = T(rest[0][i], rest[1][i]);
      return T(sum[0][i], sum[1][i]);
    } else {
      left = rest[0][i];
      return sum[0][i];
    }
  }
};

// C + C_rest = A (B + B_rest).
template <Scalar T>
void doubled_product(const ExecutionSpace& space, const Dense<T>& A, const Dense<T>& B, const Dense<T>& B_rest,
                     const Dense<T>& C, const Dense<T>& C_rest) {
  const auto m = static_cast<Index>(A.extent(0));
  const auto inner = static_cast<Index>(A.extent(1));
  const auto n = static_cast<Index>(B.extent(1));
  const bool has_rest = B_rest.size() > 0;
  const bool wants_rest = C_rest.size() > 0;
  constexpr int rows = on_host ? 32 : 1;
  const Index chunks = (m + rows - 1) / rows;
  Kokkos::parallel_for(
      "heddle::eigen::doubled_product",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, chunks * n), KOKKOS_LAMBDA(Index at) {
        const Index j = at / chunks;
        const Index begin = at % chunks * rows;
        const int count = m - begin < rows ? static_cast<int>(m - begin) : rows;
        DoubledSums<T, rows> sums;
        for (Index k = 0; k < inner; ++k) {
          const T b = B(k, j);
          const T b_rest = has_rest ? B_rest(k, j) : T(0);
          const T* const a = &A(begin, k);
#ifdef __GNUC__
#pragma GCC ivdep
#endif
          for (int i = 0; i < count; ++i) {
            sums.add(i, a[i], b, b_rest);
          }
        }
        for (int i = 0; i < count; ++i) {
          T left;
          C(begin + i, j) = sums.get(i, left);
          if (wants_rest) {
            C_rest(begin + i, j) = left;
          }
        }
      });
}

}  // namespace

template <Scalar T> void transform(const Scratch& scratch, const Dense<T>& A, const Dense<T>& Q, const Dense<T>& M) {
  const ExecutionSpace& space = scratch.space();
  const auto n = static_cast<Index>(A.extent(0));
  const Dense<T> Y = dense<T>(scratch, "heddle::eigen::product", n, n);
  const Dense<T> Y_rest = dense<T>(scratch, "heddle::eigen::product_rest", n, n);
  doubled_product<T>(space, A, Q, Dense<T>(), Y, Y_rest);
  doubled_product<T>(space, adjoint<T>(scratch, Q), Y, Y_rest, M, Dense<T>());
}

template <Scalar T>
void doubled_product(const ExecutionSpace& space, const Dense<T>& A, const Dense<T>& B, const Dense<T>& C) {
  doubled_product<T>(space, A, B, Dense<T>(), C, Dense<T>());
}

#define HEDDLE_INSTANTIATE(T)                                                                    \
  template void transform<T>(const Scratch&, const Dense<T>&, const Dense<T>&, const Dense<T>&); \
  template void doubled_product<T>(const ExecutionSpace&, const Dense<T>&, const Dense<T>&, const Dense<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
