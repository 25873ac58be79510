// Graded and ill-conditioned pencils H C = S C diag(w): eigenvalues against 256 bits, pairs against their definition.
#include "eigen/pencils.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace heddle::eigen::graded_pencils_test {
namespace {

using Kokkos::complex;

template <class T> class GradedPencils : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(GradedPencils, Types);

template <Scalar T> constexpr bool is_wide = std::is_same_v<Real<T>, double>;

// A positive definite matrix of the given condition number.
template <Scalar T> Host<T> definite(Index n, double condition, int seed) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) {
    values.push_back(std::pow(condition, n > 1 ? -static_cast<double>(i) / static_cast<double>(n - 1) : 0.0));
  }
  return with_spectrum<T>(values, seed);
}
// D A D, D powers of two between 2^-most and 2^most.
template <Scalar T> Host<T> scaled_by_powers(const Host<T>& A, int most, int seed) {
  const Host<T> B = host_matrix<T>(static_cast<Index>(A.extent(0)));
  const auto d = [&](std::size_t i) {
    return static_cast<Real<T>>(std::exp2(std::round(most * test::random_number(static_cast<Index>(i), 3, seed))));
  };
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t i = 0; i < A.extent(0); ++i) {
      B(i, j) = A(i, j) * d(i) * d(j);
    }
  }
  return B;
}
// The condition of A scaled to a diagonal of ones, from above: n over the least eigenvalue.
template <Scalar T> double scaled_condition(const Host<T>& A) {
  const std::size_t n = A.extent(0);
  const Host<T> B = host_matrix<T>(static_cast<Index>(n));
  std::vector<int> half;
  for (std::size_t i = 0; i < n; ++i) {
    half.push_back(static_cast<int>(std::floor(std::log2(static_cast<double>(Kokkos::real(A(i, i)))) / 2)));
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      B(i, j) = A(i, j) * static_cast<Real<T>>(std::exp2(-half[i])) * static_cast<Real<T>>(std::exp2(-half[j]));
    }
  }
  return 4 * static_cast<double>(n) / wide_eigenvalues<T>(B).front();
}

template <Scalar T> Host<T> of_two_rows(double a, double b, double d) {
  const Host<T> A = host_matrix<T>(2);
  A(0, 0) = T(static_cast<Real<T>>(a));
  A(1, 0) = A(0, 1) = T(static_cast<Real<T>>(b));
  A(1, 1) = T(static_cast<Real<T>>(d));
  return A;
}

// Eigenvalues 2^160 apart beside an overlap whose least pivot is 1/512.
TEST(GradedPencil, OfTwoRowsKeepsItsLeastEigenvalue) {
  const Host<double> S = of_two_rows<double>(1, 1 - 0x1p-10, 1);
  for (const double b : {1.0, 0.0}) {
    const Host<double> H = of_two_rows<double>(0x1p80, b, 3 * 0x1p-80 * (b == 0 ? 1.0 / 3 : 1));
    const Solution<double> found = solve<double>(H, S);
    expect_good<double>(H, S, found);
    const std::vector<double> exact = wide_values<double>(H, S);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_LE(std::abs(found.w[i] / exact[i] - 1), 8 * unit_roundoff<double>) << b << ' ' << i;
    }
  }
}

TYPED_TEST(GradedPencils, OfIllConditionedOverlapsKeepEveryEigenvalue) {
  const auto u = static_cast<double>(unit_roundoff<TypeParam>);
  const std::vector<double> conditions =
      is_wide<TypeParam> ? std::vector<double>{1e3, 1e8, 1e13} : std::vector<double>{1e2, 1e3, 1e5};
  const std::vector<int> gradings = is_wide<TypeParam> ? std::vector<int>{0, 20, 100, 150} : std::vector<int>{0, 6, 14};
  int seed = 0;
  for (const double condition : conditions) {
    for (const int most : gradings) {
      for (const Index n : {2, 3, 7}) {
        for (const double condition_of_H : {2.0, condition}) {
          ++seed;
          SCOPED_TRACE(std::to_string(condition) + ", 2^" + std::to_string(most) + ", n = " + std::to_string(n));
          const Host<TypeParam> S =
              scaled_by_powers<TypeParam>(definite<TypeParam>(n, condition, seed), most / 4, seed);
          const Host<TypeParam> H =
              scaled_by_powers<TypeParam>(definite<TypeParam>(n, condition_of_H, seed + 7), most, seed + 1);
          const Solution<TypeParam> found = solve<TypeParam>(H, S);
          ASSERT_EQ(found.report.accuracy, JacobiAccuracy::relative);
          expect_good<TypeParam>(H, S, found);
          const double nu = static_cast<double>(n) * u;
          const double bound = 10 * nu * (scaled_condition<TypeParam>(H) + scaled_condition<TypeParam>(S));
          // Refined ones are right to their own last digits.
          const bool is_refined = found.report.refinement_sweeps > 0;
          const std::vector<double> exact = wide_values<TypeParam>(H, S);
          const Kokkos::View<Real<TypeParam>*, MemorySpace> alone("alone", H.extent(0));
          const auto report = jacobi_values(ExecutionSpace(), to_device<TypeParam>(H), to_device<TypeParam>(S), alone);
          EXPECT_EQ(report.accuracy, JacobiAccuracy::relative);
          const auto values = to_host(alone);
          for (std::size_t i = 0; i < exact.size(); ++i) {
            ASSERT_GT(exact[i], 0);
            EXPECT_LE(std::abs(found.w[i] / exact[i] - 1), is_refined ? 10 * nu : bound) << i;
            EXPECT_LE(std::abs(static_cast<double>(values(i)) / exact[i] - 1), bound) << i;
          }
        }
      }
    }
  }
}

