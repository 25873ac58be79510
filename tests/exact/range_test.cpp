// Tests that systems and conditions of denormal and huge numbers behave like those of the same matrix at ordinary size.
#include "matrices.hpp"
#include "support/errors.hpp"
#include <heddle/exact/lu.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace heddle::exact::range_test {
namespace {

using Kokkos::complex;

template <class T> class ExactRange : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(ExactRange, Types);

template <class T> constexpr bool is_long = sizeof(Real<T>) == 8;

template <class T> T times_power(const T& x, int power) {
  if constexpr (is_complex<T>) {
    return T(std::ldexp(x.real(), power), std::ldexp(x.imag(), power));
  } else {
    return std::ldexp(x, power);
  }
}
// Integers of a few bits, so that scaling by any power of two is exact; the diagonal is dominant.
template <class T> Matrix<T> whole_numbers(std::mt19937_64& random, std::size_t n, int power) {
  Matrix<T> A(n, n);
  const auto part = [&] { return static_cast<Real<T>>(static_cast<int>(random() % 15U) - 7); };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      T value(part());
      if constexpr (is_complex<T>) {
        value = T(value.real(), part());
      }
      A.host(i, j) = times_power(i == j ? value + T(static_cast<Real<T>>(8 * n)) : value, power);
    }
  }
  Kokkos::deep_copy(A.device, A.host);
  return A;
}
template <class T> double norm_of(const Matrix<T>& A, int power) {
  double most = 0;
  for (std::size_t j = 0; j < A.host.extent(1); ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < A.host.extent(0); ++i) {
      const T& x = A.host(i, j);
      if constexpr (is_complex<T>) {
        sum += std::hypot(std::ldexp(static_cast<double>(x.real()), -power),
                          std::ldexp(static_cast<double>(x.imag()), -power));
      } else {
        sum += std::ldexp(std::abs(static_cast<double>(x)), -power);
      }
    }
    most = std::max(most, sum);
  }
  return most;
}
template <class T> auto column(const Matrix<T>& x) {
  return Kokkos::subview(x.device, Kokkos::ALL, 0);
}
template <class T> std::vector<int> powers() {
  // From the smallest number to the largest, for matrices whose diagonal is below 2^10.
  return is_long<T> ? std::vector<int>{0, -1074, -1060, -1030, -700, 700, 1000, 1013}
                    : std::vector<int>{0, -149, -140, -127, -90, 90, 110, 117};
}

TYPED_TEST(ExactRange, ConditionsOfIdentities) {
  using T = TypeParam;
  const int least = is_long<T> ? -1074 : -149;
  const int most = is_long<T> ? 1023 : 127;
  for (int power = least; power <= most; ++power) {
    for (const std::size_t n : {1U, 3U}) {
      Matrix<T> A(n, n);
      for (std::size_t i = 0; i < n; ++i) {
        A.host(i, i) = times_power(T(1), power);
      }
      Kokkos::deep_copy(A.device, A.host);
      const LuResult result = lu(ExecutionSpace(), A.device);
      ASSERT_EQ(result.info, 0);
      ASSERT_EQ(condition(ExecutionSpace(), A.device, result, norm_of(A, power), power), 1.0) << power;
      ASSERT_EQ(condition(ExecutionSpace(), A.device, result, norm_of(A, 0)), 1.0) << power;
    }
  }
}

TYPED_TEST(ExactRange, ConditionsDoNotDependOnTheSize) {
  using T = TypeParam;
  for (const std::size_t n : {2U, 7U, 40U}) {
    double expected = 0;
    for (const int power : powers<T>()) {
      std::mt19937_64 random(n);
      const Matrix<T> A = whole_numbers<T>(random, n, power);
      const double norm = norm_of(A, power);
      const LuResult result = lu(ExecutionSpace(), A.device);
      ASSERT_EQ(result.info, 0);
      const double found = condition(ExecutionSpace(), A.device, result, norm, power);
      if (power == 0) {
        expected = found;
        EXPECT_GT(found, 1);
        EXPECT_LT(found, 100);
      }
      // LU of denormal numbers has only their digits.
      const double off = power < (is_long<T> ? -1022 : -126) ? 0.5 : 1e-4;
      EXPECT_NEAR(found, expected, off * expected) << power;
    }
  }
}

