// Terms of a reduction, as doubles: numbers, their magnitudes, or products.
#pragma once

#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/expansion.hpp>

namespace heddle::exact::impl {

/// Between these bounds, sums of up to 2^60 terms and the errors of products are exact in doubles.
inline constexpr double smallest_tame = 0x1p-900;
inline constexpr double largest_tame = 0x1p900;

/// x_k, or |x_k|, contiguous if `dense`; floats are converted to doubles.
template <RealScalar T, bool magnitudes, bool dense> struct Numbers {
  static constexpr int parts = 1;  ///< Number of doubles whose sum is a term.
  using Number = T;
  const T* x;
  Index stride;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION double term(Index k) const {
    const auto value = static_cast<double>(x[dense ? k : k * stride]);
    return magnitudes ? Kokkos::abs(value) : value;
  }
  KOKKOS_INLINE_FUNCTION void load(Index k, double& value, double& error) const {
    value = term(k);
    error = 0;
  }
  /// Returns the term as plain arithmetic has it.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T rounded(Index k) const { return static_cast<T>(term(k)); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_tame(Index /*k*/, double value) const {
    return Kokkos::abs(value) < largest_tame;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_negative_zero(Index k) const {
    return term(k) == 0 && Kokkos::signbit(term(k));
  }
  template <bool atomic> KOKKOS_INLINE_FUNCTION void add_to(Accumulator<double>& sum, Index k) const {
    if constexpr (atomic) {
      sum.add_atomically(term(k));
    } else {
      sum.add(term(k));
    }
  }
};

/// x_k and y_k, contiguous if `dense`.
template <RealScalar T, bool dense> struct RealFactors {
  using Real = T;
  const T* x;
  Index x_stride;
  const T* y;
  Index y_stride;
  KOKKOS_FORCEINLINE_FUNCTION void get(Index k, T& a, T& b) const {
    a = x[dense ? k : k * x_stride];
    b = y[dense ? k : k * y_stride];
  }
};
/// Factors of one part of the sum of x_k y_k or conj(x_k) y_k, two for each k; strides count complex numbers.
template <RealScalar T> struct ComplexFactors {
  using Real = T;
  const T* x;
  Index x_stride;
  const T* y;
  Index y_stride;
  bool imaginary;
  bool conjugated;
  KOKKOS_FORCEINLINE_FUNCTION void get(Index k, T& a, T& b) const {
    const Index half = k & 1;
    a = x[(k >> 1) * 2 * x_stride + half];
    b = y[(k >> 1) * 2 * y_stride + (imaginary ? 1 - half : half)];
    a = half == 1 && conjugated == imaginary ? -a : a;
  }
};

/// Returns true if `value` is ab rounded and its error is exact.
template <RealScalar T> KOKKOS_INLINE_FUNCTION bool is_tame_product(T a, T b, double value) {
  const double size = Kokkos::abs(value);
  // Without branches, for vectors.
  const int of_middle_size = static_cast<int>(size >= smallest_tame) & static_cast<int>(size < largest_tame);
  const int of_zero = static_cast<int>(a == T(0)) | static_cast<int>(b == T(0));
  return (of_middle_size | (of_zero & static_cast<int>(size == 0))) != 0;
}

/// a_k b_k; exact in a double for floats.
template <class Factors> struct Products {
  using T = typename Factors::Real;
  using Number = T;
  static constexpr int parts = sizeof(T) == 8 ? 2 : 1;
  Factors factors;

  KOKKOS_INLINE_FUNCTION void load(Index k, double& value, double& error) const {
    T a;
    T b;
    factors.get(k, a, b);
    value = static_cast<double>(a);
    error = static_cast<double>(b);
    two_product(value, error);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T rounded(Index k) const {
    T a;
    T b;
    factors.get(k, a, b);
    return a * b;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_tame(Index k, double value) const {
    T a;
    T b;
    factors.get(k, a, b);
    return is_tame_product(a, b, value);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_negative_zero(Index k) const {
    T a;
    T b;
    factors.get(k, a, b);
    return (a == T(0) || b == T(0)) && Kokkos::signbit(a) != Kokkos::signbit(b);
  }
  template <bool atomic> KOKKOS_INLINE_FUNCTION void add_to(Accumulator<double>& sum, Index k) const {
    T a;
    T b;
    factors.get(k, a, b);
    if constexpr (atomic) {
      sum.add_product_atomically(static_cast<double>(a), static_cast<double>(b));
    } else {
      sum.add_product(static_cast<double>(a), static_cast<double>(b));
    }
  }
};

/// Calls f(terms) as with_products() does, for contiguous x and y.
template <Scalar T, class F> auto with_dense_products(const T* x, const T* y, int part, bool conjugated, const F& f) {
  using R = Real<T>;
  if constexpr (is_complex<T>) {
    return f(Products<ComplexFactors<R>>{
        {reinterpret_cast<const R*>(x), 1, reinterpret_cast<const R*>(y), 1, part == 1, conjugated}});
  } else {
    return f(Products<RealFactors<R, true>>{{x, 1, y, 1}});
  }
}

/// Calls f(terms) for part `part` of the sum of x_k y_k, or conj(x_k) y_k: one term for each k, or two for complex
/// numbers.
template <Scalar T, class F>
auto with_products(const T* x, Index x_stride, const T* y, Index y_stride, int part, bool conjugated, const F& f) {
  if constexpr (is_complex<T>) {
    using Factors = ComplexFactors<Real<T>>;
    return f(Products<Factors>{Factors{reinterpret_cast<const Real<T>*>(x), x_stride,
                                       reinterpret_cast<const Real<T>*>(y), y_stride, part == 1, conjugated}});
  } else if (x_stride == 1 && y_stride == 1) {
    using Factors = RealFactors<T, true>;
    return f(Products<Factors>{Factors{x, x_stride, y, y_stride}});
  } else {
    using Factors = RealFactors<T, false>;
    return f(Products<Factors>{Factors{x, x_stride, y, y_stride}});
  }
}

}  // namespace heddle::exact::impl
