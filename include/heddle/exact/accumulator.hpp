// A fixed-point number wide enough for every sum of products of a type, rounded once when it is read.
#pragma once

#include <heddle/core/scalar.hpp>

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>
#include <type_traits>

// Keeps a loop over the digits of a long number rolled in GPU code. Unrolled, a hundred digits make kernels of half a
// megabyte, each of which takes seconds to compile.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define HEDDLE_ROLLED _Pragma("unroll 1")
#else
#define HEDDLE_ROLLED
#endif

namespace heddle::exact {

/// Access to the bits of floating-point numbers, and integers of many digits that such numbers are added to.
namespace bits {

/// The IEEE 754 format of T: `fraction` bits below an implied one, and exponents counted from that of the smallest
/// number, 2^smallest.
template <RealScalar T> struct Format {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int fraction = sizeof(T) == 8 ? 52 : 23;
  static constexpr int smallest = sizeof(T) == 8 ? -1074 : -149;
  static constexpr Bits sign_bit = Bits{1} << (8 * sizeof(T) - 1);
  static constexpr Bits fraction_mask = (Bits{1} << fraction) - 1;
  static constexpr Bits exponent_mask = sign_bit - 1 - fraction_mask;
  static constexpr Bits largest_exponent = exponent_mask >> fraction;

  static KOKKOS_INLINE_FUNCTION Bits to_bits(T x) { return Kokkos::bit_cast<Bits>(x); }
  static KOKKOS_INLINE_FUNCTION T from_bits(Bits bits) { return Kokkos::bit_cast<T>(bits); }
};

/// A number of type T as +-mantissa 2^(exponent + Format<T>::smallest).
struct Parts {
  std::uint64_t mantissa;
  int exponent;
  bool negative;
  bool special;  ///< Whether the number is infinite (mantissa zero) or a NaN (any other mantissa).
};
/// Returns the sign, exponent and mantissa of x.
template <RealScalar T> KOKKOS_INLINE_FUNCTION Parts parts_of(T x) {
  using Bits = typename Format<T>::Bits;
  const Bits bits = Format<T>::to_bits(x);
  const bool negative = (bits & Format<T>::sign_bit) != 0;
  const Bits exponent = (bits & Format<T>::exponent_mask) >> Format<T>::fraction;
  const std::uint64_t rest = bits & Format<T>::fraction_mask;
  if (exponent == Format<T>::largest_exponent) {
    return {rest, 0, negative, true};
  }
  if (exponent == 0) {
    return {rest, 0, negative, false};
  }
  return {rest | (std::uint64_t{1} << Format<T>::fraction), static_cast<int>(exponent) - 1, negative, false};
}

// Fixed-point numbers: digits of 32 bits, lowest first, each stored in 64 bits until carry().
inline constexpr int digit_bits = 32;
inline constexpr std::int64_t digit_mask = (std::int64_t{1} << digit_bits) - 1;

/// Adds +-bits 2^position to the fixed-point number `digits`, by atomic operations if `atomic`. Carries are left to
/// carry().
template <bool atomic>
KOKKOS_INLINE_FUNCTION void add_bits(std::int64_t* digits, std::uint64_t bits, int position, bool negative) {
  std::int64_t* const at = digits + position / digit_bits;
  const int shift = position % digit_bits;
  const std::uint64_t low = (bits & 0xffffffffU) << shift;
  const std::uint64_t high = (bits >> 32) << shift;
  const auto first = static_cast<std::int64_t>(low & 0xffffffffU);
  const auto second = static_cast<std::int64_t>((low >> 32) + (high & 0xffffffffU));
  const auto third = static_cast<std::int64_t>(high >> 32);
  if constexpr (atomic) {
    Kokkos::atomic_add(at, negative ? -first : first);
    Kokkos::atomic_add(at + 1, negative ? -second : second);
    Kokkos::atomic_add(at + 2, negative ? -third : third);
  } else {
    at[0] += negative ? -first : first;
    at[1] += negative ? -second : second;
    at[2] += negative ? -third : third;
  }
}
/// Propagates carries, so that all digits but the last are in [0, 2^32).
KOKKOS_INLINE_FUNCTION void carry(std::int64_t* digits, int count) {
  std::int64_t carried = 0;
  HEDDLE_ROLLED
  for (int k = 0; k + 1 < count; ++k) {
    const std::int64_t digit = digits[k] + carried;
    digits[k] = digit & digit_mask;
    carried = digit >> digit_bits;
  }
  digits[count - 1] += carried;
}
/// Replaces a number by its magnitude, with carries propagated, and returns whether it was negative.
KOKKOS_INLINE_FUNCTION bool make_canonical(std::int64_t* digits, int count) {
  carry(digits, count);
  if (digits[count - 1] >= 0) {
    return false;
  }
  HEDDLE_ROLLED
  for (int k = 0; k < count; ++k) {
    digits[k] = -digits[k];
  }
  carry(digits, count);
  return true;
}
/// Returns the index of the highest nonzero digit; -1 if the number is zero.
KOKKOS_INLINE_FUNCTION int highest_digit(const std::int64_t* digits, int count) {
  int k = count - 1;
  HEDDLE_ROLLED
  while (k >= 0 && digits[k] == 0) {
    --k;
  }
  return k;
}
/// Returns the bits of the U nearest to a canonical magnitude whose highest digit is digits[top]; bit `lowest` of the
/// magnitude stands for the smallest U.
template <RealScalar U>
KOKKOS_INLINE_FUNCTION typename Format<U>::Bits rounded(const std::int64_t* digits, int top, int lowest) {
  using To = Format<U>;
  const auto leading = static_cast<std::uint64_t>(digits[top]);
  const int highest = digit_bits * top + 63 - Kokkos::countl_zero(leading);
  // Position of the result's last bit.
  const int last = highest - To::fraction > lowest ? highest - To::fraction : lowest;
  std::uint64_t mantissa = 0;
  HEDDLE_ROLLED
  for (int k = last / digit_bits; k <= top; ++k) {
    const auto digit = static_cast<std::uint64_t>(digits[k]);
    const int shift = digit_bits * k - last;
    mantissa |= shift >= 0 ? digit << shift : digit >> -shift;
  }
  const int half = last - 1;
  const auto below = static_cast<std::uint64_t>(digits[half / digit_bits]);
  const std::uint64_t half_bit = std::uint64_t{1} << (half % digit_bits);
  if ((below & half_bit) != 0) {
    bool more = (below & (half_bit - 1)) != 0;
    HEDDLE_ROLLED
    for (int k = half / digit_bits - 1; k >= 0 && !more; --k) {
      more = digits[k] != 0;
    }
    mantissa += more || (mantissa & 1U) != 0 ? 1 : 0;
  }
  // The leading bit of a normal number adds one to the exponent; a carry beyond it adds one more.
  const auto exponent = static_cast<std::uint64_t>(last - lowest);
  if (exponent >= To::largest_exponent) {
    return To::exponent_mask;
  }
  const std::uint64_t bits = (exponent << To::fraction) + mantissa;
  return bits >= To::exponent_mask ? To::exponent_mask : static_cast<typename To::Bits>(bits);
}

/// Internal to the library: sums in more digits, and their square roots.
class WideSum;
class SquareRoot;

}  // namespace bits

/// A number in two parts: hi is the nearest T, lo the T nearest to the remainder.
template <RealScalar T> struct Pair {
  T hi;
  T lo;
};

/// The exact sum of any number of T and of products of two T, kept in a fixed-point number and rounded once, when it is
/// read (U. Kulisch, "Computer Arithmetic and Validity", 2nd ed., 2013, ch. 8). It reaches from the square of the
/// smallest T to beyond that of the largest.
///
/// It takes up to 2^62 terms. Each digit of 32 bits is stored in 64, so that carries wait for up to 2^29 terms: 1088
/// bytes for double, 176 for float. The order of terms and of merges changes no bit. Infinities and NaNs give the IEEE
/// 754 sum in any order: NaN for a NaN, for infinities of both signs, and for an infinity times zero. A result
/// overflows only if the exact one does, and is -0 only if every term is.
///
/// All arithmetic is on integers, so that no floating-point compiler flag, rounding mode or flush to zero affects it.
/// It runs on host and device. Cost: some 20 integer operations for a term (60 for a product of doubles), 300 for
/// value().
template <RealScalar T> class Accumulator {
  static constexpr bool is_double = sizeof(T) == 8;
  using Format = bits::Format<T>;
  using Parts = bits::Parts;

 public:
  /// Adds x.
  KOKKOS_INLINE_FUNCTION void add(T x) { add(bits::parts_of(x), false); }
  /// Subtracts x.
  KOKKOS_INLINE_FUNCTION void subtract(T x) { add(bits::parts_of(x), true); }
  /// Adds the product xy.
  KOKKOS_INLINE_FUNCTION void add_product(T x, T y) { add_product(bits::parts_of(x), bits::parts_of(y), false); }
  /// Subtracts the product xy.
  KOKKOS_INLINE_FUNCTION void subtract_product(T x, T y) { add_product(bits::parts_of(x), bits::parts_of(y), true); }

  /// Adds x while other threads may add to this accumulator too. Carries are left to merge(), so at most 2^29 terms may
  /// be added this way; a product counts as three.
  KOKKOS_INLINE_FUNCTION void add_atomically(T x) { add<true>(bits::parts_of(x), false); }
  /// Adds the product xy while other threads may add to this accumulator too; it counts as three terms.
  KOKKOS_INLINE_FUNCTION void add_product_atomically(T x, T y) {
    add_product<true>(bits::parts_of(x), bits::parts_of(y), false);
  }

  /// Adds n 2^exponent; the exponent lies between those of the smallest T squared and of the largest T.
  KOKKOS_INLINE_FUNCTION void add_scaled(std::int64_t n, int exponent) { add_scaled<false>(n, exponent); }
  /// The same while other threads may add to this accumulator too; it counts as one term.
  KOKKOS_INLINE_FUNCTION void add_scaled_atomically(std::int64_t n, int exponent) { add_scaled<true>(n, exponent); }

  /// Adds the sum that `other` holds; `other` may be this accumulator.
  KOKKOS_INLINE_FUNCTION void merge(const Accumulator& other) {
    std::int64_t carry = 0;
    const unsigned flags = other.flags_;
    HEDDLE_ROLLED
    for (int k = 0; k + 1 < digits; ++k) {
      const std::int64_t digit = other.digits_[k] + carry;
      carry = digit >> bits::digit_bits;
      digits_[k] += digit & bits::digit_mask;
    }
    digits_[digits - 1] += other.digits_[digits - 1] + carry;
    flags_ |= flags;
    count();
  }
  /// Changes the sign of the sum.
  KOKKOS_INLINE_FUNCTION void negate() {
    HEDDLE_ROLLED
    for (std::int64_t& digit : digits_) {
      digit = -digit;
    }
    const auto swapped = [&](unsigned a, unsigned b) {
      return ((flags_ & a) != 0 ? b : 0U) | ((flags_ & b) != 0 ? a : 0U);
    };
    flags_ = (flags_ & nan) | swapped(infinity, negative_infinity) | swapped(negative_zero, zero) | (flags_ & number);
  }

  /// Returns the sum rounded to nearest, ties to even; 0 if nothing was added. With U = float it is rounded once to
  /// float.
  template <RealScalar U = T>
    requires(sizeof(U) <= sizeof(T))
  [[nodiscard]] KOKKOS_INLINE_FUNCTION U value() const& {
    Accumulator copy = *this;
    return static_cast<Accumulator&&>(copy).template value<U>();
  }
  /// The same for an accumulator that is not used again: its digits are overwritten instead of copied.
  template <RealScalar U = T>
    requires(sizeof(U) <= sizeof(T))
  [[nodiscard]] KOKKOS_INLINE_FUNCTION U value() && {
    using To = bits::Format<U>;
    if (is_special()) {
      return special<U>();
    }
    const bool negative = bits::make_canonical(digits_, digits);
    const int top = bits::highest_digit(digits_, digits);
    if (top < 0) {
      const bool is_negative = (flags_ & (negative_zero | zero | number)) == negative_zero;
      return To::from_bits(is_negative ? To::sign_bit : typename To::Bits{0});
    }
    return To::from_bits(bits::rounded<U>(digits_, top, To::smallest - 2 * smallest) |
                         (negative ? To::sign_bit : typename To::Bits{0}));
  }
  /// Returns value() and the rounded remainder of the sum; lo is 0 if hi is exact, infinite or a NaN.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Pair<T> pair() const {
    const T hi = value();
    if ((Format::to_bits(hi) & Format::exponent_mask) == Format::exponent_mask) {
      return {hi, T(0)};
    }
    Accumulator rest = *this;
    rest.subtract(hi);
    return {hi, rest.value()};
  }
  /// Returns the sign of the exact sum, -1, 0 or 1; of an infinity its sign, of a NaN 0.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int sign() const {
    if (is_special()) {
      return is_nan() ? 0 : (flags_ & infinity) != 0 ? 1 : -1;
    }
    Accumulator magnitude = *this;
    const bool negative = bits::make_canonical(magnitude.digits_, digits);
    return bits::highest_digit(magnitude.digits_, digits) < 0 ? 0 : negative ? -1 : 1;
  }

 private:
  friend class bits::WideSum;
  friend class bits::SquareRoot;

  static constexpr int smallest = Format::smallest;
  // The lowest bit is that of the smallest number squared; 64 bits above the largest number leave room for many terms.
  static constexpr int digits = is_double ? 134 : 20;
  static constexpr int terms_between_carries = 1 << 29;

  // Flags of the terms added: special values, and the signs of zeros.
  static constexpr unsigned nan = 1;
  static constexpr unsigned infinity = 2;
  static constexpr unsigned negative_infinity = 4;
  static constexpr unsigned negative_zero = 8;
  static constexpr unsigned zero = 16;
  static constexpr unsigned number = 32;

  template <bool atomic = false> KOKKOS_INLINE_FUNCTION void add(const Parts& x, bool subtracted) {
    const bool negative = x.negative != subtracted;
    if (x.special) {
      note<atomic>(x.mantissa != 0 ? nan : negative ? negative_infinity : infinity);
      return;
    }
    note<atomic>(kind(x.mantissa == 0, negative));
    add_bits<atomic>(x.mantissa, x.exponent - smallest, negative);
  }
  template <bool atomic = false>
  KOKKOS_INLINE_FUNCTION void add_product(const Parts& x, const Parts& y, bool subtracted) {
    const bool negative = (x.negative != y.negative) != subtracted;
    if (x.special || y.special) {
      const bool is_nan_itself = (x.special && x.mantissa != 0) || (y.special && y.mantissa != 0);
      const bool times_zero = (!x.special && x.mantissa == 0) || (!y.special && y.mantissa == 0);
      note<atomic>(is_nan_itself || times_zero ? nan : negative ? negative_infinity : infinity);
      return;
    }
    note<atomic>(kind(x.mantissa == 0 || y.mantissa == 0, negative));
    const int position = x.exponent + y.exponent;
    if constexpr (is_double) {
      const std::uint64_t x_low = x.mantissa & 0xffffffffU;
      const std::uint64_t x_high = x.mantissa >> 32;
      const std::uint64_t y_low = y.mantissa & 0xffffffffU;
      const std::uint64_t y_high = y.mantissa >> 32;
      add_bits<atomic>(x_low * y_low, position, negative);
      add_bits<atomic>(x_low * y_high + x_high * y_low, position + 32, negative);
      add_bits<atomic>(x_high * y_high, position + 64, negative);
    } else {
      add_bits<atomic>(x.mantissa * y.mantissa, position, negative);
    }
  }
  template <bool atomic> KOKKOS_INLINE_FUNCTION void add_scaled(std::int64_t n, int exponent) {
    note<atomic>(kind(n == 0, false));
    if (n != 0) {
      const auto bits = static_cast<std::uint64_t>(n);
      add_bits<atomic>(n < 0 ? ~bits + 1 : bits, exponent - 2 * smallest, n < 0);
    }
  }
  static KOKKOS_INLINE_FUNCTION unsigned kind(bool is_zero, bool negative) {
    return !is_zero ? number : negative ? negative_zero : zero;
  }
  template <bool atomic> KOKKOS_INLINE_FUNCTION void note(unsigned flag) {
    if constexpr (atomic) {
      if ((flags_ & flag) == 0) {
        Kokkos::atomic_or(&flags_, flag);
      }
    } else {
      flags_ |= flag;
    }
  }
  // Adds +-bits 2^(position + 2 smallest).
  template <bool atomic = false> KOKKOS_INLINE_FUNCTION void add_bits(std::uint64_t bits, int position, bool negative) {
    bits::add_bits<atomic>(digits_, bits, position, negative);
    if constexpr (!atomic) {
      count();
    }
  }
  KOKKOS_INLINE_FUNCTION void count() {
    if (++terms_ == terms_between_carries) {
      bits::carry(digits_, digits);
      terms_ = 0;
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_special() const {
    return (flags_ & (nan | infinity | negative_infinity)) != 0;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_nan() const {
    return (flags_ & nan) != 0 || (flags_ & (infinity | negative_infinity)) == (infinity | negative_infinity);
  }
  template <RealScalar U> [[nodiscard]] KOKKOS_INLINE_FUNCTION U special() const {
    using To = bits::Format<U>;
    using ToBits = typename To::Bits;
    if (is_nan()) {
      return To::from_bits(To::exponent_mask | (ToBits{1} << (To::fraction - 1)));
    }
    return To::from_bits(To::exponent_mask | ((flags_ & negative_infinity) != 0 ? To::sign_bit : ToBits{0}));
  }

  std::int64_t digits_[digits] = {};
  int terms_ = 0;
  unsigned flags_ = 0;
};

}  // namespace heddle::exact
