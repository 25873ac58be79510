// References of as many bits as a case needs, on MPFR: exponentials, eigenvalues and inverses of small matrices.
#pragma once

#include "hunt/matrix_of.hpp"

#include <mpfr.h>

#include <optional>
#include <utility>
#include <vector>

namespace heddle::hunt {

/// A real number with the `Wide::bits` bits of the time when it was made.
class Wide {
 public:
  static inline mpfr_prec_t bits = 512;
  Wide() { mpfr_init2(value_, bits), mpfr_set_zero(value_, 1); }
  explicit Wide(double x) { mpfr_init2(value_, bits), mpfr_set_d(value_, x, MPFR_RNDN); }
  Wide(const Wide& other) { mpfr_init2(value_, bits), mpfr_set(value_, other.value_, MPFR_RNDN); }
  Wide(Wide&& other) noexcept { mpfr_init2(value_, 2), mpfr_swap(value_, other.value_); }
  Wide& operator=(const Wide& other) {
    if (this != &other) mpfr_set_prec(value_, bits), mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  Wide& operator=(Wide&& other) noexcept { return mpfr_swap(value_, other.value_), *this; }
  ~Wide() { mpfr_clear(value_); }

  friend Wide operator+(Wide x, const Wide& y) { return mpfr_add(x.value_, x.value_, y.value_, MPFR_RNDN), x; }
  friend Wide operator-(Wide x, const Wide& y) { return mpfr_sub(x.value_, x.value_, y.value_, MPFR_RNDN), x; }
  friend Wide operator*(Wide x, const Wide& y) { return mpfr_mul(x.value_, x.value_, y.value_, MPFR_RNDN), x; }
  friend Wide operator/(Wide x, const Wide& y) { return mpfr_div(x.value_, x.value_, y.value_, MPFR_RNDN), x; }
  Wide operator-() const {
    Wide x = *this;
    return mpfr_neg(x.value_, x.value_, MPFR_RNDN), x;
  }
  Wide& operator+=(const Wide& y) { return mpfr_add(value_, value_, y.value_, MPFR_RNDN), *this; }
  Wide& operator-=(const Wide& y) { return mpfr_sub(value_, value_, y.value_, MPFR_RNDN), *this; }
  /// this += a b
  void add_product(const Wide& a, const Wide& b) { mpfr_fma(value_, a.value_, b.value_, value_, MPFR_RNDN); }
  void subtract_product(const Wide& a, const Wide& b) {
    mpfr_fms(value_, a.value_, b.value_, value_, MPFR_RNDN);
    mpfr_neg(value_, value_, MPFR_RNDN);
  }
  void scale(long power_of_two) { mpfr_mul_2si(value_, value_, power_of_two, MPFR_RNDN); }
  void divide(unsigned long by) { mpfr_div_ui(value_, value_, by, MPFR_RNDN); }

  [[nodiscard]] bool is_zero() const { return mpfr_zero_p(value_) != 0; }
  [[nodiscard]] bool is_number() const { return mpfr_number_p(value_) != 0; }
  [[nodiscard]] int sign() const { return mpfr_sgn(value_); }
  /// Return e with 2^(e-1) <= |x| < 2^e; for 0 a number far below all others.
  [[nodiscard]] long exponent() const { return mpfr_regular_p(value_) != 0 ? mpfr_get_exp(value_) : -1000000; }
  [[nodiscard]] double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }
  template <class R> [[nodiscard]] R rounded() const {
    if constexpr (sizeof(R) == 8) {
      return mpfr_get_d(value_, MPFR_RNDN);
    } else {
      return mpfr_get_flt(value_, MPFR_RNDN);
    }
  }
  friend bool operator<(const Wide& x, const Wide& y) { return mpfr_less_p(x.value_, y.value_) != 0; }
  [[nodiscard]] Wide absolute() const {
    Wide x = *this;
    return mpfr_abs(x.value_, x.value_, MPFR_RNDN), x;
  }
  [[nodiscard]] Wide root() const {
    Wide x;
    return mpfr_sqrt(x.value_, value_, MPFR_RNDN), x;
  }
  [[nodiscard]] Wide exponential() const {
    Wide x;
    return mpfr_exp(x.value_, value_, MPFR_RNDN), x;
  }
  static void sine_cosine(const Wide& angle, Wide& sine, Wide& cosine) {
    mpfr_sin_cos(sine.value_, cosine.value_, angle.value_, MPFR_RNDN);
  }

