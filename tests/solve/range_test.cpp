// Systems near the ends of the range: solutions and reports must be as for any other system.
#include "over_ranks.hpp"
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::range_test {
namespace {

template <class T> class Ranges : public test::OverRanks<T> {
 protected:
  using Limits = std::numeric_limits<Real<T>>;
  static constexpr int highest = Limits::max_exponent;                  // 2^highest is the first number that is too
                                                                        // large,
  static constexpr int lowest = Limits::min_exponent - Limits::digits;  // and 2^lowest the smallest.

  [[nodiscard]] static T power(int e) { return T(std::ldexp(Real<T>(1), e)); }
  // Random numbers times 2^e, with a diagonal that keeps them far from singular.
  [[nodiscard]] static HostMatrix<T> matrix(Index n, int e) {
    return test::host_matrix<T>(n, n, [&](Index i, Index j) {
      return (test::RandomEntries<T>{5}(i, j) * T(Real<T>(0.25)) + T(Real<T>(i == j ? 1 : 0))) * power(e);
    });
  }
};
TYPED_TEST_SUITE(Ranges, test::AllScalars);

TYPED_TEST(Ranges, MatricesNearTheEndsAreSolvedAsOthers) {
  using T = TypeParam;
  using R = Real<T>;
  const auto unit = static_cast<double>(unit_roundoff<T>);
  const Index n = 30;
  for (const SolveMethod method : {SolveMethod::lu, SolveMethod::cholesky}) {
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      for (const int e : {TestFixture::highest - 2, 0, TestFixture::lowest + 30}) {
        SCOPED_TRACE(message_of(to_string(method), ", ", to_string(arithmetic), ", 2^", e));
        const bool definite = method == SolveMethod::cholesky;
        const HostMatrix<T> A =
            definite ? test::host_matrix<T>(n, n,
                                            [&](Index i, Index j) {
                                              return T(R(i == j ? 1 : 0.5 / (1 + i + j))) * TestFixture::power(e);
                                            })
                     : this->matrix(n, e);
        const HostMatrix<T> B = test::host_matrix<T>(
            n, 1, [&](Index i, Index) { return test::RandomEntries<T>{9}(i, 3) * TestFixture::power(e); });
        const DistributedMatrix<T> x = this->spread(B);
        const SolveReport report = solve(
            this->comm, this->spread(A), this->spread(B), x,
            {.method = method, .factorization = {.arithmetic = arithmetic, .block = 4, .group = 4}, .refinements = 0});
        ASSERT_EQ(report.factorization.info, 0);
        EXPECT_EQ(report.equilibrated, e != 0);
        EXPECT_LE(report.normwise_error, 4 * n * unit);
        EXPECT_LE(report.componentwise_error, 64 * n * unit);
        EXPECT_GT(report.normwise_error, 0.0);
      }
    }
  }
}

TYPED_TEST(Ranges, ResidualsThatOverflowDoNotSpoilSolutions) {
  using T = TypeParam;
  using R = Real<T>;
  constexpr int top = TestFixture::highest;
  // x = (2^(top / 2) / 3, -2^(top - 6) / 3.75): both products of row 1 are beyond the range, and so are the errors by
  // roundings of x.
  const HostMatrix<T> A = test::host_matrix<T>(2, 2, [&](Index i, Index j) {
    if (i == 0) return j == 0 ? T(R(3)) : T(0);
    return j == 0 ? TestFixture::power(top - 6) : T(Real<T>(1.25)) * TestFixture::power(top / 2);
  });
  const HostMatrix<T> B =
      test::host_matrix<T>(2, 1, [&](Index i, Index) { return i == 0 ? TestFixture::power(top / 2) : T(0); });
  for (const int refinements : {0, 1, 2}) {
    SCOPED_TRACE(refinements);
    const DistributedMatrix<T> x = this->spread(B);
    const SolveReport report = solve(this->comm, this->spread(A), this->spread(B), x, {.refinements = refinements});
    EXPECT_LE(report.normwise_error, 4 * static_cast<double>(unit_roundoff<T>));
    EXPECT_LE(report.componentwise_error, 4 * static_cast<double>(unit_roundoff<T>));
    const HostMatrix<T> found = gather(x, 0);
    this->comm.on_rank(0, [&] {
      EXPECT_NEAR(static_cast<double>(Kokkos::real(found(0, 0))) / std::ldexp(1.0, top / 2), 1.0 / 3, 1e-6);
      EXPECT_NEAR(static_cast<double>(Kokkos::real(found(1, 0))) / std::ldexp(1.0, top - 6), -1.0 / 3.75, 1e-6);
    });
  }
}

// A right-hand side whose products with A overflow is scaled down, but not so far that x underflows.
TYPED_TEST(Ranges, LargeRightHandSidesOfLargeMatrices) {
  using T = TypeParam;
  constexpr int top = TestFixture::highest;
  for (const int e : {top * 9 / 10, top / 2, 0, -top / 2}) {
    SCOPED_TRACE(e);
    // 2^e (0 0 1; 0 -1 0; 1 -4 0) x = (0, 2^(top - 1), 0).
    const HostMatrix<T> A = test::host_matrix<T>(3, 3, [&](Index i, Index j) {
      if (i == 1) return j == 1 ? -TestFixture::power(e) : T(0);
      return i + j == 2 ? TestFixture::power(e) : i == 2 && j == 1 ? -TestFixture::power(e + 2) : T(0);
    });
    const HostMatrix<T> B =
        test::host_matrix<T>(3, 1, [&](Index i, Index) { return i == 1 ? TestFixture::power(top - 1) : T(0); });
    const DistributedMatrix<T> x = this->spread(B);
    const SolveReport report = solve(this->comm, this->spread(A), this->spread(B), x, {.refinements = 0});
    if (e <= 0) {
      EXPECT_EQ(report.overflow, 1);
      continue;
    }
    const HostMatrix<T> found = gather(x, 0);
    this->comm.on_rank(0, [&] {
      EXPECT_EQ(found(0, 0), -TestFixture::power(top + 1 - e));
      EXPECT_EQ(found(1, 0), -TestFixture::power(top - 1 - e));
      EXPECT_EQ(found(2, 0), T(0));
    });
  }
}

// Sizes of denormal numbers are computed from their digits; their absolute values rounded to the range would be
// inexact.
TYPED_TEST(Ranges, BackwardErrorsOfDenormalElements) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    using R = Real<T>;
    const R unit = std::ldexp(R(1), TestFixture::lowest);
    // x_0 is the reciprocal of the smallest normal number, and x_1 = -(11 + 16 i) units times that.
    const HostMatrix<T> A = test::host_matrix<T>(2, 2, [&](Index i, Index j) {
      if (i == 0) return j == 0 ? TestFixture::power(TestFixture::Limits::min_exponent - 1) : T(0);
      return j == 0 ? T(R(11) * unit, R(16) * unit) : T(1);
    });
    const HostMatrix<T> B = test::host_matrix<T>(2, 1, [&](Index i, Index) { return i == 0 ? T(1) : T(0); });
    const DistributedMatrix<T> x = this->spread(B);
    const SolveReport report = solve(this->comm, this->spread(A), this->spread(B), x, {.refinements = 0});
    const HostMatrix<T> found = gather(x, 0);
    this->comm.on_rank(0, [&] {
      const auto scale = std::ldexp(1.0, TestFixture::Limits::digits - 1);
      const Kokkos::complex<double> y(scale * static_cast<double>(found(1, 0).real()),
                                      scale * static_cast<double>(found(1, 0).imag()));
      const double error = Kokkos::abs(y + Kokkos::complex<double>(11, 16)) /
                           (Kokkos::abs(y) + Kokkos::abs(Kokkos::complex<double>(11, 16)));
      EXPECT_NEAR(report.componentwise_error, error, 1e-6 * error);
    });
  }
}

