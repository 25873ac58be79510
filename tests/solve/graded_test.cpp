// Matrices whose rows or columns have very different sizes, or are near the ends of the range: determinants, inverses,
// condition numbers and solutions compared with closed forms.
#include "over_ranks.hpp"
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace heddle::graded_test {
namespace {

template <class T> class Graded : public test::OverRanks<T> {
 protected:
  using Limits = std::numeric_limits<Real<T>>;
  static constexpr int highest = Limits::max_exponent;  // 2^highest is the first number that is too large.
  static constexpr int far = highest / 8 * 7;           // Twice this exponent is beyond the range.
  static constexpr Arithmetic both[2] = {Arithmetic::native, Arithmetic::emulated};

  [[nodiscard]] static T power(int e) { return T(std::ldexp(Real<T>(1), e)); }
  [[nodiscard]] static T number(double x, int e) { return T(std::ldexp(static_cast<Real<T>>(x), e)); }
  [[nodiscard]] static HostMatrix<T> of(const std::vector<std::vector<T>>& rows) {
    return test::host_matrix<T>(
        static_cast<Index>(rows.size()), static_cast<Index>(rows[0].size()),
        [&](Index i, Index j) { return rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]; });
  }
  // Its second row is lost if multipliers underflow.
  [[nodiscard]] static HostMatrix<T> of_far_rows(double last) {
    return of({{power(far), power(far)}, {power(-far), number(last, -far)}});
  }
  void expect_determinant(const HostMatrix<T>& A, const T& mantissa, Index exponent) const {
    for (const Arithmetic arithmetic : both) {
      SCOPED_TRACE(to_string(arithmetic));
      const Determinant<T> found = determinant(this->comm, this->spread(A), {.arithmetic = arithmetic});
      EXPECT_EQ(found.mantissa, mantissa) << real_of<double>(found.mantissa) << " 2^" << found.exponent;
      EXPECT_EQ(found.exponent, exponent);
    }
  }
  [[nodiscard]] SolveReport solved(const HostMatrix<T>& A, const HostMatrix<T>& B, HostMatrix<T>& X,
                                   const SolveOptions& options = {}) const {
    const DistributedMatrix<T> x = this->spread(B);
    const SolveReport report = solve(this->comm, this->spread(A), this->spread(B), x, options);
    X = this->everywhere(x);
    return report;
  }
};
TYPED_TEST_SUITE(Graded, test::AllScalars);

TYPED_TEST(Graded, DeterminantsKnowOfSmallRows) {
  using T = TypeParam;
  constexpr int far = TestFixture::far;
  this->expect_determinant(this->of_far_rows(2), T(Real<T>(0.5)), 1);
  this->expect_determinant(this->of_far_rows(1), T(0), 0);
  this->expect_determinant(this->of({{this->power(-far), this->power(1 - far)}, {this->power(far), this->power(far)}}),
                           T(Real<T>(-0.5)), 1);
  // The columns differ in size, which the rows do not show.
  this->expect_determinant(this->of({{this->power(far), this->power(-far)}, {this->power(far), this->power(1 - far)}}),
                           T(Real<T>(0.5)), 1);
  this->expect_determinant(this->of({{this->power(-far)}}), T(Real<T>(0.5)), 1 - far);
  // Rows 1 and 2 are proportional, 1 to 3.
  this->expect_determinant(this->of({{this->power(far), this->number(2, -far), this->power(0)},
                                     {this->power(0), this->power(0), this->power(0)},
                                     {this->power(2), this->power(2), this->power(2)}}),
                           T(0), 0);
  // A matrix with a column of zeros is not scaled, and its U overflows.
  const T huge = this->number(1.5, TestFixture::highest - 1);
  this->expect_determinant(this->of({{huge, T(0), huge}, {-huge, T(0), huge}, {huge, T(0), T(1)}}), T(0), 0);
  if constexpr (is_complex<T>) {
    const T i(0, 1);
    this->expect_determinant(
        this->of({{i * this->power(far), i * this->power(far)}, {this->power(-far), this->power(1 - far)}}),
        T(0, Real<T>(0.5)), 1);
  }
}

TYPED_TEST(Graded, DeterminantsAreBeyondTheRange) {
  constexpr int e = TestFixture::highest - 1;
  const auto huge = this->number(1.5, e);
  this->expect_determinant(this->of({{huge, huge}, {-huge, huge}}), TypeParam(Real<TypeParam>(0.5625)), 2 * e + 3);
}

// Products of powers of two with whole numbers, whose determinant is known.
TYPED_TEST(Graded, DeterminantsOfScaledWholeNumbers) {
  using T = TypeParam;
  const Index n = 5;
  const int whole[5][5] = {{3, 1, -2, 4, 1}, {1, -5, 2, 0, 3}, {2, 2, 7, -1, 0}, {-1, 3, 1, 6, 2}, {4, 0, -3, 1, 5}};
  const auto row = [](Index i) { return static_cast<int>(i * 29 % 5 - 2) * TestFixture::highest / 5; };
  const auto column = [](Index j) { return static_cast<int>(j * 17 % 5 - 2) * TestFixture::highest / 5; };
  const HostMatrix<T> A =
      test::host_matrix<T>(n, n, [&](Index i, Index j) { return this->number(whole[i][j], row(i) + column(j)); });
  const HostMatrix<T> by_rows =
      test::host_matrix<T>(n, n, [&](Index i, Index j) { return this->number(whole[i][j], row(i)); });
  for (const HostMatrix<T>& M : {A, by_rows}) {
    const Determinant<T> found = determinant(this->comm, this->spread(M));
    Index exponent = 0;
    for (Index k = 0; k < n; ++k) exponent += row(k) + (M.data() == A.data() ? column(k) : 0);
    const double value = std::ldexp(real_of<double>(found.mantissa), static_cast<int>(found.exponent - exponent));
    EXPECT_NEAR(value, -5752.0, 5752.0 * 100 * static_cast<double>(unit_roundoff<T>));
  }
}

TYPED_TEST(Graded, Inverses) {
  using T = TypeParam;
  constexpr int far = TestFixture::far;
  const HostMatrix<T> expected =
      this->of({{this->power(1 - far), -this->power(far)}, {-this->power(-far), this->power(far)}});
  for (const Arithmetic arithmetic : TestFixture::both) {
    const DistributedMatrix<T> A = this->spread(this->of_far_rows(2));
    const InverseReport report = inverse(this->comm, A, {.arithmetic = arithmetic});
    EXPECT_EQ(report.info, 0);
    EXPECT_TRUE(report.equilibrated);
    EXPECT_FALSE(report.ill_conditioned);
    EXPECT_LE(report.scaled_condition, 100.0);
    const HostMatrix<T> found = this->everywhere(A);
    for (std::size_t k = 0; k < found.size(); ++k) EXPECT_EQ(found.data()[k], expected.data()[k]) << k;
  }
  // A singular matrix is unchanged.
  const HostMatrix<T> singular = this->of_far_rows(1);
  const DistributedMatrix<T> A = this->spread(singular);
  const InverseReport report = inverse(this->comm, A);
  EXPECT_EQ(report.info, 2);
  EXPECT_TRUE(std::isinf(report.condition));
  EXPECT_TRUE(test::same_bits(this->everywhere(A), singular));
}

// |A|_1 = 2^h + 2^-k and |A^-1|_1 = 2^k of [[2^h, 2^h], [2^-k, -2^-k]], and of blocks of them.
TYPED_TEST(Graded, ConditionsAreOfTheMatrixAsGiven) {
  using T = TypeParam;
  constexpr int h = TestFixture::highest / 2;
  constexpr int k = TestFixture::highest / 5 * 2;
  for (const Index n : {2, 30, 48, 90}) {
    for (const bool equilibrate : {true, false}) {
      SCOPED_TRACE(message_of("n = ", n, equilibrate ? "" : ", as it is"));
      const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
        if (i / 2 != j / 2) return T(0);
        return i % 2 == 0 ? this->power(h - static_cast<int>(i / 2 % 3)) : this->number(j == i ? -1 : 1, -k);
      });
      HostMatrix<T> X;
      const SolveReport report = this->solved(A, test::host_random<T>(n, 1, 3), X, {.equilibrate = equilibrate});
      ASSERT_EQ(report.factorization.info, 0);
      const double expected = std::ldexp(1.0, h + k);
      EXPECT_LE(report.condition, expected * 1.001);
      EXPECT_GE(report.condition, expected / 3);
      EXPECT_LE(report.scaled_condition, 2.001);
      EXPECT_GE(report.scaled_condition, 0.6);
      EXPECT_FALSE(report.ill_conditioned);
      EXPECT_EQ(report.overflow, 0);
    }
  }
}

