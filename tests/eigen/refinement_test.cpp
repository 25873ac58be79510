// Steps of Ogita and Aishima's refinement from all kinds of vectors: results that they report as right must be right.
#include "eigen/batched/refinement.hpp"

#include "eigen/dense/convergence.hpp"
#include "eigen/problems.hpp"
#include "support/multiprecision.hpp"
#include <heddle/eigen/jacobi.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace heddle::eigen::refinement_test {
namespace {

using Kokkos::complex;

// Products as they are written; below the diagonal of what is Hermitian, nothing.
template <Scalar T>
void multiply(bool adjoint, const impl::Matrices<T>& A, const impl::Matrices<T>& B, const impl::Matrices<T>& C,
              const impl::Values<int>& chosen) {
  const auto n = static_cast<int>(A.extent(1));
  Kokkos::parallel_for(
      "multiply", Kokkos::RangePolicy<ExecutionSpace>(0, static_cast<int>(chosen.extent(0)) * n * n),
      KOKKOS_LAMBDA(int at) {
        const int slot = chosen(at / n / n);
        const int i = at % n;
        const int j = at / n % n;
        T sum = T(0);
        for (int k = 0; k < n; ++k) {
          sum += (adjoint ? conjugate(A(k, i, slot)) : A(i, k, slot)) * B(k, j, slot);
        }
        C(i, j, slot) = adjoint && i > j ? T(Kokkos::Experimental::quiet_NaN_v<Real<T>>) : sum;
      });
}
template <Scalar T> struct Products {
  void whole(const impl::Matrices<T>& A, const impl::Matrices<T>& B, const impl::Matrices<T>& C,
             const impl::Values<int>& chosen, const std::vector<int>& /*numbers*/) const {
    multiply<T>(false, A, B, C, chosen);
  }
  void upper(const impl::Matrices<T>& A, const impl::Matrices<T>& B, const impl::Matrices<T>& C,
             const impl::Values<int>& chosen, const std::vector<int>& /*numbers*/) const {
    multiply<T>(true, A, B, C, chosen);
  }
};

// Matrices, their first vectors, and their results.
template <Scalar T> struct Case {
  std::vector<Host<T>> A;
  std::vector<Host<T>> X;

  void add(const Host<T>& matrix, const Host<T>& vectors) {
    A.push_back(matrix);
    X.push_back(vectors);
  }
};
template <Scalar T> struct Outcome {
  impl::Refined ended;
  std::vector<Host<T>> right;        // Of every matrix, E's columns.
  std::vector<Host<T>> orthonormal;  // And X.
  std::vector<std::vector<double>> w;
};

template <Scalar T> Outcome<T> refined(const Case<T>& problem) {
  const auto n = static_cast<int>(problem.A.front().extent(0));
  const auto count = static_cast<int>(problem.A.size());
  // A corner of more rows in memory, as block columns have it.
  const impl::Matrices<T> A("A", n, n, count);
  const impl::Matrices<T> X("X", n, n, count);
  const impl::Matrices<T> E("E", n + 7, n, count);
  const auto given = Kokkos::create_mirror_view(A);
  const auto begun = Kokkos::create_mirror_view(X);
  std::vector<int> chosen;
  for (int b = 0; b < count; ++b) {
    const auto at = static_cast<std::size_t>(b);
    chosen.push_back(b);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        given(i, j, b) = problem.A[at](i, j);
        begun(i, j, b) = problem.X[at](i, j);
      }
    }
  }
  Kokkos::deep_copy(A, given);
  Kokkos::deep_copy(X, begun);
  const impl::Refinement<T> work(ExecutionSpace(), A, X, E);
  Outcome<T> outcome;
  outcome.ended =
      impl::refine<T>(ExecutionSpace(), work, chosen, impl::criterion_for<T>(0, n).tolerance, Products<T>());
  const auto right = to_host(E);
  const auto orthonormal = to_host(X);
  const auto values = to_host(work.w);
  for (int b = 0; b < count; ++b) {
    outcome.right.push_back(host_matrix<T>(n));
    outcome.orthonormal.push_back(host_matrix<T>(n));
    outcome.w.emplace_back();
    for (int j = 0; j < n; ++j) {
      outcome.w.back().push_back(static_cast<double>(values(j, b)));
      for (int i = 0; i < n; ++i) {
        outcome.right.back()(i, j) = right(i, j, b);
        outcome.orthonormal.back()(i, j) = orthonormal(i, j, b);
      }
    }
  }
  return outcome;
}

bool is_in(const std::vector<int>& list, int slot) {
  return std::find(list.begin(), list.end(), slot) != list.end();
}

