// Correctly rounded inverses: the same as exact ones, ties, zeros, the ends of the range, and what is not decided.
#include "solve/over_ranks.hpp"
#include "solve/proof/fractions.hpp"
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace heddle::rounded_inverse_test {
namespace {

template <class T> class RoundedInverse : public test::OverRanks<T> {
 protected:
  using R = Real<T>;
  static constexpr int digits = std::numeric_limits<R>::digits;

  struct Found {
    HostMatrix<T> inverse;
    InverseReport report;
  };
  [[nodiscard]] Found found(const HostMatrix<T>& A, const FactorOptions& options = {}) const {
    const DistributedMatrix<T> X = this->spread(A);
    const InverseReport report = inverse(this->comm, X, options, Rounding::correct);
    return {this->everywhere(X), report};
  }
  [[nodiscard]] static HostMatrix<T> expected(const HostMatrix<T>& A) {
    const test::ExactInverse exact = test::exact_inverse(A, true);
    HostMatrix<T> inverse("inverse", A.extent(0), A.extent(1));
    // Both parts over |det|^2, or over a real determinant.
    const test::ExactComplex& by = exact.determinant;
    const bool is_real = by.imaginary.is_zero();
    const test::Exact size = is_real ? by.real : (by * by.conjugate()).real;
    for (std::size_t i = 0; i < A.extent(0); ++i) {
      for (std::size_t j = 0; j < A.extent(1); ++j) {
        const test::ExactComplex& cofactor = exact.adjugate[i * A.extent(0) + j];
        const test::ExactComplex above = is_real ? cofactor : cofactor * by.conjugate();
        inverse(i, j) = test::narrow<T>(
            test::Complex(test::Exact::quotient<R>(above.real, size), test::Exact::quotient<R>(above.imaginary, size)));
      }
    }
    return inverse;
  }
  static void expect_proven(const InverseReport& report) {
    EXPECT_TRUE(report.correctly_rounded);
    EXPECT_EQ(report.undecided, 0) << report.undecided_row << " " << report.undecided_column << " "
                                   << report.distance_to_tie << " " << report.scaled_condition;
    EXPECT_EQ(report.undecided_row, -1);
    EXPECT_TRUE(std::isnan(report.distance_to_tie));
    EXPECT_FALSE(report.ill_conditioned);
  }
  void expect_exact(const HostMatrix<T>& A, const std::string& of) const {
    SCOPED_TRACE(of);
    const auto [inverse, report] = found(A);
    expect_proven(report);
    const HostMatrix<T> exact = expected(A);
    for (std::size_t j = 0; j < A.extent(1); ++j) {
      for (std::size_t i = 0; i < A.extent(0); ++i) EXPECT_EQ(inverse(i, j), exact(i, j)) << i << " " << j;
    }
  }
};
TYPED_TEST_SUITE(RoundedInverse, test::AllScalars);

TYPED_TEST(RoundedInverse, OfRandomMatrices) {
  for (const Index n : {1, 2, 3, 8, 21}) {
    for (int seed = 0; seed < (n < 10 ? 4 : 1); ++seed) {
      this->expect_exact(test::host_random<TypeParam>(n, n, seed), std::to_string(n) + ", " + std::to_string(seed));
    }
  }
}

TYPED_TEST(RoundedInverse, OfGradedMatrices) {
  for (int kind = 0; kind < test::gradings; ++kind) {
    this->expect_exact(test::graded_matrix<TypeParam>(7, kind, kind + 3), "kind " + std::to_string(kind));
  }
}

TYPED_TEST(RoundedInverse, OfIntegers) {
  using T = TypeParam;
  for (const Index n : {2, 4, 6}) {
    for (int seed = 0; seed < 8; ++seed) {
      const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
        const test::Complex x = test::widen(test::RandomEntries<T>{seed}(i, j));
        return test::narrow<T>(test::Complex(std::round(2 * x.real()), std::round(2 * x.imag())));
      });
      if (test::exact_inverse(A, false).determinant.is_zero()) continue;
      this->expect_exact(A, std::to_string(n) + ", " + std::to_string(seed));
    }
  }
}

