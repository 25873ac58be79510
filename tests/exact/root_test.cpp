// Tests of roots of exact sums against MPFR, for the cases hardest to round: squares, squares of midpoints, and their
// neighbours.
#include "exact/sums/root.hpp"

#include "reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

namespace heddle::exact::root_test {
namespace {

struct Sum {
  Accumulator<double> accumulator;
  Reference reference;

  void add(double x) {
    accumulator.add(x);
    reference.add(x);
  }
  void add_product(double x, double y) {
    accumulator.add_product(x, y);
    reference.add_product(x, y);
  }
  // Adds (high + low)^2; both parts are doubles.
  void add_square(double high, double low) {
    add_product(high, high);
    add_product(high, low);
    add_product(high, low);
    add_product(low, low);
  }
};

void expect_root(const Sum& sum, const char* what, int run) {
  const auto in_double = bits::SquareRoot::of<double>(sum.accumulator);
  const auto in_float = bits::SquareRoot::of<float>(sum.accumulator);
  ASSERT_EQ(shown(in_double), shown(sum.reference.root<double>())) << what << ' ' << run;
  ASSERT_EQ(shown(in_float), shown(sum.reference.root<float>())) << what << ' ' << run;
}

TEST(SquareRoots, OfSquaresAndTiesAndNextToThem) {
  std::mt19937_64 random(21);
  for (int run = 0; run < 4000; ++run) {
    // A number of 53 or 24 bits, with an even or odd exponent, and half of its last place.
    const bool of_floats = run % 2 == 0;
    const int digits = of_floats ? 24 : 53;
    const int exponent = static_cast<int>(random() % (of_floats ? 120 : 900)) - (of_floats ? 60 : 450);
    const auto mantissa = static_cast<double>((random() >> (64 - digits)) | (std::uint64_t{1} << (digits - 1)));
    const double number = std::ldexp(mantissa, exponent - digits);
    const double half_place = std::ldexp(0.5, exponent - digits);
    const double tiny = std::ldexp(run % 3 == 0 ? -1.0 : 1.0, 2 * exponent - 60 - static_cast<int>(random() % 110));
    Sum square;
    square.add_square(number, 0);
    expect_root(square, "square", run);
    square.add(tiny);
    expect_root(square, "near a square", run);
    Sum tie;
    tie.add_square(number, half_place);
    expect_root(tie, "tie", run);
    tie.add(tiny);
    expect_root(tie, "near a tie", run);
    Sum bits;
    for (int k = 0; k < 6; ++k) bits.add(std::ldexp(static_cast<double>(random() >> 11), exponent - 53 * k));
    expect_root(bits, "many bits", run);
  }
}

TEST(SquareRoots, OfTheEndsOfTheRangeAndOfWhatIsNoNumber) {
  for (int power = -1074; power <= 1022; ++power) {
    Sum sum;
    sum.add(std::ldexp(1.0, power));
    expect_root(sum, "power", power);
    Sum square;
    square.add_product(std::ldexp(1.0, power), std::ldexp(1.0, power));
    expect_root(square, "square of a power", power);
    square.add_product(std::ldexp(1.0, power), std::ldexp(0x1.8p-3, power));
    expect_root(square, "and more", power);
  }
  Accumulator<double> sum;
  EXPECT_EQ(shown(bits::SquareRoot::of<double>(sum)), shown(0.0));
  sum.add(-1.0);
  EXPECT_EQ(shown(bits::SquareRoot::of<double>(sum)), "NaN");
  sum.add(infinite<double>());
  EXPECT_EQ(shown(bits::SquareRoot::of<double>(sum)), shown(infinite<double>()));
}

// Every claim of the quick root is true, and for sums without cancellation nearly every one is made.
TEST(SquareRoots, OfCompensatedSumsAreKnownOrLeftOpen) {
  std::mt19937_64 random(22);
  int claims = 0;
  const int runs = 4000;
  for (int run = 0; run < runs; ++run) {
    Compensated sum;
    Reference exact;
    const int n = 1 + static_cast<int>(random() % 20);
    for (int k = 0; k < n; ++k) {
      const double x = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 8) - 53);
      sum.add_product(x, x);
      exact.add_product(x, x);
    }
    double root = 0;
    float rounded = 0;
    if (impl::square_root(sum, n, Compensated::underflow(n), root)) {
      ++claims;
      ASSERT_EQ(shown(root), shown(exact.root<double>())) << run;
    }
    if (impl::square_root(sum, n, Compensated::underflow(n), rounded)) {
      ASSERT_EQ(shown(rounded), shown(exact.root<float>())) << run;
    }
    // A tie between two floats: the square of a midpoint, and a term that decides the side.
    const double midpoint = 1.0 + static_cast<double>(random() >> 41) * 0x1p-23 + 0x1p-24;
    Compensated tie;
    Reference exact_tie;
    const double tiny = std::ldexp(run % 2 == 0 ? 1.0 : -1.0, -60 - static_cast<int>(random() % 60));
    for (const double x : {midpoint * midpoint, std::fma(midpoint, midpoint, -midpoint * midpoint), tiny}) {
      tie.add(x, 0);
      exact_tie.add(x);
    }
    if (impl::square_root(tie, 3, 0, rounded)) ASSERT_EQ(shown(rounded), shown(exact_tie.root<float>())) << run;
    // A tie between two doubles, or as near to it as one bit of the sum.
    const double number = 1.0 + static_cast<double>(random() >> 12) * 0x1p-52;
    Compensated between;
    Reference exact_between;
    const auto add = [&](double x, double y) {
      between.add_product(x, y);
      exact_between.add_product(x, y);
    };
    add(number, number);
    add(number, 0x1p-52);
    add(0x1p-53, 0x1p-53);
    if (run % 3 != 0) add(run % 3 == 1 ? 1.0 : -1.0, std::ldexp(1.0, -100 - static_cast<int>(random() % 6)));
    if (impl::square_root(between, 4, Compensated::underflow(4), root)) {
      ASSERT_EQ(shown(root), shown(exact_between.root<double>())) << run;
    }
  }
  EXPECT_GT(claims, runs - 20);
}

}  // namespace
}  // namespace heddle::exact::root_test