TYPED_TEST(ExactRange, ConditionsNearADoublesLimits) {
  using T = TypeParam;
  const int range = is_long<T> ? 500 : 60;
  Matrix<T> A(2, 2);
  A.host(0, 0) = times_power(T(1), range);
  A.host(1, 1) = times_power(T(1), -range);
  Kokkos::deep_copy(A.device, A.host);
  const LuResult result = lu(ExecutionSpace(), A.device);
  EXPECT_EQ(condition(ExecutionSpace(), A.device, result, std::ldexp(1.0, range)), std::ldexp(1.0, 2 * range));
  test::expect_refusal(ErrorKind::argument, "exact::condition: a norm of 0 of a matrix that is not singular",
                       [&] { (void)condition(ExecutionSpace(), A.device, result, 0.0); });
  EXPECT_EQ(condition(ExecutionSpace(), A.device, result, std::numeric_limits<double>::infinity()),
            std::numeric_limits<double>::infinity());
  A.host(1, 0) = T(std::numeric_limits<Real<T>>::quiet_NaN());
  A.host(0, 0) = T(1);
  Kokkos::deep_copy(A.device, A.host);
  const LuResult spoilt = lu(ExecutionSpace(), A.device);
  EXPECT_TRUE(std::isnan(condition(ExecutionSpace(), A.device, spoilt, 1.0)));
}

// A (1, 2, ..., n) = b exactly, at any size of A and b.
TYPED_TEST(ExactRange, SystemsAreSolvedAtAnySize) {
  using T = TypeParam;
  using R = Real<T>;
  const double unit = unit_roundoff<T>;
  for (const std::size_t n : {1U, 4U, 20U}) {
    for (const int power : powers<T>()) {
      std::mt19937_64 random(n + 1);
      // Room for the sums.
      const int lower = std::min(power, is_long<T> ? 1003 : 104);
      const Matrix<T> A = whole_numbers<T>(random, n, lower);
      Matrix<T> b(n, 1);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          b.host(i, 0) += A.host(i, j) * static_cast<R>(j % 5 + 1);
        }
      }
      Kokkos::deep_copy(b.device, b.host);
      Matrix<T> x(n, 1);
      const SolveReport result = solve(ExecutionSpace(), A.device, column(b), column(x), {.lu = {}, .refinements = 30});
      ASSERT_EQ(result.info, 0);
      EXPECT_LE(result.backward_error, unit) << n << ", " << power;
      x.read();
      for (std::size_t i = 0; i < n; ++i) {
        const T off = x.host(i, 0) - T(static_cast<R>(i % 5 + 1));
        EXPECT_LE(Kokkos::abs(off), 100 * unit) << n << ", " << power << ", row " << i;
      }
    }
  }
}

// Scaling a system by a power of two does not change its reported backward error.
TYPED_TEST(ExactRange, BackwardErrorsDoNotVanish) {
  using T = TypeParam;
  using R = Real<T>;
  const int least = is_long<T> ? -1074 : -149;
  const int most = is_long<T> ? 1023 : 127;
  // x = 1 / 3, whose residual is below the smallest number, or 4 / 3 if |A| |x| + |b| overflows.
  for (const int power : {0, least, least + 3, most - 2}) {
    Matrix<T> A(1, 1);
    Matrix<T> b(1, 1);
    A.host(0, 0) = times_power(T(3), power);
    b.host(0, 0) = times_power(T(4), power);
    if (power == most - 2) {
      b.host(0, 0) = times_power(T(7), power);
    }
    Kokkos::deep_copy(A.device, A.host);
    Kokkos::deep_copy(b.device, b.host);
    Matrix<T> x(1, 1);
    const SolveReport result = solve(ExecutionSpace(), A.device, column(b), column(x));
    EXPECT_GT(result.backward_error, 0) << power;
    EXPECT_LE(result.backward_error, static_cast<double>(unit_roundoff<T>)) << power;
    x.read();
    EXPECT_EQ(text_of(x.host(0, 0)), text_of(T(R(power == most - 2 ? 7 : 4) / R(3))));
  }
  // A solution beyond the largest number solves nothing.
  Matrix<T> A(1, 1);
  Matrix<T> b(1, 1);
  A.host(0, 0) = times_power(T(1), least);
  b.host(0, 0) = T(1);
  Kokkos::deep_copy(A.device, A.host);
  Kokkos::deep_copy(b.device, b.host);
  Matrix<T> x(1, 1);
  EXPECT_EQ(solve(ExecutionSpace(), A.device, column(b), column(x)).backward_error,
            std::numeric_limits<double>::infinity());
}

