// alpha S + beta y without error, where S is an accumulator.
#pragma once

#include <heddle/exact/accumulator.hpp>

// Seldom reached, and long: apart from the kernels that call it.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define HEDDLE_APART __noinline__
#else
#define HEDDLE_APART
#endif

namespace heddle::exact::impl {

/// Sums of doubles times accumulators, and of products, rounded once: a fixed-point number down to the cube of the
/// smallest double. Some ten terms at most. Infinities and NaNs as IEEE 754 has them.
class WideSum {
 public:
  HEDDLE_APART KOKKOS_INLINE_FUNCTION void add_scaled(const Accumulator<double>& sum, double factor) {
    const Parts by = parts_of(factor);
    if (by.special || sum.is_special()) {
      // Only their kinds and signs count.
      special_ += factor * (sum.is_special() ? sum.value() : static_cast<double>(sum.sign()));
      return;
    }
    Accumulator<double> magnitude = sum;
    const bool negative = make_canonical(magnitude.digits_, Accumulator<double>::digits) != by.negative;
    for (int k = 0; k < Accumulator<double>::digits; ++k) {
      const auto digit = static_cast<std::uint64_t>(magnitude.digits_[k]);
      add_bits<false>(digits_, digit * (by.mantissa & 0xffffffffU), digit_bits * k + by.exponent, negative);
      add_bits<false>(digits_, digit * (by.mantissa >> 32), digit_bits * (k + 1) + by.exponent, negative);
    }
  }
  KOKKOS_INLINE_FUNCTION void add_product(double x, double y) {
    Accumulator<double> product;
    product.add_product(x, y);
    add_scaled(product, 1.0);
  }
  template <RealScalar T> [[nodiscard]] HEDDLE_APART KOKKOS_INLINE_FUNCTION T value() const {
    if (special_ != 0) {
      return static_cast<T>(special_);
    }
    WideSum magnitude = *this;
    const bool negative = make_canonical(magnitude.digits_, digits);
    const int top = highest_digit(magnitude.digits_, digits);
    if (top < 0) {
      return T(0);
    }
    using To = Format<T>;
    return To::from_bits(rounded<T>(magnitude.digits_, top, To::smallest - 3 * Format<double>::smallest) |
                         (negative ? To::sign_bit : typename To::Bits{0}));
  }

 private:
  static constexpr int digits = 206;

  std::int64_t digits_[digits] = {};
  double special_ = 0;  // Infinities and NaNs among the terms.
};

}  // namespace heddle::exact::impl
