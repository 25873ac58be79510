// Numbers times powers of two, for sums of squares that neither overflow nor vanish.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::impl::interpose {

/// std::max(), but for FE_INVALID, which its comparison raises where one is NaN.
template <RealScalar R> R quiet_max(R x, R y) {
  return std::isgreater(y, x) ? y : x;
}
/// max(|Re x|, |Im x|).
template <Scalar T> Real<T> largest_part(const T& x) {
  return quiet_max(std::abs(real_of<Real<T>>(x)), std::abs(imaginary_of<Real<T>>(x)));
}

/// Whether neither part is NaN or infinite, and whether neither is NaN.
template <Scalar T> bool is_finite(const T& x) {
  return std::isfinite(real_of<Real<T>>(x)) && std::isfinite(imaginary_of<Real<T>>(x));
}
template <Scalar T> bool is_number(const T& x) {
  return !std::isnan(real_of<Real<T>>(x)) && !std::isnan(imaginary_of<Real<T>>(x));
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
