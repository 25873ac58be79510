// One Jacobi rotation: the plane rotation that makes a 2 x 2 Hermitian matrix diagonal.
#pragma once

#include <heddle/core/scalar.hpp>

#include <limits>

namespace heddle::eigen::impl {

/// Columns p and q become c p - conj(s) q and s p + c q, c = sqrt(1 - |s|^2); [a, b; conj(b), d] then becomes
/// diag(a - shift, d + shift). Kept as s and tau = s / (1 + c), p - conj(s) (q + tau p) and q + s (p - conj(tau) q),
/// which is orthogonal to u |s|^2 (H. Rutishauser, 1966): a rounded c would make columns longer or shorter as angles
/// get small.
template <Scalar T> struct Rotation {
  T s = T(0);
  T tau = T(0);
  Real<T> shift = 0;
};

template <Scalar T> KOKKOS_INLINE_FUNCTION Real<T> real_part(const T& x) {
  return real_of<Real<T>>(x);
}
/// |x|, without the care for overflow of hypot: elements are scaled.
template <Scalar T> KOKKOS_INLINE_FUNCTION Real<T> magnitude(const T& x) {
  if constexpr (is_complex<T>) {
    const Real<T> re = Kokkos::abs(x.real());
    const Real<T> im = Kokkos::abs(x.imag());
    const Real<T> most = re > im ? re : im;
    if (most == 0) {
      return 0;
    }
    const Real<T> share = (re > im ? im : re) / most;
    return most * Kokkos::sqrt(Kokkos::fma(share, share, Real<T>(1)));
  } else {
    return Kokkos::abs(x);
  }
}

/// Smallest element for which rotation_of() finds an angle: squares of smaller ones underflow.
template <class R>
inline constexpr R smallest_rotated = std::numeric_limits<R>::digits > 24 ? R(0x1p-980) : R(0x1p-110);

/// The rotation of angle theta, at most pi / 4, with cot(2 theta) = (d - a) / (2 |b|). `size` is |b|; nothing is
/// rotated where it is 0. It takes two inverse roots and a quotient, one after the other, which are the latency of a
/// step. Elements whose squares would underflow are made larger first.
template <Scalar T>
KOKKOS_INLINE_FUNCTION Rotation<T> rotation_of(const Real<T>& a, const T& b, const Real<T>& size, const Real<T>& d) {
  using R = Real<T>;
  constexpr bool is_double = std::numeric_limits<R>::digits > 24;
  constexpr R tiny = is_double ? R(1e-130) : R(1e-13);
  const R by = is_double ? R(0x1p500) : R(0x1p60);
  const R difference = d - a;
  const R most = Kokkos::fmax(Kokkos::abs(difference), 2 * size);
  const R factor = most < tiny ? by : R(1);
  const R x = Kokkos::abs(difference) * factor;
  const R y = size * factor;
  const R square = Kokkos::fma(x, x, 4 * y * y);
  const R inverse = 1 / Kokkos::sqrt(square > 0 ? square : R(1));
  const R c_square = Kokkos::fma(R(0.5) * x, inverse, R(0.5));  // (1 + cos(2 theta)) / 2
  const R inverse_c = 1 / Kokkos::sqrt(c_square);
  const R sine = Kokkos::copysign(y * inverse * inverse_c, difference);
  const R tau = sine / Kokkos::fma(c_square, inverse_c, R(1));
  const R shift = sine * inverse_c * size;
  if constexpr (is_complex<T>) {
    const T phase = size > 0 ? T(b.real() / size, b.imag() / size) : T(1);
    return {phase * sine, phase * tau, shift};
  } else {
    const R sign = Kokkos::copysign(R(1), b);
    return {sign * sine, sign * tau, shift};
  }
}

/// The two elements of a row in the columns that a rotation turns.
template <Scalar T> KOKKOS_INLINE_FUNCTION void rotate(const T& s, const T& tau, T& p, T& q) {
  const T old_p = p;
  p = multiply_add<T>(-conjugate(s), multiply_add<T>(tau, p, q), p);
  q = multiply_add<T>(s, multiply_add<T>(-conjugate(tau), q, old_p), q);
}

}  // namespace heddle::eigen::impl
