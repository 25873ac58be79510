// Numbers of every kind, and their exact sums by MPFR.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>

namespace heddle::exact {

template <class T> using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

// Returns the bits as text, so that the signs of zeros are compared and all NaNs are equal.
template <class T> std::string shown(T x) {
  BitsOf<T> bits = 0;
  std::memcpy(&bits, &x, sizeof(x));
  constexpr int fraction = sizeof(T) == 8 ? 52 : 23;
  const BitsOf<T> fraction_mask = (BitsOf<T>{1} << fraction) - 1;
  const BitsOf<T> magnitude = bits & ~(BitsOf<T>{1} << (8 * sizeof(T) - 1));
  const BitsOf<T> infinite = magnitude & ~fraction_mask;
  if (infinite == (~BitsOf<T>{0} >> (fraction + 1)) << fraction && (magnitude & fraction_mask) != 0) {
    return "NaN";
  }
  return std::to_string(bits);
}
template <class T> T from_bits(BitsOf<T> bits) {
  T x = 0;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

inline constexpr double double_max = 0x1.fffffffffffffp1023;
template <class T> T largest() {
  return sizeof(T) == 8 ? static_cast<T>(double_max) : static_cast<T>(0x1.fffffep127F);
}
template <class T> T infinite() {
  return from_bits<T>(sizeof(T) == 8 ? static_cast<BitsOf<T>>(0x7ffULL << 52) : static_cast<BitsOf<T>>(0xffU << 23));
}
template <class T> T smallest() {
  return from_bits<T>(1);
}

// Exact sums by MPFR with more bits than any of them needs.
class Reference {
 public:
  Reference() {
    mpfr_init2(sum_, 7000);
    mpfr_init2(term_, 180);
    mpfr_init2(factor_, 60);
    mpfr_set_zero(sum_, 1);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference() { mpfr_clears(sum_, term_, factor_, nullptr); }
  void add(double x) { mpfr_add_d(sum_, sum_, x, MPFR_RNDN); }
  void add_product(double x, double y) {
    mpfr_set_d(term_, x, MPFR_RNDN);
    mpfr_set_d(factor_, y, MPFR_RNDN);
    mpfr_mul(term_, term_, factor_, MPFR_RNDN);
    mpfr_add(sum_, sum_, term_, MPFR_RNDN);
  }
  void add_product(double x, double y, double z) {
    mpfr_set_d(term_, x, MPFR_RNDN);
    mpfr_mul_d(term_, term_, y, MPFR_RNDN);
    mpfr_set_d(factor_, z, MPFR_RNDN);
    mpfr_mul(term_, term_, factor_, MPFR_RNDN);
    mpfr_add(sum_, sum_, term_, MPFR_RNDN);
  }
  // Divides by another sum of products of two numbers: with enough bits to distinguish such a quotient from every
  // midpoint of two numbers.
  void divide_by(const Reference& divisor) {
    mpfr_t quotient;
    mpfr_init2(quotient, 5600);
    mpfr_div(quotient, sum_, divisor.sum_, MPFR_RNDN);
    mpfr_set(sum_, quotient, MPFR_RNDN);
    mpfr_clear(quotient);
  }
  void times(unsigned long factor) { mpfr_mul_ui(sum_, sum_, factor, MPFR_RNDN); }
  template <class T> [[nodiscard]] T value() const {
    if constexpr (sizeof(T) == 8) {
      return mpfr_get_d(sum_, MPFR_RNDN);
    } else {
      return mpfr_get_flt(sum_, MPFR_RNDN);
    }
  }
  template <class T> [[nodiscard]] T root() const {
    mpfr_t root;
    mpfr_init2(root, 7000);
    mpfr_sqrt(root, sum_, MPFR_RNDN);
    const T nearest = sizeof(T) == 8 ? static_cast<T>(mpfr_get_d(root, MPFR_RNDN)) : mpfr_get_flt(root, MPFR_RNDN);
    mpfr_clear(root);
    return nearest;
  }
  [[nodiscard]] int sign() const { return mpfr_sgn(sum_); }
  [[nodiscard]] bool is_zero() const { return mpfr_zero_p(sum_) != 0; }

 private:
  mpfr_t sum_;
  mpfr_t term_;
  mpfr_t factor_;
};

// Returns a finite number of any exponent.
template <class T> T any_number(std::mt19937_64& random) {
  constexpr BitsOf<T> exponent =
      sizeof(T) == 8 ? static_cast<BitsOf<T>>(0x7ffULL << 52) : static_cast<BitsOf<T>>(0xffU << 23);
  auto bits = static_cast<BitsOf<T>>(random());
  if ((bits & exponent) == exponent) {
    bits &= ~(exponent & (exponent << 1));
  }
  return from_bits<T>(bits);
}

}  // namespace heddle::exact