// Orthonormal eigenvectors of A by rotations, `wrong` beside them: of elements (-wrong, wrong).
template <Scalar T> Host<T> near_vectors(const Host<T>& A, double wrong, int seed) {
  const Device<T> V("V", A.extent(0), A.extent(0));
  const Kokkos::View<Real<T>*, MemorySpace> w("w", A.extent(0));
  EXPECT_TRUE(jacobi(ExecutionSpace(), to_device(A), w, V, {.method = JacobiMethod::blocked}).converged);
  const Host<T> X = host_matrix<T>(static_cast<Index>(A.extent(0)));
  Kokkos::deep_copy(X, V);
  const test::RandomEntries<T> entry{seed};
  for (Index j = 0; j < static_cast<Index>(X.extent(1)); ++j) {
    for (Index i = 0; i < static_cast<Index>(X.extent(0)); ++i) {
      X(i, j) += entry(i, j) * static_cast<Real<T>>(wrong);
    }
  }
  return X;
}

// Eigenvectors, orthonormal, and eigenvalues as jacobi() promises them.
template <Scalar T> void expect_right(const Case<T>& problem, const Outcome<T>& outcome, int slot) {
  const auto at = static_cast<std::size_t>(slot);
  const Quality judged = quality<T>(problem.A[at], outcome.right[at], outcome.w[at]);
  const double bound = problem.A[at].extent(0) < 8 ? 4 : 2;
  EXPECT_LE(judged.residual, bound);
  EXPECT_LE(judged.orthogonality, bound);
}

template <class T> class Refinement : public ::testing::Test {
 protected:
  static constexpr bool in_double = std::numeric_limits<Real<T>>::digits > 24;
  // As wrong as vectors of half the precision are, or of a careless algorithm.
  static constexpr double coarse = in_double ? 1e-7 : 1e-4;
};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(Refinement, Types);

TYPED_TEST(Refinement, EndsAtEigenvectors) {
  using T = TypeParam;
  for (const Index n : {1, 2, 31, 33, 70}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    Case<T> problem;
    for (int seed = 0; seed < 6; ++seed) {
      const Host<T> A = random_hermitian<T>(n, seed);
      problem.add(A, near_vectors<T>(A, seed < 3 ? this->coarse : 0, 10 + seed));
    }
    const Outcome<T> outcome = refined<T>(problem);
    EXPECT_EQ(outcome.ended.right.size(), problem.A.size());
    for (const int slot : outcome.ended.right) {
      expect_right<T>(problem, outcome, slot);
      const bool is_small = n < 33 && slot % 3 == 0;
      const std::vector<double> exact =
          is_small ? wide_eigenvalues<T>(problem.A[static_cast<std::size_t>(slot)]) : std::vector<double>();
      std::vector<double> w = outcome.w[static_cast<std::size_t>(slot)];
      std::sort(w.begin(), w.end());
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const double norm = std::max(std::abs(exact.front()), std::abs(exact.back()));
        EXPECT_LE(std::abs(w[i] - exact[i]), 2 * static_cast<double>(n) * unit_roundoff<T> * norm);
      }
    }
  }
}

// Whole subspaces of one eigenvalue: of a projection, of the identity times a number, and of rank 1.
TYPED_TEST(Refinement, NeedsNoGapsBetweenEqualEigenvalues) {
  using T = TypeParam;
  constexpr Index n = 60;
  std::vector<double> halves(n);
  for (Index i = 0; i < n; ++i) {
    halves[static_cast<std::size_t>(i)] = i % 2 == 0 ? -1 : 2;
  }
  Case<T> problem;
  const Host<T> ones = host_matrix<T>(n);
  const Host<T> three = host_matrix<T>(n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      ones(i, j) = T(1);
      three(i, j) = T(static_cast<Real<T>>(i == j ? 3 : 0));
    }
  }
  for (const Host<T>& A : {with_spectrum<T>(halves, 3), ones, three}) {
    problem.add(A, near_vectors<T>(A, this->coarse, 5));
  }
  const Outcome<T> outcome = refined<T>(problem);
  EXPECT_EQ(outcome.ended.right.size(), problem.A.size());
  for (const int slot : outcome.ended.right) {
    expect_right<T>(problem, outcome, slot);
  }
}

