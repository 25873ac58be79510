// Correctly rounded least squares: the same as exact solutions of the normal equations, ties, zeros, gradings, the same
// bits in any arithmetic, and what is not decided.
#include "solve/over_ranks.hpp"
#include "solve/proof/fractions.hpp"
#include <heddle/solve/qr.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace heddle::rounded_least_squares_test {
namespace {

template <class T> class RoundedLeastSquares : public test::OverRanks<T> {
 protected:
  using R = Real<T>;

  struct Found {
    HostMatrix<T> X;
    LeastSquaresReport report;
  };
  [[nodiscard]] Found found(const HostMatrix<T>& A, const HostMatrix<T>& B, LeastSquaresOptions options = {}) const {
    const auto unknowns = static_cast<Index>(A.extent(1));
    const auto right = static_cast<Index>(B.extent(1));
    const DistributedMatrix<T> X(this->comm, Placement::row_bands(unknowns, right, this->comm.size()), "X");
    fill(X, T(-77));
    options.rounding = Rounding::correct;
    const LeastSquaresReport report = least_squares(this->comm, this->spread(A), this->spread(B), X, options);
    return {this->everywhere(X), report};
  }
  // The exact solution, rounded: A^H A x = A^H b, or x = A^H y with A A^H y = b, by a system of order m + n.
  [[nodiscard]] static HostMatrix<T> expected(const HostMatrix<T>& A, const HostMatrix<T>& B) {
    const std::size_t m = A.extent(0);
    const std::size_t n = A.extent(1);
    const bool wide = m < n;
    const std::size_t height = std::max(m, n);
    const HostMatrix<T> K("K", m + n, m + n);
    for (std::size_t i = 0; i < height; ++i) K(i, i) = T(1);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        K(wide ? height + i : i, wide ? j : height + j) = A(i, j);
        K(wide ? j : height + j, wide ? height + i : i) = conjugate(A(i, j));
      }
    }
    const test::ExactInverse exact = test::exact_inverse(K, true);
    // Elements of B have no more bits and powers than the reference has left.
    mpfr_set_default_prec(2 * mpfr_get_default_prec() + 3000);
    const test::ExactComplex& by = exact.determinant;
    const test::Exact size = (by * by.conjugate()).real;
    HostMatrix<T> X("X", n, B.extent(1));
    const std::size_t from = wide ? 0 : height;
    const std::size_t of_b = wide ? height : 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < B.extent(1); ++j) {
        mpfr_clear_flags();
        test::ExactComplex sum;
        for (std::size_t k = 0; k < m; ++k) {
          const test::Complex b = test::widen(B(k, j));
          const test::ExactComplex negative{test::Exact(-b.real()), test::Exact(-b.imag())};
          sum = sum - exact.adjugate[(from + i) * (m + n) + of_b + k] * negative;
        }
        const test::ExactComplex above = sum * by.conjugate();
        EXPECT_EQ(mpfr_inexflag_p(), 0) << "too few bits for the reference";
        X(i, j) = test::narrow<T>(
            test::Complex(test::Exact::quotient<R>(above.real, size), test::Exact::quotient<R>(above.imaginary, size)));
      }
    }
    return X;
  }
  void expect_exact(const HostMatrix<T>& A, const HostMatrix<T>& B, const std::string& of) const {
    SCOPED_TRACE(of);
    const auto [X, report] = found(A, B);
    ASSERT_EQ(report.qr.info, 0);
    EXPECT_TRUE(report.correctly_rounded);
    EXPECT_EQ(report.undecided, 0) << report;
    EXPECT_EQ(report.undecided_row, -1);
    EXPECT_TRUE(std::isnan(report.distance_to_tie));
    const HostMatrix<T> exact = expected(A, B);
    for (std::size_t j = 0; j < X.extent(1); ++j) {
      for (std::size_t i = 0; i < X.extent(0); ++i) EXPECT_EQ(X(i, j), exact(i, j)) << i << " " << j;
    }
  }
};
TYPED_TEST_SUITE(RoundedLeastSquares, test::AllScalars);

TYPED_TEST(RoundedLeastSquares, OfRandomMatrices) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {2, 1}, {3, 2}, {9, 4}, {17, 5}, {6, 6}, {1, 3}, {4, 9}}) {
    for (int seed = 0; seed < (m < 9 ? 3 : 1); ++seed) {
      this->expect_exact(test::host_random<T>(m, n, seed), test::host_random<T>(m, 2, seed + 20),
                         message_of(m, " x ", n, ", ", seed));
    }
  }
}

// Columns (of a tall matrix) or rows of any sizes, and both.
TYPED_TEST(RoundedLeastSquares, OfGradedMatrices) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{7, 3}, {3, 7}}) {
    for (int kind = 0; kind < test::gradings; ++kind) {
      const HostMatrix<T> square = test::graded_matrix<T>(7, kind, kind + 3);
      const HostMatrix<T> A = test::host_matrix<T>(
          m, n, [&](Index i, Index j) { return square(static_cast<std::size_t>(i), static_cast<std::size_t>(j)); });
      this->expect_exact(A, test::host_random<T>(m, 1, kind), message_of(m, " x ", n, ", kind ", kind));
    }
  }
}

// A column that is nearly the sum of two others.
TYPED_TEST(RoundedLeastSquares, OfNearlyDependentColumns) {
  using T = TypeParam;
  const int digits = std::numeric_limits<Real<T>>::digits;
  for (const int power : {digits / 4, digits / 2}) {
    HostMatrix<T> A = test::host_random<T>(8, 3, 5);
    for (std::size_t i = 0; i < 8; ++i) A(i, 2) = A(i, 0) + A(i, 1) + test::times_power(A(i, 2), -power);
    this->expect_exact(A, test::host_random<T>(8, 2, 6), message_of("2^-", power));
  }
}