// Every method that reports accuracy `relative` keeps it.
TYPED_TEST(GradedPencils, SayNothingOfAnAccuracyThatAMethodDidNotKeep) {
  const Index n = 4;
  const Host<TypeParam> S = definite<TypeParam>(n, 20, 5);
  const Host<TypeParam> H = scaled_by_powers<TypeParam>(definite<TypeParam>(n, 3, 9), is_wide<TypeParam> ? 60 : 14, 2);
  const std::vector<double> exact = wide_values<TypeParam>(H, S);
  const double bound = 10 * static_cast<double>(n) * static_cast<double>(unit_roundoff<TypeParam>) * 1000;
  for (const JacobiMethod method : {JacobiMethod::automatic, JacobiMethod::classical, JacobiMethod::cyclic,
                                    JacobiMethod::round_robin, JacobiMethod::blocked, JacobiMethod::preconditioned}) {
    for (const JacobiAccuracy accuracy : {JacobiAccuracy::automatic, JacobiAccuracy::relative}) {
      SCOPED_TRACE(std::string(to_string(method)) + ", " + std::string(to_string(accuracy)));
      const Solution<TypeParam> found = solve<TypeParam>(H, S, {.method = method, .accuracy = accuracy});
      expect_good<TypeParam>(H, S, found);
      if (accuracy == JacobiAccuracy::relative) {
        EXPECT_EQ(found.report.accuracy, JacobiAccuracy::relative);
      }
      for (std::size_t i = 0; i < exact.size() && found.report.accuracy == JacobiAccuracy::relative; ++i) {
        EXPECT_LE(std::abs(found.w[i] / exact[i] - 1), bound) << i;
      }
    }
  }
}

// Conditions of 30 to 1e5, whose growth is little: each pair has the backward error that is promised.
TYPED_TEST(GradedPencils, OrdinaryIndefiniteOnesHaveSmallBackwardErrors) {
  const Host<TypeParam> close_S = of_two_rows<TypeParam>(1, 0.985, 1);
  const Host<TypeParam> close_H = of_two_rows<TypeParam>(-1.03, 1.52, -1.52);
  expect_good<TypeParam>(close_H, close_S, solve<TypeParam>(close_H, close_S));
  const double most = is_wide<TypeParam> ? 5 : 3.5;
  for (int seed = 0; seed < 60; ++seed) {
    const Index n = 2 + seed % 11;
    const double condition = std::pow(10.0, 1.5 + (most - 1.5) * (seed % 17) / 16);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Host<TypeParam> S = definite<TypeParam>(n, condition, seed);
    Host<TypeParam> H = random_hermitian<TypeParam>(n, seed + 1000);
    // Zero rows, and of rank one.
    for (Index j = 0; j < n && seed % 4 > 1; ++j) {
      for (Index i = 0; i < n; ++i) {
        H(i, j) = seed % 4 == 2 ? (std::min(i, j) < n / 2 ? TypeParam(0) : H(i, j)) : TypeParam(1);
      }
    }
    expect_good<TypeParam>(H, S, solve<TypeParam>(H, S));
    const JacobiMethod method = static_cast<JacobiMethod>(seed % 6);
    SCOPED_TRACE(to_string(method));
    expect_good<TypeParam>(H, S, solve<TypeParam>(H, S, {.method = method}));
    expect_good<TypeParam>(H, S, solve<TypeParam>(H, S, {.accuracy = JacobiAccuracy::norm}));
    expect_good<TypeParam>(H, S, solve<TypeParam>(H, S, {.reproducible = true}));
  }
}

TYPED_TEST(GradedPencils, IndefiniteOnesOfAnyConditionHaveSmallBackwardErrors) {
  for (int seed = 0; seed < 20; ++seed) {
    const Index n = seed % 10 == 9 ? 66 : 2 + seed % 11;
    const double condition = std::pow(10.0, (is_wide<TypeParam> ? 14.0 : 5.5) * (seed % 8) / 7);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Host<TypeParam> S =
        scaled_by_powers<TypeParam>(definite<TypeParam>(n, condition, seed), is_wide<TypeParam> ? 30 : 5, seed);
    const int most = seed % 3 == 0 ? 0 : is_wide<TypeParam> ? 100 : 15;
    const Host<TypeParam> H = scaled_by_powers<TypeParam>(random_hermitian<TypeParam>(n, seed + 1000), most, seed + 3);
    for (const JacobiMethod method : {JacobiMethod::automatic, JacobiMethod::blocked, JacobiMethod::cyclic}) {
      SCOPED_TRACE(to_string(method));
      expect_good<TypeParam>(H, S, solve<TypeParam>(H, S, {.method = method}));
    }
  }
}

// Rows whose diagonal is zero, beside elements whose squares underflow.
TYPED_TEST(GradedPencils, OfZerosAndTinyElementsConverge) {
  using R = Real<TypeParam>;
  const Index n = 5;
  const Host<TypeParam> S =
      scaled_by_powers<TypeParam>(definite<TypeParam>(n, is_wide<TypeParam> ? 1e8 : 1e4, 4), 5, 3);
  for (int least = std::numeric_limits<R>::min_exponent / 2; least > std::numeric_limits<R>::min_exponent; least -= 3) {
    const Host<TypeParam> H = host_matrix<TypeParam>(n);
    H(1, 1) = H(2, 2) = TypeParam(1);
    H(0, 4) = H(4, 0) = TypeParam(std::ldexp(R(1), least));
    SCOPED_TRACE("2^" + std::to_string(least));
    for (const JacobiMethod method : {JacobiMethod::automatic, JacobiMethod::cyclic}) {
      expect_good<TypeParam>(H, S, solve<TypeParam>(H, S, {.method = method}));
    }
  }
}

}  // namespace
}  // namespace heddle::eigen::graded_pencils_test
