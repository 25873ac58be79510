// Correctly rounded determinants: the same as exact ones, ties, zeros, the ends of the range, and what is not decided.
#include "solve/over_ranks.hpp"
#include "solve/proof/fractions.hpp"
#include "support/multiprecision.hpp"
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace heddle::rounded_determinant_test {
namespace {

template <class T> class RoundedDeterminant : public test::OverRanks<T> {
 protected:
  using R = Real<T>;
  static constexpr int digits = std::numeric_limits<R>::digits;

  [[nodiscard]] Determinant<T> found(const HostMatrix<T>& A, const FactorOptions& options = {}) const {
    return determinant(this->comm, this->spread(A), options, Rounding::correct);
  }
  // The exact determinant, rounded.
  [[nodiscard]] static Determinant<T> expected(const HostMatrix<T>& A) {
    const test::ExactComplex exact = test::exact_inverse(A, false).determinant;
    if (exact.is_zero()) return {};
    long exponent = std::max(exact.real.exponent(), exact.imaginary.exponent());
    Determinant<T> rounded;
    for (;; ++exponent) {
      const R real = exact.real.times_power(-exponent).template rounded<R>();
      const R imaginary = exact.imaginary.times_power(-exponent).template rounded<R>();
      rounded = {test::narrow<T>(test::Complex(real, imaginary)), exponent, true};
      if (std::max(std::abs(real), std::abs(imaginary)) < R(1)) return rounded;
    }
  }
  void expect_exact(const HostMatrix<T>& A, const std::string& of) const {
    SCOPED_TRACE(of);
    const Determinant<T> exact = expected(A);
    const Determinant<T> rounded = found(A);
    EXPECT_TRUE(rounded.correctly_rounded);
    EXPECT_EQ(rounded.mantissa, exact.mantissa) << rounded.exponent << " " << exact.exponent;
    EXPECT_EQ(rounded.exponent, exact.exponent);
  }
  // Integers from -size to size.
  [[nodiscard]] static HostMatrix<T> integers(Index n, int size, int seed) {
    return test::host_matrix<T>(n, n, [&](Index i, Index j) {
      const test::Complex x = test::widen(test::RandomEntries<T>{seed}(i, j));
      return test::narrow<T>(test::Complex(std::round(size * x.real()), std::round(size * x.imag())));
    });
  }
};
TYPED_TEST_SUITE(RoundedDeterminant, test::AllScalars);

TYPED_TEST(RoundedDeterminant, OfRandomMatrices) {
  for (const Index n : {1, 2, 3, 8, 33}) {
    for (int seed = 0; seed < (n < 10 ? 6 : 1); ++seed) {
      this->expect_exact(test::host_random<TypeParam>(n, n, seed), std::to_string(n) + ", " + std::to_string(seed));
    }
  }
}

TYPED_TEST(RoundedDeterminant, OfGradedMatrices) {
  for (const Index n : {4, 9}) {
    for (int kind = 0; kind < test::gradings; ++kind) {
      this->expect_exact(test::graded_matrix<TypeParam>(n, kind, kind), "kind " + std::to_string(kind));
    }
  }
}

TYPED_TEST(RoundedDeterminant, OfIntegers) {
  for (const Index n : {2, 5, 12}) {
    for (int seed = 0; seed < 8; ++seed) this->expect_exact(this->integers(n, 2 + seed, seed), std::to_string(seed));
  }
}

TYPED_TEST(RoundedDeterminant, TiesGoToEven) {
  const double big = std::ldexp(1.0, this->digits);
  // big + 1 and big + 3.
  for (const double more : {1.0, 3.0, 5.0}) {
    this->expect_exact(this->matrix({{big, -more}, {1, 1}}), "tie");
    this->expect_exact(this->matrix({{1, 1}, {big, -more}}), "negative tie");
    this->expect_exact(this->matrix({{big, -more, 0}, {1, 1, 0}, {7, 3, 4}}), "tie times four");
  }
  // Rounded to a power of two.
  this->expect_exact(this->matrix({{big - 1, 1}, {-0.5, 1}}), "below a power of two");
  // Below and above a tie by the least that there is.
  const double little = std::ldexp(1.0, -2 * this->digits);
  this->expect_exact(this->matrix({{big, -1, 0}, {1, 1, little}, {little, 0, 1}}), "above a tie");
  this->expect_exact(this->matrix({{big, -1, 0}, {1, 1, -little}, {little, 0, 1}}), "below a tie");
}

TYPED_TEST(RoundedDeterminant, OfSingularMatrices) {
  using T = TypeParam;
  const auto expect_zero = [&](const HostMatrix<T>& A) {
    const Determinant<T> zero = this->found(A);
    EXPECT_TRUE(zero.correctly_rounded);
    EXPECT_EQ(zero.mantissa, T(0));
    EXPECT_EQ(zero.exponent, 0);
  };
  expect_zero(this->matrix({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}));
  expect_zero(this->matrix({{1, 2}, {0, 0}}));
  expect_zero(this->matrix({{0}}));
  // Random numbers with a row that is the sum of two others, and two equal columns.
  HostMatrix<T> A = this->integers(20, 1000, 3);
  for (std::size_t j = 0; j < 20; ++j) A(7, j) = A(3, j) + A(11, j);
  expect_zero(A);
  A = test::host_random<T>(31, 31, 5);
  for (std::size_t i = 0; i < 31; ++i) A(i, 30) = A(i, 0);
  expect_zero(A);
  // A row of zeros in a matrix of any order.
  A = test::host_random<T>(400, 400, 5);
  for (std::size_t j = 0; j < 400; ++j) A(200, j) = T(0);
  expect_zero(A);
}

TYPED_TEST(RoundedDeterminant, OfIllConditionedMatrices) {
  using T = TypeParam;
  for (const Index n : {6, 10, 16}) {
    this->expect_exact(
        test::host_matrix<T>(
            n, n, [](Index i, Index j) { return T(static_cast<Real<T>>(1.0 / static_cast<double>(i + j + 1))); }),
        "Hilbert " + std::to_string(n));
  }
  // Rows that are almost the same.
  for (const Index n : {3, 12}) {
    HostMatrix<T> A = test::host_random<T>(n, n, 7);
    for (Index j = 0; j < n; ++j) {
      A(1, static_cast<std::size_t>(j)) = A(0, static_cast<std::size_t>(j));
    }
    A(1, 1) = A(1, 1) * T(1 + std::numeric_limits<Real<T>>::epsilon());
    this->expect_exact(A, "close rows");
  }
}

TYPED_TEST(RoundedDeterminant, NearTheEndsOfTheRange) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  for (const Index power :
       {Limits::max_exponent - 1, Limits::min_exponent, Limits::min_exponent - Limits::digits + 4}) {
    for (const Index n : {2, 7}) {
      this->expect_exact(
          test::host_matrix<T>(
              n, n, [&](Index i, Index j) { return test::times_power(test::RandomEntries<T>{9}(i, j), power); }),
          std::to_string(power));
    }
  }
}

TYPED_TEST(RoundedDeterminant, PartsThatAreZero) {
  using T = TypeParam;
  // Real numbers, a real determinant of a Hermitian matrix, and an imaginary one.
  const Index n = 9;
  this->expect_exact(test::host_matrix<T>(
                         n, n, [](Index i, Index j) { return T(static_cast<Real<T>>(test::random_number(i, j, 2))); }),
                     "real");
  const auto hermitian = [](Index i, Index j) {
    const T x = test::RandomEntries<T>{8}(std::max(i, j), std::min(i, j));
    return i == j ? T(Kokkos::real(x)) : i > j ? x : conjugate(x);
  };
  this->expect_exact(test::host_matrix<T>(n, n, hermitian), "Hermitian");
  if constexpr (is_complex<T>) {
    this->expect_exact(test::host_matrix<T>(n, n,
                                            [&](Index i, Index j) {
                                              return hermitian(i, j) * T(0, i == 0 ? 1 : 0) +
                                                     (i == 0 ? T(0) : hermitian(i, j));
                                            }),
                       "imaginary");
  }
}

TYPED_TEST(RoundedDeterminant, BitsAreThoseOfNoFactorizationInParticular) {
  using T = TypeParam;
  const Index n = 170;
  const HostMatrix<T> A = test::host_random<T>(n, n, 21);
  const Determinant<T> first = this->found(A);
  EXPECT_TRUE(first.correctly_rounded);
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    for (const Index block : {0, 7}) {
      const Determinant<T> other = this->found(A, {.arithmetic = arithmetic, .block = block});
      EXPECT_TRUE(other.correctly_rounded);
      EXPECT_EQ(other.mantissa, first.mantissa);
      EXPECT_EQ(other.exponent, first.exponent);
    }
  }
  const Determinant<T> cyclic = determinant(
      this->comm, this->spread(A, Placement::block_cyclic(n, n, 8, 3, 1, this->comm.size())), {}, Rounding::correct);
  EXPECT_EQ(cyclic.mantissa, first.mantissa);
  EXPECT_EQ(cyclic.exponent, first.exponent);
  const ExecutionSpace space;
  const LocalMatrix<T> alone("alone", A.extent(0), A.extent(1));
  Kokkos::deep_copy(alone, A);
  const Determinant<T> of_one = determinant(space, alone, {}, Rounding::correct);
  EXPECT_TRUE(of_one.correctly_rounded);
  EXPECT_EQ(of_one.mantissa, first.mantissa);
  EXPECT_EQ(of_one.exponent, first.exponent);
  // The interchange of two rows.
  HostMatrix<T> B = test::host_random<T>(n, n, 21);
  for (std::size_t j = 0; j < A.extent(1); ++j) std::swap(B(5, j), B(90, j));
  const Determinant<T> swapped = this->found(B);
  EXPECT_EQ(swapped.mantissa, -first.mantissa);
  EXPECT_EQ(swapped.exponent, first.exponent);
}