TYPED_TEST(RoundedInverse, TiesGoToEvenAndZerosArePlusZero) {
  const double big = std::ldexp(1.0, this->digits - 1);
  // Elements -big - 1/2 and -big - 3/2, beside fractions.
  for (const double more : {0.5, 1.5}) {
    this->expect_exact(this->matrix({{1, big, more}, {0, 1, 0}, {0, 0, 1}}), "exact");
    this->expect_exact(this->matrix({{1, big, 1}, {0, 1, -more}, {0, 0, 1}}), "exact");
    this->expect_exact(this->matrix({{1, big, 1, 1}, {0, 1, 1, 0}, {0, -more / big, 1, 0}, {1, 0, 1, 3}}),
                       "near a tie");
  }
  // (1 + big) at the place of a tie: [[1, -2 big], [0, 1]] [[1, -1], [0, 1]].
  const auto [inverse, report] = this->found(this->matrix({{1, -2 * big, 2 * big}, {0, 1, -1}, {0, 0, 1}}));
  this->expect_proven(report);
  EXPECT_TRUE(test::same_bits(inverse, this->matrix({{1, 2 * big, 0}, {0, 1, 1}, {0, 0, 1}})));
  // 2 big + 1.
  this->expect_exact(this->matrix({{1, -2 * big, -1, 0}, {0, 1, 0, 0}, {0, -1, 1, 0}, {0, 0, 0, 3}}), "tie");
  this->expect_exact(this->matrix({{1, -2 * big, -3, 0}, {0, 1, 0, 0}, {0, -1, 1, 0}, {0, 0, 0, 3}}), "odd tie");
}

TYPED_TEST(RoundedInverse, OfTriangularMatricesOfAnyOrder) {
  using T = TypeParam;
  const Index n = 180;  // More than primes are tried for.
  const HostMatrix<T> A = test::host_matrix<T>(n, n, [](Index i, Index j) {
    const T x = test::RandomEntries<T>{4}(i, j);
    return i < j ? T(0) : i == j ? x + T(4) : x * T(Real<T>(0.1));
  });
  const auto [inverse, report] = this->found(A);
  this->expect_proven(report);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) {
      EXPECT_EQ(inverse(static_cast<std::size_t>(i), static_cast<std::size_t>(j)), T(0));
    }
  }
  if constexpr (!is_complex<T>) {
    EXPECT_EQ(inverse(0, 0), T(1) / A(0, 0));
  }
}

TYPED_TEST(RoundedInverse, OfHilbertMatrices) {
  using T = TypeParam;
  for (const Index n : {Index{3}, sizeof(Real<T>) == 8 ? Index{9} : Index{4}}) {
    this->expect_exact(
        test::host_matrix<T>(
            n, n, [](Index i, Index j) { return T(static_cast<Real<T>>(1.0 / static_cast<double>(i + j + 1))); }),
        "Hilbert " + std::to_string(n));
  }
}

TYPED_TEST(RoundedInverse, NearTheEndsOfTheRange) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  // Inverses that are denormal, overflow in part, and of denormal numbers.
  for (const Index power : {Limits::max_exponent - 1, Limits::min_exponent, Limits::min_exponent - 3}) {
    for (const Index n : {2, 6}) {
      this->expect_exact(test::host_matrix<T>(n, n,
                                              [&](Index i, Index j) {
                                                return test::times_power(
                                                    test::RandomEntries<T>{9}(i, j) + T(i == j ? 3 : 0), power - 3);
                                              }),
                         std::to_string(power));
    }
  }
}

