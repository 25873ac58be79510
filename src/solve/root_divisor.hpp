// The root of a pivot, and quotients by it, each correctly rounded, in a short chain of operations.
#pragma once

#include "exact/divisor.hpp"
#include <heddle/core/scalar.hpp>
#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/expansion.hpp>

#include <cstdint>

namespace heddle::impl {

/// Divides by the root of a pivot, which all rows of a column wait for: roots and quotients as the type's own are,
/// correctly rounded.
template <Scalar T> struct RootDivisor {
  Real<T> root;
  Real<T> inverse;  ///< 1 / root as it rounds.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Real<T> part(Real<T> x) const {
    if constexpr (sizeof(Real<T>) == 8) {
      if (x == 0.0 && root > 0.0) return x;
      const exact::impl::Divisor by(root, inverse);
      return by.is_right(x) ? by.quotient(x) : x / root;
    } else {
      return x / root;
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T quotient(const T& x) const {
    if constexpr (is_complex<T>) {
      return T(part(x.real()), part(x.imag()));
    } else {
      return part(x);
    }
  }
};

/// A root and its inverse from one estimate of the inverse, in half the time of a root and a quotient after it.
class QuickRoot {
 public:
  /// `estimate`: 1 / sqrt(x) within a few units in the last place.
  KOKKOS_INLINE_FUNCTION QuickRoot(double x, double estimate) {
    const double first = exact::rounded_product(x, estimate);
    root_ = Kokkos::fma(Kokkos::fma(-first, first, x), 0.5 * estimate, first);
    inverse_ = Kokkos::fma(Kokkos::fma(-root_, estimate, 1.0), estimate, estimate);
    // The nearest double is the one whose square, or product with the root, misses by less than half a unit in its last
    // place would; what misses by nearly as much is left to others.
    constexpr double nearly = 1.0 - 0x1p-20;
    const double of_root = Kokkos::abs(Kokkos::fma(-root_, root_, x));
    const double of_inverse = Kokkos::abs(Kokkos::fma(-root_, inverse_, 1.0));
    is_right_ = x > 0x1p-400 && x < 0x1p400 && of_root < nearly * root_ * unit(root_) &&
                2.0 * of_inverse < nearly * root_ * unit(inverse_);
  }
  /// Whether root() and inverse() are proven to be sqrt(x) and 1 / root(), each as it rounds.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_right() const { return is_right_; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double root() const { return root_; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double inverse() const { return inverse_; }

 private:
  /// The distance to the nearest other double: of a power of two to the one below it.
  static KOKKOS_INLINE_FUNCTION double unit(double x) {
    using F = exact::bits::Format<double>;
    const auto bits = F::to_bits(x);
    const double above = F::from_bits((bits & F::exponent_mask) - (std::uint64_t{F::fraction} << F::fraction));
    return (bits & F::fraction_mask) == 0 ? 0.5 * above : above;
  }
  double root_;
  double inverse_;
  bool is_right_;
};

/// The root of a pivot, or NaN or zero, and its inverse.
template <Scalar T> KOKKOS_INLINE_FUNCTION RootDivisor<T> root_divisor(Real<T> pivot) {
  if constexpr (sizeof(Real<T>) == 8) {
    const QuickRoot quick(pivot, Kokkos::rsqrt(pivot));
    if (quick.is_right()) return {quick.root(), quick.inverse()};
  }
  const Real<T> root = Kokkos::sqrt(pivot);
  return {root, Real<T>(1) / root};
}

}  // namespace heddle::impl