TYPED_TEST(RoundedDeterminant, OfALargerMatrix) {
  if (this->comm.size() > 2) return;
  this->expect_exact(test::host_random<TypeParam>(56, 56, 4), "random");
}

TYPED_TEST(RoundedDeterminant, OfAMatrixTooLargeForPrimes) {
  using T = TypeParam;
  if (this->comm.size() > 2) return;
  // Elimination with 256 bits, whose error is far below that of one rounding.
  const std::size_t n = 300;
  const HostMatrix<T> A = test::host_random<T>(300, 300, 17);
  using Wide = std::array<test::Number, 2>;
  std::vector<Wide> a(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      a[i * n + j] = {test::Number(test::widen(A(i, j)).real()), test::Number(test::widen(A(i, j)).imag())};
    }
  }
  const auto times = [](const Wide& x, const Wide& y) {
    Wide z;
    z[0].add_product(x[0], y[0]);
    if (is_complex<T>) {
      z[0].subtract_product(x[1], y[1]);
      z[1].add_product(x[0], y[1]);
      z[1].add_product(x[1], y[0]);
    }
    return z;
  };
  Wide product{test::Number(1.0), test::Number(0.0)};
  for (std::size_t k = 0; k < n; ++k) {
    const auto size = [&](std::size_t i) {
      return std::abs(a[i * n + k][0].to_double()) + std::abs(a[i * n + k][1].to_double());
    };
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) pivot = size(i) > size(pivot) ? i : pivot;
    if (pivot != k) {
      for (std::size_t j = k; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
      for (test::Number& part : product) part *= test::Number(-1.0);
    }
    const Wide& by = a[k * n + k];
    product = times(product, by);
    test::Number squares;
    squares.add_product(by[0], by[0]);
    squares.add_product(by[1], by[1]);
    Wide inverse = {by[0], by[1]};
    inverse[1] *= test::Number(-1.0);
    for (test::Number& part : inverse) part /= squares;
    for (std::size_t i = k + 1; i < n; ++i) {
      const Wide factor = times(a[i * n + k], inverse);
      for (std::size_t j = k + 1; j < n; ++j) {
        const Wide& x = a[k * n + j];
        a[i * n + j][0].subtract_product(factor[0], x[0]);
        if (!is_complex<T>) continue;
        a[i * n + j][0].add_product(factor[1], x[1]);
        a[i * n + j][1].subtract_product(factor[0], x[1]);
        a[i * n + j][1].subtract_product(factor[1], x[0]);
      }
    }
  }
  const Determinant<T> found = this->found(A);
  EXPECT_TRUE(found.correctly_rounded);
  for (test::Number& part : product) part.scale_by_power_of_two(-found.exponent);
  EXPECT_EQ(found.mantissa,
            test::narrow<T>(test::Complex(product[0].rounded<Real<T>>(), product[1].rounded<Real<T>>())));
}