TYPED_TEST(RoundedInverse, IsTheSolutionForIdentityWhateverIsFactored) {
  using T = TypeParam;
  const Index n = 75;
  const HostMatrix<T> A = test::host_random<T>(n, n, 5);
  const HostMatrix<T> I = test::host_matrix<T>(n, n, [](Index i, Index j) { return T(i == j ? 1 : 0); });
  const DistributedMatrix<T> X = this->spread(I);
  EXPECT_TRUE(
      solve(this->comm, this->spread(A), this->spread(I), X, {.rounding = Rounding::correct}).correctly_rounded);
  const HostMatrix<T> solution = this->everywhere(X);
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    for (const Index block : {0, 7}) {
      const auto [inverse, report] = this->found(A, {.arithmetic = arithmetic, .block = block});
      this->expect_proven(report);
      EXPECT_TRUE(test::same_bits(inverse, solution));
    }
  }
  const DistributedMatrix<T> cyclic = this->spread(A, Placement::block_cyclic(n, n, 8, 3, 1, this->comm.size()));
  this->expect_proven(inverse(this->comm, cyclic, {}, Rounding::correct));
  EXPECT_TRUE(test::same_bits(this->everywhere(cyclic), solution));
  const ExecutionSpace space;
  const LocalMatrix<T> alone("alone", A.extent(0), A.extent(1));
  Kokkos::deep_copy(alone, A);
  this->expect_proven(inverse(space, alone, {}, Rounding::correct));
  HostMatrix<T> host("host", A.extent(0), A.extent(1));
  Kokkos::deep_copy(host, alone);
  EXPECT_TRUE(test::same_bits(host, solution));
}

TYPED_TEST(RoundedInverse, WhatCannotBeProvenIsReported) {
  using T = TypeParam;
  // 2^digits + 1 in a column with fractions, in a matrix too large for primes.
  const Index n = 370;
  const double big = std::ldexp(1.0, this->digits);
  const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
    if (i >= 3 && j >= 3) return test::RandomEntries<T>{3}(i, j) + T(Real<T>(i == j ? 40 : 0));
    if (i == j || (i == 5 && j == 1)) return T(1);
    if (i == 0 && j < 3) return T(static_cast<Real<T>>(j == 1 ? -big : -1));
    return i == 2 && j == 1 ? T(-1) : T(0);
  });
  const auto [inverse, report] = this->found(A);
  EXPECT_FALSE(report.correctly_rounded);
  EXPECT_EQ(report.undecided, 1);
  EXPECT_EQ(report.undecided_row, 0);
  EXPECT_EQ(report.undecided_column, 1);
  EXPECT_LE(report.distance_to_tie, 1e-12);
  EXPECT_EQ(inverse(2, 1), T(1));
  EXPECT_EQ(inverse(1, 0), T(0));
  // A Hilbert matrix beyond the precision.
  const HostMatrix<T> hilbert = test::host_matrix<T>(
      24, 24, [](Index i, Index j) { return T(static_cast<Real<T>>(1.0 / static_cast<double>(i + j + 1))); });
  const auto [of_hilbert, not_proven] = this->found(hilbert);
  if (not_proven.info == 0) {
    EXPECT_FALSE(not_proven.correctly_rounded);
    EXPECT_EQ(not_proven.undecided, -1);
    const DistributedMatrix<T> computed = this->spread(hilbert);
    static_cast<void>(heddle::inverse(this->comm, computed));
    EXPECT_TRUE(test::same_bits(of_hilbert, this->everywhere(computed)));
  }
}

TYPED_TEST(RoundedInverse, NothingToInvert) {
  const auto [same, singular] = this->found(this->matrix({{0, 0}, {0, 1}}));
  EXPECT_EQ(singular.info, 1);
  EXPECT_FALSE(singular.correctly_rounded);
  EXPECT_TRUE(test::same_bits(same, this->matrix({{0, 0}, {0, 1}})));
  EXPECT_TRUE(this->found(HostMatrix<TypeParam>("A", 0, 0)).report.correctly_rounded);
}

}  // namespace
}  // namespace heddle::rounded_inverse_test
