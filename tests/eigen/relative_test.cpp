// Positive definite matrices graded over the whole range of their type: every eigenvalue to its own size.
#include "eigen/problems.hpp"
#include "support/errors.hpp"
#include "support/labels.hpp"
#include <heddle/eigen/batched.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace heddle::eigen::relative_test {
namespace {

using Kokkos::complex;

const std::vector<JacobiMethod> relative_methods = {JacobiMethod::automatic, JacobiMethod::cyclic,
                                                    JacobiMethod::round_robin, JacobiMethod::blocked,
                                                    JacobiMethod::preconditioned};

// D S D with s_ii = 1 and s_ij = share v_i conj(v_j), |v_i| = 1, whose condition is known; d_i^2 from 2^high down to
// 2^low.
template <Scalar T> Host<T> graded_by(Index n, double share, int low, int high, const std::vector<Index>& order) {
  const Host<T> A = host_matrix<T>(n);
  const auto root = [&](Index at) {
    const Index i = order[static_cast<std::size_t>(at)];
    const double exponent = n > 1 ? high - (high - low) * static_cast<double>(i) / static_cast<double>(n - 1) : high;
    return std::exp2(0.5 * exponent) * (1 + 0.3 * test::random_number(i, 0, 5));
  };
  const auto phase = [&](Index at) {
    const Index i = order[static_cast<std::size_t>(at)];
    if constexpr (is_complex<T>) {
      const double angle = 3 * test::random_number(i, 1, 7);
      return complex<double>(std::cos(angle), std::sin(angle));
    } else {
      return i % 3 == 1 ? -1.0 : 1.0;
    }
  };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      if (i == j) {
        A(i, i) = T(static_cast<Real<T>>(root(i) * root(i)));
        continue;
      }
      const auto element = share * phase(i) * conjugate(phase(j)) * root(i) * root(j);
      if constexpr (is_complex<T>) {
        A(i, j) = T(static_cast<Real<T>>(element.real()), static_cast<Real<T>>(element.imag()));
      } else {
        A(i, j) = static_cast<T>(element);
      }
    }
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) {
      A(j, i) = conjugate(A(i, j));
    }
  }
  return A;
}
double condition_of(Index n, double share) {
  return (1 + share * static_cast<double>(n - 1)) / (1 - share);
}

std::vector<std::vector<Index>> orders(Index n) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    order[static_cast<std::size_t>(i)] = i;
  }
  std::vector<std::vector<Index>> all = {order};
  std::reverse(order.begin(), order.end());
  all.push_back(order);
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(n)));
  all.push_back(order);
  return all;
}

// The largest relative error in units of n u times the condition, which is promised to be at most 10.
template <Scalar T>
double worst_error(const std::vector<double>& found, const std::vector<double>& exact, double condition) {
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (exact[i] < static_cast<double>(std::numeric_limits<Real<T>>::min())) {
      continue;
    }
    const double error = std::abs(found[i] - exact[i]) / exact[i];
    worst = error > worst || std::isnan(error) ? error : worst;
  }
  return worst / (static_cast<double>(exact.size()) * static_cast<double>(unit_roundoff<T>) * condition);
}

template <Scalar T> struct Found {
  std::vector<double> w;
  Host<T> V;
  JacobiReport report;
};
template <Scalar T> Found<T> found_by(JacobiMethod method, const Host<T>& A, bool vectors) {
  const Device<T> matrix = to_device<T>(A);
  const Device<T> V("V", A.extent(0), A.extent(0));
  const Kokkos::View<Real<T>*, MemorySpace> w("w", A.extent(0));
  Found<T> found;
  found.report = vectors ? jacobi(ExecutionSpace(), matrix, w, V, {.method = method})
                         : jacobi_values(ExecutionSpace(), matrix, w, {.method = method});
  found.V = to_host(V);
  const auto values = to_host(w);
  found.w.assign(values.data(), values.data() + values.extent(0));
  return found;
}

