// Quotients of real and complex numbers, each part rounded once.
#pragma once

#include "exact/products/inner.hpp"

#include <cstdint>

namespace heddle::exact::impl {

using namespace bits;

/// Returns x 2^power; exact unless the result is below the smallest normal number. An overflow is infinite.
KOKKOS_INLINE_FUNCTION double scaled(double x, int power) {
  using F = Format<double>;
  constexpr int step = 1000;
  for (; power > step; power -= step) {
    x *= 0x1p1000;
  }
  for (; power < -step; power += step) {
    x *= 0x1p-1000;
  }
  const auto exponent = static_cast<F::Bits>(power + 1023);
  return x * F::from_bits(exponent << F::fraction);
}
/// Returns the exponent of x, which is finite and not zero: 2^power <= |x| < 2^(power + 1).
KOKKOS_INLINE_FUNCTION int power_of(double x) {
  const Parts parts = parts_of(x);
  return parts.exponent + Format<double>::smallest + 63 - Kokkos::countl_zero(parts.mantissa);
}
KOKKOS_INLINE_FUNCTION bool is_finite(double x) {
  using F = Format<double>;
  return (F::to_bits(x) & F::exponent_mask) != F::exponent_mask;
}

/// Computes ab + cd as high + low and returns a bound of the error; for factors that are zero or between 2^-400 and 2.
KOKKOS_INLINE_FUNCTION double two_products(double a, double b, double c, double d, double& high, double& low) {
  double other = c;
  high = a;
  low = b;
  double rest = d;
  two_product(high, low);
  two_product(other, rest);
  two_sum(high, other);
  const double off = Kokkos::abs(low) + Kokkos::abs(rest) + Kokkos::abs(other);
  low = rounded_sum(rounded_sum(low, rest), other);
  return 0x1p-51 * off;
}

/// Quotients of finite complex numbers by one with two nonzero parts.
template <RealScalar R> class ComplexQuotient {
 public:
  KOKKOS_INLINE_FUNCTION ComplexQuotient(double a, double b, double c, double d) : a_(a), b_(b), c_(c), d_(d) {
    const bool is_zero = a == 0 && b == 0;
    const int x_power = is_zero ? 0 : power_of(Kokkos::fmax(Kokkos::abs(a), Kokkos::abs(b)));
    const int y_power = power_of(Kokkos::fmax(Kokkos::abs(c), Kokkos::abs(d)));
    near_a_ = scaled(a, -x_power);
    near_b_ = scaled(b, -x_power);
    near_c_ = scaled(c, -y_power);
    near_d_ = scaled(d, -y_power);
    power_ = x_power - y_power;
    // Otherwise a product may underflow, or the smaller part was lost in scaling.
    is_tame_ = is_tame(a, near_a_) && is_tame(b, near_b_) && is_tame(c, near_c_) && is_tame(d, near_d_);
    if (is_tame_) {
      size_off_ = two_products(near_c_, near_c_, near_d_, near_d_, size_, size_rest_);
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R real() const {
    R result;
    if (!rounds_to(near_a_, near_c_, near_b_, near_d_, result)) {
      result = exactly(a_, c_, b_, d_);
    }
    return result;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R imaginary() const {
    R result;
    if (!rounds_to(near_b_, near_c_, -near_a_, near_d_, result)) {
      result = exactly(b_, c_, -a_, d_);
    }
    return result;
  }

 private:
  static KOKKOS_INLINE_FUNCTION bool is_tame(double x, double near) { return x == 0 || Kokkos::abs(near) >= 0x1p-400; }

  /// Returns true if all candidates for (xc + yd) / (cc + dd) round to one R, and sets `result` to it.
  KOKKOS_INLINE_FUNCTION bool rounds_to(double x, double c, double y, double d, R& result) const {
    if (!is_tame_) {
      return false;
    }
    double high = 0;
    double low = 0;
    const double above_off = two_products(x, c, y, d, high, low);
    if (high == 0) {
      // The products cancel, or both are zero; then the sum has the sign of IEEE 754.
      result = static_cast<R>(high);
      return low == 0 && above_off == 0;
    }
    // The remainder of this division is a double.
    const double near = high / size_;
    const double remainder = Kokkos::fma(-near, size_, high);
    const double lower = rounded_sum(low, -rounded_product(near, size_rest_));
    const double correction = rounded_sum(remainder, lower) / size_;
    // The errors of numerator and denominator, the roundings here, and the square of the denominator's relative rest.
    // The denominator is at least one.
    const double off = 2 * (above_off + Kokkos::abs(near) * size_off_) +
                       0x1p-50 * (Kokkos::abs(correction) + Kokkos::abs(low) + Kokkos::abs(near * size_rest_)) +
                       0x1p-100 * Kokkos::abs(near);
    const double least = rounded_sum(near, rounded_sum(correction, -off));
    const double most = rounded_sum(near, rounded_sum(correction, off));
    if constexpr (sizeof(R) == 4) {
      // These are rounded twice, so they are moved away from a tie. Quotients of floats are far from a double's limits,
      // or far beyond a float's.
      const double away = 0x1p-50 * Kokkos::abs(near);
      result = static_cast<R>(scaled(least - away, power_));
      return result == static_cast<R>(scaled(most + away, power_));
    } else {
      result = scaled(least, power_);
      // Denormal numbers are rounded at another bit.
      return least == most && Kokkos::abs(result) > 0x1p-1020;
    }
  }
  /// Returns (xc + yd) / (cc + dd), computed in integers.
  static HEDDLE_APART KOKKOS_INLINE_FUNCTION R exactly(double x, double c, double y, double d) {
    Accumulator<double> sum;
    sum.add_product(x, c);
    sum.add_product(y, d);
    if (sum.sign() == 0) {
      return sum.template value<R>();
    }
    Accumulator<double> size;
    size.add_product(c, c);
    size.add_product(d, d);
    WideSum above;
    WideSum below;
    above.add_scaled(sum, 1.0);
    below.add_scaled(size, 1.0);
    return above.quotient<R>(below);
  }

  double a_, b_, c_, d_;
  // The same, with powers of two taken out so that the larger part of each number is between one and two.
  double near_a_, near_b_, near_c_, near_d_;
  int power_ = 0;
  bool is_tame_ = false;
  // |y|^2 in two parts, and a bound of their error.
  double size_ = 0, size_rest_ = 0, size_off_ = 0;
};

/// Returns (a + ib) / (c + id) if a part is infinite or a NaN and neither c nor d is zero.
template <RealScalar R>
KOKKOS_INLINE_FUNCTION Kokkos::complex<R> special_quotient(double a, double b, double c, double d) {
  const auto sign_or_nan = [](double part) { return part != part ? part : Kokkos::copysign(1.0, part); };
  if (c != c || d != d || (is_finite(c) && is_finite(d))) {
    // As the sums ac + bd and bc - ad: beside an infinity only signs count, and finite nonzero parts become +-1.
    const auto sign_of_finite = [](double part) {
      return is_finite(part) ? Kokkos::copysign(part == 0 ? 0.0 : 1.0, part) : part;
    };
    const double near_a = sign_of_finite(a);
    const double near_b = sign_of_finite(b);
    return {static_cast<R>(near_a * sign_or_nan(c) + near_b * sign_or_nan(d)),
            static_cast<R>(near_b * sign_or_nan(c) - near_a * sign_or_nan(d))};
  }
  // A finite number divided by an infinite one is zero; other quotients by an infinite number are NaNs.
  const double to_real = Kokkos::copysign(is_finite(c) ? 0.0 : 1.0, c);
  const double to_imaginary = Kokkos::copysign(is_finite(d) ? 0.0 : 1.0, d);
  const double half_a = a / 2;
  const double half_b = b / 2;
  return {static_cast<R>(0.0 * (half_a * to_real + half_b * to_imaginary)),
          static_cast<R>(0.0 * (half_b * to_real - half_a * to_imaginary))};
}

/// Returns x / y, rounded once (each part of complex numbers): it over- and underflows as the exact quotient does.
/// Infinities, NaNs and the signs of zeros as in invscal().
template <Scalar T> HEDDLE_APART KOKKOS_INLINE_FUNCTION T quotient(const T& x, const T& y) {
  if constexpr (is_complex<T>) {
    using R = Real<T>;
    if (y.imag() == R(0)) {
      return T(x.real() / y.real(), x.imag() / y.real());
    }
    if (y.real() == R(0)) {
      return T(x.imag() / y.imag(), -(x.real() / y.imag()));
    }
    const auto a = static_cast<double>(x.real());
    const auto b = static_cast<double>(x.imag());
    const auto c = static_cast<double>(y.real());
    const auto d = static_cast<double>(y.imag());
    if (!is_finite(a) || !is_finite(b) || !is_finite(c) || !is_finite(d)) {
      return special_quotient<R>(a, b, c, d);
    }
    const ComplexQuotient<R> parts(a, b, c, d);
    return T(parts.real(), parts.imaginary());
  } else {
    return x / y;
  }
}

}  // namespace heddle::exact::impl
