// Quotients of many numbers by one divisor.
#pragma once

#include "exact/products/quotient.hpp"

#include <type_traits>

namespace heddle::exact::impl {

/// Quotients by one double in five operations after the first, since every row of a block waits for each.
class Divisor {
 public:
  KOKKOS_INLINE_FUNCTION explicit Divisor(double divisor) : divisor_(divisor), inverse_(1.0 / divisor) {}
  /// `inverse`: 1 / divisor as it rounds.
  KOKKOS_INLINE_FUNCTION Divisor(double divisor, double inverse) : divisor_(divisor), inverse_(inverse) {}
  /// Returns x / divisor, correctly rounded if is_right(x).
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double quotient(double x) const {
    const double first = rounded_product(x, inverse_);
    const double second = Kokkos::fma(Kokkos::fma(-first, divisor_, x), inverse_, first);
    return Kokkos::fma(Kokkos::fma(-second, divisor_, x), inverse_, second);
  }
  /// Returns true if both numbers are so far from the ends of the range that nothing over- or underflows. Then the
  /// first quotient is within 2 units in the last place of the exact one, the second within one, so that its remainder
  /// is a double, and the third is rounded correctly since the inverse is (P. Markstein, "Computation of elementary
  /// functions on the IBM RISC System/6000 processor", IBM J. Res. Dev. 34, 1990).
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_right(double x) const { return is_tame(x) && is_tame(divisor_); }

 private:
  static KOKKOS_INLINE_FUNCTION bool is_tame(double x) {
    return Kokkos::abs(x) >= 0x1p-400 && Kokkos::abs(x) <= 0x1p400;
  }
  double divisor_;
  double inverse_;
};
/// Quotients by quotient().
template <Scalar T> struct PlainDivisor {
  T divisor;
  KOKKOS_INLINE_FUNCTION explicit PlainDivisor(const T& value) : divisor(value) {}
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T quotient(const T& x) const { return impl::quotient(x, divisor); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_right(const T& /*x*/) const { return true; }
};
template <Scalar T> using DivisorOf = std::conditional_t<std::is_same_v<T, double>, Divisor, PlainDivisor<T>>;

}  // namespace heddle::exact::impl
