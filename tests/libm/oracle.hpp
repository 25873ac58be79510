// Results of MPFR rounded to doubles and floats, and the functions under test.
#pragma once

#include "libm/functions.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace heddle::libm::test {

template <class Real> using BitsOf = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;

template <class Real> BitsOf<Real> bits(Real x) {
  return std::bit_cast<BitsOf<Real>>(x);
}

using Compute = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using ComputeTwo = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/// A number of MPFR in the format of Real, subnormals included.
template <class Real> class Oracle {
 public:
  Oracle() {
    mpfr_set_emin(-1073 - 53);
    mpfr_set_emax(1024 + 53);
    mpfr_init2(x_, 53);
    mpfr_init2(y_, 53);
    mpfr_init2(z_, std::numeric_limits<Real>::digits);
  }
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;
  ~Oracle() {
    mpfr_clear(x_);
    mpfr_clear(y_);
    mpfr_clear(z_);
  }
  Real operator()(Compute compute, Real x) {
    mpfr_set_d(x_, static_cast<double>(x), MPFR_RNDN);
    return rounded([&] { return compute(z_, x_, MPFR_RNDN); });
  }
  Real operator()(ComputeTwo compute, Real x, Real y) {
    mpfr_set_d(x_, static_cast<double>(x), MPFR_RNDN);
    mpfr_set_d(y_, static_cast<double>(y), MPFR_RNDN);
    return rounded([&] { return compute(z_, x_, y_, MPFR_RNDN); });
  }
  /// Whether the last result was exact.
  [[nodiscard]] bool exact() const { return exact_; }

 private:
  template <class Function> Real rounded(const Function& function) {
    constexpr bool is_double = sizeof(Real) == 8;
    mpfr_set_emin(is_double ? -1073 : -148);
    mpfr_set_emax(is_double ? 1024 : 128);
    const int ternary = function();
    exact_ = mpfr_subnormalize(z_, ternary, MPFR_RNDN) == 0;
    const auto result = static_cast<Real>(mpfr_get_d(z_, MPFR_RNDN));
    mpfr_set_emin(-1073 - 53);
    mpfr_set_emax(1024 + 53);
    return result;
  }
  bool exact_ = true;
  mpfr_t x_;
  mpfr_t y_;
  mpfr_t z_;
};

/// A function of one argument: ours, MPFR's, and the system's, which the exhaustive test takes for an approximation.
struct One {
  const char* name;
  double (*wide)(double);
  float (*narrow)(float);
  Compute exact;
  double (*system)(double);
  double lowest;  // arguments of interest
  double highest;
};

inline int logarithm_of_gamma(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  int sign = 0;
  return mpfr_lgamma(result, &sign, x, rounding);
}

inline std::vector<One> functions_of_one() {
#define HEDDLE_LIBM_ENTRY(name, lowest, highest)                                                                      \
  {                                                                                                                   \
#name, heddle::libm::name, heddle::libm::name, mpfr_##name, static_cast < double (*)(double)>(std::name), lowest, \
        highest                                                                                                       \
  }
  return {
      HEDDLE_LIBM_ENTRY(exp, -746, 710),
      HEDDLE_LIBM_ENTRY(log, 0, 1e308),
      HEDDLE_LIBM_ENTRY(sin, -100, 100),
      HEDDLE_LIBM_ENTRY(cos, -100, 100),
      HEDDLE_LIBM_ENTRY(tan, -100, 100),
      HEDDLE_LIBM_ENTRY(cbrt, -100, 100),
      HEDDLE_LIBM_ENTRY(exp2, -1076, 1025),
      HEDDLE_LIBM_ENTRY(expm1, -40, 710),
      HEDDLE_LIBM_ENTRY(log2, 0, 1e308),
      HEDDLE_LIBM_ENTRY(log10, 0, 1e308),
      HEDDLE_LIBM_ENTRY(log1p, -1, 1e30),
      {"exp10", heddle::libm::exp10, heddle::libm::exp10, mpfr_exp10, ::exp10, -324, 309},
      HEDDLE_LIBM_ENTRY(sinh, -711, 711),
      HEDDLE_LIBM_ENTRY(cosh, -711, 711),
      HEDDLE_LIBM_ENTRY(tanh, -24, 24),
      HEDDLE_LIBM_ENTRY(asin, -1, 1),
      HEDDLE_LIBM_ENTRY(acos, -1, 1),
      HEDDLE_LIBM_ENTRY(atan, -10, 10),
      HEDDLE_LIBM_ENTRY(asinh, -10, 10),
      HEDDLE_LIBM_ENTRY(acosh, 1, 10),
      HEDDLE_LIBM_ENTRY(atanh, -1, 1),
      HEDDLE_LIBM_ENTRY(erf, -6, 6),
      HEDDLE_LIBM_ENTRY(erfc, -6, 28),
      {"tgamma", heddle::libm::tgamma, heddle::libm::tgamma, mpfr_gamma, ::tgamma, -20, 172},
      {"lgamma", heddle::libm::lgamma, heddle::libm::lgamma, logarithm_of_gamma, ::lgamma, -30, 1000},
  };
#undef HEDDLE_LIBM_ENTRY
}

/// Equal bits, or both NaN.
template <class Real> bool same(Real x, Real y) {
  return bits(x) == bits(y) || (x != x && y != y);
}

template <class Real> std::string hex(Real x) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", static_cast<double>(x));
  return text;
}

}  // namespace heddle::libm::test
