// Correctly rounded solutions: known ones, ties, zeros and numbers below the normal range, and the same bits whatever
// the factorization does.
#include "solve/over_ranks.hpp"
#include <heddle/solve/memory.hpp>
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace heddle::correct_rounding_test {
namespace {

template <class T> class CorrectRounding : public test::OverRanks<T> {
 protected:
  using R = Real<T>;
  static constexpr int digits = std::numeric_limits<R>::digits;

  struct Found {
    HostMatrix<T> x;
    SolveReport report;
  };
  // Solves over all ranks; every rank has the solution.
  [[nodiscard]] Found solved(const HostMatrix<T>& A, const HostMatrix<T>& B, SolveOptions options = {}) const {
    options.rounding = Rounding::correct;
    const DistributedMatrix<T> X = this->spread(B);
    const SolveReport report = solve(this->comm, this->spread(A), this->spread(B), X, options);
    return {this->everywhere(X), report};
  }
  static void expect_proven(const SolveReport& report) {
    EXPECT_TRUE(report.correctly_rounded);
    EXPECT_EQ(report.undecided, 0);
    EXPECT_EQ(report.undecided_row, -1);
    EXPECT_EQ(report.undecided_column, -1);
    EXPECT_TRUE(std::isnan(report.distance_to_tie));
    EXPECT_FALSE(report.ill_conditioned);
  }
};
TYPED_TEST_SUITE(CorrectRounding, test::AllScalars);

TYPED_TEST(CorrectRounding, BitsAreThoseOfNoFactorizationInParticular) {
  using T = TypeParam;
  const Index n = 45;
  // Rows of different sizes, so that some are scaled.
  const HostMatrix<T> A = test::host_matrix<T>(n, n, [](Index i, Index j) {
    return test::RandomEntries<T>{5}(i, j) * T(static_cast<Real<T>>(std::ldexp(1.0, static_cast<int>(i % 5 * 6))));
  });
  const HostMatrix<T> B = test::host_matrix<T>(n, 70, test::RandomEntries<T>{6});
  HostMatrix<T> expected;
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    for (const Index block : {0, 7, 32}) {
      for (const int refinements : {0, 2}) {
        const auto [x, report] = this->solved(A, B,
                                              {.factorization = {.arithmetic = arithmetic, .block = block},
                                               .equilibrate = block != 7,
                                               .refinements = refinements});
        this->expect_proven(report);
        if (expected.size() == 0) expected = x;
        EXPECT_TRUE(test::same_bits(x, expected));
      }
    }
  }
  // Other placements, and one rank by itself.
  const DistributedMatrix<T> X = this->spread(B, Placement::block_cyclic(n, 70, 8, 3, 1, this->comm.size()));
  const DistributedMatrix<T> b = this->spread(B, Placement::column_bands(n, 70, this->comm.size()));
  const SolveReport report = solve(this->comm, this->spread(A), b, X, {.rounding = Rounding::correct});
  this->expect_proven(report);
  EXPECT_TRUE(test::same_bits(this->everywhere(X), expected));
  const ExecutionSpace space;
  const auto on_device = [&](const HostMatrix<T>& M) {
    LocalMatrix<T> copy("copy", M.extent(0), M.extent(1));
    Kokkos::deep_copy(copy, M);
    return copy;
  };
  const LocalMatrix<T> x = on_device(B);
  this->expect_proven(solve<T>(space, MatrixView<const T>(on_device(A)), MatrixView<const T>(on_device(B)),
                               MatrixView<T>(x), {.rounding = Rounding::correct}));
  HostMatrix<T> alone("alone", x.extent(0), x.extent(1));
  Kokkos::deep_copy(alone, x);
  EXPECT_TRUE(test::same_bits(alone, expected));
}

TYPED_TEST(CorrectRounding, AlsoByCholesky) {
  using T = TypeParam;
  const Index n = 30;
  const HostMatrix<T> A = test::host_matrix<T>(n, n, [](Index i, Index j) {
    const T x = test::RandomEntries<T>{8}(std::max(i, j), std::min(i, j));
    return i == j ? T(Real<T>(n)) : i > j ? x : conjugate(x);
  });
  const HostMatrix<T> B = test::host_matrix<T>(n, 2, test::RandomEntries<T>{9});
  const auto [by_lu, report] = this->solved(A, B);
  const auto [x, of_cholesky] = this->solved(A, B, {.method = SolveMethod::cholesky, .certificate = true});
  this->expect_proven(report);
  this->expect_proven(of_cholesky);
  EXPECT_TRUE(test::same_bits(x, by_lu));
  // Each element is off by half a place at most, and so is the norm.
  EXPECT_LE(of_cholesky.error_bound, 8 * static_cast<double>(unit_roundoff<T>));
}

TYPED_TEST(CorrectRounding, SolutionsOfFewDigitsAreExactAndTiesGoToEven) {
  const double big = std::ldexp(1.0, this->digits);
  // x_0 = b_0 + 1, half way between two numbers.
  const auto [x, report] =
      this->solved(this->matrix({{1, 1}, {0, 1}}), this->matrix({{big, big + 2, -big, 3}, {-1, -1, 1, 8}}));
  this->expect_proven(report);
  EXPECT_TRUE(test::same_bits(x, this->matrix({{big, big + 4, -big, -5}, {-1, -1, 1, 8}})));
}

TYPED_TEST(CorrectRounding, TiesAndZerosBesideFractions) {
  using Number = Real<TypeParam>;
  const double big = std::ldexp(1.0, this->digits);
  const auto third = static_cast<double>(Number(1) / Number(3));
  const auto [x, report] = this->solved(this->matrix({{3, 0, 0}, {6, 1, 1}, {3, 0, 1}}),
                                        this->matrix({{1, 1, 1}, {7, big + 2, 2}, {1, 0, 1}}));
  this->expect_proven(report);
  EXPECT_TRUE(test::same_bits(x, this->matrix({{third, third, third}, {5, big, 0}, {0, -1, 0}})));
}

TYPED_TEST(CorrectRounding, ATieInALargeSystemIsReported) {
  // Row 0 has a tie and the others fractions; the small elements make exact solutions too long to compute.
  using T = TypeParam;
  const Index n = 260;
  const double big = std::ldexp(1.0, this->digits);
  const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
    const double small = i > 1 && j == i - 1 ? std::ldexp(1.0, -120) : 0.0;
    return T(static_cast<Real<T>>(i == j ? (i < 2 ? 1 : 3) : i == 0 && j == 1 ? 1 : small));
  });
  const HostMatrix<T> B = test::host_matrix<T>(n, 1, [&](Index i, Index) {
    return T(static_cast<Real<T>>(i == 0 ? big : i == 1 ? -1 : 1));
  });
  const auto [x, report] = this->solved(A, B);
  EXPECT_FALSE(report.correctly_rounded);
  EXPECT_EQ(report.undecided, 1);
  EXPECT_EQ(report.undecided_row, 0);
  EXPECT_EQ(report.undecided_column, 0);
  EXPECT_LE(report.distance_to_tie, 1e-12);
  EXPECT_EQ(x(2, 0), T(Real<T>(1) / Real<T>(3)));
  EXPECT_EQ(x(1, 0), T(Real<T>(-1)));
}