// All methods, with vectors and without, and as one of a batch.
template <Scalar T> void expect_relative(const Host<T>& A, const std::vector<double>& exact, double condition) {
  const auto n = static_cast<Index>(A.extent(0));
  // As the norms of what is left can be squared.
  const Host<T> scaled = host_matrix<T>(n);
  const int exponent = std::ilogb(exact.back());
  for (std::size_t at = 0; at < A.size(); ++at) {
    if constexpr (is_complex<T>) {
      scaled.data()[at] = T(std::ldexp(A.data()[at].real(), -exponent), std::ldexp(A.data()[at].imag(), -exponent));
    } else {
      scaled.data()[at] = std::ldexp(A.data()[at], -exponent);
    }
  }
  for (const JacobiMethod method : relative_methods) {
    SCOPED_TRACE(to_string(method));
    const Found<T> whole = found_by<T>(method, A, true);
    EXPECT_TRUE(whole.report.converged);
    EXPECT_EQ(whole.report.accuracy, JacobiAccuracy::relative);
    if (method != JacobiMethod::automatic) {
      EXPECT_EQ(whole.report.method, method);
    }
    // The factor's columns may be orthogonal from the start.
    if (method == JacobiMethod::cyclic || (method == JacobiMethod::round_robin && test::on_host)) {
      EXPECT_GT(whole.report.rotations, 0);
    }
    EXPECT_LE(worst_error<T>(whole.w, exact, condition), 10);
    EXPECT_TRUE(std::is_sorted(whole.w.begin(), whole.w.end()));
    std::vector<double> w;
    for (const double value : whole.w) {
      w.push_back(std::ldexp(value, -exponent));
    }
    const Quality judged = quality<T>(scaled, whole.V, w);
    EXPECT_LE(judged.residual, 10);
    EXPECT_LE(judged.orthogonality, 10);
    EXPECT_LE(worst_error<T>(found_by<T>(method, A, false).w, exact, condition), 10);
  }
  // Beside an ordinary one, whose bits stay.
  const Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace> batch("batch", A.extent(0), A.extent(0), 3);
  const auto mirror = Kokkos::create_mirror_view(batch);
  const Host<T> ordinary = random_hermitian<T>(n, 3);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      mirror(i, j, 0) = mirror(i, j, 2) = ordinary(i, j);
      mirror(i, j, 1) = A(i, j);
    }
  }
  Kokkos::deep_copy(batch, mirror);
  const Kokkos::View<Real<T>**, Kokkos::LayoutLeft, MemorySpace> w("w", A.extent(0), 3);
  const Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace> V("V", A.extent(0), A.extent(0), 3);
  EXPECT_TRUE(jacobi_batched(ExecutionSpace(), batch, w, V).converged());
  const auto values = to_host(w);
  std::vector<double> mine;
  for (Index i = 0; i < n; ++i) {
    mine.push_back(static_cast<double>(values(i, 1)));
    EXPECT_EQ(values(i, 0), values(i, 2));
  }
  EXPECT_LE(worst_error<T>(mine, exact, condition), 10);
}

template <class T> class Relative : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(Relative, Types);

TYPED_TEST(Relative, HoldsOverTheWholeRange) {
  constexpr bool wide = std::is_same_v<Real<TypeParam>, double>;
  struct Range {
    int low;
    int high;
  };
  // Narrow; what products of two inner products hold, and just not; the same of inner products; all there is.
  const std::vector<Range> ranges =
      wide ? std::vector<Range>{{-40, 0}, {-395, 0}, {-410, 5}, {-700, 95}, {-800, 10}, {-1015, 1018}}
           : std::vector<Range>{{-12, 0}, {-23, 0}, {-28, 2}, {-70, 5}, {-80, 2}, {-120, 122}};
  for (const Index n : {2, 3, 4, 5, 8, 16, 33, 64, 65, 100}) {
    if (n == 100 && is_complex<TypeParam>) {
      continue;
    }
    for (std::size_t at = n < 33 ? 0 : ranges.size() - 1; at < ranges.size(); ++at) {
      for (const double share : {0.3, 0.9}) {
        if (n > 16 && share < 0.5) {
          continue;
        }
        std::vector<double> exact;
        for (const std::vector<Index>& order : orders(n)) {
          const Host<TypeParam> A = graded_by<TypeParam>(n, share, ranges[at].low, ranges[at].high, order);
          if (exact.empty()) {
            exact = wide_eigenvalues<TypeParam>(A);
            ASSERT_GT(exact.front(), 0);
          }
          SCOPED_TRACE("n = " + std::to_string(n) + ", range " + std::to_string(at) + ", share " +
                       std::to_string(share) + ", begins with " + std::to_string(order.front()));
          expect_relative<TypeParam>(A, exact, condition_of(n, share));
        }
      }
    }
  }
}

// Two elements that are each other's only neighbours: 0.75 and 4 x^2, where x^2 is far out of range of its square.
TYPED_TEST(Relative, OfTwoRowsIsRight) {
  using R = Real<TypeParam>;
  constexpr bool wide = std::is_same_v<R, double>;
  const std::vector<double> sizes = wide ? std::vector<double>{1e10, 1e70, 1e77, 1e80, 1e120, 1e150}
                                         : std::vector<double>{1e3, 1e6, 1e10, 1e12, 1e18};
  for (const double size : sizes) {
    for (const bool turned : {false, true}) {
      const Host<TypeParam> A = host_matrix<TypeParam>(2);
      const auto x = static_cast<R>(size);
      A(0, 0) = TypeParam(turned ? 4 * x * x : R(1));
      A(1, 1) = TypeParam(turned ? R(1) : 4 * x * x);
      if constexpr (is_complex<TypeParam>) {
        A(0, 1) = TypeParam(0, x);
      } else {
        A(0, 1) = x;
      }
      A(1, 0) = conjugate(A(0, 1));
      SCOPED_TRACE(std::to_string(size));
      expect_relative<TypeParam>(A, wide_eigenvalues<TypeParam>(A), 3);
    }
  }
}

