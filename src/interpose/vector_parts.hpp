// What products of matrices and vectors share.
#pragma once

#include "interpose/vectors.hpp"

namespace heddle::impl::interpose {

/// y = beta y.
template <Scalar T> void scale(Index n, T beta, const Strided<T>& y) {
  for (Index i = 0; i < n; ++i) y(i) = beta == T{0} ? T{0} : beta == T{1} ? y(i) : multiply_add(beta, y(i), T{0});
}
template <Scalar T> T conjugated_if(bool conjugated, const T& x) {
  return conjugated ? conjugate(x) : x;
}
template <Scalar T> T real_part(const T& x) {
  if constexpr (is_complex<T>) {
    return T(x.real(), 0);
  } else {
    return x;
  }
}

}  // namespace heddle::impl::interpose