TYPED_TEST(RoundedDeterminant, WhatCannotBeProvenIsReported) {
  using T = TypeParam;
  // Singular, with too many bits for exact arithmetic.
  const Index n = 350;
  HostMatrix<T> A = test::host_random<T>(n, n, 5);
  for (std::size_t i = 0; i < A.extent(0); ++i) A(i, 30) = A(i, 0);
  const Determinant<T> rounded = this->found(A);
  const Determinant<T> computed = determinant(this->comm, this->spread(A));
  EXPECT_FALSE(rounded.correctly_rounded);
  EXPECT_FALSE(computed.correctly_rounded);
  EXPECT_EQ(rounded.mantissa, computed.mantissa);
  EXPECT_EQ(rounded.exponent, computed.exponent);
  HostMatrix<T> B = test::host_random<T>(3, 3, 5);
  B(1, 1) = T(std::numeric_limits<Real<T>>::quiet_NaN());
  EXPECT_FALSE(this->found(B).correctly_rounded);
}

TYPED_TEST(RoundedDeterminant, OfNoMatrix) {
  const Determinant<TypeParam> one = this->found(HostMatrix<TypeParam>("A", 0, 0));
  EXPECT_TRUE(one.correctly_rounded);
  EXPECT_EQ(one.mantissa, TypeParam(Real<TypeParam>(0.5)));
  EXPECT_EQ(one.exponent, 1);
}

}  // namespace
}  // namespace heddle::rounded_determinant_test
