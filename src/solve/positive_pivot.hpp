// Pivots of a Cholesky factorization, which are real and positive.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl {

/// Whether a pivot is a positive number; infinity is one.
template <class R> KOKKOS_INLINE_FUNCTION bool is_positive(R pivot) {
  return pivot > R(0);
}

/// x / root, each part correctly rounded.
template <Scalar T> KOKKOS_INLINE_FUNCTION T divided(const T& x, Real<T> root) {
  if constexpr (is_complex<T>) {
    return T(x.real() / root, x.imag() / root);
  } else {
    return x / root;
  }
}

}  // namespace heddle::impl
