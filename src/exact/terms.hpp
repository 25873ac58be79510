// What a reduction adds up, as doubles: numbers, their magnitudes, or products.
#pragma once

#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/expansion.hpp>
#include <heddle/exact/reduce.hpp>

namespace heddle::exact::impl {

/// Between these, sums of up to 2^60 terms and the errors of products are exact in doubles.
inline constexpr double least = 0x1p-900;
inline constexpr double most = 0x1p900;

/// x_k, or |x_k|; floats are doubles too.
template <RealScalar T, bool magnitudes> struct Numbers {
  static constexpr int parts = 1;  ///< Doubles that a term is the sum of.
  const T* x;
  Index stride;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION double term(Index k) const {
    const auto value = static_cast<double>(x[k * stride]);
    return magnitudes ? Kokkos::abs(value) : value;
  }
  KOKKOS_INLINE_FUNCTION void load(Index k, double& value, double& error) const {
    value = term(k);
    error = 0;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_tame(Index /*k*/, double value) const {
    return Kokkos::abs(value) < most;
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

/// x_k y_k; of floats, exact in a double.
template <RealScalar T> struct Products {
  static constexpr int parts = sizeof(T) == 8 ? 2 : 1;
  const T* x;
  Index x_stride;
  const T* y;
  Index y_stride;

  KOKKOS_INLINE_FUNCTION void load(Index k, double& value, double& error) const {
    value = static_cast<double>(x[k * x_stride]);
    error = static_cast<double>(y[k * y_stride]);
    two_product(value, error);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_tame(Index k, double value) const {
    const double size = Kokkos::abs(value);
    // Without branches, for vectors.
    const int of_middle_size = static_cast<int>(size >= least) & static_cast<int>(size < most);
    const int of_zero = static_cast<int>(x[k * x_stride] == T(0)) | static_cast<int>(y[k * y_stride] == T(0));
    return (of_middle_size | (of_zero & static_cast<int>(size == 0))) != 0;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_negative_zero(Index k) const {
    const T a = x[k * x_stride];
    const T b = y[k * y_stride];
    return (a == T(0) || b == T(0)) && Kokkos::signbit(a) != Kokkos::signbit(b);
  }
  template <bool atomic> KOKKOS_INLINE_FUNCTION void add_to(Accumulator<double>& sum, Index k) const {
    const auto a = static_cast<double>(x[k * x_stride]);
    const auto b = static_cast<double>(y[k * y_stride]);
    if constexpr (atomic) {
      sum.add_product_atomically(a, b);
    } else {
      sum.add_product(a, b);
    }
  }
};

}  // namespace heddle::exact::impl
