// Numbers times powers of two, for sums of squares that neither overflow nor vanish.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::impl::interpose {

/// max(|Re x|, |Im x|).
template <Scalar T> Real<T> largest_part(const T& x) {
  return std::max(std::abs(real_of<Real<T>>(x)), std::abs(imaginary_of<Real<T>>(x)));
}

/// |Re x| + |Im x|.
template <Scalar T> Real<T> size_of(const T& x) {
  return std::abs(real_of<Real<T>>(x)) + std::abs(imaginary_of<Real<T>>(x));
}

/// x 2^exponent, each part rounded once where it is denormal.
template <Scalar T> T scaled(const T& x, int exponent) {
  if constexpr (is_complex<T>) {
    return T(std::scalbn(x.real(), exponent), std::scalbn(x.imag(), exponent));
  } else {
    return std::scalbn(x, exponent);
  }
}

}  // namespace heddle::impl::interpose
