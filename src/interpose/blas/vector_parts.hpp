// Definitions that products of matrices and vectors share.
#pragma once

#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/threads.hpp"
#include "interpose/blas/vectors.hpp"
#include "interpose/eigen/scaling.hpp"

#include <algorithm>

namespace heddle::impl::interpose {

/// y = beta y.
template <Scalar T> void scale(Index n, T beta, const Strided<T>& y) {
  for (Index i = 0; i < n; ++i) y(i) = beta == T{0} ? T{0} : beta == T{1} ? y(i) : multiply_add(beta, y(i), T{0});
}
/// Set y = beta y if alpha is zero, for y = alpha A x + beta y with these rows and columns of A. Return whether y is
/// final.
template <Scalar T> bool is_scaled(Index rows, Index columns, T alpha, T beta, T* y, Index step_y) {
  if (rows == 0 || columns == 0 || (alpha == T{0} && beta == T{1})) return true;
  if (alpha != T{0}) return false;
  const Arithmetic arithmetic;
  scale(rows, beta, Strided<T>(y, rows, step_y));
  return true;
}
template <Scalar T> T conjugated_if(bool conjugated, const T& x) {
  return conjugated ? conjugate(x) : x;
}

/// As many threads as a product of a matrix and a vector is worth.
inline int threads_for_products(Index products) {
  constexpr Index worth = 200000;
  return static_cast<int>(std::min<Index>(usual_threads(), products / worth + 1));
}

/// A number of a vector, of both parts of complex ones.
template <Scalar T> Real<T> part(const Strided<const T>& x, Index k) {
  if constexpr (is_complex<T>) {
    return k % 2 == 0 ? x(k / 2).real() : x(k / 2).imag();
  } else {
    return x(k);
  }
}
/// The largest magnitude of a part that is a number.
template <Scalar T> Real<T> largest_part_of(Index n, const Strided<const T>& x) {
  Real<T> largest{0};
  for (Index k = 0; k < n; ++k) largest = quiet_max(largest, largest_part(x(k)));
  return largest;
}
/// Real numbers in a number.
template <Scalar T> inline constexpr Index parts_of = is_complex<T> ? 2 : 1;

}  // namespace heddle::impl::interpose