// Reported errors are relative to |A| |x| + |b|, even if that is above the largest number or below the smallest.
TYPED_TEST(Ranges, BackwardErrorsAreToldWhereSizesOverOrUnderflow) {
  using T = TypeParam;
  for (const int e : {TestFixture::highest - 1, TestFixture::lowest + 8}) {
    SCOPED_TRACE(e);
    const HostMatrix<T> A = test::host_matrix<T>(3, 3, [&](Index i, Index j) {
      return i == j ? TestFixture::power(e) : i < j ? -TestFixture::power(e) : T(0);
    });
    // With the factors of a unit lower triangle x is exact; a wrong x must be reported.
    const HostMatrix<T> B =
        test::host_matrix<T>(3, 1, [&](Index i, Index) { return i == 2 ? TestFixture::power(e) : T(0); });
    const DistributedMatrix<T> x = this->spread(B);
    const SolveReport report = solve(this->comm, this->spread(A), this->spread(B), x, {.refinements = 0});
    EXPECT_EQ(report.normwise_error, 0.0);  // x = (2, 1, 1)
    EXPECT_EQ(report.componentwise_error, 0.0);
    const HostMatrix<T> found = gather(x, 0);
    this->comm.on_rank(0, [&] {
      EXPECT_EQ(found(0, 0), T(2));
      EXPECT_EQ(found(1, 0), T(1));
      EXPECT_EQ(found(2, 0), T(1));
    });
  }
}

