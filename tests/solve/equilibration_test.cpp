// Systems whose rows and columns have very different sizes: emulated products must be as accurate as native ones.
#include "over_ranks.hpp"
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace heddle::equilibration_test {
namespace {

// Exponents of the rows or columns of a matrix, within +-12 so that products stay within the range of floats.
using Exponent = int (*)(Index i);
int none(Index) {
  return 0;
}
int scattered(Index i) {
  return static_cast<int>(i * 37 % 25) - 12;
}
int falling(Index i) {
  return 12 - static_cast<int>(i / 6);
}
int rising(Index i) {
  return static_cast<int>(i / 6) - 12;
}

template <class T> class Equilibrated : public test::OverRanks<T> {};
TYPED_TEST_SUITE(Equilibrated, test::AllScalars);

template <Scalar T> HostMatrix<T> scaled(Index rows, Index columns, int seed, Exponent row, Exponent column) {
  const HostMatrix<T> even = test::host_random<T>(rows, columns, seed);
  return test::host_matrix<T>(rows, columns, [&](Index i, Index j) {
    return even(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) *
           T(static_cast<Real<T>>(std::ldexp(1.0, row(i) + column(j))));
  });
}

TYPED_TEST(Equilibrated, SystemsHaveSmallErrorsInEveryElement) {
  using T = TypeParam;
  struct Case {
    std::string name;
    Exponent row, column;
  };
  const Index n = 150;
  for (const Case& sizes : std::vector<Case>{{"none", none, none},
                                             {"rows", scattered, none},
                                             {"columns", none, scattered},
                                             {"both", scattered, scattered},
                                             {"falling", falling, falling},
                                             {"rising and falling", rising, falling}}) {
    const DistributedMatrix<T> A = this->spread(scaled<T>(n, n, 3, sizes.row, sizes.column));
    const DistributedMatrix<T> B = this->spread(scaled<T>(n, 2, 4, sizes.row, none));
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      SCOPED_TRACE(message_of(sizes.name, ", ", to_string(arithmetic)));
      const DistributedMatrix<T> X(this->comm, B.placement());
      const SolveReport report = solve(
          this->comm, A, B, X, {.factorization = {.arithmetic = arithmetic, .block = 8, .group = 8}, .refinements = 0});
      ASSERT_EQ(report.factorization.info, 0);
      EXPECT_EQ(report.equilibrated, sizes.name != "none");
      EXPECT_LE(report.componentwise_error, static_cast<double>(n) * static_cast<double>(unit_roundoff<T>));
    }
  }
}

TYPED_TEST(Equilibrated, PositiveDefiniteOnesToo) {
  using T = TypeParam;
  const Index n = 150;
  for (const Exponent size : {scattered, falling}) {
    const HostMatrix<T> graded = test::host_matrix<T>(n, n, [&](Index i, Index j) {
      const T one = test::RandomEntries<T>{5}(std::max(i, j), std::min(i, j));
      const T even = i == j ? T(static_cast<Real<T>>(2 * n)) : i > j ? one : conjugate(one);
      return even * T(static_cast<Real<T>>(std::ldexp(1.0, size(i) + size(j))));
    });
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      SCOPED_TRACE(to_string(arithmetic));
      const DistributedMatrix<T> B = this->spread(scaled<T>(n, 2, 4, size, none));
      const DistributedMatrix<T> X(this->comm, B.placement());
      const SolveReport report = solve(this->comm, this->spread(graded), B, X,
                                       {.method = SolveMethod::cholesky,
                                        .factorization = {.arithmetic = arithmetic, .block = 8, .group = 8},
                                        .refinements = 0});
      ASSERT_EQ(report.factorization.info, 0);
      EXPECT_TRUE(report.equilibrated);
      EXPECT_LE(report.componentwise_error, static_cast<double>(n) * static_cast<double>(unit_roundoff<T>));
    }
  }
}

TYPED_TEST(Equilibrated, TheBitsAreTheSameOnAnyRanks) {
  using T = TypeParam;
  const Index n = 90;
  const HostMatrix<T> A = scaled<T>(n, n, 6, scattered, rising);
  const HostMatrix<T> B = scaled<T>(n, 3, 7, scattered, none);
  const Communicator alone(MPI_COMM_SELF, this->comm.space());
  const SolveOptions options{.factorization = {.arithmetic = Arithmetic::emulated, .block = 8, .group = 4},
                             .refinements = 0};
  const auto whole = [&](const HostMatrix<T>& M) {
    const DistributedMatrix<T> here(
        alone, Placement::on_rank(static_cast<Index>(M.extent(0)), static_cast<Index>(M.extent(1)), 0));
    scatter(M, 0, here);
    return here;
  };
  const DistributedMatrix<T> expected = whole(B);
  EXPECT_TRUE(solve(alone, whole(A), whole(B), expected, options).equilibrated);
  const DistributedMatrix<T> X = this->spread(B);
  solve(this->comm, this->spread(A), this->spread(B), X, options);
  const HostMatrix<T> one = gather(expected, 0);
  const HostMatrix<T> other = this->everywhere(X);
  EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(T)), 0);
}

TYPED_TEST(Equilibrated, WhatCannotBeScaledIsLeftAlone) {
  using T = TypeParam;
  const Index n = 5;
  const HostMatrix<T> B = test::host_random<T>(n, 1, 8);
  const auto tried = [&](const HostMatrix<T>& A, const SolveOptions& options) {
    const DistributedMatrix<T> X(this->comm, Placement::row_bands(n, 1, this->comm.size()));
    return solve(this->comm, this->spread(A), this->spread(B), X, options);
  };
  const HostMatrix<T> uneven = scaled<T>(n, n, 9, scattered, none);
  EXPECT_FALSE(tried(uneven, {.equilibrate = false}).equilibrated);
  EXPECT_TRUE(tried(uneven, {}).equilibrated);
  // A row of zeros, and an infinity.
  for (const Real<T> bad : {Real<T>(0), std::numeric_limits<Real<T>>::infinity()}) {
    const HostMatrix<T> A = scaled<T>(n, n, 9, scattered, none);
    for (std::size_t j = 0; j < A.extent(1); ++j) A(2, j) = T(bad);
    const SolveReport report = tried(A, {});
    EXPECT_FALSE(report.equilibrated);
    EXPECT_EQ(report.factorization.info != 0, bad == 0);
  }
  // At the ends of the range, products of the row's and column's powers of two are beyond it.
  constexpr int low = std::numeric_limits<Real<T>>::min_exponent;
  constexpr int high = std::numeric_limits<Real<T>>::max_exponent;
  const HostMatrix<T> ends = test::host_matrix<T>(n, n, [&](Index i, Index j) {
    const double size = i == j ? 1.0 : 0.125;
    return T(static_cast<Real<T>>(std::ldexp(size, i < 2 ? low + 8 : high - 8)));
  });
  const SolveReport report = tried(ends, {});
  EXPECT_EQ(report.factorization.info, 0);
  EXPECT_TRUE(report.equilibrated);
}

}  // namespace
}  // namespace heddle::equilibration_test
