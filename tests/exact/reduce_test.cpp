// Tests of sums, inner products and norms against MPFR: rounding, cancellation, range, special values and
// reproducibility.
#include "reference.hpp"
#include "support/errors.hpp"
#include <heddle/exact/expansion.hpp>
#include <heddle/exact/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace heddle::exact::reduce_test {
namespace {

template <class T> using Vector = Kokkos::View<T*, MemorySpace>;

template <class T> Vector<T> vector_of(const std::vector<T>& values) {
  const Vector<T> vector("heddle::test::vector", values.size());
  Kokkos::deep_copy(vector, Kokkos::View<const T*, Kokkos::HostSpace>(values.data(), values.size()));
  return vector;
}
template <class T> T sum_of(const std::vector<T>& values) {
  return sum(ExecutionSpace(), vector_of(values));
}
template <class T> T dot_of(const std::vector<T>& x, const std::vector<T>& y) {
  return dot(ExecutionSpace(), vector_of(x), vector_of(y));
}

template <class T> void check(const std::vector<T>& x, const std::vector<T>& y) {
  Reference total;
  Reference magnitudes;
  Reference products;
  for (std::size_t k = 0; k < x.size(); ++k) {
    total.add(static_cast<double>(x[k]));
    magnitudes.add(std::abs(static_cast<double>(x[k])));
    products.add_product(static_cast<double>(x[k]), static_cast<double>(y[k]));
  }
  if (!total.is_zero()) {
    EXPECT_EQ(shown(sum_of(x)), shown(total.value<T>())) << x.size();
    EXPECT_EQ(shown(asum(ExecutionSpace(), vector_of(x))), shown(magnitudes.value<T>())) << x.size();
  }
  if (!products.is_zero()) {
    EXPECT_EQ(shown(dot_of(x, y)), shown(products.value<T>())) << x.size();
  }
}

template <class T> class Reductions : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Reductions, Types);

// From one exponent to all of them, every length mod 32 and some long ones.
TYPED_TEST(Reductions, AreCorrectlyRounded) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  std::vector<std::size_t> lengths(100);
  for (std::size_t n = 0; n < lengths.size(); ++n) {
    lengths[n] = n;
  }
  lengths.insert(lengths.end(), {1000, 4097, 20011});
  for (const std::size_t n : lengths) {
    for (const int range : {0, 30, 100, 2000}) {
      std::vector<T> x(n);
      std::vector<T> y(n);
      for (std::size_t k = 0; k < n; ++k) {
        for (std::vector<T>* v : {&x, &y}) {
          const int exponent = range == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(range)) - range / 2;
          const T fraction = std::ldexp(static_cast<T>(random() >> 40), -24) - T(0.5);
          (*v)[k] = range == 2000 ? any_number<T>(random) : std::ldexp(fraction, exponent);
        }
      }
      check(x, y);
    }
  }
}

// All but the smallest terms cancel: condition numbers beyond any fixed precision.
TYPED_TEST(Reductions, WhatCancels) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  for (int run = 0; run < 50; ++run) {
    std::vector<T> x;
    std::vector<T> y;
    for (int k = 0; k < 500 + run; ++k) {
      const T a = any_number<T>(random);
      const T b = any_number<T>(random);
      x.insert(x.end(), {a, a});
      y.insert(y.end(), {b, -b});
    }
    x.push_back(static_cast<T>(1 + run));
    y.push_back(T(1) / T(3));
    std::vector<T> both = x;
    for (std::size_t k = 0; k < x.size(); k += 2) {
      both[k] = -x[k];
    }
    both.back() = x.back();
    std::shuffle(both.begin(), both.end(), random);
    EXPECT_EQ(sum_of(both), static_cast<T>(1 + run));
    EXPECT_EQ(shown(dot_of(x, y)), shown(x.back() * y.back()));
    std::reverse(x.begin(), x.end());
    std::reverse(y.begin(), y.end());
    EXPECT_EQ(shown(dot_of(x, y)), shown(x.front() * y.front()));
  }
}

