// Tests of single-pass sums (three times the precision, bins, integers for exponents) against MPFR and accumulators.
#include "exact/sums/bins.hpp"
#include "exact/sums/exponent_sums.hpp"
#include "exact/sums/threefold.hpp"
#include "reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace heddle::exact::impl::pass_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Returns a number of any exponent below that of `limit`, one of the smallest, one of a fixed exponent, or one whose
// roundings are ties.
double number_of(std::mt19937_64& random, int kind, double limit) {
  if (kind == 0) {
    const double x = any_number<double>(random);
    return std::abs(x) < limit ? x : std::ldexp(x, -200);
  }
  if (kind == 1) {
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random()) >> (random() % 63)), -1074);
  }
  if (kind == 2) {
    return std::ldexp(static_cast<double>(random() >> 11), -53);
  }
  return std::ldexp(1.5, static_cast<int>(random() % 1900) - 1000);
}

template <class Sum> void expect_same(const Sum& found, const Accumulator<double>& expected) {
  Accumulator<double> difference = expected;
  difference.negate();
  difference.merge(found);
  EXPECT_EQ(difference.sign(), 0);
  EXPECT_EQ(shown(found.value()), shown(expected.value()));
}

TEST(Bins, KeepWhatWasAdded) {
  std::mt19937_64 random(1);
  constexpr int stride = 3;
  std::vector<double> places(static_cast<std::size_t>(Bins::count * stride));
  const Bins bins(places.data() + 1, stride);
  for (int kind = 0; kind < 4; ++kind) {
    for (const int count : {0, 1, 2, 100, Bins::most}) {
      // Also all of one sign, so that bins are filled to their limit.
      for (const bool one_sign : {false, true}) {
        bins.clear();
        Accumulator<double> expected;
        for (int k = 0; k < count; ++k) {
          const double x = number_of(random, kind, Bins::limit);
          bins.add(one_sign ? std::abs(x) : x);
          expected.add(one_sign ? std::abs(x) : x);
        }
        Accumulator<double> found;
        for (int i = 0; i < Bins::count; ++i) {
          found.add_scaled(Bins::units(i, places[static_cast<std::size_t>(i * stride + 1)]), Bins::unit(i));
        }
        Accumulator<double> difference = found;
        expected.negate();
        difference.merge(expected);
        EXPECT_EQ(difference.sign(), 0) << kind << ' ' << count;
      }
    }
  }
}

// The largest number of each exponent, as often as allowed: the part added and the remainder for the bins below are as
// large as possible.
TEST(Bins, AreAsWideAsTheyMustBe) {
  std::vector<double> places(Bins::count);
  const Bins bins(places.data(), 1);
  for (int exponent = -1074; exponent < 1000; ++exponent) {
    const double x = exponent < -1021 ? std::ldexp(1.0, exponent) : std::ldexp(0x1.fffffffffffffp-1, exponent);
    bins.clear();
    for (int k = 0; k < Bins::most; ++k) {
      bins.add(x);
    }
    Accumulator<double> difference;
    for (int i = 0; i < Bins::count; ++i) {
      difference.add_scaled(Bins::units(i, places[static_cast<std::size_t>(i)]), Bins::unit(i));
    }
    difference.subtract_product(x, Bins::most);
    ASSERT_EQ(difference.sign(), 0) << exponent;
  }
}

struct List {
  static constexpr int parts = 1;
  const std::vector<double>* x;
  void load(Index k, double& value, double& /*error*/) const { value = (*x)[static_cast<std::size_t>(k)]; }
  [[nodiscard]] static bool is_tame(Index /*k*/, double /*value*/) { return true; }
  template <bool atomic> void add_to(Accumulator<double>& sum, Index k) const {
    sum.add((*x)[static_cast<std::size_t>(k)]);
  }
};
Accumulator<double> by_exponents(const std::vector<double>& x) {
  Accumulator<double> sum;
  add_exactly(List{&x}, 0, static_cast<Index>(x.size()), sum);
  return sum;
}