// |a| is above the largest number if both of its parts are near it; x underflows, and the residual is all of b.
TYPED_TEST(Ranges, SizesOfComplexNumbersMayBeAboveTheLargest) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    const Real<T> largest = TestFixture::Limits::max();
    const HostMatrix<T> A = test::host_matrix<T>(1, 1, [&](Index, Index) { return T(largest, largest); });
    for (const int e : {TestFixture::highest - 1, TestFixture::lowest / 4}) {
      const HostMatrix<T> B = test::host_matrix<T>(1, 1, [&](Index, Index) { return TestFixture::power(e); });
      const DistributedMatrix<T> x = this->spread(B);
      const SolveReport report =
          solve(this->comm, this->spread(A), this->spread(B), x, {.refinements = 0, .certificate = true});
      const bool underflows = e < 0;
      const double expected = underflows ? 1.0 : 0.0;
      EXPECT_NEAR(report.componentwise_error, expected, 4 * static_cast<double>(unit_roundoff<T>));
      EXPECT_NEAR(report.normwise_error, expected, 4 * static_cast<double>(unit_roundoff<T>));
      // The proven bound holds: none for x = 0, otherwise no less than its rounding error.
      EXPECT_GT(report.error_bound, underflows ? 1.0 : 0.0);
    }
  }
}

TYPED_TEST(Ranges, ConditionsAreThoseOfMatricesNearTheMiddle) {
  using T = TypeParam;
  // By the inverse, and by an estimate.
  for (const Index n : {12, 40}) {
    const auto condition_at = [&](int e) {
      const DistributedMatrix<T> A = this->spread(this->matrix(n, e));
      const double size = norm(this->spread(this->matrix(n, std::min(e, TestFixture::highest - 8))), Norm::one);
      const LuReport factors = lu(this->comm, A);
      return condition(this->comm, A, factors, std::ldexp(size, e - std::min(e, TestFixture::highest - 8)));
    };
    const double middle = condition_at(0);
    EXPECT_GT(middle, 1.0);
    EXPECT_NEAR(condition_at(TestFixture::highest - 4), middle, 1e-4 * middle);
    EXPECT_NEAR(condition_at(TestFixture::lowest + 40), middle, 1e-2 * middle);
  }
}

TYPED_TEST(Ranges, DeterminantsAndGrowthKnowOfNaNsWhereverTheyAre) {
  using T = TypeParam;
  const Index n = 7;
  for (Index at = 0; at < n; ++at) {
    SCOPED_TRACE(at);
    // With or without a zero on the diagonal before it.
    for (const bool zero : {false, true}) {
      const HostMatrix<T> host = test::host_matrix<T>(n, n, [&](Index i, Index j) {
        if (i == at && j == at) return T(TestFixture::Limits::quiet_NaN());
        return i == j && !(zero && i == 3) ? T(2) : T(0);
      });
      const DistributedMatrix<T> A(this->comm, Placement::block_cyclic(n, n, 1, 2, 1, this->comm.size()));
      scatter(host, 0, A);
      const LuReport report = lu(this->comm, A, {.block = 1});
      EXPECT_TRUE(std::isnan(report.growth));
      const Determinant<T> found = determinant(this->comm, A, report);
      EXPECT_TRUE(std::isnan(static_cast<double>(Kokkos::real(found.mantissa))));
      EXPECT_EQ(found.exponent, 0);
    }
  }
}

// Blocks and groups beyond any matrix change no bit and take no memory.
TYPED_TEST(Ranges, BlocksAndGroupsMayBeAsLargeAsNumbersGo) {
  using T = TypeParam;
  const Index n = 20;
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    std::vector<HostMatrix<T>> found;
    for (const FactorOptions& options :
         {FactorOptions{.arithmetic = arithmetic, .block = 256, .group = 16},
          FactorOptions{
              .arithmetic = arithmetic, .block = std::numeric_limits<Index>::max(), .group = Index{1} << 62U}}) {
      const DistributedMatrix<T> x = this->spread(test::host_random<T>(n, 2, 3));
      static_cast<void>(solve(this->comm, this->spread(this->matrix(n, 0)), this->spread(test::host_random<T>(n, 2, 3)),
                              x, {.factorization = options, .certificate = true}));
      found.push_back(gather(x, 0));
    }
    EXPECT_TRUE(test::same_bits(found[0], found[1]));
  }
}

}  // namespace
}  // namespace heddle::range_test