TYPED_TEST(CorrectRounding, ZerosBesideFractionsArePlusZero) {
  using T = TypeParam;
  const Index n = 12;
  const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
    return (i < n / 2) == (j < n / 2) ? test::RandomEntries<T>{3}(i, j) + T(Real<T>(i == j ? 3 : 0)) : T(0);
  });
  const HostMatrix<T> B = test::host_matrix<T>(n, 1, [&](Index i, Index j) {
    return i < n / 2 ? test::RandomEntries<T>{4}(i, j) : T(static_cast<Real<T>>(-0.0));
  });
  const auto [x, report] = this->solved(A, B);
  this->expect_proven(report);
  for (Index i = 0; i < n; ++i) {
    const T element = x(static_cast<std::size_t>(i), 0);
    EXPECT_EQ(element == T(0), i >= n / 2);
    EXPECT_FALSE(i >= n / 2 && std::signbit(real_of<double>(element)));
  }
}

TYPED_TEST(CorrectRounding, NumbersBelowTheNormalRangeAreRoundedOnce) {
  const auto smallest = static_cast<double>(std::numeric_limits<Real<TypeParam>>::denorm_min());
  const auto [x, report] = this->solved(this->matrix({{3, 0}, {0, -4}}),
                                        this->matrix({{smallest, 2 * smallest, 7 * smallest, 1000 * smallest},
                                                      {smallest, 2 * smallest, 6 * smallest, 10 * smallest}}));
  // x_1 = -1/4, -1/2, -3/2 and -5/2 of the smallest number: ties go to even.
  this->expect_proven(report);
  EXPECT_TRUE(test::same_bits(
      x, this->matrix({{0, smallest, 2 * smallest, 333 * smallest}, {-0.0, -0.0, -2 * smallest, -2 * smallest}})));
}