TEST(ExponentSums, AreThoseOfAccumulators) {
  std::mt19937_64 random(2);
  for (int kind = 0; kind < 4; ++kind) {
    for (const std::size_t n : {0U, 1U, 4095U, 4096U, 20001U}) {
      std::vector<double> x(n);
      Accumulator<double> expected;
      for (double& value : x) {
        value = number_of(random, kind, inf);
        expected.add(value);
      }
      expect_same(by_exponents(x), expected);
    }
  }
}

TEST(ExponentSums, KnowInfinitiesNaNsAndTheSignsOfZeros) {
  for (const std::size_t n : {100U, 5000U}) {
    const auto with = [&](double most, double last) {
      std::vector<double> x(n, most);
      x.back() = last;
      return shown(by_exponents(x).value());
    };
    EXPECT_EQ(with(-0.0, -0.0), shown(-0.0));
    EXPECT_EQ(with(-0.0, 0.0), shown(0.0));
    EXPECT_EQ(with(-0.0, -1.0), shown(-1.0));
    EXPECT_EQ(with(inf, 1.0), shown(inf));
    EXPECT_EQ(with(-inf, 1.0), shown(-inf));
    EXPECT_EQ(with(-inf, inf), "NaN");
    EXPECT_EQ(with(1.0, nan), "NaN");
    EXPECT_EQ(with(nan, inf), "NaN");
    EXPECT_EQ(with(double_max, double_max), shown(inf));
    std::vector<double> x(n, double_max);
    for (std::size_t k = 0; k < n; k += 2) x[k] = -double_max;
    EXPECT_EQ(shown(by_exponents(x).value()), shown(0.0));
  }
}

TEST(ThreefoldSums, RoundWhatTheySayTheyKnow) {
  std::mt19937_64 random(3);
  int known = 0;
  for (int run = 0; run < 400; ++run) {
    const int range = 1 + run % 200;
    Reference exact;
    Threefold parts[2];
    const int count = 1 + static_cast<int>(random() % 1000);
    std::vector<double> x;
    for (int k = 0; k < count; ++k) {
      x.push_back(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                             static_cast<int>(random() % static_cast<unsigned>(range))));
    }
    // All cancel but the first.
    const std::size_t length = x.size();
    for (std::size_t k = 1; k < length && run % 2 == 0; ++k) x.push_back(-x[k]);
    for (std::size_t k = 0; k < x.size(); ++k) {
      parts[k % 2].add(x[k]);
      exact.add(x[k]);
    }
    parts[0].merge(parts[1]);
    double rounded = 0;
    float to_float = 0;
    if (parts[0].rounds_to(static_cast<Index>(x.size()), 0, rounded)) {
      ++known;
      EXPECT_EQ(shown(rounded), shown(exact.value<double>())) << run;
    }
    if (parts[0].rounds_to(static_cast<Index>(x.size()), 0, to_float)) {
      EXPECT_EQ(shown(to_float), shown(exact.value<float>())) << run;
    }
  }
  EXPECT_GT(known, 300);
}

