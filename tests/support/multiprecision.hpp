// Square complex matrices of 256-bit numbers on MPFR: independent references for the tests.
#pragma once

#include <mpfr.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::test {

/// A number of 256 bits.
class Number {
 public:
  static constexpr mpfr_prec_t bits = 256;
  Number() { mpfr_init2(value_, bits), mpfr_set_zero(value_, 1); }
  explicit Number(double value) { mpfr_init2(value_, bits), mpfr_set_d(value_, value, MPFR_RNDN); }
  Number(const Number& other) { mpfr_init2(value_, bits), mpfr_set(value_, other.value_, MPFR_RNDN); }
  Number& operator=(const Number& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Number() { mpfr_clear(value_); }

  Number& operator+=(const Number& other) { return mpfr_add(value_, value_, other.value_, MPFR_RNDN), *this; }
  Number& operator-=(const Number& other) { return mpfr_sub(value_, value_, other.value_, MPFR_RNDN), *this; }
  Number& operator*=(const Number& other) { return mpfr_mul(value_, value_, other.value_, MPFR_RNDN), *this; }
  Number& operator/=(const Number& other) { return mpfr_div(value_, value_, other.value_, MPFR_RNDN), *this; }
  /// this += a b, this -= a b.
  void add_product(const Number& a, const Number& b) { mpfr_fma(value_, a.value_, b.value_, value_, MPFR_RNDN); }
  void subtract_product(const Number& a, const Number& b) {
    mpfr_fms(value_, a.value_, b.value_, value_, MPFR_RNDN);
    mpfr_neg(value_, value_, MPFR_RNDN);
  }
  void scale_by_power_of_two(long exponent) { mpfr_mul_2si(value_, value_, exponent, MPFR_RNDN); }
  [[nodiscard]] bool is_zero() const { return mpfr_zero_p(value_) != 0; }
  [[nodiscard]] double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }
  /// Towards zero.
  [[nodiscard]] double to_double_down() const { return mpfr_get_d(value_, MPFR_RNDZ); }
  /// The nearest float or double, denormal or infinite where it is so.
  template <class T> [[nodiscard]] T rounded() const {
    if constexpr (sizeof(T) == 8) {
      return mpfr_get_d(value_, MPFR_RNDN);
    } else {
      return mpfr_get_flt(value_, MPFR_RNDN);
    }
  }
  /// x 2^exponent without its fraction.
  [[nodiscard]] static Number floor_scaled(Number x, long exponent) {
    x.scale_by_power_of_two(exponent);
    mpfr_floor(x.value_, x.value_);
    return x;
  }
  [[nodiscard]] int sign() const { return mpfr_sgn(value_); }
  /// The value is below 2^exponent() in size and not below half of it; far below all others for zero.
  [[nodiscard]] long exponent() const { return mpfr_regular_p(value_) != 0 ? mpfr_get_exp(value_) : -(1L << 40); }
  [[nodiscard]] static Number sqrt(const Number& x) {
    Number result;
    mpfr_sqrt(result.value_, x.value_, MPFR_RNDN);
    return result;
  }
  [[nodiscard]] static Number exp(const Number& x) {
    Number result;
    mpfr_exp(result.value_, x.value_, MPFR_RNDN);
    return result;
  }

 private:
  mpfr_t value_;
};

/// n x n complex matrix, by rows.
class WideMatrix {
 public:
  explicit WideMatrix(std::size_t n) : n_(n), real_(n * n), imaginary_(n * n) {}
  [[nodiscard]] std::size_t size() const { return n_; }
  [[nodiscard]] Number& real(std::size_t i, std::size_t j) { return real_[i * n_ + j]; }
  [[nodiscard]] Number& imaginary(std::size_t i, std::size_t j) { return imaginary_[i * n_ + j]; }
  [[nodiscard]] const Number& real(std::size_t i, std::size_t j) const { return real_[i * n_ + j]; }
  [[nodiscard]] const Number& imaginary(std::size_t i, std::size_t j) const { return imaginary_[i * n_ + j]; }
  void set(std::size_t i, std::size_t j, std::complex<double> value) {
    real(i, j) = Number(value.real());
    imaginary(i, j) = Number(value.imag());
  }
  [[nodiscard]] std::complex<double> get(std::size_t i, std::size_t j) const {
    return {real(i, j).to_double(), imaginary(i, j).to_double()};
  }
  [[nodiscard]] double norm1() const {
    double largest = 0.0;
    for (std::size_t j = 0; j < n_; ++j) {
      double sum = 0.0;
      for (std::size_t i = 0; i < n_; ++i) {
        sum += std::abs(get(i, j));
      }
      largest = sum > largest ? sum : largest;
    }
    return largest;
  }

  friend WideMatrix operator*(const WideMatrix& X, const WideMatrix& Y) {
    WideMatrix Z(X.n_);
    for (std::size_t i = 0; i < X.n_; ++i) {
      for (std::size_t k = 0; k < X.n_; ++k) {
        const Number& a = X.real(i, k);
        const Number& b = X.imaginary(i, k);
        for (std::size_t j = 0; j < X.n_ && !(a.is_zero() && b.is_zero()); ++j) {
          Z.real(i, j).add_product(a, Y.real(k, j));
          Z.imaginary(i, j).add_product(a, Y.imaginary(k, j));
          if (!b.is_zero()) {
            Z.real(i, j).subtract_product(b, Y.imaginary(k, j));
            Z.imaginary(i, j).add_product(b, Y.real(k, j));
          }
        }
      }
    }
    return Z;
  }

 private:
  std::size_t n_;
  std::vector<Number> real_;
  std::vector<Number> imaginary_;
};

/// exp(A) to over 200 bits: Taylor of degree 30 of A / 2^s with ||A|| / 2^s < 2^-8, squared s times.
inline WideMatrix wide_exponential(WideMatrix A) {
  const std::size_t n = A.size();
  int squarings = 8;
  for (double norm = A.norm1(); norm > 1.0; norm /= 2.0) {
    ++squarings;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      A.real(i, j).scale_by_power_of_two(-squarings);
      A.imaginary(i, j).scale_by_power_of_two(-squarings);
    }
  }
  // Horner's rule: E = I + A/1 (I + A/2 (I + A/3 (...))).
  WideMatrix E(n);
  for (std::size_t i = 0; i < n; ++i) {
    E.real(i, i) = Number(1.0);
  }
  for (int k = 30; k >= 1; --k) {
    E = A * E;
    const Number divisor(k);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        E.real(i, j) /= divisor;
        E.imaginary(i, j) /= divisor;
      }
      E.real(i, i) += Number(1.0);
    }
  }
  for (int k = 0; k < squarings; ++k) {
    E = E * E;
  }
  return E;
}

}  // namespace heddle::test
