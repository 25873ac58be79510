// Tests of long accumulators against MPFR: rounding, ties, range, special values, carries and merges.
#include "reference.hpp"
#include <heddle/exact/accumulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

// Built twice: with the usual flags, and with -ffast-math, which must change nothing.
namespace heddle::exact::accumulator_test {
namespace {

template <class T> class Accumulators : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Accumulators, Types);

template <class T> void expect(const Accumulator<T>& sum, const Reference& reference) {
  if (!reference.is_zero()) {
    EXPECT_EQ(shown(sum.value()), shown(reference.value<T>()));
  }
  EXPECT_EQ(sum.sign(), reference.sign() > 0 ? 1 : reference.sign() < 0 ? -1 : 0);
}

TYPED_TEST(Accumulators, SumsOfAnyNumbers) {
  std::mt19937_64 random(1);
  for (int run = 0; run < 400; ++run) {
    Accumulator<TypeParam> sum;
    Reference reference;
    for (int k = 0; k < run; ++k) {
      const auto x = any_number<TypeParam>(random);
      sum.add(x);
      reference.add(static_cast<double>(x));
      if (k % 3 == 1) {
        sum.subtract(x);
        reference.add(-static_cast<double>(x));
      }
    }
    expect(sum, reference);
  }
}

TYPED_TEST(Accumulators, SumsOfAnyProducts) {
  std::mt19937_64 random(2);
  for (int run = 0; run < 400; ++run) {
    Accumulator<TypeParam> sum;
    Reference reference;
    for (int k = 0; k < run; ++k) {
      const auto x = any_number<TypeParam>(random);
      const auto y = any_number<TypeParam>(random);
      sum.add_product(x, y);
      reference.add_product(static_cast<double>(x), static_cast<double>(y));
    }
    expect(sum, reference);
    sum.negate();
    sum.negate();
    expect(sum, reference);
  }
}

// Ties go to the even neighbour; a number just beside the midpoint rounds to the nearer one; the same among denormals.
TYPED_TEST(Accumulators, TiesGoToEven) {
  using T = TypeParam;
  constexpr int fraction = sizeof(T) == 8 ? 52 : 23;
  std::mt19937_64 random(3);
  for (int run = 0; run < 2000; ++run) {
    // Half a unit in the last place of x: representable unless x is small.
    const auto exponent = static_cast<int>(random() % (2 * fraction)) - fraction;
    const T x = std::ldexp(static_cast<T>((std::uint64_t{1} << fraction) + random() % (std::uint64_t{1} << fraction)),
                           exponent);
    const T half = std::ldexp(T(1), exponent - 1);
    for (const T hair : {T(0), smallest<T>(), -smallest<T>()}) {
      for (const T side : {T(1), T(-1)}) {
        Accumulator<T> sum;
        Reference reference;
        for (const T term : {side * x, half, hair}) {
          sum.add(term);
          reference.add(static_cast<double>(term));
        }
        expect(sum, reference);
      }
    }
    // Products below the smallest number: a denormal and a part of its last bit.
    const T tiny = from_bits<T>(static_cast<BitsOf<T>>(random() % 1000));
    const T part = std::ldexp(T(1), -static_cast<int>(random() % 4));
    Accumulator<T> sum;
    Reference reference;
    sum.add(tiny);
    reference.add(static_cast<double>(tiny));
    sum.add_product(smallest<T>(), part);
    reference.add_product(static_cast<double>(smallest<T>()), static_cast<double>(part));
    expect(sum, reference);
  }
}

TYPED_TEST(Accumulators, OverflowsOnlyWhereTheSumDoes) {
  using T = TypeParam;
  const T large = largest<T>();
  Accumulator<T> sum;
  for (int k = 0; k < 1000; ++k) {
    sum.add(large);
    sum.add_product(large, large);
  }
  EXPECT_EQ(shown(sum.value()), shown(infinite<T>()));
  for (int k = 0; k < 1000; ++k) {
    sum.subtract_product(large, large);
    sum.subtract(large);
  }
  EXPECT_EQ(sum.sign(), 0);
  sum.add(large);
  EXPECT_EQ(shown(sum.value()), shown(large));
  // A sum less than half a unit in the last place above the largest number rounds down; at half a unit it overflows.
  Accumulator<T> less = sum;
  const T half_of_last = std::ldexp(T(1), sizeof(T) == 8 ? 970 : 103);
  less.add(half_of_last);
  Accumulator<T> exactly = less;
  less.subtract(smallest<T>());
  EXPECT_EQ(shown(less.value()), shown(large));
  EXPECT_EQ(shown(exactly.value()), shown(infinite<T>()));
  exactly.negate();
  EXPECT_EQ(shown(exactly.value()), shown(-infinite<T>()));
}

TYPED_TEST(Accumulators, ZerosInfinitiesAndNaNs) {
  using T = TypeParam;
  const T inf = infinite<T>();
  const T nan = from_bits<T>(static_cast<BitsOf<T>>(~BitsOf<T>{0} >> 1));
  // Under -ffast-math, compilers treat constant zeros of either sign as equal.
  volatile BitsOf<T> zero_bits = 0;
  volatile BitsOf<T> minus_zero_bits = static_cast<BitsOf<T>>(BitsOf<T>{1} << (8 * sizeof(T) - 1));
  const T plus_zero = from_bits<T>(zero_bits);
  const T minus_zero = from_bits<T>(minus_zero_bits);
  const auto sum_of = [](const std::vector<T>& terms) {
    Accumulator<T> sum;
    for (const T term : terms) {
      sum.add(term);
    }
    return shown(sum.value());
  };
  EXPECT_EQ(sum_of({}), shown(plus_zero));
  EXPECT_EQ(sum_of({minus_zero}), shown(minus_zero));
  EXPECT_EQ(sum_of({minus_zero, minus_zero}), shown(minus_zero));
  EXPECT_EQ(sum_of({minus_zero, plus_zero}), shown(plus_zero));
  EXPECT_EQ(sum_of({T(1), minus_zero, T(-1)}), shown(plus_zero));
  EXPECT_EQ(sum_of({inf, T(1), -largest<T>()}), shown(inf));
  EXPECT_EQ(sum_of({-inf, T(1), -inf}), shown(-inf));
  EXPECT_EQ(sum_of({inf, T(3), -inf}), "NaN");
  EXPECT_EQ(sum_of({T(3), nan}), "NaN");
  const auto product_of = [](T x, T y) {
    Accumulator<T> sum;
    sum.add_product(x, y);
    return shown(sum.value());
  };
  EXPECT_EQ(product_of(inf, T(-2)), shown(-inf));
  EXPECT_EQ(product_of(minus_zero, T(2)), shown(minus_zero));
  EXPECT_EQ(product_of(minus_zero, T(-2)), shown(plus_zero));
  EXPECT_EQ(product_of(inf, plus_zero), "NaN");
  EXPECT_EQ(product_of(minus_zero, -inf), "NaN");
  EXPECT_EQ(product_of(nan, plus_zero), "NaN");
  // A product that underflows is still a finite term.
  EXPECT_EQ(product_of(smallest<T>(), -smallest<T>()), shown(minus_zero));
  Accumulator<T> sum;
  sum.add(-inf);
  EXPECT_EQ(sum.sign(), -1);
  sum.negate();
  EXPECT_EQ(shown(sum.value()), shown(inf));
  Accumulator<T> zero;
  zero.add(T(0));
  zero.negate();
  EXPECT_EQ(shown(zero.value()), shown(minus_zero));
}

TYPED_TEST(Accumulators, OrderAndMergesChangeNoBit) {
  using T = TypeParam;
  std::mt19937_64 random(5);
  std::vector<T> terms(1000);
  for (T& term : terms) {
    term = any_number<T>(random) * T(0x1p-20);  // No sum overflows.
  }
  Accumulator<T> straight;
  for (const T term : terms) {
    straight.add(term);
  }
  for (int run = 0; run < 20; ++run) {
    std::shuffle(terms.begin(), terms.end(), random);
    std::vector<Accumulator<T>> parts(7);
    for (std::size_t k = 0; k < terms.size(); ++k) {
      parts[random() % parts.size()].add(terms[k]);
    }
    for (std::size_t k = 1; k < parts.size(); ++k) {
      parts[0].merge(parts[k]);
    }
    EXPECT_EQ(shown(parts[0].value()), shown(straight.value()));
    const Pair<T> pair = parts[0].pair();
    EXPECT_EQ(shown(pair.hi), shown(straight.value()));
    parts[0].subtract(pair.hi);
    EXPECT_EQ(shown(parts[0].value()), shown(pair.lo));
  }
}

TYPED_TEST(Accumulators, PairsOfWhatIsNoNumberHaveNoRest) {
  using T = TypeParam;
  for (const T x : {infinite<T>(), -infinite<T>(), std::numeric_limits<T>::quiet_NaN()}) {
    Accumulator<T> sum;
    sum.add(T(1));
    sum.add(x);
    EXPECT_EQ(shown(sum.pair().hi), shown(x));
    EXPECT_EQ(shown(sum.pair().lo), shown(T(0)));
  }
  // A sum beyond the range.
  Accumulator<T> sum;
  sum.add(largest<T>());
  sum.add(largest<T>());
  EXPECT_EQ(shown(sum.pair().hi), shown(infinite<T>()));
  EXPECT_EQ(shown(sum.pair().lo), shown(T(0)));
}

// Rounded directly to float: by way of double, ties would arise and be rounded again.
TEST(AccumulatorAsFloat, IsRoundedOnce) {
  std::mt19937_64 random(6);
  for (int run = 0; run < 3000; ++run) {
    Accumulator<double> sum;
    Reference reference;
    const double x = std::ldexp(static_cast<double>((std::uint64_t{1} << 23) + random() % (std::uint64_t{1} << 23)),
                                static_cast<int>(random() % 300) - 170);
    const double half = std::ldexp(x, -1) == 0 ? 0 : std::ldexp(1.0, std::ilogb(x) - 24);
    for (const double term : {x, half, std::ldexp(half, -static_cast<int>(random() % 60) - 30)}) {
      sum.add(term);
      reference.add(term);
    }
    EXPECT_EQ(shown(sum.value<float>()), shown(reference.value<float>()));
  }
}

// Doubles the sum until the highest digit is in use, and halves it again by subtraction.
TYPED_TEST(Accumulators, ManyTermsByDoubling) {
  using T = TypeParam;
  Accumulator<T> sum;
  Reference reference;
  sum.add_product(largest<T>(), -largest<T>());
  sum.add(T(1));
  reference.add_product(static_cast<double>(largest<T>()), -static_cast<double>(largest<T>()));
  reference.add(1.0);
  std::vector<Accumulator<T>> powers;
  for (int k = 0; k < 60; ++k) {
    powers.push_back(sum);
    sum.merge(sum);
    reference.times(2);
    EXPECT_EQ(sum.sign(), -1);
  }
  for (int k = 59; k >= 0; --k) {
    Accumulator<T> less = powers[static_cast<std::size_t>(k)];
    less.negate();
    sum.merge(less);
  }
  sum.add_product(largest<T>(), largest<T>());
  EXPECT_EQ(sum.value(), T(1));
}

// Fills one digit to the limit of its carry, and beyond.
TEST(AccumulatorOfMany, CarriesInTime) {
  Accumulator<double> sum;
  Reference reference;
  const double x = double_max * 0x1p-971;  // 53 ones.
  reference.add(x);
  const unsigned long times = (1UL << 29) + 7;
  for (unsigned long k = 0; k < times; ++k) {
    sum.add(x);
  }
  reference.times(times);
  expect(sum, reference);
}

struct OnDevice {
  Kokkos::View<const double*, MemorySpace> terms;
  Kokkos::View<double*, MemorySpace> results;
  KOKKOS_FUNCTION void operator()(int part) const {
    Accumulator<double> sum;
    for (std::size_t k = 0; k + 1 < terms.extent(0); ++k) {
      sum.add(terms(k));
      sum.add_product(terms(k), terms(k + 1));
    }
    const Pair<double> pair = sum.pair();
    results(part) = part == 0 ? pair.hi : pair.lo;
  }
};

TEST(AccumulatorOnDevice, HasTheBitsOfTheHost) {
  std::mt19937_64 random(7);
  std::vector<double> terms(500);
  for (double& term : terms) {
    term = any_number<double>(random) * 0x1p-600;
  }
  Accumulator<double> sum;
  for (std::size_t k = 0; k + 1 < terms.size(); ++k) {
    sum.add(terms[k]);
    sum.add_product(terms[k], terms[k + 1]);
  }
  const Kokkos::View<double*, MemorySpace> there("heddle::test::terms", terms.size());
  const Kokkos::View<double*, MemorySpace> results("heddle::test::results", 2);
  Kokkos::deep_copy(there, Kokkos::View<const double*, Kokkos::HostSpace>(terms.data(), terms.size()));
  Kokkos::parallel_for("heddle::test::accumulate", Kokkos::RangePolicy<ExecutionSpace>(0, 2), OnDevice{there, results});
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), results);
  EXPECT_EQ(shown(found(0)), shown(sum.pair().hi));
  EXPECT_EQ(shown(found(1)), shown(sum.pair().lo));
}

}  // namespace
}  // namespace heddle::exact::accumulator_test
