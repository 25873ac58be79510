// Products of scalars whose bits are the same wherever an element stands.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl {

/// xy, of complex numbers with fused multiply-adds in a fixed order.
///
/// Plain products of complex numbers are not safe in a loop: GCC 12 fuses them where it puts elements into vectors,
/// even under -ffp-contract=off, and does not in what a vector leaves over, so that the bits of an element would depend
/// on the extents around it. CUDA fuses them always.
template <Scalar T> KOKKOS_INLINE_FUNCTION T product(const T& x, const T& y) {
  if constexpr (is_complex<T>) {
    return T(Kokkos::fma(-x.imag(), y.imag(), x.real() * y.real()),
             Kokkos::fma(x.imag(), y.real(), x.real() * y.imag()));
  } else {
    return x * y;
  }
}

}  // namespace heddle::impl
