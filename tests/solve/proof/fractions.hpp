// Determinants and inverses in exact arithmetic, by fraction-free elimination on MPFR: references for the tests.
#pragma once

#include "support/matrices.hpp"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace heddle::test {

/// A real number of default precision; operations have to be exact, which rounds_nothing() tells.
class Exact {
 public:
  explicit Exact(double x = 0) { mpfr_set_d(value_->number, x, MPFR_RNDN); }
  Exact(const Exact& other) { mpfr_set(value_->number, other.value_->number, MPFR_RNDN); }
  Exact(Exact&&) = default;
  Exact& operator=(const Exact& other) {
    mpfr_set(value_->number, other.value_->number, MPFR_RNDN);
    return *this;
  }
  Exact& operator=(Exact&&) = default;
  ~Exact() = default;

  friend Exact operator+(Exact x, const Exact& y) { return mpfr_add(x.get(), x.get(), y.get(), MPFR_RNDN), x; }
  friend Exact operator-(Exact x, const Exact& y) { return mpfr_sub(x.get(), x.get(), y.get(), MPFR_RNDN), x; }
  friend Exact operator*(Exact x, const Exact& y) { return mpfr_mul(x.get(), x.get(), y.get(), MPFR_RNDN), x; }
  friend Exact operator/(Exact x, const Exact& y) { return mpfr_div(x.get(), x.get(), y.get(), MPFR_RNDN), x; }
  [[nodiscard]] bool is_zero() const { return mpfr_zero_p(get()) != 0; }
  /// The exponent of the power of two that brings the size into [1/2, 1).
  [[nodiscard]] long exponent() const {
    return mpfr_zero_p(get()) != 0 ? std::numeric_limits<int>::min() : mpfr_get_exp(get());
  }
  [[nodiscard]] Exact times_power(long power) const {
    Exact x = *this;
    mpfr_mul_2si(x.get(), x.get(), power, MPFR_RNDN);
    return x;
  }
  /// The nearest R.
  template <class R> [[nodiscard]] R rounded() const {
    if constexpr (sizeof(R) == 8) {
      return mpfr_get_d(get(), MPFR_RNDN);
    } else {
      return mpfr_get_flt(get(), MPFR_RNDN);
    }
  }
  /// x / y rounded once: a quotient of many bits rounds alike if its last bit says whether others follow.
  template <class R> [[nodiscard]] static R quotient(const Exact& x, const Exact& y) {
    mpfr_t wide;
    mpfr_init2(wide, 4000);
    if (mpfr_div(wide, x.get(), y.get(), MPFR_RNDZ) != 0) {
      // Away from zero by half of the last place of a number that is a little longer.
      mpfr_prec_round(wide, 4001, MPFR_RNDZ);
      mpfr_sgn(wide) > 0 ? mpfr_nextabove(wide) : mpfr_nextbelow(wide);
    }
    Exact carrier;
    mpfr_set_prec(carrier.get(), 4001);
    mpfr_set(carrier.get(), wide, MPFR_RNDN);
    mpfr_clear(wide);
    return carrier.rounded<R>();
  }

