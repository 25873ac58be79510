// Tests of eigenpairs of symmetric matrices and banded Cholesky factors in a fixed sequence of operations.
#include "blas/symmetric.hpp"

#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

namespace heddle::impl::symmetric::symmetric_test {
namespace {

using Numbers = std::vector<double>;
constexpr double unit = 0x1p-52;

// A dense matrix with its two triangles.
struct Dense {
  explicit Dense(std::size_t order) : n(order), values(order * order) {}
  Dense(const Numbers& diagonal, const Numbers& beside) : Dense(diagonal.size()) {
    for (std::size_t i = 0; i < n; ++i) (*this)(i, i) = diagonal[i];
    for (std::size_t i = 0; i + 1 < n; ++i) (*this)(i + 1, i) = (*this)(i, i + 1) = beside[i];
  }
  double& operator()(std::size_t i, std::size_t j) { return values[i + j * n]; }
  double operator()(std::size_t i, std::size_t j) const { return values[i + j * n]; }
  [[nodiscard]] double norm() const {
    double largest = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0.0;
      for (std::size_t i = 0; i < n; ++i) sum += std::abs((*this)(i, j));
      largest = std::max(largest, sum);
    }
    return largest;
  }
  std::size_t n;
  Numbers values;
};

Dense random_matrix(std::size_t n, double size = 1.0) {
  Dense A(n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i)
      A(i, j) = A(j, i) = size * test::random_number(static_cast<Index>(i), static_cast<Index>(j), 7);
  }
  return A;
}

// Residuals and orthogonality to some units of rounding, and no eigenvalue left out: the number of negative pivots of
// A - x between the values found is their count (Sylvester), by elimination without exchanges in long double.
void expect_lowest(const Dense& A, const Numbers& values, const Numbers& vectors, double factor = 8.0) {
  const std::size_t n = A.n;
  const double allowed = factor * unit * std::sqrt(static_cast<double>(n));
  ASSERT_EQ(vectors.size(), n * values.size());
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  const double norm = A.norm();
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double* const x = vectors.data() + k * n;
    long double squares = 0.0L;
    for (std::size_t i = 0; i < n; ++i) {
      long double sum = -static_cast<long double>(values[k]) * x[i];
      for (std::size_t j = 0; j < n; ++j) sum += static_cast<long double>(A(i, j)) * x[j];
      squares += sum * sum;
    }
    EXPECT_LE(static_cast<double>(std::sqrt(squares)), allowed * norm) << "value " << k << " of " << n;
    for (std::size_t l = 0; l <= k; ++l) {
      long double sum = l == k ? -1.0L : 0.0L;
      for (std::size_t i = 0; i < n; ++i) sum += static_cast<long double>(x[i]) * vectors[l * n + i];
      EXPECT_LE(std::abs(static_cast<double>(sum)), allowed) << k << ", " << l << " of " << n;
    }
  }
  if (norm == 0.0) return;
  const double gap = 1e-9 * norm;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k + 1 < values.size() && values[k + 1] - values[k] < 4 * gap) continue;
    std::vector<long double> M(A.values.begin(), A.values.end());
    for (std::size_t i = 0; i < n; ++i) M[i + i * n] -= static_cast<long double>(values[k]) + gap;
    std::size_t below = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const long double pivot = M[j + j * n];
      below += pivot < 0 ? 1 : 0;
      for (std::size_t i = j + 1; i < n; ++i) {
        const long double share = M[i + j * n] / pivot;
        for (std::size_t l = j + 1; l < n; ++l) M[i + l * n] -= share * M[j + l * n];
      }
    }
    if (k + 1 < values.size()) {
      EXPECT_EQ(below, k + 1) << "order " << n;
    } else {
      EXPECT_GE(below, k + 1) << "order " << n;
    }
  }
}

void expect_tridiagonal(const Numbers& diagonal, const Numbers& beside, std::size_t count) {
  Numbers values, vectors;
  tridiagonal_lowest(diagonal, beside, count, values, vectors);
  ASSERT_EQ(values.size(), count);
  expect_lowest(Dense(diagonal, beside), values, vectors);
}

