// Roots and quotients in a short chain of operations: correctly rounded, or left to others.
#include "solve/root_divisor.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace heddle {
namespace {

using impl::QuickRoot;
using impl::RootDivisor;

// What is given back is right, and is given back nearly always.
class Roots : public ::testing::Test {
 protected:
  void expect_right(double x) {
    ++all;
    const double best = 1.0 / std::sqrt(x);
    for (const double estimate : {best, std::nextafter(best, 0.0), std::nextafter(best, 2 * best)}) {
      const QuickRoot quick(x, estimate);
      if (!quick.is_right()) continue;
      ++found;
      ASSERT_EQ(quick.root(), std::sqrt(x)) << x;
      ASSERT_EQ(quick.inverse(), 1.0 / std::sqrt(x)) << x;
    }
    const RootDivisor<double> by = impl::root_divisor<double>(x);
    ASSERT_EQ(by.root, std::sqrt(x)) << x;
    ASSERT_EQ(by.inverse, 1.0 / std::sqrt(x)) << x;
  }
  long all = 0;
  long found = 0;
};

TEST_F(Roots, OfRandomNumbers) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> mantissa(1.0, 4.0);
  for (int k = 0; k < 200000; ++k) expect_right(std::ldexp(mantissa(random), static_cast<int>(random() % 600) - 300));
  EXPECT_GT(found, 2 * all);
}

// Next to squares and next to squares of numbers half way between doubles; next to powers of two.
TEST_F(Roots, OfHardNumbers) {
  std::mt19937_64 random(8);
  for (int k = 0; k < 20000; ++k) {
    const auto bits = static_cast<double>((random() >> 12) | (std::uint64_t{1} << 52));
    const double half_way = bits + 0.5;
    for (const double near : {bits * bits, bits * bits + bits, half_way * bits}) {
      for (double x = near, step = 0; step < 3; ++step, x = std::nextafter(x, 0.0)) expect_right(x);
      for (double x = near, step = 0; step < 3; ++step, x = std::nextafter(x, 2 * near)) expect_right(x);
    }
  }
  for (int e = -398; e < 398; ++e) {
    const double power = std::ldexp(1.0, e);
    for (const double x : {power, std::nextafter(power, 0.0), std::nextafter(power, 2 * power), 3 * power}) {
      expect_right(x);
    }
  }
  for (int k = 1; k < 3000; ++k) {
    expect_right(k);
    expect_right(static_cast<double>(k) * k);
    expect_right(static_cast<double>(k) * k - 0x1p-30);
  }
}

TEST_F(Roots, AreLeftToOthersBeyondTheRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double x : {0.0, -0.0, -1.0, infinity, nan, std::numeric_limits<double>::denorm_min(),
                         std::numeric_limits<double>::min(), std::numeric_limits<double>::max(), 0x1p-500, 0x1p500}) {
    EXPECT_FALSE(QuickRoot(x, 1.0 / std::sqrt(x)).is_right()) << x;
    const RootDivisor<double> by = impl::root_divisor<double>(x);
    if (std::isnan(std::sqrt(x))) {
      EXPECT_TRUE(std::isnan(by.root));
    } else {
      EXPECT_EQ(by.root, std::sqrt(x));
    }
  }
  // An estimate that is none proves nothing.
  EXPECT_FALSE(QuickRoot(2.0, 0.5).is_right());
  EXPECT_FALSE(QuickRoot(2.0, nan).is_right());
}

TEST_F(Roots, DivideWhateverTheyAreGiven) {
  std::mt19937_64 random(9);
  const double infinity = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 100000; ++k) {
    const double pivot =
        std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 1900) - 950);
    const double x =
        std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 1900) - 950);
    const RootDivisor<double> by = impl::root_divisor<double>(pivot);
    ASSERT_EQ(by.quotient(x), x / std::sqrt(pivot)) << x << " by the root of " << pivot;
    ASSERT_EQ(by.quotient(-x), -x / std::sqrt(pivot));
  }
  for (const double pivot : {4.0, 0.0, infinity, -1.0}) {
    const RootDivisor<double> by = impl::root_divisor<double>(pivot);
    for (const double x : {0.0, -0.0, 1.0, infinity, std::numeric_limits<double>::denorm_min()}) {
      const double expected = x / std::sqrt(pivot);
      const double quotient = by.quotient(x);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(quotient)) << x << " by the root of " << pivot;
      } else {
        EXPECT_EQ(quotient, expected);
        EXPECT_EQ(std::signbit(quotient), std::signbit(expected));
      }
    }
  }
  const RootDivisor<float> single = impl::root_divisor<float>(2.0F);
  EXPECT_EQ(single.quotient(3.0F), 3.0F / std::sqrt(2.0F));
  const RootDivisor<Kokkos::complex<double>> complex = impl::root_divisor<Kokkos::complex<double>>(2.0);
  EXPECT_EQ(complex.quotient({1.0, -0.0}), Kokkos::complex<double>(1.0 / std::sqrt(2.0), -0.0));
}

}  // namespace
}  // namespace heddle
