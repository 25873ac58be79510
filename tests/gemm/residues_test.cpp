#include "gemm/assemble.hpp"
#include "support/multiprecision.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace heddle::impl {
namespace {

TEST(Moduli, ArePairwiseCoprimeAndOfEightBits) {
  for (std::size_t k = 0; k < all_moduli.size(); ++k) {
    EXPECT_LE(all_moduli[k], 256);
    for (std::size_t l = 0; l < k; ++l)
      EXPECT_EQ(std::gcd(all_moduli[k], all_moduli[l]), 1) << all_moduli[k] << " " << all_moduli[l];
  }
  EXPECT_THROW(ResidueSystem(least_moduli - 1), Error);
  EXPECT_THROW(ResidueSystem(most_moduli + 1), Error);
}

TEST(Slices, HoldWhatTheModuliReach) {
  for (int count = least_moduli; count <= most_moduli; ++count) {
    const double reach = ResidueSystem(count).reach;
    const int slices = slices_for(reach);
    // -128 ... 127 in each slice.
    const auto most = [](int number) { return 127.0 / 255.0 * (std::ldexp(1.0, 8 * number) - 1.0); };
    EXPECT_GE(most(slices), reach) << count;
    EXPECT_LT(most(slices - 1), reach) << count;
    EXPECT_LE(slices, most_slices);
  }
  EXPECT_EQ(slices_for(ResidueSystem(14).reach), 7);
}

// Any number of moduli puts an integer together again, whatever multiples of the moduli its residues come with.
template <int digits> void expect_back(int count, test::Number exact, bool negative, std::mt19937_64& random) {
  const ResidueSystem system(count);
  ASSERT_EQ(system.digits, digits);
  ResidueSums<digits, 2> sums;
  for (int l = 0; l < count; ++l) {
    // The residue of |x| by Horner's rule over its 32-bit digits, from the number itself.
    test::Number rest = exact;
    std::uint64_t residue = 0;
    for (int k = 7; k >= 0; --k) {
      test::Number digit = rest;
      digit.scale_by_power_of_two(-32L * k);
      const auto whole = static_cast<std::uint64_t>(digit.to_double_down());
      test::Number taken(static_cast<double>(whole));
      taken.scale_by_power_of_two(32L * k);
      rest -= taken;
      residue = (residue * ((std::uint64_t{1} << 32) % system.modulus[l]) + whole) % system.modulus[l];
    }
    if (negative) residue = (system.modulus[l] - residue) % system.modulus[l];
    const auto lifted = [&] { return static_cast<std::uint32_t>(residue + random() % 5 * system.modulus[l]); };
    const std::uint32_t residues[2] = {lifted(), lifted()};
    sums.add(residues, system.weight[l]);
  }
  const double sign = negative ? -1.0 : 1.0;
  double found[2];
  sums.values(system, 0, {0, -300}, found);
  EXPECT_EQ(found[0], sign * exact.to_double()) << count;
  EXPECT_EQ(found[1], sign * std::ldexp(exact.to_double(), -300)) << count;
}

void expect_back(int count, const test::Number& x, bool negative, std::mt19937_64& random) {
  switch (digits_for(count)) {
    case 3:
      return expect_back<3>(count, x, negative, random);
    case 4:
      return expect_back<4>(count, x, negative, random);
    case 5:
      return expect_back<5>(count, x, negative, random);
    case 6:
      return expect_back<6>(count, x, negative, random);
    default:
      return expect_back<8>(count, x, negative, random);
  }
}

TEST(Residues, PutIntegersTogetherAgain) {
  std::mt19937_64 random(1);
  for (int count = least_moduli; count <= most_moduli; ++count) {
    const ResidueSystem system(count);
    for (int trial = 0; trial < 60; ++trial) {
      // Of any length up to that of P / 2.
      const auto bits = static_cast<int>(random() % static_cast<std::uint64_t>(system.log2_product - 1.01));
      test::Number x;
      for (int k = 0; k <= bits / 32; ++k) {
        test::Number digit(static_cast<double>(static_cast<std::uint32_t>(random())));
        digit.scale_by_power_of_two(32L * k);
        x += digit;
      }
      expect_back(count, test::Number::floor_scaled(x, bits - 32 * (bits / 32 + 1)), trial % 2 == 1, random);
    }
  }
}

// Where the quotient by P is hardest to tell: sums as large as they may be.
TEST(Residues, PutTheLargestIntegersTogetherAgain) {
  std::mt19937_64 random(2);
  for (int count = least_moduli; count <= most_moduli; ++count) {
    const ResidueSystem system(count);
    test::Number largest(system.reach);
    largest *= test::Number(system.reach);
    for (int trial = 0; trial < 200; ++trial) {
      test::Number x = largest;
      x -= test::Number(static_cast<double>(random() % 1000000));
      expect_back(count, test::Number::floor_scaled(x, 0), trial % 2 == 1, random);
    }
  }
}

template <class T> class Nearest : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Nearest, Reals);

// As MPFR rounds, from what overflows to what underflows.
TYPED_TEST(Nearest, RoundsOnceToEven) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  const auto check = [](const std::array<std::uint32_t, 4>& digits, int exponent) {
    test::Number x;
    for (int k = 0; k < 4; ++k) {
      test::Number digit(digits[static_cast<std::size_t>(k)]);
      digit.scale_by_power_of_two(exponent + 32L * k);
      x += digit;
    }
    std::uint32_t magnitude[4][2];
    for (std::size_t k = 0; k < 4; ++k) magnitude[k][0] = magnitude[k][1] = digits[k];
    T found[2];
    nearest(magnitude, {0U, 1U}, {exponent, exponent}, found);
    const T expected = x.template rounded<T>();
    EXPECT_EQ(found[0], expected) << exponent;
    EXPECT_EQ(found[1], -expected) << exponent;
  };
  for (int trial = 0; trial < 20000; ++trial) {
    const int exponent = static_cast<int>(random() % 2400) - 1300;
    std::array<std::uint32_t, 4> digits{};
    // Few bits set, so that ties and their neighbours come up.
    for (int k = 0; k < 3; ++k) digits[random() % 4] |= std::uint32_t{1} << random() % 32;
    if (trial % 3 == 0) digits[random() % 4] = ~std::uint32_t{0};
    if (trial % 5 == 0) digits = {digits[0], digits[1], 0, 0};
    check(digits, exponent);
  }
  check({0, 0, 0, 0}, 0);
  check({1, 0, 0, 0}, -1074);
  check({1, 0, 0, 0}, -1075);
  check({3, 0, 0, 0}, -1076);
}

}  // namespace
}  // namespace heddle::impl