 private:
  mpfr_t value_;
};

/// A complex number with Wide parts.
struct WideComplex {
  Wide re, im;

  WideComplex() = default;
  WideComplex(Wide real, Wide imaginary) : re(std::move(real)), im(std::move(imaginary)) {}
  explicit WideComplex(const Value& x) : re(x.real()), im(x.imag()) {}
  [[nodiscard]] bool is_zero() const { return re.is_zero() && im.is_zero(); }
  /// this += x y
  void add_product(const WideComplex& x, const WideComplex& y) {
    re.add_product(x.re, y.re), im.add_product(x.re, y.im);
    if (!x.im.is_zero()) re.subtract_product(x.im, y.im), im.add_product(x.im, y.re);
  }
  [[nodiscard]] WideComplex conjugate() const { return {re, -im}; }
  [[nodiscard]] Wide square() const {
    Wide sum = re * re;
    return sum.add_product(im, im), sum;
  }
  [[nodiscard]] Wide absolute() const { return square().root(); }
  void scale(long power_of_two) { re.scale(power_of_two), im.scale(power_of_two); }
  friend WideComplex operator*(const WideComplex& x, const WideComplex& y) {
    WideComplex product;
    return product.add_product(x, y), product;
  }
  friend WideComplex operator-(const WideComplex& x, const WideComplex& y) { return {x.re - y.re, x.im - y.im}; }
};

inline Wide larger(const Wide& x, const Wide& y) {
  return x < y ? y : x;
}

using WideMatrix = MatrixOf<WideComplex>;
[[nodiscard]] WideMatrix operator*(const WideMatrix& X, const WideMatrix& Y);

/// Return max_j sum_i |x_ij|, of X or of X - Y.
[[nodiscard]] Wide norm1(const WideMatrix& X);
[[nodiscard]] Wide distance1(const WideMatrix& X, const WideMatrix& Y);

/// Return exp(A) with an error below 2^-150 |exp(A)|_1, elementwise for nonnegative and triangular A; nothing if that
/// would take more than 5000 to 20000 bits or balanced A is above 1e6. Taylor series of A / 2^s, balanced by powers of
/// two and shifted by the mean of the diagonal, squared s times. The number of bits covers the loss in squarings,
/// |E_k|^2 / |E_k+1| <= exp(2 |A| / 2^k), or, if |A| is large, is doubled until two results agree.
[[nodiscard]] std::optional<WideMatrix> wide_exponential(const WideMatrix& A);

/// Return |D^-1 A D|_1 for the balancing D: the difficulty of A regardless of its scaling.
[[nodiscard]] double balanced_norm(const WideMatrix& A);

/// Return the eigenvalues of a Hermitian matrix, ascending: cyclic Jacobi rotations until no element is above 2^-200
/// times the root of the product of its two diagonal elements, or 2^-(bits) of the largest.
[[nodiscard]] std::vector<Wide> wide_eigenvalues(const Array& A);
/// Return the eigenvalues of H C = S C diag(w), ascending: those of L^-1 H L^-H, S = L L^H; nothing if S has no such
/// factor.
[[nodiscard]] std::optional<std::vector<Wide>> wide_eigenvalues(const Array& H, const Array& S);
/// Return the min(m, n) singular values, descending: roots of the eigenvalues of A^H A or A A^H.
[[nodiscard]] std::vector<Wide> wide_singular_values(const Array& A);

/// Return A^-1 by Gauss-Jordan elimination with pivoting; nothing if A is singular (to 2000 bits).
[[nodiscard]] std::optional<WideMatrix> wide_inverse(const Array& A);
/// Return A^-1 B by Gauss-Jordan elimination with so many bits.
[[nodiscard]] std::optional<WideMatrix> wide_solution(const Array& A, const Array& B, long bits);

}  // namespace heddle::hunt
