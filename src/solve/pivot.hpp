// Pivots: which element is taken, and how a column is divided by it.
#pragma once

#include "exact/host_lu.hpp"

namespace heddle::impl {

/// Divides by a pivot: of real numbers correctly rounded quotients; of complex ones products with conj(pivot) /
/// |pivot|^2, where |pivot|^2 is one fused multiply-add of squares, or, where squares might over- or underflow,
/// correctly rounded quotients. The same bits on any machine.
template <Scalar T> class PivotDivisor {
 public:
  KOKKOS_INLINE_FUNCTION explicit PivotDivisor(const T& pivot) : pivot_(pivot), reciprocal_(T(0)) {
    if constexpr (is_complex<T>) {
      using F = exact::bits::Format<double>;
      const double size =
          Kokkos::fmax(Kokkos::abs(static_cast<double>(pivot.real())), Kokkos::abs(static_cast<double>(pivot.imag())));
      const int exponent = static_cast<int>(F::to_bits(size) >> F::fraction) - 1023;
      constexpr int most = sizeof(Real<T>) == 8 ? 500 : 60;
      multiplies_ = exponent > -most && exponent < most;
      if (multiplies_) {
        const Real<T> square = Kokkos::fma(pivot.real(), pivot.real(), pivot.imag() * pivot.imag());
        reciprocal_ = T(pivot.real() / square, -pivot.imag() / square);
      }
    }
  }

  KOKKOS_INLINE_FUNCTION T operator()(const T& x) const {
    if constexpr (is_complex<T>) {
      return multiplies_ ? multiply_add(x, reciprocal_, T(0)) : exact::impl::quotient(x, pivot_);
    } else {
      return x / pivot_;
    }
  }

 private:
  T pivot_;
  T reciprocal_;
  bool multiplies_ = false;
};

/// x / root, each part correctly rounded: by a pivot that is real, as those of Cholesky's method are.
template <Scalar T> KOKKOS_INLINE_FUNCTION T divided(const T& x, Real<T> root) {
  if constexpr (is_complex<T>) {
    return T(x.real() / root, x.imag() / root);
  } else {
    return x / root;
  }
}

}  // namespace heddle::impl
