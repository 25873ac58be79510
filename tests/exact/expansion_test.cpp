// Tests of error-free transformations, expansions and compensated sums against MPFR.
#include "reference.hpp"
#include <heddle/exact/expansion.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace heddle::exact::expansion_test {
namespace {

template <class T> class Expansions : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Expansions, Types);

// Returns numbers whose exponents differ by up to twice the precision.
template <class T> T middling(std::mt19937_64& random) {
  const auto fraction = static_cast<T>(static_cast<std::int64_t>(random()));
  return std::ldexp(fraction, static_cast<int>(random() % 100) - 100);
}

TYPED_TEST(Expansions, TwoSumAndTwoProductLoseNothing) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  for (int run = 0; run < 20000; ++run) {
    const T a = middling<T>(random);
    const T b = middling<T>(random);
    T x = a;
    T y = b;
    two_sum(x, y);
    Reference sum;
    sum.add(a);
    sum.add(b);
    ASSERT_EQ(shown(x), shown(sum.value<T>())) << run;
    sum.add(-x);
    sum.add(-y);
    ASSERT_TRUE(sum.is_zero()) << run;
    x = a;
    y = b;
    two_product(x, y);
    Reference product;
    product.add_product(a, b);
    ASSERT_EQ(shown(x), shown(product.value<T>())) << run;
    product.add(-x);
    product.add(-y);
    ASSERT_TRUE(product.is_zero()) << run;
  }
}

TEST(ExpansionsOfDoubles, KeepEverySumOrGiveTheRestBack) {
  std::mt19937_64 random(2);
  for (int run = 0; run < 300; ++run) {
    Expansion<5> expansion;
    Reference sum;
    for (int k = 0; k < 50; ++k) {
      const auto x = std::ldexp(middling<double>(random), static_cast<int>(random() % 200));
      sum.add(x);
      sum.add(-expansion.add(x));
    }
    for (int k = 0; k < 5; ++k) {
      sum.add(-expansion.part(k));
    }
    ASSERT_TRUE(sum.is_zero()) << run;
  }
}

TEST(ExpansionsOfDoubles, HoldAsMuchAsTheirPartsDo) {
  Expansion<4> expansion;
  for (int k = 0; k < 4; ++k) ASSERT_EQ(expansion.add(std::ldexp(1.0, -60 * k)), 0.0);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(expansion.part(k), std::ldexp(1.0, -60 * k));
  EXPECT_EQ(expansion.add(0x1p-240), 0x1p-240);
  // Parts before the given level are unchanged.
  EXPECT_EQ(expansion.add(0x1p-120, 2), 0.0);
  EXPECT_EQ(expansion.part(0), 1.0);
  EXPECT_EQ(expansion.part(2), 0x1p-119);
}

// Multiples of sums: the multiples' own errors count.
TEST(ExpansionsOfDoubles, MultiplesOfCompensatedSumsKnowHowTheyRound) {
  std::mt19937_64 random(5);
  int claims = 0;
  const int runs = 3000;
  for (int run = 0; run < runs; ++run) {
    Compensated sum;
    Reference exact;
    const int n = 1 + static_cast<int>(random() % 8);
    for (int k = 0; k < n; ++k) {
      Compensated part;
      const double factor = middling<double>(random);
      for (int l = 0; l < 3; ++l) {
        const double x = middling<double>(random);
        part.add(x, 0);
        exact.add_product(factor, x);
        if (run % 2 == 1) {
          // A sum that cancels leaves the errors of the multiples.
          part.add(-x, 0);
          exact.add_product(-factor, x);
          const double small = std::ldexp(middling<double>(random), -50 - static_cast<int>(random() % 60));
          part.add(small, 0);
          exact.add_product(factor, small);
        }
      }
      sum.add_scaled(part, factor);
    }
    double rounded = 0;
    if (sum.rounds_to(12 * n + 8, Compensated::underflow(4 * n), rounded)) {
      ++claims;
      ASSERT_EQ(shown(rounded), shown(exact.value<double>())) << run;
    }
  }
  EXPECT_GT(claims, runs / 3);
}

// A float that rounds to zero is known if the sum's sign is.
TEST(ExpansionsOfDoubles, SignsOfZerosAreKnownOrLeftOpen) {
  float rounded = 1;
  Compensated above;
  above.add(0x1p-200, 0);
  ASSERT_TRUE(above.rounds_to(1, 0, rounded));
  EXPECT_EQ(shown(rounded), shown(0.0F));
  Compensated below;
  below.add(-0x1p-200, 0);
  ASSERT_TRUE(below.rounds_to(1, 0, rounded));
  EXPECT_EQ(shown(rounded), shown(-0.0F));
  // The error is as large as the sum.
  EXPECT_FALSE(above.rounds_to(1, 0x1p-199, rounded));
  EXPECT_FALSE(below.rounds_to(1, 0x1p-199, rounded));
}

// Every claim is true; for tame sums almost all are made; for sums that cancel, few.
TYPED_TEST(Expansions, CompensatedSumsKnowHowTheyRound) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  int claims = 0;
  const int runs = 2000;
  for (int run = 0; run < runs; ++run) {
    const bool cancels = run % 2 == 1;
    Compensated sum;
    Compensated other;
    Reference exact;
    const int n = 1 + static_cast<int>(random() % 60);
    for (int k = 0; k < n; ++k) {
      const auto x = static_cast<double>(middling<T>(random));
      const auto y = static_cast<double>(middling<T>(random));
      exact.add_product(x, y);
      (k % 3 == 0 ? other : sum).add_product(x, y);
      if (cancels) {
        exact.add_product(-x, y);
        sum.add_product(x, -y);
        const double small = std::ldexp(x, -200);
        exact.add(small);
        other.add(small, 0);
      }
    }
    sum.merge(other);
    T rounded = 0;
    if (sum.rounds_to(3 * n + 1, Compensated::underflow(2 * n), rounded)) {
      ++claims;
      ASSERT_EQ(shown(rounded), shown(exact.value<T>())) << run;
    }
  }
  EXPECT_GT(claims, runs / 2 - 20);
  EXPECT_LT(claims, runs / 2 + 20);
}

// A tie between two floats, and sums whose second part alone shows that they are none.
TEST(ExpansionsOfDoubles, TiesAreLeftToTheAccumulator) {
  float rounded = 0;
  Compensated sum;
  sum.add(1.0 + 0x1p-24, 0);
  ASSERT_TRUE(sum.rounds_to(1, 0, rounded));
  EXPECT_EQ(rounded, 1.0F);
  sum.add(0x1p-100, 0);
  EXPECT_FALSE(sum.rounds_to(2, 0, rounded));
  sum.add(0x1p-40, 0);
  ASSERT_TRUE(sum.rounds_to(3, 0, rounded));
  EXPECT_EQ(rounded, 1.0F + 0x1p-23F);
  double both = 0;
  Compensated tie;
  tie.add(1.0, 0);
  tie.add(0x1p-53, 0);
  EXPECT_FALSE(tie.rounds_to(2, 0, both));
  EXPECT_FALSE(Compensated().rounds_to(0, 0, both));
}

}  // namespace
}  // namespace heddle::exact::expansion_test