// Makes inner products of about this condition (T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot product", 2005,
// algorithm 6.1): half of the products have all exponents up to the condition's root, half cancel the sum so far.
void make_ill_conditioned(std::mt19937_64& random, std::size_t n, double condition, std::vector<double>& x,
                          std::vector<double>& y) {
  const double bits = std::log2(condition);
  const auto uniform = [&] { return std::ldexp(static_cast<double>(random() >> 11), -52) - 1; };
  x.assign(n, 0);
  y.assign(n, 0);
  Reference sum;
  const std::size_t half = n / 2;
  for (std::size_t k = 0; k < n; ++k) {
    const double share =
        k < half ? std::abs(uniform())
                 : static_cast<double>(n - 1 - k) / static_cast<double>(std::max<std::size_t>(1, n - 1 - half));
    const int exponent = static_cast<int>(std::lround((k == 0 ? 1 : k + 1 == half ? 0 : share) * bits / 2));
    x[k] = std::ldexp(uniform(), exponent);
    if (x[k] == 0) {
      x[k] = 1;
    }
    y[k] = std::ldexp(uniform(), exponent);
    if (k >= half) {
      y[k] = (y[k] - sum.value<double>()) / x[k];
    }
    sum.add_product(x[k], y[k]);
  }
  for (std::size_t k = n; k > 1; --k) {
    const std::size_t other = random() % k;
    std::swap(x[k - 1], x[other]);
    std::swap(y[k - 1], y[other]);
  }
}

TEST(IllConditioned, InnerProductsAndSums) {
  std::mt19937_64 random(8);
  for (const double condition : {1e8, 1e16, 1e32, 1e64, 1e128, 1e200, 1e300}) {
    for (const std::size_t n : {6U, 7U, 8U, 9U, 10U, 11U, 12U, 13U, 100U, 1001U, 30000U}) {
      std::vector<double> x;
      std::vector<double> y;
      make_ill_conditioned(random, n, condition, x, y);
      Reference products;
      Reference magnitudes;
      std::vector<double> terms;
      for (std::size_t k = 0; k < n; ++k) {
        products.add_product(x[k], y[k]);
        magnitudes.add(std::abs(x[k] * y[k]));
        terms.push_back(x[k] * y[k]);
        terms.push_back(std::fma(x[k], y[k], -terms.back()));
      }
      const double expected = products.value<double>();
      EXPECT_EQ(shown(dot_of(x, y)), shown(expected)) << n << ' ' << condition;
      EXPECT_EQ(shown(sum_of(terms)), shown(expected)) << n << ' ' << condition;
      // With enough terms they have the condition that they claim.
      if (n >= 100) {
        EXPECT_GT(magnitudes.value<double>() / std::abs(expected), std::pow(condition, 0.8)) << n << ' ' << condition;
      }
    }
  }
}

TEST(LongVectors, TenMillionAndSeven) {
  std::mt19937_64 random(12);
  std::vector<double> x(10000007);
  std::vector<double> y(x.size());
  for (const int range : {1, 200}) {
    Reference total;
    Reference products;
    for (std::size_t k = 0; k < x.size(); ++k) {
      for (std::vector<double>* v : {&x, &y}) {
        (*v)[k] = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                             static_cast<int>(random() % static_cast<unsigned>(range)) - range / 2 - 63);
      }
      total.add(x[k]);
      products.add_product(x[k], y[k]);
    }
    EXPECT_EQ(shown(sum_of(x)), shown(total.value<double>())) << range;
    EXPECT_EQ(shown(dot_of(x, y)), shown(products.value<double>())) << range;
  }
}