TEST(ThreefoldSums, KnowThatASumIsZero) {
  const auto sum_of = [](const std::vector<double>& x, double absolute, double& result) {
    Threefold sum;
    for (const double value : x) sum.add(value);
    return sum.rounds_to(static_cast<Index>(x.size()), absolute, result);
  };
  double result = 1;
  EXPECT_TRUE(sum_of({1, 0x1p-60, -1, -0x1p-60}, 0, result));
  EXPECT_EQ(shown(result), shown(0.0));
  EXPECT_TRUE(sum_of({-0.0, -0.0}, 0, result));
  EXPECT_EQ(shown(result), shown(-0.0));
  EXPECT_TRUE(sum_of({-0.0, 0.0, -0.0}, 0, result));
  EXPECT_EQ(shown(result), shown(0.0));
  EXPECT_TRUE(sum_of({0x1p-1074, -0x1p-1074, -0.0}, 0, result));
  EXPECT_EQ(shown(result), shown(0.0));
  // Possible underflow, sums beyond three times the precision, and infinities and NaNs.
  EXPECT_FALSE(sum_of({1, -1}, 0x1p-1070, result));
  EXPECT_FALSE(sum_of({1, 0x1p-60, 0x1p-200, -1, -0x1p-60, -0x1p-200}, 0, result));
  EXPECT_FALSE(sum_of({inf, -inf}, 0, result));
  EXPECT_FALSE(sum_of({double_max, double_max, -double_max, -double_max}, 0, result));
  EXPECT_FALSE(sum_of({nan}, 0, result));
  // Products and their errors.
  Threefold products;
  for (const double sign : {1.0, -1.0}) {
    double value = 1 + 0x1p-30;
    double error = sign * (1 + 0x1p-31);
    two_product(value, error);
    products.add(value, error);
  }
  EXPECT_TRUE(products.rounds_to(2, 0, result));
  EXPECT_EQ(shown(result), shown(0.0));
}

// Sums that are known exactly: ties to even, and their neighbours, for doubles and floats.
TEST(ThreefoldSums, RoundTies) {
  const auto sum_of = [](const std::vector<double>& x) {
    Threefold sum;
    for (const double value : x) sum.add(value);
    return sum;
  };
  for (const double sign : {1.0, -1.0}) {
    for (const double small : {0.0, 0x1p-90, -0x1p-90}) {
      for (const bool odd : {false, true}) {
        const double even = sign * (odd ? 1 + 0x1p-52 : 1.0);
        const double above = even + sign * 0x1p-52;
        double result = 0;
        EXPECT_TRUE(sum_of({even, sign * 0x1p-53, sign * small}).rounds_to(3, 0, result));
        EXPECT_EQ(result, small > 0 || (small == 0 && odd) ? above : even);
        const auto even_float = static_cast<float>(sign * (odd ? 1 + 0x1p-23 : 1.0));
        const auto above_float = static_cast<float>(even_float + sign * 0x1p-23);
        float to_float = 0;
        EXPECT_TRUE(sum_of({even_float, sign * 0x1p-24, sign * small}).rounds_to(3, 0, to_float));
        EXPECT_EQ(to_float, small > 0 || (small == 0 && odd) ? above_float : even_float);
      }
    }
  }
}

TEST(ThreefoldSums, KnowWhetherAnythingWasAdded) {
  Threefold none;
  EXPECT_TRUE(none.is_empty());
  none.merge(Threefold());
  EXPECT_TRUE(none.is_empty());
  double result = 1;
  EXPECT_TRUE(none.rounds_to(0, 0, result));
  EXPECT_EQ(shown(result), shown(0.0));
  for (const double x : {0.0, -0.0, 1.0, -1.0, 0x1p-1074, inf, nan}) {
    Threefold one;
    one.add(x);
    EXPECT_FALSE(one.is_empty()) << x;
    one.add(-x);
    EXPECT_FALSE(one.is_empty()) << x;
    Threefold other;
    other.merge(one);
    EXPECT_FALSE(other.is_empty()) << x;
  }
}

TEST(ScaledIntegers, AreAddedWhereTheyBelong) {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{0x123456789abcdef},
                               std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    for (const int exponent : {-2148, -1074, -53, 0, 31, 900}) {
      Accumulator<double> found;
      found.add_scaled(n, exponent);
      Accumulator<double> expected;
      // In halves, each a double, times two powers.
      const int first = exponent / 2;
      const double high = std::ldexp(static_cast<double>(n >> 32), 32 + first);
      const double low = std::ldexp(static_cast<double>(n & 0xffffffff), first);
      expected.add_product(high, std::ldexp(1.0, exponent - first));
      expected.add_product(low, std::ldexp(1.0, exponent - first));
      expect_same(found, expected);
    }
  }
}

}  // namespace
}  // namespace heddle::exact::impl::pass_test
