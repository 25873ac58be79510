// Routines of BLAS 1 that move numbers and rotate pairs of them.
#include "interpose/blas/rotations.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/exceptions.hpp"
#include "interpose/blas/sums.hpp"
#include "interpose/eigen/scaling.hpp"

#include <cmath>
#include <utility>

namespace heddle::impl::interpose {
namespace {

template <Scalar T> Real<T> square(const T& x) {
  const auto re = real_of<Real<T>>(x);
  const auto im = imaginary_of<Real<T>>(x);
  return std::fma(re, re, im * im);
}
template <Scalar T> T times(const T& x, const Real<T>& factor) {
  if constexpr (is_complex<T>) {
    return T(x.real() * factor, x.imag() * factor);
  } else {
    return x * factor;
  }
}

// c x + s y.
template <Scalar T> T turned(const Real<T>& c, const T& x, const Real<T>& s, const T& y) {
  if constexpr (is_complex<T>) {
    return T(std::fma(c, x.real(), s * y.real()), std::fma(c, x.imag(), s * y.imag()));
  } else {
    return std::fma(c, x, s * y);
  }
}
template <class R>
Kokkos::complex<R> turned(R c, const Kokkos::complex<R>& x, const Kokkos::complex<R>& s, const Kokkos::complex<R>& y) {
  const Kokkos::complex<R> product = multiply_add(s, y, Kokkos::complex<R>(0));
  return {std::fma(c, x.real(), product.real()), std::fma(c, x.imag(), product.imag())};
}

// The elements of H.
template <RealScalar T> struct Modified {
  T h11;
  T h21;
  T h12;
  T h22;
};
template <RealScalar T> Modified<T> modified_from(const T* parameters) {
  const T flag = parameters[0];
  if (flag == T{0}) return {T{1}, parameters[2], parameters[3], T{1}};
  if (flag == T{1}) return {parameters[1], T{-1}, T{1}, parameters[4]};
  return {parameters[1], parameters[2], parameters[3], parameters[4]};
}

template <Scalar T> void make_rotation_by_steps(T& a, T& b, Real<T>& cosine, T& sine) {
  using R = Real<T>;
  const R largest = std::max(largest_part(a), largest_part(b));
  if (b == T{0}) {
    cosine = R{1};
    sine = T{0};
    return;
  }
  const int exponent = std::isfinite(largest) ? std::ilogb(largest) : 0;
  const T f = scaled(a, -exponent);
  const T g = scaled(b, -exponent);
  if constexpr (is_complex<T>) {
    const R size_b = std::sqrt(square(g));
    if (a == T{0}) {
      cosine = R{0};
      sine = T(g.real() / size_b, -g.imag() / size_b);
      a = T(std::scalbn(size_b, exponent));
      return;
    }
    // Direction and length of a, by a scale of its own, since a may vanish beside b.
    const R largest_a = largest_part(a);
    const int exponent_a = std::isfinite(largest_a) ? std::ilogb(largest_a) : 0;
    const T own = scaled(a, -exponent_a);
    const R own_size = std::sqrt(square(own));
    const T direction(own.real() / own_size, own.imag() / own_size);
    const R size = std::sqrt(square(f) + square(g));
    cosine = std::scalbn(own_size / size, exponent_a - exponent);
    const T turn = multiply_add(direction, conjugate(g), T{0});
    sine = T(turn.real() / size, turn.imag() / size);
    a = scaled(times(direction, size), exponent);
  } else {
    if (a == T{0}) {
      cosine = T{0};
      sine = T{1};
      a = b;
      b = T{1};
      return;
    }
    const bool first = std::abs(a) > std::abs(b);
    const T size = std::copysign(std::sqrt(square(f) + square(g)), first ? a : b);
    cosine = f / size;
    sine = g / size;
    a = std::scalbn(size, exponent);
    b = first ? sine : cosine != T{0} ? T{1} / cosine : T{1};
  }
}

}  // namespace

template <Scalar T> Index largest_of(Index n, const T* x, Index step) {
  if (n < 1 || step <= 0) return -1;
  Quiet quiet;
  Index at = 0;
  Real<T> most = size_of(x[0]);
  for (Index k = 1; k < n; ++k) {
    const Real<T> size = size_of(x[k * step]);
    if (std::isgreater(size, most)) {
      most = size;
      at = k;
    }
  }
  quiet.settle(most);
  return at;
}

template <Scalar T> void copy(Index n, const T* x, Index step_x, T* y, Index step_y) {
  if (n <= 0) return;
  const Strided<const T> from(x, n, step_x);
  const Strided<T> to(y, n, step_y);
  for (Index k = 0; k < n; ++k) to(k) = from(k);
}

template <Scalar T> void swap(Index n, T* x, Index step_x, T* y, Index step_y) {
  if (n <= 0) return;
  const Strided<T> one(x, n, step_x);
  const Strided<T> other(y, n, step_y);
  for (Index k = 0; k < n; ++k) std::swap(one(k), other(k));
}

template <Scalar T, class S>
void rotate(Index n, T* x, Index step_x, T* y, Index step_y, Real<T> cosine, const S& sine) {
  if (n <= 0) return;
  const Arithmetic arithmetic;
  const Strided<T> one(x, n, step_x);
  const Strided<T> other(y, n, step_y);
  for (Index k = 0; k < n; ++k) {
    const T first = one(k);
    one(k) = turned(cosine, first, sine, other(k));
    other(k) = turned(cosine, other(k), S(-conjugate(sine)), first);
  }
}

template <Scalar T> void make_rotation(T& a, T& b, Real<T>& cosine, T& sine) {
  const Arithmetic arithmetic;
  Quiet quiet;
  const Operands operands = Operands().add(a).add(b);
  const bool both = a != T{0} && b != T{0};
  make_rotation_by_steps(a, b, cosine, sine);
  quiet.settle(cosine);
  quiet.settle(sine);
  quiet.raise(exceptions_of(a, operands) | exceptions_of(sine, operands) | exceptions_of(cosine, operands));
  if constexpr (!is_complex<T>) quiet.raise(exceptions_of(b, operands));
  if (both && (is_tiny(cosine) || is_tiny(largest_part(sine)))) quiet.raise(FE_UNDERFLOW | FE_INEXACT);
}

template <RealScalar T> void rotate_modified(Index n, T* x, Index step_x, T* y, Index step_y, const T* parameters) {
  if (n <= 0 || parameters[0] == T{-2}) return;
  const Arithmetic arithmetic;
  const Strided<T> one(x, n, step_x);
  const Strided<T> other(y, n, step_y);
  const Modified<T> h = modified_from(parameters);
  for (Index k = 0; k < n; ++k) {
    const T first = one(k);
    one(k) = std::fma(h.h11, first, h.h12 * other(k));
    other(k) = std::fma(h.h21, first, h.h22 * other(k));
  }
}

template <RealScalar T> void make_modified_rotation(T& d1, T& d2, T& x1, T y1, T* parameters) {
  const Arithmetic arithmetic;
  constexpr T scale = 4096;
  Modified<T> h{0, 0, 0, 0};
  T flag = -1;
  const T p2 = d2 * y1;
  if (d1 >= T{0} && p2 == T{0}) {
    parameters[0] = -2;
    return;
  }
  const T p1 = d1 * x1;
  const T q2 = p2 * y1;
  const T q1 = p1 * x1;
  if (d1 < T{0} || (std::abs(q1) <= std::abs(q2) && q2 < T{0})) {
    d1 = d2 = x1 = T{0};
  } else if (std::abs(q1) > std::abs(q2)) {
    h = {1, -y1 / x1, p2 / p1, 1};
    const T u = T{1} - h.h12 * h.h21;
    if (u > T{0}) {
      flag = 0;
      d1 /= u;
      d2 /= u;
      x1 *= u;
    } else {
      h = {0, 0, 0, 0};
      d1 = d2 = x1 = T{0};
    }
  } else {
    flag = 1;
    h = {p1 / p2, -1, 1, x1 / y1};
    const T u = T{1} + h.h11 * h.h22;
    const T before = d2 / u;
    d2 = d1 / u;
    d1 = before;
    x1 = y1 * u;
  }
  const auto rescale = [&](T& d, T& of_d, T& other_of_d, T* moved) {
    while (d != T{0} && std::isfinite(d) && (std::abs(d) <= T{1} / (scale * scale) || std::abs(d) >= scale * scale)) {
      flag = -1;
      const bool small = std::abs(d) <= T{1} / (scale * scale);
      const T by = small ? scale : T{1} / scale;
      d *= by * by;
      of_d /= by;
      other_of_d /= by;
      if (moved != nullptr) *moved /= by;
    }
  };
  rescale(d1, h.h11, h.h12, &x1);
  rescale(d2, h.h21, h.h22, nullptr);
  parameters[0] = flag;
  if (flag != T{0}) {
    parameters[1] = h.h11;
    parameters[4] = h.h22;
  }
  if (flag != T{1}) {
    parameters[2] = h.h21;
    parameters[3] = h.h12;
  }
}

#define HEDDLE_INSTANTIATE(T)                                                             \
  template Index largest_of<T>(Index, const T*, Index);                                   \
  template void copy<T>(Index, const T*, Index, T*, Index);                               \
  template void swap<T>(Index, T*, Index, T*, Index);                                     \
  template void rotate<T, Real<T>>(Index, T*, Index, T*, Index, Real<T>, const Real<T>&); \
  template void make_rotation<T>(T&, T&, Real<T>&, T&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE
#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template void rotate<Kokkos::complex<T>, Kokkos::complex<T>>(Index, Kokkos::complex<T>*, Index, Kokkos::complex<T>*, \
                                                               Index, T, const Kokkos::complex<T>&);                   \
  template void rotate_modified<T>(Index, T*, Index, T*, Index, const T*);                                             \
  template void make_modified_rotation<T>(T&, T&, T&, T, T*)
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