// The exact first unknown is below the type's range: 0 is nearest, so that the second row's only nonzero term is a
// product of two tiny numbers, and its backward error is 1.
TYPED_TEST(ExactRange, BackwardErrorsOfRowsOfTinyProducts) {
  using T = TypeParam;
  const int least = is_long<T> ? -1074 : -149;
  const int most = is_long<T> ? 1000 : 120;
  T unit(1);
  if constexpr (is_complex<T>) unit = T(0, 1);
  for (const int first : {0, 10, most}) {
    for (const int tiny : {least, least + 4, least / 2 - 30}) {
      for (const int right : {least, least + 22, least / 2 - 60}) {
        Matrix<T> A(2, 2);
        Matrix<T> b(2, 1);
        A.host(0, 1) = unit;
        A.host(1, 0) = times_power(T(1), first);
        A.host(1, 1) = times_power(T(1), tiny);
        b.host(0, 0) = times_power(T(1), right);
        Kokkos::deep_copy(A.device, A.host);
        Kokkos::deep_copy(b.device, b.host);
        Matrix<T> x(2, 1);
        const SolveReport result = solve(ExecutionSpace(), A.device, column(b), column(x));
        x.read();
        ASSERT_EQ(text_of(x.host(0, 0)), text_of(T(0))) << first << ' ' << tiny << ' ' << right;
        EXPECT_EQ(result.backward_error, 1) << first << ' ' << tiny << ' ' << right;
      }
    }
  }
}

// |real| + |imaginary| of the second candidate is larger, and both sums overflow.
TYPED_TEST(ExactRange, PivotsOfHugeNumbers) {
  using T = TypeParam;
  using R = Real<T>;
  if constexpr (is_complex<T>) {
    const R most = largest<R>();
    Matrix<T> A(4, 1);
    A.host(0, 0) = T(most, most / 4);
    A.host(1, 0) = T(most / 2, -most);
    A.host(2, 0) = T(most / 2, most);
    A.host(3, 0) = T(R(0), -most);
    Kokkos::deep_copy(A.device, A.host);
    EXPECT_EQ(lu(ExecutionSpace(), A.device).pivots[0], 1);
    // An infinity is larger than any sum.
    A.host(3, 0) = T(R(0), -infinite<R>());
    Kokkos::deep_copy(A.device, A.host);
    EXPECT_EQ(lu(ExecutionSpace(), A.device).pivots[0], 3);
    A.host(0, 0) = T(std::numeric_limits<R>::quiet_NaN(), R(0));
    A.host(3, 0) = T(most, most);
    A.host(2, 0) = T(most, most);
    Kokkos::deep_copy(A.device, A.host);
    EXPECT_EQ(lu(ExecutionSpace(), A.device).pivots[0], 2);
  }
}

// Elements of L that are whole quotients, of numbers at either end of the range.
TYPED_TEST(ExactRange, ColumnsOfFactors) {
  using T = TypeParam;
  using R = Real<T>;
  const int least = is_long<T> ? -1074 : -149;
  const int most = is_long<T> ? 1023 : 127;
  for (const int power : {least + 1, most - 3}) {
    Matrix<T> A(3, 1);
    if constexpr (is_complex<T>) {
      A.host(0, 0) = times_power(T(4, 2), power);
      A.host(1, 0) = times_power(T(-1, 2), power);
      A.host(2, 0) = times_power(T(2, 1), power);
    } else {
      A.host(0, 0) = times_power(T(4), power);
      A.host(1, 0) = times_power(T(-1), power);
      A.host(2, 0) = times_power(T(2), power);
    }
    Kokkos::deep_copy(A.device, A.host);
    EXPECT_EQ(lu(ExecutionSpace(), A.device).info, 0);
    A.read();
    if constexpr (is_complex<T>) {
      EXPECT_EQ(text_of(A.host(1, 0)), text_of(T(0, R(0.5)))) << power;
    } else {
      EXPECT_EQ(text_of(A.host(1, 0)), text_of(R(-0.25))) << power;
    }
    EXPECT_EQ(text_of(A.host(2, 0)), text_of(T(R(0.5)))) << power;
  }
}

}  // namespace
}  // namespace heddle::exact::range_test
