// One Jacobi rotation: the plane rotation that makes a 2 x 2 Hermitian matrix diagonal.
#pragma once

#include <heddle/core/scalar.hpp>

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
  if constexpr (is_complex<T>) {
    return x.real();
  } else {
    return x;
  }
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
    return most * Kokkos::sqrt(1 + share * share);
  } else {
    return Kokkos::abs(x);
  }
}

/// The one of angle at most pi / 4: t = tan(theta) = 2 |b| / ((d - a) +- sqrt((d - a)^2 + 4 |b|^2)), whose operands are
/// divided by the larger first, so that nothing over- or underflows. `size` is |b|; nothing is rotated where it is 0.
template <Scalar T>
KOKKOS_INLINE_FUNCTION Rotation<T> rotation_of(const Real<T>& a, const T& b, const Real<T>& size, const Real<T>& d) {
  using R = Real<T>;
  const R difference = d - a;
  const R twice = 2 * size;
  const R most = Kokkos::fmax(Kokkos::abs(difference), twice);
  const R scale = most > 0 ? 1 / most : R(0);
  const R x = difference * scale;
  const R y = twice * scale;
  const R root = Kokkos::sqrt(Kokkos::fma(x, x, y * y));
  const R t = Kokkos::copysign(y / (Kokkos::abs(x) + root + std::numeric_limits<R>::min()), x);
  const R c = 1 / Kokkos::sqrt(Kokkos::fma(t, t, R(1)));
  const R sine = t * c;
  const R tau = sine / (1 + c);
  if constexpr (is_complex<T>) {
    const T phase = size > 0 ? T(b.real() / size, b.imag() / size) : T(1);
    return {phase * sine, phase * tau, t * size};
  } else {
    const R sign = Kokkos::copysign(R(1), b);
    return {sign * sine, sign * tau, t * size};
  }
}

/// The two elements of a row in the columns that a rotation turns.
template <Scalar T> KOKKOS_INLINE_FUNCTION void rotate(const T& s, const T& tau, T& p, T& q) {
  const T old_p = p;
  p = multiply_add<T>(-conjugate(s), multiply_add<T>(tau, p, q), p);
  q = multiply_add<T>(s, multiply_add<T>(-conjugate(tau), q, old_p), q);
}

}  // namespace heddle::eigen::impl
