// The error and gamma functions against MPFR where they are hardest: zeros of lgamma, poles, factorials, ends of the
// ranges, small results; and the sign of the gamma function.
#include "libm/oracle.hpp"

#include <cmath>

namespace heddle::libm::test {
namespace {

template <class Real> class GammaTest : public ::testing::Test {
 protected:
  using Function = Real (*)(Real);
  void check(const char* name, Function function, Compute exact, Real x) {
    const Real found = function(x);
    const Real expected = oracle_(exact, x);
    ++checked_;
    if (same(found, expected)) return;
    if (++wrong_ < 10) ADD_FAILURE() << name << "(" << hex(x) << ") = " << hex(found) << ", not " << hex(expected);
  }
  void check_gammas(Real x) {
    check("tgamma", libm::tgamma, mpfr_gamma, x);
    check("lgamma", libm::lgamma, logarithm_of_gamma, x);
  }
  void check_errors(Real x) {
    check("erf", libm::erf, mpfr_erf, x);
    check("erfc", libm::erfc, mpfr_erfc, x);
  }
  template <class Check> void around(Real x, int count, const Check& check_one) {
    Real up = x;
    Real down = x;
    for (int i = 0; i < count; ++i) {
      check_one(up);
      check_one(down);
      up = std::nextafter(up, std::numeric_limits<Real>::infinity());
      down = std::nextafter(down, -std::numeric_limits<Real>::infinity());
    }
  }
  Oracle<Real> oracle_;
  int checked_ = 0;
  int wrong_ = 0;
};

using Reals = ::testing::Types<double, float>;
TYPED_TEST_SUITE(GammaTest, Reals);

// Two zeros between -n - 1 and -n, until they are next to the integers.
TYPED_TEST(GammaTest, ZerosOfLgamma) {
  using Real = TypeParam;
  int zeros = 0;
  for (int n = 2; n < 30; ++n) {
    for (const int end : {-n, -n - 1}) {
      Real below = static_cast<Real>(-n) - Real(0.5);
      Real above = std::nextafter(static_cast<Real>(end), below);
      if (!(libm::lgamma(above) > 0)) continue;
      while (true) {
        const Real middle = below + (above - below) / 2;
        if (middle == below || middle == above) break;
        (libm::lgamma(middle) < 0 ? below : above) = middle;
      }
      ++zeros;
      this->around(below, 100, [&](Real x) { this->check_gammas(x); });
    }
  }
  EXPECT_GE(zeros, sizeof(Real) == 8 ? 25 : 14);
  EXPECT_EQ(this->wrong_, 0) << this->checked_;
}

TYPED_TEST(GammaTest, FactorialsAndPoles) {
  using Real = TypeParam;
  for (int i = -400; i <= 400; ++i) {
    for (const double part : {0.0, 0.25, 0.5}) {
      this->around(static_cast<Real>(i / 2.0 + part), 8, [&](Real x) { this->check_gammas(x); });
    }
  }
  EXPECT_EQ(libm::tgamma(Real(6)), Real(120));
  EXPECT_EQ(this->wrong_, 0) << this->checked_;
}

TYPED_TEST(GammaTest, EndsOfTheRanges) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  constexpr bool wide = sizeof(Real) == 8;
  const auto last = [](double low, double high, auto is_inside) {
    Real inside = static_cast<Real>(low);
    Real outside = static_cast<Real>(high);
    while (true) {
      const Real middle = inside + (outside - inside) / 2;
      if (middle == inside || middle == outside) return inside;
      (is_inside(middle) ? inside : outside) = middle;
    }
  };
  const auto gammas = [&](Real x) { this->check_gammas(x); };
  const auto errors = [&](Real x) { this->check_errors(x); };
  this->around(last(10, 200, [](Real x) { return libm::tgamma(x) < Limits::infinity(); }), 100, gammas);
  this->around(last(1, wide ? 1e306 : 1e37, [](Real x) { return libm::lgamma(x) < Limits::infinity(); }), 100, gammas);
  this->around(last(1, 30, [](Real x) { return libm::erfc(x) > 0; }), 100, errors);
  this->around(last(1, 30, [](Real x) { return libm::erfc(x) >= Limits::min(); }), 100, errors);
  this->around(last(1, 30, [](Real x) { return libm::erf(x) < 1; }), 100, errors);
  this->around(last(-1, -30, [](Real x) { return libm::erfc(x) < 2; }), 100, errors);
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 3000; ++i) {
    this->check_errors(static_cast<Real>(wide ? 26.5 + 0.8 * unit(random) : 9 + 1.2 * unit(random)));
    this->check_gammas(static_cast<Real>(wide ? -168 - 20 * unit(random) : -32 - 18 * unit(random)));
    this->check_gammas(
        std::ldexp(static_cast<Real>(1 + unit(random)),
                   static_cast<int>(random() % (2 * Limits::max_exponent - 4)) - Limits::max_exponent + 3));
    this->check_gammas(static_cast<Real>(-std::exp2(unit(random) * 53)));
    this->check_gammas(1 + static_cast<Real>((unit(random) - 0.5) * std::exp2(-50 * unit(random))));
    this->check_gammas(2 + static_cast<Real>((unit(random) - 0.5) * std::exp2(-50 * unit(random))));
  }
  EXPECT_EQ(this->wrong_, 0) << this->checked_;
}

TYPED_TEST(GammaTest, RandomArguments) {
  using Real = TypeParam;
  std::mt19937_64 random(10);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 20000; ++i) {
    this->check_gammas(static_cast<Real>(-8 + 16 * unit(random)));
    this->check_gammas(static_cast<Real>(-30 * unit(random)));
    this->check("tgamma", libm::tgamma, mpfr_gamma, static_cast<Real>(-20 + 190 * unit(random)));
    this->check("lgamma", libm::lgamma, logarithm_of_gamma, static_cast<Real>(1000 * unit(random)));
    this->check_errors(static_cast<Real>(-2 + 4 * unit(random)));
  }
  EXPECT_EQ(this->wrong_, 0) << this->checked_;
}

TYPED_TEST(GammaTest, SignOfGamma) {
  using Real = TypeParam;
  const auto check_sign = [](Real x, int expected) {
    int sign = 0;
    const Real value = libm::lgamma_r(x, &sign);
    EXPECT_EQ(sign, expected) << hex(x);
    signgam = -sign;
    EXPECT_TRUE(same(libm::lgamma(x), value)) << hex(x);
    EXPECT_EQ(signgam, expected) << hex(x);
  };
  for (const double x : {0.0, 0.3, 1.0, 2.0, 7.5, 10.0, 1e30, -1.0, -2.0, -100.0, -1e30, -1.5, -3.25, -9.5, -101.5})
    check_sign(static_cast<Real>(x), 1);
  for (const double x : {-0.0, -1e-30, -0.5, -2.5, -4.75, -10.5, -100.5}) check_sign(static_cast<Real>(x), -1);
  check_sign(std::numeric_limits<Real>::infinity(), 1);
  check_sign(-std::numeric_limits<Real>::infinity(), 1);
  check_sign(std::numeric_limits<Real>::quiet_NaN(), 1);
  if (sizeof(Real) == 8) {
    check_sign(static_cast<Real>(-0x1.8p51 - 0.5), -1);
    check_sign(static_cast<Real>(-0x1.8p51 - 1.5), 1);
  }
}

}  // namespace
}  // namespace heddle::libm::test