TYPED_TEST(Graded, ConditionsOfHugeAndSmallMatrices) {
  using T = TypeParam;
  for (const int e : {TestFixture::highest - 1, TestFixture::Limits::min_exponent - 4}) {
    SCOPED_TRACE(e);
    const T x = this->number(1.5, e);
    HostMatrix<T> X;
    const SolveReport report =
        this->solved(this->of({{x, x}, {-x, x}}), this->of({{x}, {T(0)}}), X, {.certificate = true});
    EXPECT_NEAR(report.condition, 2.0, 1e-5);
    EXPECT_NEAR(report.scaled_condition, 2.0, 1e-5);
    EXPECT_LT(report.error_bound, 1e-30);
    EXPECT_EQ(X(0, 0), T(Real<T>(0.5)));
    EXPECT_EQ(X(1, 0), T(Real<T>(0.5)));
  }
}

// The same by Cholesky's method, from the factor alone.
TYPED_TEST(Graded, ConditionsOfPositiveDefiniteMatrices) {
  using T = TypeParam;
  constexpr int h = TestFixture::highest / 5;
  for (const Index n : {2, 48}) {
    const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
      if (i / 2 != j / 2) return T(0);
      return i != j ? this->power(0) : this->number(2, i % 2 == 0 ? h : -h);
    });
    HostMatrix<T> X;
    const SolveReport report =
        this->solved(A, test::host_random<T>(n, 1, 3), X, {.method = SolveMethod::cholesky, .certificate = true});
    ASSERT_EQ(report.factorization.info, 0);
    // A^-1 = [[2 2^-h, -1], [-1, 2 2^h]] / 3.
    const double expected = std::ldexp(2.0, h) * std::ldexp(2.0, h) / 3.0;
    EXPECT_LE(report.condition, expected * 1.001);
    EXPECT_GE(report.condition, expected / 3);
    EXPECT_LE(report.scaled_condition, 10.0);
    EXPECT_TRUE(std::isfinite(report.error_bound));
  }
}