// A zero, of which an enclosure reaches infinity, beside a number beyond the range.
TYPED_TEST(CorrectRounding, ZerosBesideNumbersBeyondTheRangeAreNotTakenForInfinities) {
  const bool is_double = sizeof(Real<TypeParam>) == 8;
  const double a = std::ldexp(1.0, is_double ? -426 : -50);
  const double b = std::ldexp(1.0, is_double ? 686 : 90);
  const auto [x, report] = this->solved(this->matrix({{-0x1.08p0 * a, -0x1.54p0 * a}, {-0x1.1cp0 * a, 0x1.ep-1 * a}}),
                                        this->matrix({{0x1.fep0 * b}, {-0x1.68p0 * b}}));
  const auto exact = this->matrix({{0}, {-std::numeric_limits<double>::infinity()}});
  EXPECT_TRUE(!report.correctly_rounded || test::same_bits(x, exact)) << report;
}

TYPED_TEST(CorrectRounding, WhatCannotBeProvenIsReportedAndStaysAsComputed) {
  using T = TypeParam;
  // A Hilbert matrix beyond the precision, rounded.
  const Index n = 24;
  const HostMatrix<T> A = test::host_matrix<T>(
      n, n, [](Index i, Index j) { return T(static_cast<Real<T>>(1.0 / static_cast<double>(i + j + 1))); });
  const HostMatrix<T> B = test::host_matrix<T>(n, 2, test::RandomEntries<T>{4});
  const auto [x, report] = this->solved(A, B, {.certificate = true});
  if (report.factorization.info != 0) return;
  EXPECT_FALSE(report.correctly_rounded);
  EXPECT_EQ(report.undecided, -1);
  EXPECT_EQ(report.error_bound, std::numeric_limits<double>::infinity());
  const DistributedMatrix<T> X = this->spread(B);
  static_cast<void>(solve(this->comm, this->spread(A), this->spread(B), X));
  EXPECT_TRUE(test::same_bits(x, this->everywhere(X)));
}

TYPED_TEST(CorrectRounding, NothingToSolve) {
  const auto [x, report] = this->solved(this->matrix({{0, 0}, {0, 1}}), this->matrix({{1}, {1}}));
  EXPECT_EQ(report.factorization.info, 1);
  EXPECT_FALSE(report.correctly_rounded);
  const auto [none, of_none] = this->solved(HostMatrix<TypeParam>("A", 0, 0), HostMatrix<TypeParam>("B", 0, 3));
  EXPECT_TRUE(of_none.correctly_rounded);
  const auto [zero, of_zero] = this->solved(this->matrix({{2, 1}, {1, 3}}), this->matrix({{0}, {0}}));
  this->expect_proven(of_zero);
  EXPECT_TRUE(test::same_bits(zero, this->matrix({{0}, {0}})));
}

TYPED_TEST(CorrectRounding, TakesTheMemoryOfACertificate) {
  for (const int ranks : {1, 4}) {
    EXPECT_EQ(solve_memory<TypeParam>(300, 5, ranks, {.rounding = Rounding::correct}),
              solve_memory<TypeParam>(300, 5, ranks, {.certificate = true}));
  }
}

}  // namespace
}  // namespace heddle::correct_rounding_test
