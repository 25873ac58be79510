// Which floating-point exceptions a result means, from it and what it was computed from; and products of sums and a
// scalar where the sum alone would overflow or underflow.
#pragma once

#include "exact/products/inner.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/off_stack.hpp"
#include "interpose/eigen/scaling.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace heddle::impl::interpose {

/// Operands of a result, as far as exceptions depend on them.
struct Operands {
  bool nan = false;
  bool infinite = false;
  template <Scalar T> Operands& add(const T& x) {
    if (!is_finite(x)) (is_number(x) ? infinite : nan) = true;
    return *this;
  }
};
/// FE_INVALID of a NaN that no operand was, FE_OVERFLOW of infinity that no operand was; of each part of the result.
template <Scalar T> int exceptions_of(const T& result, const Operands& operands) {
  if (operands.nan || is_finite(result)) return 0;
  if (!is_number(result)) return FE_INVALID;
  return operands.infinite ? 0 : FE_OVERFLOW | FE_INEXACT;
}

/// Whether part of x is zero or below the normal numbers.
template <Scalar T> bool is_tiny(const T& x) {
  using R = Real<T>;
  constexpr R least = std::numeric_limits<R>::min();
  return std::abs(real_of<R>(x)) < least || (is_complex<T> && std::abs(imaginary_of<R>(x)) < least);
}
/// The exponent of the last bit of x that is set, of both parts; very large of zero.
template <Scalar T> int last_bit(const T& x) {
  if constexpr (is_complex<T>) {
    return std::min(last_bit(x.real()), last_bit(x.imag()));
  } else {
    if (x == T{0} || !std::isfinite(x)) return 1 << 20;
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr int fraction = std::numeric_limits<T>::digits - 1;
    const auto bits = std::bit_cast<Bits>(x) & (~Bits{0} >> 1);
    const auto field = static_cast<int>(bits >> fraction);
    const Bits digits = (bits & ((Bits{1} << fraction) - 1)) | (field > 0 ? Bits{1} << fraction : 0);
    return std::numeric_limits<T>::min_exponent - 1 - fraction + std::max(field, 1) - 1 + std::countr_zero(digits);
  }
}
/// The exponent of the smallest number above zero.
template <Scalar T>
inline constexpr int least_bit = std::numeric_limits<Real<T>>::min_exponent - std::numeric_limits<Real<T>>::digits;

/// Exceptions that a sum start + sum_k x(k) y(k), rounded once, raises. Underflow is raised where a product has bits
/// below the smallest number and the sum is near it.
template <Scalar T, class X, class Y>
[[gnu::noinline]] int exceptions_of_sum(const T& sum, Index n, const X& x, const Y& y, const T* start) {
  if (!is_finite(sum)) {
    Operands operands;
    for (Index k = 0; k < n && !operands.nan; ++k) operands.add(x(k)).add(y(k));
    if (start != nullptr) operands.add(*start);
    return exceptions_of(sum, operands);
  }
  for (Index k = 0; k < n; ++k) {
    if (last_bit(T(x(k))) + last_bit(T(y(k))) < least_bit<T>) return FE_UNDERFLOW | FE_INEXACT;
  }
  return 0;
}