TYPED_TEST(Graded, NearlySingularMatricesAreToldSo) {
  using T = TypeParam;
  const HostMatrix<T> A =
      test::host_matrix<T>(3, 3, [](Index i, Index j) { return T(static_cast<Real<T>>(3 * i + j + 1)); });
  const HostMatrix<T> B = this->of({{T(1)}, {T(2)}, {T(4)}});
  for (const Arithmetic arithmetic : TestFixture::both) {
    HostMatrix<T> X;
    const SolveReport report =
        this->solved(A, B, X, {.factorization = {.arithmetic = arithmetic}, .certificate = true});
    if (report.factorization.info != 0) continue;
    EXPECT_TRUE(report.ill_conditioned);
    EXPECT_GT(report.condition, 0.3 / static_cast<double>(unit_roundoff<T>));
    EXPECT_EQ(report.error_bound, std::numeric_limits<double>::infinity());
  }
  HostMatrix<T> X;
  EXPECT_TRUE(std::isnan(this->solved(A, B, X, {.condition = false}).condition));
  const SolveReport zero = this->solved(HostMatrix<T>("zero", 3, 3), B, X);
  EXPECT_EQ(zero.factorization.info, 1);
  EXPECT_TRUE(std::isinf(zero.condition));
}

// Scaling A by its rows must not make B underflow to zero.
TYPED_TEST(Graded, RightHandSidesDoNotUnderflow) {
  using T = TypeParam;
  constexpr int e = TestFixture::highest - 24;
  const int small = -TestFixture::highest / 8;
  const HostMatrix<T> A = this->of({{this->power(e), T(1)}, {this->power(e), T(2)}});
  const HostMatrix<T> B = this->of({{this->power(small), T(1)}, {this->number(3, small), T(0)}});
  for (const int refinements : {0, 1}) {
    for (const Arithmetic arithmetic : TestFixture::both) {
      HostMatrix<T> X;
      const SolveReport report = this->solved(
          A, B, X, {.factorization = {.arithmetic = arithmetic}, .refinements = refinements, .certificate = true});
      EXPECT_EQ(X(1, 0), this->power(small + 1));
      EXPECT_EQ(X(0, 1), this->power(1 - e));
      EXPECT_EQ(X(1, 1), T(-1));
      EXPECT_LE(report.scaled_residual, 1.0);
      EXPECT_TRUE(std::isfinite(report.error_bound));
    }
  }
}

