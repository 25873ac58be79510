#include "reference.hpp"
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

namespace heddle::exact {
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

// Exponents from one to all of them, every length mod 32 and some long ones.
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

// All but the smallest terms cancel: condition numbers up to those that no fixed precision survives.
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

TYPED_TEST(Reductions, ProductsThatUnderflowCount) {
  using T = TypeParam;
  // 2^10 products of a quarter of the smallest number.
  const std::vector<T> x(1024, smallest<T>());
  const std::vector<T> y(1024, T(0.25));
  EXPECT_EQ(shown(dot_of(x, y)), shown(static_cast<T>(256) * smallest<T>()));
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

// Neither the caller's direction of rounding nor, on x86-64, its flush of small numbers to zero changes a bit.
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
  EXPECT_THROW(static_cast<void>(dot(ExecutionSpace(), row, part)), Error);
}

}  // namespace
}  // namespace heddle::exact