// Rotations by tiny angles left large elements here: the angle does not bound the multiple added to a short column.
TEST(RelativeStop, SeesWhatTinyAnglesLeave) {
  const Host<double> A = host_matrix<double>(3);
  const double real[3][3] = {{5.22333535839118, -1.5150297610027114e+19, -2.295180946159573e+40},
                             {-1.5150297610027114e+19, 5.128687908736765e+40, -6.465502762511746e+59},
                             {-2.295180946159573e+40, -6.465502762511746e+59, 4.997066315237788e+80}};
  const Host<complex<double>> B = host_matrix<complex<double>>(3);
  const complex<double> lower[3][3] = {{7.8197905666698855, 0, 0},
                                       {{-2.3073676906697215e-20, -2.54453318824011e-20}, 7.71900730388244e-40, 0},
                                       {{-4.654131234740455e-41, 3.3491351840289666e-40},
                                        {-2.556380004510834e-60, 2.3438051490294992e-60},
                                        1.4955520057836906e-79}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      A(i, j) = real[i][j];
      B(i, j) = i >= j ? lower[i][j] : Kokkos::conj(lower[j][i]);
    }
  }
  expect_relative<double>(A, wide_eigenvalues<double>(A), 10);
  const std::vector<double> exact = wide_eigenvalues<complex<double>>(B);
  EXPECT_NEAR(exact.front(), 1.113e-79, 1e-82);
  expect_relative<complex<double>>(B, exact, 4.5);
}

TYPED_TEST(Relative, DiagonalsAreReturnedAsTheyAre) {
  using R = Real<TypeParam>;
  for (const Index n : {2, 5, 20, 70}) {
    const Host<TypeParam> A = host_matrix<TypeParam>(n);
    std::vector<double> expected;
    for (Index i = 0; i < n; ++i) {
      const R value = i % 2 == 0 ? std::numeric_limits<R>::max() / static_cast<R>(i + 1)
                                 : std::numeric_limits<R>::min() * static_cast<R>(i + 1);
      A(i, i) = TypeParam(value);
      expected.push_back(static_cast<double>(value));
    }
    std::sort(expected.begin(), expected.end());
    for (const JacobiMethod method : relative_methods) {
      EXPECT_EQ(found_by<TypeParam>(method, A, true).w, expected) << n << ", " << to_string(method);
    }
  }
}

// Positive diagonals that promise nothing: A is not positive definite, and its eigenvalues have the norm's accuracy.
TYPED_TEST(Relative, IsLeftWhereNothingIsPositive) {
  using R = Real<TypeParam>;
  constexpr R tiny = std::is_same_v<R, double> ? R(1e-290) : R(1e-32);
  for (const Index n : {2, 9, 40, 70}) {
    const Host<TypeParam> A = random_hermitian<TypeParam>(n, 3);
    for (Index i = 0; i < n; ++i) {
      A(i, i) = TypeParam(i == 0 ? tiny : R(1));
    }
    const Device<TypeParam> V("V", A.extent(0), A.extent(0));
    const Kokkos::View<R*, MemorySpace> w("w", A.extent(0));
    for (const JacobiMethod method : relative_methods) {
      SCOPED_TRACE(std::to_string(n) + ", " + std::string(to_string(method)));
      const Found<TypeParam> found = found_by<TypeParam>(method, A, true);
      EXPECT_TRUE(found.report.converged);
      EXPECT_EQ(found.report.accuracy, JacobiAccuracy::norm);
      const Quality judged = quality<TypeParam>(A, found.V, found.w);
      EXPECT_LE(judged.residual, 10);
      EXPECT_LE(judged.orthogonality, 10);
      test::expect_refusal(ErrorKind::argument, "eigen::jacobi: A is not positive definite; accuracy \"relative\"",
                           [&] {
                             static_cast<void>(jacobi(ExecutionSpace(), to_device<TypeParam>(A), w, V,
                                                      {.method = method, .accuracy = JacobiAccuracy::relative}));
                           });
    }
  }
}

TEST(JacobiNames, AreWhatRuns) {
  for (const Index n : {2, 9, 33, 64}) {
    const Host<double> A = random_hermitian<double>(n, 3);
    // Rotations alone: more than one sweep of them.
    const Found<double> named = found_by<double>(JacobiMethod::round_robin, A, true);
    EXPECT_EQ(named.report.method, JacobiMethod::round_robin);
    EXPECT_GE(named.report.rotations, n * (n - 1) / 2);
    EXPECT_EQ(named.report.off_norms.size(), static_cast<std::size_t>(named.report.sweeps) + (test::on_host ? 1 : 0));
    const Found<double> chosen = found_by<double>(JacobiMethod::automatic, A, true);
    // Begun at a tridiagonalisation's vectors, there is little left to rotate.
    if (chosen.report.method == JacobiMethod::round_robin) {
      EXPECT_GE(chosen.report.rotations, n * (n - 1) / 2);
    } else {
      EXPECT_EQ(chosen.report.method, JacobiMethod::preconditioned);
    }
  }
}

}  // namespace
}  // namespace heddle::eigen::relative_test
