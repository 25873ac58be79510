// Tests of sums at a place, as in the factorization on GPUs: a sum that is known rounds as the exact sum does.
#include "exact/sums/placed_sum.hpp"

#include "exact/products/inner.hpp"
#include "reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace heddle::exact::placed_sum_test {
namespace {

using impl::PlacedBounds;
using impl::PlacedSum;

TEST(PlacedSums, PowersAbove) {
  EXPECT_EQ(impl::power_above(1.0), 2.0);
  EXPECT_EQ(impl::power_above(0x1.fffffffffffffp3), 16.0);
  EXPECT_EQ(impl::power_above(0.0), 0x1p-1022);
  EXPECT_EQ(impl::power_above(0x1p-1074), 0x1p-1022);
  EXPECT_EQ(impl::power_above(0x1p1022), 0x1p1023);
  EXPECT_EQ(impl::power_above(0x1p1023), std::numeric_limits<double>::infinity());
  EXPECT_EQ(impl::power_above(std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
  EXPECT_EQ(impl::power_above(std::numeric_limits<double>::quiet_NaN()), std::numeric_limits<double>::infinity());
}

// A first term plus `chunks` times `products` products, by places and exactly.
struct Sums {
  Compensated sum;
  Reference exact;
};
template <class Factor> void add_up(Sums& sums, double first, int chunks, int products, const Factor& factor) {
  sums.sum.add(first, 0);
  sums.exact.add(first);
  const PlacedBounds bounds(products);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    std::vector<double> x(static_cast<std::size_t>(products));
    std::vector<double> y(x.size());
    double most_x = 0;
    double most_y = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] = factor();
      y[k] = factor();
      most_x = std::fmax(most_x, std::abs(x[k]));
      most_y = std::fmax(most_y, std::abs(y[k]));
    }
    const double place = bounds.place(impl::power_above(most_x), impl::power_above(most_y));
    PlacedSum placed = PlacedSum::at(place);
    for (std::size_t k = 0; k < x.size(); ++k) {
      placed.add_product(x[k], y[k]);
      sums.exact.add_product(x[k], y[k]);
    }
    placed.add_to(sums.sum, place, bounds);
  }
}

template <class T> void expect_right(const Sums& sums, int chunks, int products, int& known) {
  T rounded;
  // As the factorization asks: few additions in sequence, and all products for underflow.
  if (sums.sum.rounds_to(2 * chunks + 64, Compensated::underflow(Index{chunks} * products), rounded)) {
    ++known;
    ASSERT_EQ(shown(rounded), shown(sums.exact.value<T>()));
  }
}

TEST(PlacedSums, KnowWhatTheyKnow) {
  std::mt19937_64 random(21);
  const auto uniform = [&] { return std::ldexp(static_cast<double>(random() >> 11), -52) - 1.0; };
  for (const int products : {1, 3, 16, 128, 256}) {
    for (const int power : {0, 400, -400, -505, -530}) {
      int known = 0;
      const int repeats = 400;
      for (int repeat = 0; repeat < repeats; ++repeat) {
        Sums sums;
        add_up(sums, uniform(), 1 + repeat % 5, products, [&] { return std::ldexp(uniform(), power); });
        expect_right<double>(sums, 1 + repeat % 5, products, known);
      }
      // Sums seldom stay open except among denormal numbers.
      if (power > -505) {
        EXPECT_GE(known, repeats - 2) << products << ' ' << power;
      }
    }
  }
}

TEST(PlacedSums, OfFactorsOfAnySize) {
  std::mt19937_64 random(22);
  int known = 0;
  int known_floats = 0;
  for (int repeat = 0; repeat < 4000; ++repeat) {
    const int range = 1 + repeat % 60;
    const auto factor = [&] {
      const double fraction = std::ldexp(static_cast<double>(random() >> 11), -52) - 1.0;
      return std::ldexp(fraction, static_cast<int>(random() % static_cast<unsigned>(range)) - range / 2);
    };
    const int chunks = 1 + repeat % 3;
    Sums sums;
    add_up(sums, factor(), chunks, 64, factor);
    expect_right<double>(sums, chunks, 64, known);
    expect_right<float>(sums, chunks, 64, known_floats);
  }
  EXPECT_GE(known, 2000);
  EXPECT_GE(known_floats, 3900);
}

// All products of one sign and as large as allowed: the sum moves as far from the place as possible.
TEST(PlacedSums, AtTheEndsOfTheirReach) {
  for (const double sign : {1.0, -1.0}) {
    for (const int products : {2, 128}) {
      int known = 0;
      std::mt19937_64 random(23);
      for (int repeat = 0; repeat < 50; ++repeat) {
        bool is_y = false;
        Sums sums;
        add_up(sums, 1 / 3.0, 4, products, [&] {
          is_y = !is_y;
          const double most = 2 - std::ldexp(static_cast<double>(random() % 16 + 1), -52);
          return is_y ? most : sign * most;
        });
        expect_right<double>(sums, 4, products, known);
      }
      EXPECT_GE(known, 48);
    }
  }
}

// The error added to a sum covers the rounding of K lost parts, u q (K^2 / 4 + K) with q = 2^(e - 52) for a place of
// 1.25 * 2^e, in the 192 * 2^-52 of it that decide how the sum rounds; and not much more.
TEST(PlacedSums, ErrorsCoverWhatIsLost) {
  for (const int products : {1, 2, 3, 16, 100, 128, 1000}) {
    const PlacedBounds bounds(products);
    const double most = std::exp2(std::ceil(std::log2(static_cast<double>(products))));
    for (const double above : {1.0, 0x1p300, 0x1p-300}) {
      const double place = bounds.place(above, 2.0);
      EXPECT_GE(place, 1.25 * 2 * most * above * 2.0);
      const double q = place / 1.25 * 0x1p-52;
      const double lost = 0x1p-53 * q * (most * most / 4 + most);
      EXPECT_GE(192 * 0x1p-52 * place * bounds.error, lost) << products;
      EXPECT_LE(192 * 0x1p-52 * place * bounds.error, 1.3 * lost) << products;
      Compensated sum;
      PlacedSum placed = PlacedSum::at(place);
      placed.add_product(above / 3, 2.0 / 3);
      placed.add_to(sum, place, bounds);
      EXPECT_GE(192 * 0x1p-52 * sum.size, lost);
    }
  }
}

// Sums that cancel, overflow or are NaNs are never reported as known.
TEST(PlacedSums, LeaveOpenWhatCancels) {
  const PlacedBounds bounds(4);
  double rounded = 0;
  Compensated zero;
  const double place = bounds.place(2, 2);
  PlacedSum placed = PlacedSum::at(place);
  placed.add_product(1.0 / 3, 1.0 / 7);
  placed.add_product(-1.0 / 3, 1.0 / 7);
  placed.add_to(zero, place, bounds);
  EXPECT_FALSE(zero.rounds_to(4, 0, rounded));
  for (const double x : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 0x1p1023}) {
    Compensated sum;
    const double far = bounds.place(impl::power_above(x), 2);
    PlacedSum wild = PlacedSum::at(far);
    wild.add_product(x, 1.5);
    wild.add_to(sum, far, bounds);
    EXPECT_FALSE(sum.rounds_to(4, 0, rounded)) << x;
  }
}

}  // namespace
}  // namespace heddle::exact::placed_sum_test