TYPED_TEST(Reductions, NormsAreRootsOfExactSums) {
  using T = TypeParam;
  std::mt19937_64 random(9);
  for (const std::size_t n : {1U, 2U, 3U, 50U, 5000U}) {
    for (int run = 0; run < 40; ++run) {
      std::vector<T> x(n);
      Reference squares;
      for (T& value : x) {
        value = run % 4 == 0   ? any_number<T>(random)
                : run % 4 == 1 ? smallest<T>() * static_cast<T>(random() % 4)
                               : static_cast<T>(static_cast<int>(random() % 2000) - 1000);
        squares.add_product(static_cast<double>(value), static_cast<double>(value));
      }
      EXPECT_EQ(shown(nrm2(ExecutionSpace(), vector_of(x))), shown(squares.root<T>())) << n << ' ' << run;
    }
  }
  EXPECT_EQ(nrm2(ExecutionSpace(), vector_of(std::vector<T>{})), T(0));
  EXPECT_EQ(nrm2(ExecutionSpace(), vector_of(std::vector<T>{T(3), T(4)})), T(5));
  EXPECT_EQ(nrm2(ExecutionSpace(), vector_of(std::vector<T>(3, largest<T>()))), infinite<T>());
  EXPECT_EQ(nrm2(ExecutionSpace(), vector_of(std::vector<T>{largest<T>()})), largest<T>());
  EXPECT_EQ(shown(nrm2(ExecutionSpace(), vector_of(std::vector<T>{T(1), std::numeric_limits<T>::quiet_NaN()}))), "NaN");
}

TYPED_TEST(Reductions, OfComplexNumbers) {
  using T = TypeParam;
  using Complex = Kokkos::complex<T>;
  std::mt19937_64 random(10);
  for (const std::size_t n : {0U, 1U, 77U, 3000U}) {
    std::vector<Complex> x(n);
    std::vector<Complex> y(n);
    Reference re, im, dotu_re, dotu_im, dotc_im, dotc_re, sizes, squares;
    for (std::size_t k = 0; k < n; ++k) {
      const auto number = [&] {
        return std::ldexp(static_cast<T>(random() >> 40) - T(0x800000), static_cast<int>(random() % 60) - 50);
      };
      const T a = number();
      const T b = number();
      const T c = number();
      const T d = number();
      x[k] = Complex(a, b);
      y[k] = Complex(c, d);
      re.add(a);
      im.add(b);
      dotu_re.add_product(a, c);
      dotu_re.add_product(-b, d);
      dotu_im.add_product(a, d);
      dotu_im.add_product(b, c);
      dotc_re.add_product(a, c);
      dotc_re.add_product(b, d);
      dotc_im.add_product(a, d);
      dotc_im.add_product(-b, c);
      sizes.add(std::abs(a));
      sizes.add(std::abs(b));
      squares.add_product(a, a);
      squares.add_product(b, b);
    }
    const auto all_x = vector_of(x);
    const auto all_y = vector_of(y);
    // Every second element of a longer vector gives the same.
    const Kokkos::View<Complex*, MemorySpace> wide("heddle::test::wide", 2 * n + 1);
    const Kokkos::View<Complex*, Kokkos::LayoutStride, MemorySpace> every_second(wide.data(),
                                                                                 Kokkos::LayoutStride(n, 2));
    if (n > 0) {
      Kokkos::deep_copy(ExecutionSpace(), every_second, all_x);
    }
    const auto shown_both = [](const Complex& z) { return shown(z.real()) + ' ' + shown(z.imag()); };
    const auto expected = [&](const Reference& real, const Reference& imaginary) {
      return shown(real.template value<T>()) + ' ' + shown(imaginary.template value<T>());
    };
    EXPECT_EQ(shown_both(sum(ExecutionSpace(), all_x)), expected(re, im)) << n;
    EXPECT_EQ(shown_both(sum(ExecutionSpace(), every_second)), expected(re, im)) << n;
    EXPECT_EQ(shown_both(dot(ExecutionSpace(), all_x, all_y)), expected(dotu_re, dotu_im)) << n;
    EXPECT_EQ(shown_both(dotc(ExecutionSpace(), every_second, all_y)), expected(dotc_re, dotc_im)) << n;
    EXPECT_EQ(shown(asum(ExecutionSpace(), all_x)), shown(sizes.value<T>())) << n;
    EXPECT_EQ(shown(asum(ExecutionSpace(), every_second)), shown(sizes.value<T>())) << n;
    EXPECT_EQ(shown(nrm2(ExecutionSpace(), every_second)), shown(squares.root<T>())) << n;
  }
}

