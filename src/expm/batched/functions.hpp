// Elementary functions of kernels: the library's own, which round correctly, where kernels run on the host.
#pragma once

#include "libm/functions.hpp"
#include <heddle/core/scalar.hpp>

namespace heddle::impl::kernel {

#define HEDDLE_KERNEL_FUNCTION(name)                                  \
  template <RealScalar R> KOKKOS_INLINE_FUNCTION R name(const R& x) { \
    KOKKOS_IF_ON_HOST((return libm::name(x);))                        \
    KOKKOS_IF_ON_DEVICE((return Kokkos::name(x);))                    \
  }
HEDDLE_KERNEL_FUNCTION(exp)
HEDDLE_KERNEL_FUNCTION(exp2)
HEDDLE_KERNEL_FUNCTION(log2)
HEDDLE_KERNEL_FUNCTION(cbrt)
HEDDLE_KERNEL_FUNCTION(sin)
HEDDLE_KERNEL_FUNCTION(cos)
#undef HEDDLE_KERNEL_FUNCTION

template <RealScalar R> KOKKOS_INLINE_FUNCTION R pow(const R& x, const R& y) {
  KOKKOS_IF_ON_HOST((return libm::pow(x, y);))
  KOKKOS_IF_ON_DEVICE((return Kokkos::pow(x, y);))
}

template <RealScalar R> KOKKOS_INLINE_FUNCTION Kokkos::complex<R> exp(const Kokkos::complex<R>& z) {
  const R size = kernel::exp(z.real());
  return Kokkos::complex<R>(size * kernel::cos(z.imag()), size * kernel::sin(z.imag()));
}

}  // namespace heddle::impl::kernel
