// Division of columns by pivots.
#pragma once

#include "exact/lu/host_lu.hpp"

namespace heddle::impl {

/// Divides by a pivot: correctly rounded quotients for real numbers; for complex ones products with conj(pivot) /
/// |pivot|^2, where |pivot|^2 is one fused multiply-add of squares. If squares might over- or underflow, number and
/// pivot are first multiplied by the same power of two. The same bits on any machine.
template <Scalar T> class PivotDivisor {
 public:
  KOKKOS_INLINE_FUNCTION explicit PivotDivisor(const T& pivot) : pivot_(pivot) {
    if constexpr (is_complex<T>) {
      using F = exact::bits::Format<double>;
      const double size =
          Kokkos::fmax(Kokkos::abs(static_cast<double>(pivot.real())), Kokkos::abs(static_cast<double>(pivot.imag())));
      const int exponent = static_cast<int>(F::to_bits(size) >> F::fraction) - 1023;
      constexpr int most = sizeof(Real<T>) == 8 ? 500 : 60;
      scales_ = exponent <= -most || exponent >= most;
      // 2^-exponent, or half of the smallest normal number for the largest pivots.
      if (scales_) scale_ = exponent >= 1023 ? 0x1p-1023 : F::from_bits(std::uint64_t(1023 - exponent) << F::fraction);
      pivot_ = scaled(pivot);
      const Real<T> square = Kokkos::fma(pivot_.real(), pivot_.real(), pivot_.imag() * pivot_.imag());
      pivot_ = T(pivot_.real() / square, -pivot_.imag() / square);
    }
  }

  KOKKOS_INLINE_FUNCTION T operator()(const T& x) const {
    if constexpr (is_complex<T>) {
      return multiply_add(scaled(x), pivot_, T(0));
    } else {
      return x / pivot_;
    }
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T scaled(const T& x) const {
    if (!scales_) return x;
    return T(static_cast<Real<T>>(static_cast<double>(x.real()) * scale_),
             static_cast<Real<T>>(static_cast<double>(x.imag()) * scale_));
  }

  T pivot_;  // For complex numbers, its reciprocal.
  double scale_ = 1.0;
  bool scales_ = false;
};

/// x / root, each part correctly rounded: division by a real pivot, as in Cholesky's method.
template <Scalar T> KOKKOS_INLINE_FUNCTION T divided(const T& x, Real<T> root) {
  if constexpr (is_complex<T>) {
    return T(x.real() / root, x.imag() / root);
  } else {
    return x / root;
  }
}

}  // namespace heddle::impl