TEST(TridiagonalLowest, HasTheClosedFormOfDifferences) {
  for (const std::size_t n : {1, 2, 3, 7, 8, 9, 150}) {
    const Numbers diagonal(n, 2.0);
    const Numbers beside(n - 1, -1.0);
    for (const std::size_t count : {std::size_t{1}, n}) {
      Numbers values, vectors;
      tridiagonal_lowest(diagonal, beside, count, values, vectors);
      for (std::size_t k = 0; k < count; ++k) {
        const double half = std::numbers::pi * static_cast<double>(k + 1) / static_cast<double>(2 * (n + 1));
        EXPECT_NEAR(values[k], 4 * std::sin(half) * std::sin(half), 8 * unit) << k << " of " << n;
      }
      expect_lowest(Dense(diagonal, beside), values, vectors);
    }
  }
}

// Pairs of values that agree to all digits (J. H. Wilkinson, The Algebraic Eigenvalue Problem, 1965: W21+), equal ones
// of blocks that are not coupled, and of copies that nearly are not ("glued").
TEST(TridiagonalLowest, KeepsVectorsOfEqualValuesOrthogonal) {
  Numbers wilkinson(21);
  for (std::size_t i = 0; i < 21; ++i) wilkinson[i] = std::abs(static_cast<double>(i) - 10.0);
  expect_tridiagonal(wilkinson, Numbers(20, 1.0), 21);
  for (const double glue : {0.0, 1e-300, 1e-14, 1e-7}) {
    Numbers diagonal, beside;
    for (int copy = 0; copy < 5; ++copy) {
      diagonal.insert(diagonal.end(), wilkinson.begin(), wilkinson.end());
      beside.insert(beside.end(), 20, 1.0);
      if (copy < 4) beside.push_back(glue);
    }
    expect_tridiagonal(diagonal, beside, 105);
  }
  expect_tridiagonal(Numbers(30, 1.0), Numbers(29, 0.0), 30);
  expect_tridiagonal(Numbers(10, 0.0), Numbers(9, 0.0), 10);
}

TEST(TridiagonalLowest, TakesAllSizesOfNumbers) {
  for (const double size : {1e-300, 1e-160, 1.0, 1e160, 1e307}) {
    Numbers diagonal(40), beside(39);
    for (std::size_t i = 0; i < 40; ++i) diagonal[i] = size * test::random_number(static_cast<Index>(i), 1, 2);
    for (std::size_t i = 0; i < 39; ++i) beside[i] = size * test::random_number(static_cast<Index>(i), 3, 4);
    Numbers values, vectors, scaled_values, scaled_vectors;
    tridiagonal_lowest(diagonal, beside, 5, values, vectors);
    const int power = -std::ilogb(size);
    for (double& value : diagonal) value = std::scalbn(value, power);
    for (double& value : beside) value = std::scalbn(value, power);
    tridiagonal_lowest(diagonal, beside, 5, scaled_values, scaled_vectors);
    EXPECT_EQ(vectors, scaled_vectors) << size;
    for (double& value : values) value = std::scalbn(value, power);
    EXPECT_EQ(values, scaled_values) << size;
    expect_lowest(Dense(diagonal, beside), scaled_values, scaled_vectors);
  }
  // Graded over all exponents.
  Numbers diagonal(60), beside(59);
  for (int i = 0; i < 60; ++i) diagonal[i] = std::ldexp(1.0, -17 * i);
  for (int i = 0; i < 59; ++i) beside[i] = std::ldexp(0.25, -17 * i - 8);
  expect_tridiagonal(diagonal, beside, 60);
}

TEST(DenseLowest, HasSmallResiduals) {
  for (const std::size_t n : {1, 2, 3, 8, 17, 64, 101}) {
    const Dense A = random_matrix(n);
    for (const std::size_t count : {std::size_t{1}, (n + 1) / 2, n}) {
      Numbers values, vectors, matrix = A.values;
      dense_lowest(n, matrix, count, values, vectors);
      expect_lowest(A, values, vectors);
      // The upper triangle is not read.
      matrix = A.values;
      for (std::size_t j = 0; j < n; ++j)
        std::fill_n(matrix.begin() + static_cast<std::ptrdiff_t>(j * n), j, std::nan(""));
      Numbers others, other_vectors;
      dense_lowest(n, matrix, count, others, other_vectors);
      EXPECT_EQ(others, values);
      EXPECT_EQ(other_vectors, vectors);
    }
  }
}

