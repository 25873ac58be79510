// alpha S + beta y without error, where S is an accumulator.
#pragma once

#include <heddle/exact/accumulator.hpp>

// Seldom called and long: kept out of the kernels that call it.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define HEDDLE_APART __noinline__
#else
#define HEDDLE_APART __attribute__((noinline))
#endif

namespace heddle::exact::bits {

/// Sums of doubles times accumulators, and of products, rounded once: a fixed-point number down to the cube of the
/// smallest double. At most some ten terms. Infinities and NaNs follow IEEE 754.
class WideSum {
 public:
  KOKKOS_INLINE_FUNCTION void clear() {
    HEDDLE_ROLLED
    for (std::int64_t& digit : digits_) {
      digit = 0;
    }
    special_ = 0;
  }
  HEDDLE_APART KOKKOS_INLINE_FUNCTION void add_scaled(const Accumulator<double>& sum, double factor) {
    const Parts by = parts_of(factor);
    if (by.special || sum.is_special()) {
      // Only their kinds and signs count.
      special_ += factor * (sum.is_special() ? sum.value() : static_cast<double>(sum.sign()));
      return;
    }
    Accumulator<double> magnitude = sum;
    const bool negative = make_canonical(magnitude.digits_, Accumulator<double>::digits) != by.negative;
    HEDDLE_ROLLED
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
  /// Returns true if an infinity or a NaN is among the terms.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_special() const { return special_ != 0; }
  /// Returns this sum over `divisor`, rounded once; both are finite and not zero.
  template <RealScalar T> [[nodiscard]] HEDDLE_APART KOKKOS_INLINE_FUNCTION T quotient(const WideSum& divisor) const {
    using To = Format<T>;
    WideSum rest = *this;
    WideSum by = divisor;
    const bool negative = make_canonical(rest.digits_, digits) != make_canonical(by.digits_, digits);
    const typename To::Bits sign = negative ? To::sign_bit : typename To::Bits{0};
    // Both with their leading bit at one position: the quotient is between a half and two times 2^power.
    const int power = rest.raise() - by.raise();
    if (power > 1100) {
      return To::from_bits(To::exponent_mask | sign);
    }
    if (power < -1200) {
      return To::from_bits(sign);
    }
    std::uint64_t leading = 0;
    HEDDLE_ROLLED
    for (int bit = 0; bit < 63; ++bit) {
      if (bit > 0) {
        rest.shift_up(1);
      }
      leading <<= 1;
      if (!rest.is_below(by)) {
        rest.subtract(by);
        leading |= 1U;
      }
    }
    // Units of 2^lowest, below every bit that counts; the last one shows whether there is a remainder.
    constexpr int lowest = -1400;
    constexpr int result_digits = 84;
    std::int64_t result[result_digits] = {};
    add_bits<false>(result, leading, power - 62 - lowest, false);
    result[0] += highest_digit(rest.digits_, digits) >= 0 ? 1 : 0;
    carry(result, result_digits);
    return To::from_bits(rounded<T>(result, highest_digit(result, result_digits), To::smallest - lowest) | sign);
  }

 private:
  static constexpr int digits = 206;

  // The following functions take canonical magnitudes.
  /// Moves the leading bit to the last digit's lowest bit, and returns its old position.
  KOKKOS_INLINE_FUNCTION int raise() {
    const int top = highest_digit(digits_, digits);
    const int highest = digit_bits * top + 63 - Kokkos::countl_zero(static_cast<std::uint64_t>(digits_[top]));
    const int by = digit_bits * (digits - 1) - highest;
    const int whole = by / digit_bits;
    HEDDLE_ROLLED
    for (int k = digits - 1; k >= 0; --k) {
      digits_[k] = k >= whole ? digits_[k - whole] : 0;
    }
    shift_up(by % digit_bits);
    return highest;
  }
  /// Shifts by less than a digit.
  KOKKOS_INLINE_FUNCTION void shift_up(int bits) {
    HEDDLE_ROLLED
    for (std::int64_t& digit : digits_) {
      digit <<= bits;
    }
    carry(digits_, digits);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_below(const WideSum& other) const {
    int k = digits - 1;
    HEDDLE_ROLLED
    while (k > 0 && digits_[k] == other.digits_[k]) {
      --k;
    }
    return digits_[k] < other.digits_[k];
  }
  KOKKOS_INLINE_FUNCTION void subtract(const WideSum& other) {
    HEDDLE_ROLLED
    for (int k = 0; k < digits; ++k) {
      digits_[k] -= other.digits_[k];
    }
    carry(digits_, digits);
  }

  std::int64_t digits_[digits] = {};
  double special_ = 0;  // Infinities and NaNs among the terms.
};

}  // namespace heddle::exact::bits
