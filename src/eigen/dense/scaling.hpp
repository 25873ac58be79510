// Powers of two that bring a matrix's elements to where products of them neither over- nor underflow.
#pragma once

#include "eigen/dense/matrices.hpp"
#include "eigen/dense/rotation.hpp"
#include <heddle/core/strided.hpp>

namespace heddle::eigen::impl {

/// The larger of |re x| and |im x|; infinity where one of them is a NaN.
template <Scalar T> KOKKOS_INLINE_FUNCTION Real<T> largest_part(const T& x) {
  using R = Real<T>;
  if constexpr (is_complex<T>) {
    const R re = Kokkos::abs(x.real());
    const R im = Kokkos::abs(x.imag());
    return re != re || im != im ? Kokkos::Experimental::infinity_v<R> : Kokkos::fmax(re, im);
  } else {
    return x != x ? Kokkos::Experimental::infinity_v<R> : Kokkos::abs(x);
  }
}

/// The least power of two above x > 0, by its exponent.
template <class R> KOKKOS_INLINE_FUNCTION int exponent_above(R x) {
  return static_cast<int>(Kokkos::logb(x)) + 1;
}

/// 2^exponent as two factors, neither of which over- or underflows on its own. Nothing is rounded by them, but for what
/// becomes denormal.
template <class R> struct PowerOfTwo {
  R first;
  R second;

  explicit KOKKOS_INLINE_FUNCTION PowerOfTwo(int exponent)
      : first(static_cast<R>(::ldexp(1.0, exponent / 2))),
        second(static_cast<R>(::ldexp(1.0, exponent - exponent / 2))) {}
  template <class T> KOKKOS_INLINE_FUNCTION T times(const T& x) const { return x * first * second; }
};

/// The whole of a Hermitian matrix of which one triangle is given, times 2^-exponent, which makes its largest part less
/// than 1. Throws Error(argument) for NaN and infinity in what is read.
template <Scalar T> struct Scaled {
  Dense<T> matrix;
  int exponent = 0;
  bool diagonal = true;  ///< Nothing but zeros off the diagonal.
  int spread = 0;  ///< Powers of two from its least diagonal element to its largest part; 0 unless that is positive.
};
template <Scalar T> Scaled<T> scaled(const Scratch& scratch, const StridedMatrix<const T>& A, bool upper);

}  // namespace heddle::eigen::impl
