// Functions of one argument against MPFR: random doubles of all exponents and of the usual range, neighbours of simple
// numbers, hard arguments, and a sample of all floats.
#include "libm/oracle.hpp"

#include <cstdlib>

namespace heddle::libm::test {
namespace {

// The normal suite's counts; HEDDLE_LIBM_EFFORT multiplies them.
int effort() {
  const char* text = std::getenv("HEDDLE_LIBM_EFFORT");
  return text == nullptr ? 1 : std::atoi(text);
}

class Functions : public ::testing::TestWithParam<One> {
 protected:
  void check(double x) {
    const double found = GetParam().wide(x);
    const double expected = oracle_(GetParam().exact, x);
    ++checked_;
    if (same(found, expected)) return;
    ++wrong_;
    if (wrong_ < 10)
      ADD_FAILURE() << GetParam().name << "(" << hex(x) << ") = " << hex(found) << ", not " << hex(expected);
  }
  void around(double x) {
    for (const double sign : {1.0, -1.0}) {
      double up = x * sign;
      double down = x * sign;
      for (int i = 0; i < 8; ++i) {
        check(up);
        check(down);
        up = std::nextafter(up, INFINITY);
        down = std::nextafter(down, -INFINITY);
      }
    }
  }
  Oracle<double> oracle_;
  int checked_ = 0;
  int wrong_ = 0;
};

TEST_P(Functions, DoublesOfAllExponents) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000 * effort(); ++i) check(std::bit_cast<double>(random()));
  EXPECT_EQ(wrong_, 0) << checked_;
}

TEST_P(Functions, DoublesOfTheUsualRange) {
  std::mt19937_64 random(2);
  const One& f = GetParam();
  std::uniform_real_distribution<double> wide(f.lowest, f.highest);
  std::uniform_real_distribution<double> exponent(-60, 20);
  std::uniform_real_distribution<double> narrow(-2, 2);
  for (int i = 0; i < 20000 * effort(); ++i) {
    check(wide(random));
    check(narrow(random));
    check(std::exp2(exponent(random)) * (i % 2 == 0 ? 1 : -1));
    check(1 + std::exp2(exponent(random)) * (i % 2 == 0 ? 0x1p-12 : -0x1p-12));
  }
  EXPECT_EQ(wrong_, 0) << checked_;
}

TEST_P(Functions, NeighboursOfSimpleNumbers) {
  for (int power = -1074; power < 1024; ++power) around(std::ldexp(1.0, power));
  for (int i = 1; i < 1000; ++i) {
    around(i);
    around(i * 0x1.921fb54442d18p-1);
    around(i * 0x1.62e42fefa39efp-1);
    around(i * 0x1p-9);
    around(std::ldexp(i, -1074));
    around(static_cast<double>(i) * i * i);
  }
  around(0x1.62e42fefa39efp+9);
  around(-0x1.74910d52d3051p+9);
  around(-0x1.6232bdd7abcd2p+9);
  around(std::numeric_limits<double>::max());
  EXPECT_EQ(wrong_, 0) << checked_;
}

// Worst cases by Lefevre and Muller ("Worst cases for correct rounding of the elementary functions in double
// precision"), by Kahan and McDonald (the double nearest to a multiple of pi / 2, 6381956970095103 2^797), and cases of
// a search (hard_cases.cpp), whatever function they are of.
TEST_P(Functions, HardArguments) {
  const std::vector<double> hard = {
#include "libm/hard_cases.inc"
  };
  for (const double x : hard) {
    around(x);
    around(1 / x);
  }
  EXPECT_EQ(wrong_, 0) << checked_;
}

TEST_P(Functions, SampleOfAllFloats) {
  const One& f = GetParam();
  Oracle<float> oracle;
  int wrong = 0;
  // A stride prime to 2^32.
  const std::uint32_t stride = 1021;
  std::uint32_t pattern = 12345;
  for (std::uint32_t i = 0; i < (1U << 22) + 4; ++i, pattern += stride) {
    const float x = std::bit_cast<float>(pattern);
    const float found = f.narrow(x);
    // The system's double decides, unless it is near a tie.
    const double near = f.system(static_cast<double>(x));
    const double low = near - std::abs(near) * 0x1p-44;
    const double high = near + std::abs(near) * 0x1p-44;
    const float expected =
        static_cast<float>(low) == static_cast<float>(high) ? static_cast<float>(near) : oracle(f.exact, x);
    if (same(found, expected)) continue;
    ++wrong;
    if (wrong < 10) ADD_FAILURE() << f.name << "f(" << hex(x) << ") = " << hex(found) << ", not " << hex(expected);
  }
  EXPECT_EQ(wrong, 0);
}

// exp x = result 2^power beyond the range of doubles, too.
TEST(ExpParts, IsRoundedFarBeyondTheRange) {
  const mpfr_exp_t least = mpfr_get_emin();
  const mpfr_exp_t most = mpfr_get_emax();
  mpfr_set_emin(-10000);
  mpfr_set_emax(10000);
  mpfr_t exact;
  mpfr_init2(exact, 53);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> wide(-2047, 2047);
  int wrong = 0;
  for (int i = 0; i < 20000 * effort(); ++i) {
    const double x = i < 8 ? (i % 2 == 0 ? 1 : -1) * (i < 4 ? 700.0 : 1600.0) : wide(random);
    int power = 0;
    const double found = exp_parts(x, &power);
    mpfr_set_d(exact, x, MPFR_RNDN);
    mpfr_exp(exact, exact, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, -power, MPFR_RNDN);
    if (mpfr_cmp_d(exact, found) == 0 && std::isnormal(found)) continue;
    ++wrong;
    if (wrong < 10) ADD_FAILURE() << "exp_parts(" << hex(x) << ") = " << hex(found) << " 2^" << power;
  }
  EXPECT_EQ(wrong, 0);
  int power = 1;
  EXPECT_TRUE(std::isnan(exp_parts(std::nan(""), &power)));
  EXPECT_EQ(power, 0);
  EXPECT_EQ(exp_parts(0.0, &power), 1.0);
  mpfr_clear(exact);
  mpfr_set_emin(least);
  mpfr_set_emax(most);
}

INSTANTIATE_TEST_SUITE_P(Libm, Functions, ::testing::ValuesIn(functions_of_one()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace heddle::libm::test
