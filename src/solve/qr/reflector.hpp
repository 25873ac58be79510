// One Householder reflection.
#pragma once

#include "emulation/quantised.hpp"
#include "exact/products/quotient.hpp"

namespace heddle::impl {

/// The power of two that a column whose largest part x has these bits (magnitude_bits()) is divided by before squares
/// are summed, so that none over- or underflows: e with 2^(e - 1) <= x < 2^e, as far as 2^-e is a number of T. 0 if x
/// is not finite.
template <Scalar T> KOKKOS_INLINE_FUNCTION int power_of_column(std::uint64_t largest) {
  constexpr int most = sizeof(Real<T>) == 8 ? 1000 : 120;
  if (largest >= exact::bits::Format<double>::exponent_mask) return 0;
  const int power = exponent_of(largest);
  return power > most ? most : power < -most ? -most : power;
}
/// 2^power for a power within those bounds.
template <Scalar T> KOKKOS_INLINE_FUNCTION Real<T> two_to_the(int power) {
  return static_cast<Real<T>>(exact::bits::Format<double>::from_bits(static_cast<std::uint64_t>(power + 1023) << 52U));
}
/// x times a real number, each part rounded once.
template <Scalar T> KOKKOS_INLINE_FUNCTION T times_real(const T& x, Real<T> factor) {
  if constexpr (is_complex<T>) {
    return T(x.real() * factor, x.imag() * factor);
  } else {
    return x * factor;
  }
}

/// The reflection I - tau v v^H, v_0 = 1, whose conjugate transpose takes a column (alpha, x) to (beta, 0), beta real
/// (LAPACK's xLARFG): beta = -sign(Re alpha) |(alpha, x)|_2, tau = (beta - alpha) / beta, v = x / (alpha - beta), and
/// tau = 0 if x = 0 and alpha is real. All of it is computed from the column times 2^-power.
template <Scalar T> struct Reflector {
  using R = Real<T>;
  T beta;        ///< The new value of alpha.
  T tau;         ///< tau of I - tau v v^H.
  T inverse;     ///< 1 / (alpha - beta) for the scaled column.
  bool is_none;  ///< Whether v is zero but for v_0, and tau is zero.

  /// `squares`: the sum of |x 2^-power|^2 in its real part.
  KOKKOS_INLINE_FUNCTION Reflector(const T& alpha, const T& squares, int power)
      : beta(alpha), tau(T(0)), inverse(T(0)), is_none(false) {
    const R down = two_to_the<T>(-power);
    const R re = real_of<R>(alpha) * down;
    const R im = imaginary_of<R>(alpha) * down;
    const R sum = real_of<R>(squares);
    is_none = sum == 0 && im == 0;
    if (is_none) return;
    R square = Kokkos::fma(re, re, sum);
    if constexpr (is_complex<T>) square = Kokkos::fma(re, re, Kokkos::fma(im, im, sum));
    const R norm = Kokkos::sqrt(square);
    const R to = re < 0 ? norm : -norm;
    beta = T(to * two_to_the<T>(power));
    const R difference = re - to;
    if constexpr (is_complex<T>) {
      tau = T((to - re) / to, -im / to);
      const R size = Kokkos::fma(difference, difference, im * im);
      inverse = T(difference / size, -im / size);
    } else {
      tau = (to - re) / to;
      inverse = 1 / difference;
    }
  }
  /// Element of v for an element of the scaled column.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T vector(const T& scaled) const {
    return is_none ? T(0) : multiply_add(scaled, inverse, T(0));
  }
  /// -conj(tau) v^H c for a column c on the right, from its first element and the sum of conj(x 2^-power) c below. Its
  /// product with v is added to c.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T minus_share(const T& head, const T& sum) const {
    if (is_none) return T(0);
    return -multiply_add(conjugate(tau), multiply_add(conjugate(inverse), sum, head), T(0));
  }
};

}  // namespace heddle::impl