 private:
  struct Holder {
    mpfr_t number;
    Holder() { mpfr_init(number); }
    ~Holder() { mpfr_clear(number); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
  };
  [[nodiscard]] mpfr_ptr get() const { return value_->number; }
  std::unique_ptr<Holder> value_ = std::make_unique<Holder>();
};

/// A complex number.
struct ExactComplex {
  Exact real{0};
  Exact imaginary{0};
  friend ExactComplex operator-(const ExactComplex& x, const ExactComplex& y) {
    return {x.real - y.real, x.imaginary - y.imaginary};
  }
  friend ExactComplex operator*(const ExactComplex& x, const ExactComplex& y) {
    if (x.imaginary.is_zero() && y.imaginary.is_zero()) return {x.real * y.real, Exact(0)};
    return {x.real * y.real - x.imaginary * y.imaginary, x.real * y.imaginary + x.imaginary * y.real};
  }
  friend ExactComplex operator/(const ExactComplex& x, const ExactComplex& y) {
    if (x.imaginary.is_zero() && y.imaginary.is_zero()) return {x.real / y.real, Exact(0)};
    const ExactComplex above = x * y.conjugate();
    const Exact size = (y * y.conjugate()).real;
    return {above.real / size, above.imaginary / size};
  }
  [[nodiscard]] ExactComplex conjugate() const { return {real, Exact() - imaginary}; }
  [[nodiscard]] bool is_zero() const { return real.is_zero() && imaginary.is_zero(); }
};

/// The determinant of a square matrix, and its product with the inverse (by rows), if the determinant is not zero.
struct ExactInverse {
  ExactComplex determinant{Exact(1), Exact(0)};
  std::vector<ExactComplex> adjugate;
};
template <Scalar T> ExactInverse exact_inverse(const HostMatrix<T>& A, bool invert) {
  const std::size_t n = A.extent(0);
  // Powers of two make integers, so that quotients of minors are integers, too.
  int lowest = 0;
  int highest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (const double part : {widen(A(i, j)).real(), widen(A(i, j)).imag()}) {
        if (part == 0) continue;
        lowest = std::min(lowest, std::max(std::ilogb(part), -1022) - 52);
        highest = std::max(highest, std::ilogb(part) + 1);
      }
    }
  }
  // Products of two minors, and of three if complex numbers are divided.
  mpfr_set_default_prec(
      static_cast<mpfr_prec_t>((is_complex<T> ? 3 : 2) * n * static_cast<std::size_t>(highest - lowest + 10) + 200));
  mpfr_clear_flags();
  const std::size_t width = invert ? 2 * n : n;
  std::vector<ExactComplex> a(n * width);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const Complex x = widen(A(i, j));
      a[i * width + j] = {Exact(x.real()).times_power(-lowest), Exact(x.imag()).times_power(-lowest)};
    }
    if (invert) a[i * width + n + i].real = Exact(1);
  }
  ExactInverse found;
  ExactComplex before{Exact(1), Exact(0)};
  bool negative = false;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (pivot < n && a[pivot * width + k].is_zero()) ++pivot;
    if (pivot == n) {
      found.determinant = {};
      return found;
    }
    if (pivot != k) {
      for (std::size_t j = 0; j < width; ++j) std::swap(a[k * width + j], a[pivot * width + j]);
      negative = !negative;
    }
    const ExactComplex by = a[k * width + k];
    for (std::size_t i = invert ? 0 : k + 1; i < n; ++i) {
      if (i == k) continue;
      const ExactComplex factor = a[i * width + k];
      for (std::size_t j = k + 1; j < width; ++j) {
        a[i * width + j] = (by * a[i * width + j] - factor * a[k * width + j]) / before;
      }
      if (invert && i < k) a[i * width + i] = by;
    }
    before = by;
  }
  // All rows are those of the determinant times [I A^-1], A times 2^-lowest.
  const auto order = static_cast<long>(n);
  const auto restored = [&](const ExactComplex& x, long power) {
    const ExactComplex y = negative ? ExactComplex{} - x : x;
    return ExactComplex{y.real.times_power(power), y.imaginary.times_power(power)};
  };
  for (std::size_t i = 0; i < n && invert; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      found.adjugate.push_back(restored(a[i * width + n + j], (order - 1) * lowest));
    }
  }
  found.determinant = restored(before, order * lowest);
  EXPECT_EQ(mpfr_inexflag_p(), 0) << "too few bits for the reference";
  return found;
}

/// x 2^power.
template <Scalar T> T times_power(const T& x, Index power) {
  const Complex wide = widen(x);
  return narrow<T>(
      Complex(std::ldexp(wide.real(), static_cast<int>(power)), std::ldexp(wide.imag(), static_cast<int>(power))));
}

inline constexpr int gradings = 4;
/// Random elements times powers of two by rows, by columns, and by both in opposite or in one direction.
template <Scalar T> HostMatrix<T> graded_matrix(Index n, int kind, int seed) {
  const Index by = std::numeric_limits<Real<T>>::max_exponent / 32;
  return host_matrix<T>(n, n, [&](Index i, Index j) {
    const Index power = kind == 0 ? by * i : kind == 1 ? -by * j : kind == 2 ? by * (i - j) : -by * (i + j);
    return times_power(RandomEntries<T>{seed}(i, j), power);
  });
}

}  // namespace heddle::test