// Eigenvalues so close that their vectors are half a right angle off: pairs are turned, and of larger clusters the rest
// is left to rotations, which need orthonormal vectors to begin at.
TYPED_TEST(Refinement, TurnsPairsOfCloseEigenvaluesAndLeavesClusters) {
  using T = TypeParam;
  constexpr Index n = 50;
  constexpr Index close = 10;
  const double u = unit_roundoff<T>;
  Case<T> problem;
  for (const Index step : {2, 1}) {
    for (const double gap : {300 * u, 3000 * u, 1e5 * u}) {
      std::vector<double> values(n);
      for (Index i = 0; i < n; ++i) {
        const auto at = static_cast<double>(i);
        values[static_cast<std::size_t>(i)] = i < close ? 1 + gap * at : -0.02 * at;
      }
      const Host<T> A = with_spectrum<T>(values, 8);
      const Host<T> X = near_vectors<T>(A, 0, 1);
      const auto root = static_cast<Real<T>>(std::sqrt(0.5));
      for (Index j = n - close; j + 1 < n; j += step) {
        for (Index i = 0; i < n; ++i) {
          const T left = X(i, j);
          const T right = X(i, j + 1);
          X(i, j) = (left - right) * root;
          X(i, j + 1) = (left + right) * root;
        }
      }
      problem.add(A, X);
    }
  }
  const Outcome<T> outcome = refined<T>(problem);
  EXPECT_TRUE(outcome.ended.lost.empty());
  for (int slot = 0; slot < 3; ++slot) {
    EXPECT_TRUE(is_in(outcome.ended.right, slot)) << slot;
  }
  EXPECT_GE(outcome.ended.orthonormal.size(), 1U);
  for (const int slot : outcome.ended.right) {
    expect_right<T>(problem, outcome, slot);
  }
  for (const int slot : outcome.ended.orthonormal) {
    const auto at = static_cast<std::size_t>(slot);
    EXPECT_LE(quality<T>(problem.A[at], outcome.orthonormal[at], outcome.w[at]).orthogonality, 2);
  }
}

TYPED_TEST(Refinement, GivesUpWhatIsNotOrthonormal) {
  using T = TypeParam;
  using R = Real<T>;
  constexpr Index n = 40;
  Case<T> problem;
  const Host<T> A = random_hermitian<T>(n, 1);
  for (int kind = 0; kind < 5; ++kind) {
    const Host<T> X = near_vectors<T>(A, 0, 1);
    for (Index i = 0; i < n; ++i) {
      switch (kind) {
        case 0:  // Two equal columns.
          X(i, 7) = X(i, 8);
          break;
        case 1:
          X(i, 3) = T(0);
          break;
        case 2:
          X(i, 5) = T(i == 4 ? std::numeric_limits<R>::quiet_NaN() : R(0));
          break;
        case 3:
          X(i, n - 1) = T(std::numeric_limits<R>::infinity());
          break;
        default:  // As good as nothing, of length 1.
          for (Index j = 0; j < n; ++j) {
            X(i, j) = T(static_cast<R>(1 / std::sqrt(static_cast<double>(n))));
          }
      }
    }
    problem.add(A, X);
  }
  problem.add(A, near_vectors<T>(A, 0, 1));
  const Outcome<T> outcome = refined<T>(problem);
  EXPECT_EQ(outcome.ended.lost, (std::vector<int>{0, 1, 2, 3, 4}));
  ASSERT_EQ(outcome.ended.right, std::vector<int>{5});
  expect_right<T>(problem, outcome, 5);
}

// Clusters of three and more at all distances and errors of all sizes, where the largest corrections of two columns
// stand in one row: whatever is called right must be, and whatever orthonormal.
TYPED_TEST(Refinement, CallsNothingRightThatIsNot) {
  using T = TypeParam;
  constexpr Index n = 24;
  Case<T> problem;
  for (int seed = 0; seed < 120; ++seed) {
    const double gap = std::pow(unit_roundoff<T>, (seed % 10 + 0.5) / 10);
    const double wrong = std::pow(unit_roundoff<T>, 0.1 + 0.9 * (seed / 10 % 12) / 12.0);
    std::vector<double> values(n);
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<double>(i);
      values[static_cast<std::size_t>(i)] = i < 3 ? 1 + gap * at : i < 7 ? -0.5 + gap * gap * at : 0.04 * at - 1;
    }
    const Host<T> A = with_spectrum<T>(values, seed);
    problem.add(A, near_vectors<T>(A, wrong, seed));
  }
  const Outcome<T> outcome = refined<T>(problem);
  EXPECT_GE(outcome.ended.right.size(), 20U);
  for (int slot = 0; slot < static_cast<int>(problem.A.size()); ++slot) {
    SCOPED_TRACE("seed " + std::to_string(slot));
    const auto at = static_cast<std::size_t>(slot);
    if (is_in(outcome.ended.right, slot)) {
      expect_right<T>(problem, outcome, slot);
    } else if (is_in(outcome.ended.orthonormal, slot)) {
      EXPECT_LE(quality<T>(problem.A[at], outcome.orthonormal[at], outcome.w[at]).orthogonality, 2);
    } else {
      EXPECT_TRUE(is_in(outcome.ended.lost, slot));
    }
  }
}

}  // namespace
}  // namespace heddle::eigen::refinement_test