TEST(DenseLowest, TakesSpecialMatrices) {
  const auto expect = [](const Dense& A) {
    Numbers values, vectors, matrix = A.values;
    dense_lowest(A.n, matrix, A.n, values, vectors);
    expect_lowest(A, values, vectors);
  };
  expect(Dense(12));
  Dense identity(12), ones(12), arrow(12), graded(24);
  for (std::size_t i = 0; i < 12; ++i) {
    identity(i, i) = 3.0;
    for (std::size_t j = 0; j < 12; ++j) ones(i, j) = 1.0;
    arrow(i, i) = static_cast<double>(i);
    arrow(i, 0) = arrow(0, i) = 1e-200;
  }
  for (std::size_t i = 0; i < 24; ++i) {
    for (std::size_t j = 0; j < 24; ++j) graded(i, j) = std::ldexp(1.0, -20 * static_cast<int>(i + j));
  }
  expect(identity);
  expect(ones);
  expect(arrow);
  expect(graded);
  expect(random_matrix(20, 1e-300));
  Dense huge = random_matrix(20, 1e300);
  Numbers values, vectors, matrix = huge.values;
  dense_lowest(20, matrix, 20, values, vectors);
  for (double& value : values) value *= 1e-300;
  for (double& value : huge.values) value *= 1e-300;
  expect_lowest(huge, values, vectors);
}

TEST(DenseLowest, RefusesNumbersThatAreNotFinite) {
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    Numbers values, vectors, matrix = {1.0, 2.0, 2.0, bad};
    test::expect_refusal(ErrorKind::computation, "a symmetric matrix that is not finite",
                         [&] { dense_lowest(2, matrix, 1, values, vectors); });
    test::expect_refusal(ErrorKind::computation, "a symmetric matrix that is not finite", [&] {
      tridiagonal_lowest(Numbers{1.0, 2.0}, Numbers{bad}, 1, values, vectors);
    });
  }
}

// As computed once: every machine gives these bits.
TEST(DenseLowest, HasTheSameBitsEverywhere) {
  Numbers values, vectors, matrix = random_matrix(75).values;
  dense_lowest(75, matrix, 20, values, vectors);
  std::uint64_t hash = 14695981039346656037U;
  for (const Numbers& numbers : {values, vectors}) {
    for (const double number : numbers) hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 1099511628211U;
  }
  EXPECT_EQ(hash, 15832970470581629242U);
}

TEST(BandedCholesky, SolvesToRounding) {
  for (const std::size_t width : {0, 1, 3}) {
    for (const std::size_t n : {1, 2, 5, 130}) {
      Dense A(n);
      Numbers band((width + 1) * n);
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t d = 0; d <= width && j + d < n; ++d) {
          const double value =
              d == 0 ? 2.5 * static_cast<double>(width) + 0.5 : -std::ldexp(1.0, -static_cast<int>(d) + 1);
          band[j * (width + 1) + d] = A(j + d, j) = A(j, j + d) = value;
        }
      }
      const BandedCholesky factors(n, width, band);
      ASSERT_TRUE(factors.factored());
      Numbers X(2 * n);
      for (std::size_t i = 0; i < 2 * n; ++i) X[i] = test::random_number(static_cast<Index>(i), 1, 9);
      const Numbers B = X;
      factors.solve(X);
      for (std::size_t c = 0; c < 2; ++c) {
        for (std::size_t i = 0; i < n; ++i) {
          double sum = B[c * n + i];
          for (std::size_t j = 0; j < n; ++j) sum -= A(i, j) * X[c * n + j];
          EXPECT_NEAR(sum, 0.0, 1e-13) << width << ", " << n;
        }
      }
      band[(n - 1) * (width + 1)] = -1.0;
      EXPECT_FALSE(BandedCholesky(n, width, band).factored());
    }
  }
  EXPECT_FALSE(BandedCholesky(2, 1, {1.0, 2.0, 1.0, 0.0}).factored());
  EXPECT_FALSE(BandedCholesky(1, 0, {std::nan("")}).factored());
}

}  // namespace
}  // namespace heddle::impl::symmetric::symmetric_test
