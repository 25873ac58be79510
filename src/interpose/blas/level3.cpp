// Products of symmetric matrices and updates of them.
#include "interpose/blas/level3.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/product.hpp"
#include "interpose/blas/stored.hpp"
#include "interpose/blas/vectors.hpp"

#include <cmath>
#include <vector>

namespace heddle::impl::interpose {
namespace {

template <Scalar T> Operation adjoint(bool hermitian) {
  return hermitian && is_complex<T> ? Operation::conjugate_transpose : Operation::transpose;
}
// c = beta c + term; beta is real for Hermitian C, whose diagonal's imaginary parts are not read.
template <bool hermitian, Scalar T> void put(T& c, const T& beta, const T& term, bool diagonal) {
  if constexpr (hermitian && is_complex<T>) {
    using R = Real<T>;
    const R factor = beta.real();
    const bool added = factor != R{0};
    c = T(added ? std::fma(factor, c.real(), term.real()) : term.real(), diagonal ? R{0}
                                                                         : added
                                                                             ? std::fma(factor, c.imag(), term.imag())
                                                                             : term.imag());
  } else {
    c = beta == T{0} ? term : multiply_add(beta, c, term);
  }
}
// C = beta C, a triangle.
template <Scalar T, bool hermitian> void scale_triangle(char triangle, Index n, const T& beta, T* C, Index leading) {
  for (Index j = 0; j < n; ++j) {
    const TriangleRows rows(triangle, n, j);
    for (Index i = rows.begin; i < rows.end; ++i) {
      put<hermitian>(C[i + j * leading], beta, T{0}, i == j);
    }
  }
}

// Check the arguments that updates of rank k and 2k share.
template <Scalar T, bool hermitian> int wrong_update(char triangle, char op, Index n, Index k, Index leading_a) {
  if (triangle != 'L' && triangle != 'U') return 1;
  if (op != 'N' && (is_complex<T> ? op != (hermitian ? 'C' : 'T') : op != 'T' && op != 'C')) return 2;
  if (n < 0) return 3;
  if (k < 0) return 4;
  if (leading_a < std::max<Index>(1, op == 'N' ? n : k)) return 7;
  return 0;
}

// C = beta C + term(P_ij, P_ji), a triangle, for the product P = alpha A B^H, or alpha A^H B.
template <Scalar T, bool hermitian, class Term>
// NOLINTNEXTLINE(readability-function-size): the arguments of syr2k
void update(char triangle, char op, Index n, Index k, T alpha, const T* A, Index leading_a, const T* B, Index leading_b,
            T beta, T* C, Index leading_c, const Term& term) {
  if (n == 0) return;
  const Arithmetic arithmetic;
  if (alpha == T{0} || k == 0) {
    if (beta != T{1}) scale_triangle<T, hermitian>(triangle, n, beta, C, leading_c);
    return;
  }
  std::vector<T> products(static_cast<std::size_t>(n * n));
  const Operation adjoined = adjoint<T>(hermitian);
  const bool first = op == 'N';
  multiply<T>({first ? Operation::none : adjoined, first ? adjoined : Operation::none, n, n, k, alpha, A, leading_a, B,
               leading_b, T{0}, products.data(), n});
  for (Index j = 0; j < n; ++j) {
    const TriangleRows rows(triangle, n, j);
    for (Index i = rows.begin; i < rows.end; ++i) {
      const T& one = products[static_cast<std::size_t>(i + j * n)];
      const T& turned = products[static_cast<std::size_t>(j + i * n)];
      put<hermitian>(C[i + j * leading_c], beta, term(one, turned), i == j);
    }
  }
}

}  // namespace

template <Scalar T, bool hermitian>
int symm(char side, char triangle, Index m, Index n, T alpha, const T* A, Index leading_a, const T* B, Index leading_b,
         T beta, T* C, Index leading_c) {
  const Index order = side == 'L' ? m : n;
  if (side != 'L' && side != 'R') return 1;
  if (triangle != 'L' && triangle != 'U') return 2;
  if (m < 0) return 3;
  if (n < 0) return 4;
  if (leading_a < std::max<Index>(1, order)) return 7;
  if (leading_b < std::max<Index>(1, m)) return 9;
  if (leading_c < std::max<Index>(1, m)) return 12;
  if (m == 0 || n == 0) return 0;
  std::vector<T> all;
  if (alpha != T{0}) {
    all.resize(static_cast<std::size_t>(order * order));
    for (Index j = 0; j < order; ++j) {
      const TriangleRows rows(triangle, order, j);
      for (Index i = rows.begin; i < rows.end; ++i) {
        const T a = hermitian && i == j ? real_part(A[i + j * leading_a]) : A[i + j * leading_a];
        all[static_cast<std::size_t>(i + j * order)] = a;
        all[static_cast<std::size_t>(j + i * order)] = hermitian ? conjugate(a) : a;
      }
    }
  }
  constexpr Operation none = Operation::none;
  if (side == 'L') {
    multiply<T>({none, none, m, n, m, alpha, all.data(), m, B, leading_b, beta, C, leading_c});
  } else {
    multiply<T>({none, none, m, n, n, alpha, B, leading_b, all.data(), n, beta, C, leading_c});
  }
  return 0;
}

template <Scalar T, bool hermitian>
int syrk(char triangle, char op, Index n, Index k, T alpha, const T* A, Index leading_a, T beta, T* C,
         Index leading_c) {
  if (const int wrong = wrong_update<T, hermitian>(triangle, op, n, k, leading_a)) return wrong;
  if (leading_c < std::max<Index>(1, n)) return 10;
  update<T, hermitian>(triangle, op, n, k, alpha, A, leading_a, A, leading_a, beta, C, leading_c,
                       [](const T& one, const T& /*turned*/) { return one; });
  return 0;
}

template <Scalar T, bool hermitian>
int syr2k(char triangle, char op, Index n, Index k, T alpha, const T* A, Index leading_a, const T* B, Index leading_b,
          T beta, T* C, Index leading_c) {
  if (const int wrong = wrong_update<T, hermitian>(triangle, op, n, k, leading_a)) return wrong;
  if (leading_b < std::max<Index>(1, op == 'N' ? n : k)) return 9;
  if (leading_c < std::max<Index>(1, n)) return 12;
  update<T, hermitian>(triangle, op, n, k, alpha, A, leading_a, B, leading_b, beta, C, leading_c,
                       [](const T& one, const T& turned) { return T(one + (hermitian ? conjugate(turned) : turned)); });
  return 0;
}

#define HEDDLE_INSTANTIATE_SYMMETRIC(T, hermitian)                                                              \
  template int symm<T, hermitian>(char, char, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index); \
  template int syrk<T, hermitian>(char, char, Index, Index, T, const T*, Index, T, T*, Index);                  \
  template int syr2k<T, hermitian>(char, char, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index)
#define HEDDLE_INSTANTIATE(T) HEDDLE_INSTANTIATE_SYMMETRIC(T, false)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
HEDDLE_INSTANTIATE_SYMMETRIC(Kokkos::complex<float>, true);
HEDDLE_INSTANTIATE_SYMMETRIC(Kokkos::complex<double>, true);
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_SYMMETRIC

}  // namespace heddle::impl::interpose
