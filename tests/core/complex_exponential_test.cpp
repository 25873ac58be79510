// Tests of the complex exponential and of the length of a vector of two components.
#include "core/complex_exponential.hpp"

#include "core/hypotenuse.hpp"
#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

namespace heddle::impl::complex_exponential_test {
namespace {

// A long double has 11 bits more than what is looked for.
void expect_rounded(double found, long double expected, double x) {
  const double rounded = static_cast<double>(expected);
  EXPECT_LE(std::abs(static_cast<long double>(found) - expected),
            0.501L * (std::nextafter(std::abs(rounded), 1e308) - std::abs(rounded)))
      << x;
}

TEST(ComplexExponential, HasRoundedParts) {
  for (int k = 0; k < 20000; ++k) {
    const double unit = test::random_number(k, 3, 5);
    const double x = std::ldexp(unit, k % 44 - 30);
    const std::complex<double> turned = exponential(std::complex(0.0, x));
    expect_rounded(turned.imag(), std::sin(static_cast<long double>(x)), x);
    expect_rounded(turned.real(), std::cos(static_cast<long double>(x)), x);
    const double y = 700.0 * unit * (k % 3 == 0 ? 1e-6 : 1.0);
    expect_rounded(exponential(std::complex(y, 0.0)).real(), std::exp(static_cast<long double>(y)), y);
  }
}

TEST(ComplexExponential, IsExactAtZeros) {
  EXPECT_EQ(exponential(std::complex(0.0, 0.0)), std::complex(1.0, 0.0));
  EXPECT_TRUE(std::signbit(exponential(std::complex(2.0, -0.0)).imag()));
  EXPECT_EQ(exponential(std::complex(0.5, -1.25)), std::conj(exponential(std::complex(0.5, 1.25))));
  EXPECT_EQ(exponential(std::complex(-740.0, 0.0)).real(), std::exp(-740.0));
  const double bad = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(exponential(std::complex(0.0, bad)).real()));
  EXPECT_TRUE(std::isnan(exponential(std::complex(0.0, bad)).imag()));
}

// exp x alone overflows or underflows; its product with a cosine or a sine need not.
TEST(ComplexExponential, IsFiniteIfItsValueIs) {
  using Complex = std::complex<double>;
  const double inf = std::numeric_limits<double>::infinity();
  const auto expected = [](double x, long double factor) {
    return static_cast<double>(std::exp(static_cast<long double>(x)) * factor);
  };
  for (const double x : {-745.0, -709.0, 0.5, 700.0, 709.0, 709.5, 709.9, 710.0, 712.0, 740.0, 799.0, 801.0, 1400.0}) {
    for (const double y : {1.0, -1.25, 1.5707963267948966, 3.1415926535897931, 1e-10, -1e-20, 1e-300, 5e-324}) {
      const Complex found = exponential(Complex(x, y));
      const double re = expected(x, std::cos(static_cast<long double>(y)));
      const double im = expected(x, std::sin(static_cast<long double>(y)));
      // Two roundings, of denormal numbers of one unit.
      const auto near = [&](double one, double other) {
        return one == other || std::abs(one - other) <= 3.5e-16 * std::abs(other) + 5e-324;
      };
      EXPECT_TRUE(near(found.real(), re)) << x << ", " << y << ": " << found.real() << " for " << re;
      EXPECT_TRUE(near(found.imag(), im)) << x << ", " << y << ": " << found.imag() << " for " << im;
    }
  }
  EXPECT_TRUE(std::isfinite(exponential(Complex(709.9, 1.5)).real()));
  EXPECT_EQ(exponential(Complex(800.0, 0.0)), Complex(inf, 0.0));
  EXPECT_EQ(exponential(Complex(inf, 0.0)), Complex(inf, 0.0));
  EXPECT_EQ(exponential(Complex(-inf, 1.0)), Complex(0.0, 0.0));
  EXPECT_EQ(exponential(Complex(inf, 3.0)), Complex(-inf, inf));
  EXPECT_TRUE(std::isnan(exponential(Complex(std::numeric_limits<double>::quiet_NaN(), 0.0)).imag()));
}

// As computed once: every machine gives these bits.
TEST(ComplexExponential, HasTheSameBitsEverywhere) {
  std::uint64_t hash = 14695981039346656037U;
  for (int k = 0; k < 1000; ++k) {
    const double x = 40.0 * test::random_number(k, 7, 9);
    const std::complex<double> turned = exponential(std::complex(0.0, x));
    for (const double value : {turned.imag(), turned.real(), exponential(std::complex(x, 0.0)).real()}) {
      hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211U;
    }
  }
  EXPECT_EQ(hash, 12108784537320566402U);
}

TEST(Hypotenuse, IsNearTheLengthAtAllSizes) {
  for (int k = 0; k < 20000; ++k) {
    const int power = k % 2040 - 1020;
    const double x = std::ldexp(test::random_number(k, 1, 2), power);
    const double y = std::ldexp(test::random_number(k, 3, 4), power + k % 60 - 30);
    const double length = std::hypot(x, y);
    if (!std::isfinite(length)) continue;
    EXPECT_NEAR(hypotenuse(x, y), length, 4e-16 * length + 5e-324) << x << ", " << y;
    EXPECT_EQ(hypotenuse(x, y), hypotenuse(-y, x));
  }
}

TEST(Hypotenuse, AtTheEdges) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(hypotenuse(0.0, -0.0), 0.0);
  EXPECT_EQ(hypotenuse(-3.0, 0.0), 3.0);
  EXPECT_EQ(hypotenuse(3e300, 4e300), 5e300);
  EXPECT_EQ(hypotenuse(0.0, 5e-324), 5e-324);
  EXPECT_EQ(hypotenuse(inf, nan), inf);
  EXPECT_EQ(hypotenuse(nan, -inf), inf);
  EXPECT_EQ(hypotenuse(inf, inf), inf);
  for (const double other : {0.0, 1.0, nan}) {
    EXPECT_TRUE(std::isnan(hypotenuse(nan, other)));
    EXPECT_TRUE(std::isnan(hypotenuse(other, nan)));
  }
}

}  // namespace
}  // namespace heddle::impl::complex_exponential_test