// Any order, any number of threads, any distribution of the work: a hash of many results.
TEST(BitIdentity, OfPermutationsAndOfOtherMachines) {
  std::mt19937_64 random(11);
  std::vector<double> x(40000);
  std::vector<double> y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k] = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 300) - 200);
    y[k] = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 300) - 200);
  }
  std::vector<std::size_t> order(x.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    order[k] = k;
  }
  for (int run = 0; run < 5; ++run) {
    std::vector<double> a;
    std::vector<double> b;
    for (const std::size_t k : order) {
      a.push_back(x[k]);
      b.push_back(y[k]);
    }
    EXPECT_EQ(shown(sum_of(a)), "5345854930715138640");
    EXPECT_EQ(shown(dot_of(a, b)), "15278549565463189921");
    EXPECT_EQ(shown(nrm2(ExecutionSpace(), vector_of(a))), "5349748757342784493");
    for (std::size_t k = order.size(); k > 1; --k) {
      std::swap(order[k - 1], order[random() % k]);
    }
  }
}

TYPED_TEST(Reductions, ProductsThatUnderflowCount) {
  using T = TypeParam;
  // 2^10 products of a quarter of the smallest number.
  const std::vector<T> x(1024, smallest<T>());
  const std::vector<T> y(1024, T(0.25));
  EXPECT_EQ(shown(dot_of(x, y)), shown(static_cast<T>(256) * smallest<T>()));
}

// 2^-153, which rounds to a zero of its own sign, and which twice the precision leaves open.
TEST(InnerProductsOfFloats, BelowTheirRangeKeepTheirSign) {
  const float near = 0x1p-53F * (1 - 0x1p-23F);
  const float beside = 0x1p-54F * (1 + 0x1p-23F);
  for (const float sign : {1.0F, -1.0F}) {
    for (const std::size_t zeros : {0U, 100U, 5000U}) {
      std::vector<float> x = {0x1p-25F, 0x1p-53F, -0x1p-25F, -near};
      std::vector<float> y = {sign * 0x1p-25F, sign * 0x1p-54F, sign * 0x1p-25F, sign * beside};
      x.resize(4 + zeros);
      y.resize(4 + zeros);
      const Kokkos::View<const float*, Kokkos::HostSpace> x_host(x.data(), x.size());
      const Kokkos::View<const float*, Kokkos::HostSpace> y_host(y.data(), y.size());
      const auto x_there = Kokkos::create_mirror_view_and_copy(MemorySpace(), x_host);
      const auto y_there = Kokkos::create_mirror_view_and_copy(MemorySpace(), y_host);
      const float found = dot(ExecutionSpace(), x_there, y_there);
      EXPECT_EQ(found, 0.0F);
      EXPECT_EQ(std::signbit(found), sign < 0) << zeros;
      Compensated sum;
      for (std::size_t k = 0; k < 4; ++k) sum.add(static_cast<double>(x[k]) * static_cast<double>(y[k]), 0);
      float known = 7;
      EXPECT_TRUE(!sum.rounds_to<float>(8, 0, known) || std::signbit(known) == (sign < 0));
    }
  }
}