TYPED_TEST(Graded, WhatOverflowsOnItsWayIsFound) {
  using T = TypeParam;
  const T largest = this->number(1.5, TestFixture::highest - 1);
  // x = (0, b); the intermediate b_1 - b_0 overflows.
  HostMatrix<T> X;
  const SolveReport report =
      this->solved(this->of({{T(1), T(1)}, {T(1), T(-1)}}), this->of({{largest}, {-largest}}), X);
  EXPECT_EQ(X(0, 0), T(0));
  EXPECT_EQ(X(1, 0), largest);
  EXPECT_EQ(report.overflow, 0);
  // Independent numbers of all sizes are unchanged.
  const HostMatrix<T> wide = this->of({{largest}, {this->power(TestFixture::Limits::min_exponent)}});
  EXPECT_EQ(this->solved(this->of({{T(1), T(0)}, {T(0), T(1)}}), wide, X, {.refinements = 0}).overflow, 0);
  EXPECT_TRUE(test::same_bits(X, wide));
}

TYPED_TEST(Graded, SolutionsThatOverflowAreReported) {
  using T = TypeParam;
  const int e = TestFixture::highest - 2;
  HostMatrix<T> X;
  const HostMatrix<T> A = this->of({{this->power(-e), T(0)}, {T(0), T(1)}});
  const HostMatrix<T> B = this->of({{T(1), this->power(8)}, {T(3), T(5)}});
  const SolveReport report = this->solved(A, B, X);
  EXPECT_EQ(report.overflow, 2);
  EXPECT_EQ(X(0, 0), this->power(e));
  EXPECT_EQ(X(1, 0), T(3));
  EXPECT_EQ(X(1, 1), T(5));
  EXPECT_FALSE(std::isfinite(real_of<double>(X(0, 1))));
  // A NaN is not reported as an overflow.
  const HostMatrix<T> none = this->of({{T(std::numeric_limits<Real<T>>::quiet_NaN())}, {T(1)}});
  EXPECT_EQ(this->solved(A, none, X).overflow, 0);
}

// x = b / 3 has no correct relative digit, and is the nearest number.
TYPED_TEST(Graded, DenormalSolutionsHaveSmallScaledResiduals) {
  using T = TypeParam;
  const T smallest = T(TestFixture::Limits::denorm_min());
  for (const int times : {1, 4, 5, 7}) {
    HostMatrix<T> X;
    const SolveReport report = this->solved(this->of({{T(3)}}), this->of({{smallest * T(times)}}), X);
    EXPECT_EQ(X(0, 0), smallest * T((times + 1) / 3));
    EXPECT_GT(report.normwise_error, 0.01);
    EXPECT_LE(report.scaled_residual, 1.0);
    EXPECT_GE(report.scaled_residual, 0.0);
  }
  HostMatrix<T> X;
  const SolveReport exact = this->solved(this->of({{smallest}}), this->of({{smallest}}), X, {.certificate = true});
  EXPECT_EQ(X(0, 0), T(1));
  EXPECT_LT(exact.error_bound, static_cast<double>(unit_roundoff<T>));
  EXPECT_EQ(exact.scaled_residual, 0.0);
}

}  // namespace
}  // namespace heddle::graded_test