// Means of two numbers that are ties, consistent systems with whole solutions, zeros.
TYPED_TEST(RoundedLeastSquares, TiesGoToEvenAndZerosArePlusZero) {
  using T = TypeParam;
  const double big = std::ldexp(1.0, std::numeric_limits<Real<T>>::digits - 1);
  for (const double first : {0.0, 1.0, 2.0, 3.0}) {
    this->expect_exact(this->matrix({{1}, {1}}), this->matrix({{big + first}, {big + first + 1}}), "mean");
  }
  this->expect_exact(this->matrix({{1, 1}, {1, -1}, {2, 5}, {3, 1}}), this->matrix({{3}, {-1}, {12}, {5}}), "whole");
  const auto [X, report] =
      this->found(this->matrix({{1, 1}, {1, -1}, {2, 0}}), this->matrix({{-3, 0}, {-3, 0}, {-6, 0}}));
  EXPECT_TRUE(report.correctly_rounded);
  EXPECT_TRUE(test::same_bits(X, this->matrix({{-3, 0}, {0, 0}})));
  // The shortest solution has equal parts, and a zero.
  this->expect_exact(this->matrix({{1, 1, 0}}), this->matrix({{2 * big + 2}}), "shortest");
}

TYPED_TEST(RoundedLeastSquares, HaveTheSameBitsInAnyArithmeticAndBlock) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{60, 21}, {13, 40}}) {
    const HostMatrix<T> A = test::host_random<T>(m, n, 7);
    const HostMatrix<T> B = test::host_random<T>(m, 3, 8);
    const auto first = this->found(A, B);
    ASSERT_TRUE(first.report.correctly_rounded) << first.report;
    for (const QrOptions& qr : {QrOptions{.arithmetic = Arithmetic::emulated}, QrOptions{.block = 5}}) {
      const auto [X, report] = this->found(A, B, {.qr = qr});
      EXPECT_TRUE(report.correctly_rounded) << report;
      EXPECT_TRUE(test::same_bits(X, first.X));
    }
  }
}

// Zeros beside numbers beyond the range, of which an enclosure reaches infinity, and zeros that are nearly decided.
TYPED_TEST(RoundedLeastSquares, ZerosBesideExtremes) {
  using T = TypeParam;
  const bool is_double = sizeof(Real<T>) == 8;
  const int a = is_double ? -443 : -60;
  const int b = is_double ? 703 : 90;
  const HostMatrix<T> A = this->matrix({{1, 0}, {-0.5, 1.5}, {1.5, 0.5}});
  const HostMatrix<T> B = this->matrix({{1, 0}, {-0.5, 0}, {1.5, 0}});
  const auto by = [](const HostMatrix<T>& M, int power) {
    return test::host_matrix<T>(
        static_cast<Index>(M.extent(0)), static_cast<Index>(M.extent(1)), [&](Index i, Index j) {
          return test::times_power(M(static_cast<std::size_t>(i), static_cast<std::size_t>(j)), power);
        });
  };
  const auto beyond = this->found(by(A, a), by(B, b));
  const HostMatrix<T> exact = this->matrix({{std::numeric_limits<double>::infinity(), 0}, {0, 0}});
  EXPECT_TRUE(!beyond.report.correctly_rounded || test::same_bits(beyond.X, exact)) << beyond.report;
  const HostMatrix<T> small = this->matrix({{1, -2, 1}, {0, 1, 1}, {0, -3, -1}, {0, 0, 3}, {0, 3, 0}});
  this->expect_exact(small, this->matrix({{-57, 32}, {-57, -16}, {57, 48}, {-171, 0}, {1, -48}}), "whole numbers");
}

TYPED_TEST(RoundedLeastSquares, SaysWhatIsNotProven) {
  using T = TypeParam;
  // Two columns that differ in their last bits.
  HostMatrix<T> A = test::host_random<T>(6, 2, 9);
  for (std::size_t i = 0; i < 6; ++i) A(i, 1) = A(i, 0);
  A(5, 1) = A(5, 0) * (T(1) + T(4 * unit_roundoff<T>));
  const HostMatrix<T> B = test::host_random<T>(6, 1, 10);
  const auto near = this->found(A, B);
  if (near.report.qr.info == 0 && near.report.correctly_rounded) {
    const HostMatrix<T> exact = this->expected(A, B);
    EXPECT_TRUE(test::same_bits(near.X, exact));
  } else if (near.report.qr.info == 0) {
    EXPECT_NE(near.report.undecided, 0);
  }
  // Without full rank X is not written.
  const auto none = this->found(this->matrix({{1, 0}, {1, 0}, {1, 0}}), this->matrix({{1}, {2}, {3}}));
  EXPECT_EQ(none.report.qr.info, 2);
  EXPECT_FALSE(none.report.correctly_rounded);
  EXPECT_EQ(none.X(0, 0), T(-77));
  // A NaN leaves its column unproven.
  const Real<T> nan = std::numeric_limits<Real<T>>::quiet_NaN();
  const auto bad = this->found(this->matrix({{1, 0}, {1, 1}, {1, 2}}), this->matrix({{1}, {nan}, {3}}));
  EXPECT_FALSE(bad.report.correctly_rounded);
  EXPECT_EQ(bad.report.undecided, -1);
}

}  // namespace
}  // namespace heddle::rounded_least_squares_test