/// y = alpha sum + beta y of a sum of products rounded once, with one more rounding for each product.
template <Scalar T> void finish(const T& alpha, const T& sum, const T& beta, T& y) {
  const T scaled = alpha == T{1} ? sum : multiply_add(alpha, sum, T{0});
  y = beta == T{0} ? scaled : multiply_add(beta, y, scaled);
}
/// Whether finish() loses nothing by taking the sum rounded: not where it overflowed and alpha is below 1, or lost bits
/// below the normal numbers and alpha is above 1.
template <Scalar T> bool may_be_rounded_first(const T& alpha, const T& sum) {
  const Real<T> size = largest_part(alpha);
  if (size == Real<T>{1} || !is_finite(alpha)) return true;
  return size < Real<T>{1} ? is_finite(sum) : !is_tiny(sum);
}
/// y = alpha sum_k a(k) x(k) + beta y, rounded once as a whole.
template <Scalar T, class A, class X>
[[gnu::noinline]] void finish_exactly(const T& alpha, Index n, const A& a, const X& x, const T& beta, T& y) {
  Quiet quiet;
  const OffStack<exact::impl::ExactSum<T>> sum(std::in_place);
  Operands operands;
  operands.add(alpha);
  int last = 1 << 20;
  const auto more = [&](const T& one, const T& other) {
    operands.add(one).add(other);
    last = std::min(last, last_bit(one) + last_bit(other));
  };
  for (Index k = 0; k < n; ++k) {
    const T one = a(k);
    const T other = x(k);
    sum->add_product(one, other);
    more(one, other);
  }
  if (beta != T{0}) operands.add(beta).add(y);
  y = exact::impl::Update<T>{alpha, beta}.exactly(*sum, y, *OffStack<exact::bits::WideSum>());
  quiet.raise(exceptions_of(y, operands));
  if (is_finite(y) && is_tiny(y) && last + last_bit(alpha) < least_bit<T>) quiet.raise(FE_UNDERFLOW | FE_INEXACT);
}

/// alpha y, for products with many x: where it leaves the numbers of T, together with a power of two.
template <Scalar T> class Factor {
 public:
  Factor(const T& alpha, const T& y) {
    using R = Real<T>;
    {
      const Quiet quiet;
      value_ = multiply_add(alpha, y, T{0});
    }
    const bool lost = !is_finite(value_) || (is_tiny(value_) && alpha != T{0} && y != T{0});
    const R size = largest_part(alpha);
    if (!lost || size == R{1} || !is_finite(alpha) || !is_finite(y) || alpha == T{0} || y == T{0}) {
      value_ = multiply_add(alpha, y, T{0});
      return;
    }
    const int of_alpha = std::ilogb(size);
    const int of_y = std::ilogb(largest_part(y));
    value_ = multiply_add(scaled(alpha, -of_alpha), scaled(y, -of_y), T{0});
    exponent_ = of_alpha + of_y;
  }
  /// x alpha y + c by multiply_add().
  [[nodiscard]] T add_product(const T& x, const T& c) const {
    if (exponent_ == 0 || x == T{0} || !is_finite(x)) return multiply_add(x, value_, c);
    if (is_nothing(largest_part(x))) return multiply_add(x, smallest(), c);
    const int of_x = std::ilogb(largest_part(x));
    const int half = (of_x + exponent_) / 2;
    return multiply_add(scaled(x, half - of_x), scaled(value_, of_x + exponent_ - half), c);
  }
  [[nodiscard]] Factor conjugated() const {
    Factor all = *this;
    all.value_ = conjugate(value_);
    return all;
  }
  /// For x whose parts are `most` at most: without the power of two, if all products are nothing.
  [[nodiscard]] Factor for_up_to(const Real<T>& most) const {
    if (exponent_ == 0 || !is_nothing(most)) return *this;
    Factor all = *this;
    all.exponent_ = 0;
    all.value_ = smallest();
    return all;
  }

 private:
  // Whether products with x whose parts are `most` at most are below half of the smallest number, so that their signs
  // and that they are not zero are all that a sum has of them; those with smallest() too.
  [[nodiscard]] bool is_nothing(const Real<T>& most) const {
    // Parts of value_ are below 2^3.
    return most < Real<T>(0.25) && std::ilogb(most) + 1 + exponent_ + 3 < least_bit<T>;
  }
  [[nodiscard]] T smallest() const {
    using R = Real<T>;
    const Quiet quiet;
    const auto small = [&](R part) {
      const R least = part == R{0} ? R{0} : std::numeric_limits<R>::denorm_min();
      return std::copysign(std::max(std::abs(std::scalbn(part, exponent_)), least), part);
    };
    if constexpr (is_complex<T>) {
      return T(small(value_.real()), small(value_.imag()));
    } else {
      return small(value_);
    }
  }

  T value_;
  int exponent_ = 0;
};

}  // namespace heddle::impl::interpose