TYPED_TEST(Reductions, ZerosInfinitiesAndNaNs) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const std::size_t n : {1U, 40U}) {
    const std::vector<T> minus_zeros(n, -T(0));
    const std::vector<T> ones(n, T(1));
    EXPECT_EQ(shown(sum_of(minus_zeros)), shown(-T(0)));
    EXPECT_EQ(shown(dot_of(minus_zeros, ones)), shown(-T(0)));
    EXPECT_EQ(shown(dot_of(minus_zeros, std::vector<T>(n, T(-1)))), shown(T(0)));
    EXPECT_EQ(shown(asum(ExecutionSpace(), vector_of(minus_zeros))), shown(T(0)));
    std::vector<T> x = ones;
    x.front() = -T(0);
    x.push_back(-static_cast<T>(n - 1));
    EXPECT_EQ(shown(sum_of(x)), shown(n > 1 ? T(0) : -T(0)));
    x.back() = inf;
    EXPECT_EQ(shown(sum_of(x)), shown(inf));
    x.push_back(-inf);
    EXPECT_EQ(shown(sum_of(x)), "NaN");
    EXPECT_EQ(shown(asum(ExecutionSpace(), vector_of(x))), shown(inf));
    x.back() = nan;
    EXPECT_EQ(shown(sum_of(x)), "NaN");
    std::vector<T> y = ones;
    std::vector<T> zeros(n, T(0));
    y.back() = inf;
    EXPECT_EQ(shown(dot_of(y, zeros)), "NaN");
    EXPECT_EQ(shown(dot_of(y, ones)), shown(inf));
  }
  EXPECT_EQ(shown(sum_of(std::vector<T>{})), shown(T(0)));
  EXPECT_EQ(shown(dot_of(std::vector<T>{}, std::vector<T>{})), shown(T(0)));
  // Alternately the largest number and its negative, one more of one than of the other.
  std::vector<T> x(101);
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k] = k % 2 == 0 ? largest<T>() : -largest<T>();
  }
  EXPECT_EQ(sum_of(x), largest<T>());
  EXPECT_EQ(asum(ExecutionSpace(), vector_of(x)), inf);
}

// Neither the caller's rounding direction nor, on x86-64, its flush of small numbers to zero changes a bit.
TYPED_TEST(Reductions, ArithmeticOfTheCaller) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  std::vector<T> x(1000);
  std::vector<T> y(1000);
  for (const bool small : {false, true}) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] = small ? smallest<T>() * static_cast<T>(random() % 1000) : any_number<T>(random);
      y[k] = small ? T(0.5) : any_number<T>(random);
    }
    const auto sums = [&] { return shown(sum_of(x)) + ' ' + shown(dot_of(x, y)); };
    const std::string expected = sums();
    std::fenv_t before;
    std::fegetenv(&before);
    std::fesetround(FE_UPWARD);
#ifdef __x86_64__
    _mm_setcsr(_mm_getcsr() | 0x8040U);
#endif
    const std::string found = sums();
    std::fesetenv(&before);
    EXPECT_EQ(found, expected);
  }
}

TYPED_TEST(Reductions, RowsAndColumnsOfAMatrix) {
  using T = TypeParam;
  const Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> A("heddle::test::A", 37, 41);
  const auto host = Kokkos::create_mirror_view(A);
  for (std::size_t i = 0; i < 37; ++i) {
    for (std::size_t j = 0; j < 41; ++j) {
      host(i, j) = static_cast<T>(i == 3 ? 1 : 1000) * static_cast<T>(j);
    }
  }
  Kokkos::deep_copy(A, host);
  const auto row = Kokkos::subview(A, 3, Kokkos::ALL);
  const auto part = Kokkos::subview(A, Kokkos::make_pair(0, 3), 40);
  EXPECT_EQ(sum(ExecutionSpace(), row), T(820));
  EXPECT_EQ(sum(ExecutionSpace(), part), T(120000));
  EXPECT_EQ(dot(ExecutionSpace(), row, Kokkos::subview(A, 4, Kokkos::ALL)), T(22140000));
  test::expect_refusal(ErrorKind::argument, "exact::dot: vectors of 41 and 3 elements",
                       [&] { static_cast<void>(dot(ExecutionSpace(), row, part)); });
}

}  // namespace
}  // namespace heddle::exact::reduce_test
