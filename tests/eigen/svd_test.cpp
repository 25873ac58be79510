// Singular value decompositions of batches: against 256 bits where matrices are small, by residuals where they are not.
#include "eigen/problems.hpp"
#include "support/errors.hpp"
#include <heddle/eigen/svd.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

namespace heddle::eigen::svd_test {
namespace {

using Kokkos::complex;

template <class T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;

template <Scalar T> Host<T> rectangle(Index m, Index n) {
  return Host<T>("rectangle", static_cast<std::size_t>(m), static_cast<std::size_t>(n));
}
template <Scalar T> Host<T> random_rectangle(Index m, Index n, int seed) {
  const Host<T> A = rectangle<T>(m, n);
  const test::RandomEntries<T> entry{seed};
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      A(i, j) = entry(i, j);
    }
  }
  return A;
}
// Columns (or, of more columns than rows, rows) times 10^(-power k / (k_max)), in a mixed order.
template <Scalar T> Host<T> graded_rectangle(Index m, Index n, double power, int seed) {
  const Host<T> A = random_rectangle<T>(m, n, seed);
  const Index few = std::min(m, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      const Index k = ((m >= n ? j : i) * 7) % few;
      A(i, j) *= static_cast<Real<T>>(std::pow(10.0, -power * static_cast<double>(k) / static_cast<double>(few)));
    }
  }
  return A;
}
// A matrix of rank at most `rank`, whose columns repeat.
template <Scalar T> Host<T> repeated(Index m, Index n, Index rank, int seed) {
  const Host<T> A = random_rectangle<T>(m, n, seed);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      A(i, j) = rank == 0 ? T(0) : A(i, j % rank);
    }
  }
  return A;
}
template <Scalar T> Host<T> times(const Host<T>& A, int exponent) {
  const Host<T> B = rectangle<T>(static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)));
  const auto by = [exponent](Real<T> x) { return std::ldexp(x, exponent); };
  for (std::size_t at = 0; at < A.size(); ++at) {
    if constexpr (is_complex<T>) {
      B.data()[at] = T(by(A.data()[at].real()), by(A.data()[at].imag()));
    } else {
      B.data()[at] = by(A.data()[at]);
    }
  }
  return B;
}

template <Scalar T> struct Factors {
  std::vector<Host<T>> A;
  std::vector<Host<T>> U;
  std::vector<Host<T>> V;
  std::vector<std::vector<double>> s;
  SvdBatchedReport report;
};

template <Scalar T> Factors<T> factors_of(const std::vector<Host<T>>& matrices, const SvdBatchedOptions& options = {}) {
  const std::size_t m = matrices.front().extent(0);
  const std::size_t n = matrices.front().extent(1);
  const std::size_t k = std::min(m, n);
  const std::size_t count = matrices.size();
  const Batch<T> A("A", m, n, count);
  const Batch<T> U("U", m, k, count);
  const Batch<T> V("V", n, k, count);
  const Kokkos::View<Real<T>**, Kokkos::LayoutLeft, MemorySpace> s("s", k, count);
  const auto all = Kokkos::ALL;
  const auto mirror = Kokkos::create_mirror_view(A);
  for (std::size_t b = 0; b < count; ++b) {
    Kokkos::deep_copy(Kokkos::subview(mirror, all, all, b), matrices[b]);
  }
  Kokkos::deep_copy(A, mirror);
  Factors<T> found{matrices, {}, {}, {}, svd_batched(ExecutionSpace(), A, s, U, V, options)};
  const auto values = to_host(s);
  const auto left = to_host(U);
  const auto right = to_host(V);
  for (std::size_t b = 0; b < count; ++b) {
    found.U.push_back(rectangle<T>(static_cast<Index>(m), static_cast<Index>(k)));
    found.V.push_back(rectangle<T>(static_cast<Index>(n), static_cast<Index>(k)));
    Kokkos::deep_copy(found.U[b], Kokkos::subview(left, all, all, b));
    Kokkos::deep_copy(found.V[b], Kokkos::subview(right, all, all, b));
    found.s.emplace_back();
    for (std::size_t j = 0; j < k; ++j) {
      found.s[b].push_back(static_cast<double>(values(j, b)));
    }
  }
  return found;
}

// |M|_2 of a matrix in double.
template <Scalar W> double norm2_of(const Host<W>& M) {
  const auto multiply = [&M](const std::vector<W>& x, bool adjoint) {
    std::vector<W> y(adjoint ? M.extent(1) : M.extent(0));
    for (std::size_t j = 0; j < M.extent(1); ++j) {
      for (std::size_t i = 0; i < M.extent(0); ++i) {
        if (adjoint) {
          y[j] += conjugate(M(i, j)) * x[i];
        } else {
          y[i] += M(i, j) * x[j];
        }
      }
    }
    return y;
  };
  return norm2<W>(
      static_cast<Index>(M.extent(1)), [&](const std::vector<W>& x) { return multiply(x, false); },
      [&](const std::vector<W>& x) { return multiply(x, true); });
}

// |Q^H Q - I|_2 / (rows u) of the columns of Q.
template <Scalar T> double departure(const Host<T>& Q) {
  using W = Wide<T>;
  const auto k = static_cast<Index>(Q.extent(1));
  const Host<W> E = rectangle<W>(k, k);
  for (std::size_t j = 0; j < Q.extent(1); ++j) {
    for (std::size_t i = 0; i < Q.extent(1); ++i) {
      for (std::size_t r = 0; r < Q.extent(0); ++r) {
        E(i, j) += conjugate(W(Q(r, i))) * W(Q(r, j));
      }
      E(i, j) -= W(i == j ? 1.0 : 0.0);
    }
  }
  const double norm = norm2_of<W>(E);
  EXPECT_TRUE(std::isfinite(norm));
  return norm / (static_cast<double>(Q.extent(0)) * static_cast<double>(unit_roundoff<T>));
}

// |A - U diag(s) V^H|_2 / (max(m, n) u s_0), all of it times 2^exponent first.
template <Scalar T> double residual(const Factors<T>& found, std::size_t b, int exponent) {
  using W = Wide<T>;
  const Host<T> A = times<T>(found.A[b], exponent);
  const Host<W> E = rectangle<W>(static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)));
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t p = 0; p < found.s[b].size(); ++p) {
      const W by = conjugate(W(found.V[b](j, p))) * std::ldexp(found.s[b][p], exponent);
      for (std::size_t i = 0; i < A.extent(0); ++i) {
        E(i, j) += W(found.U[b](i, p)) * by;
      }
    }
    for (std::size_t i = 0; i < A.extent(0); ++i) {
      E(i, j) -= W(A(i, j));
    }
  }
  const double norm = std::ldexp(found.s[b].front(), exponent);
  const double unit = static_cast<double>(std::max(A.extent(0), A.extent(1))) * static_cast<double>(unit_roundoff<T>);
  const double rest = norm2_of<W>(E);
  return norm == 0 ? rest : rest / (unit * norm);
}

template <Scalar T> void expect_factors(const Factors<T>& found, std::size_t b, int exponent = 0) {
  for (std::size_t j = 0; j < found.s[b].size(); ++j) {
    EXPECT_GE(found.s[b][j], 0);
    EXPECT_TRUE(j == 0 || found.s[b][j] <= found.s[b][j - 1]) << j;
  }
  // Some roundings, which are more than n of them where n is 1 or 2.
  const auto most = [](std::size_t rows) { return 2 + 8 / static_cast<double>(rows); };
  EXPECT_LE(residual<T>(found, b, exponent), most(std::max(found.A[b].extent(0), found.A[b].extent(1))));
  EXPECT_LE(departure<T>(found.U[b]), most(found.U[b].extent(0)));
  EXPECT_LE(departure<T>(found.V[b]), most(found.V[b].extent(0)));
}

// Singular values by 256 bits: roots of the eigenvalues of A^H A or A A^H, whichever is smaller.
template <Scalar T> std::vector<double> wide_singular_values(const Host<T>& A) {
  using test::Number;
  const bool tall = A.extent(0) >= A.extent(1);
  const std::size_t k = tall ? A.extent(1) : A.extent(0);
  const std::size_t length = tall ? A.extent(0) : A.extent(1);
  const auto at = [&](std::size_t i, std::size_t j) { return tall ? A(i, j) : conjugate(A(j, i)); };
  std::vector<Number> re(k * k);
  std::vector<Number> im(k * k);
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t r = 0; r < length; ++r) {
        const auto x = at(r, i);
        const auto y = at(r, j);
        const Number a(real_of<double>(x));
        const Number b(imaginary_of<double>(x));
        const Number c(real_of<double>(y));
        const Number d(imaginary_of<double>(y));
        re[i + j * k].add_product(a, c);
        re[i + j * k].add_product(b, d);
        im[i + j * k].add_product(a, d);
        im[i + j * k].subtract_product(b, c);
      }
    }
  }
  std::vector<double> values = WideRotations(k, re, im).values();
  for (double& value : values) {
    value = std::sqrt(std::max(value, 0.0));
  }
  std::reverse(values.begin(), values.end());
  return values;
}

template <class T> class SvdBatched : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(SvdBatched, Types);

TYPED_TEST(SvdBatched, FactorsOfEveryShapeAndKind) {
  using T = TypeParam;
  using R = Real<T>;
  constexpr int least = std::numeric_limits<R>::min_exponent;
  constexpr int most = std::numeric_limits<R>::max_exponent;
  const std::vector<std::pair<Index, Index>> shapes = {{1, 1},   {1, 5},   {5, 1},   {2, 2},   {3, 2},
                                                       {2, 7},   {16, 16}, {33, 9},  {9, 33},  {63, 63},
                                                       {64, 64}, {65, 65}, {96, 40}, {40, 96}, {128, 128}};
  for (const auto& [m, n] : shapes) {
    const Index k = std::min(m, n);
    std::vector<Host<T>> matrices = {random_rectangle<T>(m, n, 1),
                                     graded_rectangle<T>(m, n, 6, 2),
                                     graded_rectangle<T>(m, n, 30, 3),
                                     repeated<T>(m, n, (n + 1) / 2, 4),
                                     repeated<T>(m, n, 1, 5),
                                     repeated<T>(m, n, 0, 6),
                                     random_rectangle<T>(m, n, 7),
                                     random_rectangle<T>(m, n, 8),
                                     times<T>(random_rectangle<T>(m, n, 9), least + 4),
                                     times<T>(random_rectangle<T>(m, n, 10), most - 12)};
    matrices[6](m - 1, 0) = T(std::numeric_limits<R>::quiet_NaN());
    matrices[7](0, n - 1) = T(-std::numeric_limits<R>::infinity());
    const Factors<T> all = factors_of<T>(matrices);
    EXPECT_EQ(all.report.not_converged, 2);
    EXPECT_EQ(all.report.first_failed, 6);
    for (std::size_t b = 0; b < matrices.size(); ++b) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + ", matrix " + std::to_string(b));
      if (b == 6 || b == 7) {
        EXPECT_TRUE(std::isnan(all.s[b].front()));
        continue;
      }
      expect_factors<T>(all, b, b == 8 ? -least : b == 9 ? -most : 0);
    }
    EXPECT_EQ(all.s[5], std::vector<double>(static_cast<std::size_t>(k)));
    // A matrix's bits do not depend on its neighbours, signs of zeros included.
    for (const std::size_t b : {0, 2, 4, 5}) {
      const Factors<T> alone = factors_of<T>({matrices[b]});
      EXPECT_EQ(alone.s[0], all.s[b]);
      EXPECT_EQ(std::memcmp(alone.U[0].data(), all.U[b].data(), alone.U[0].size() * sizeof(T)), 0) << b;
      EXPECT_EQ(std::memcmp(alone.V[0].data(), all.V[b].data(), alone.V[0].size() * sizeof(T)), 0) << b;
    }
  }
}

TYPED_TEST(SvdBatched, ValuesAreRightToTheLastDigits) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{12, 12}, {24, 10}, {10, 24}}) {
    const auto k = static_cast<double>(std::min(m, n));
    std::vector<Host<T>> matrices;
    for (const double power : {0.0, 5.0, 15.0, std::is_same_v<Real<T>, float> ? 30.0 : 100.0}) {
      matrices.push_back(graded_rectangle<T>(m, n, power, static_cast<int>(power) + 1));
    }
    const Factors<T> found = factors_of<T>(matrices);
    EXPECT_TRUE(found.report.converged());
    for (std::size_t b = 0; b < matrices.size(); ++b) {
      const std::vector<double> exact = wide_singular_values<T>(matrices[b]);
      for (std::size_t j = 0; j < exact.size(); ++j) {
        EXPECT_LE(std::abs(found.s[b][j] - exact[j]), 20 * k * static_cast<double>(unit_roundoff<T>) * exact[j])
            << m << " x " << n << ", matrix " << b << ", value " << j;
      }
    }
  }
}

TYPED_TEST(SvdBatched, FactorsOfUpTo512Rows) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{200, 200}, {256, 256}, {511, 40}, {40, 512}, {512, 512}}) {
    if (m == n && m > 256 && !std::is_same_v<T, double>) {
      continue;
    }
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    const Factors<T> found = factors_of<T>({random_rectangle<T>(m, n, 1), repeated<T>(m, n, n - 3, 2)});
    EXPECT_TRUE(found.report.converged());
    expect_factors<T>(found, 0);
    expect_factors<T>(found, 1);
  }
}

// Any strides, and values without vectors.
TYPED_TEST(SvdBatched, TakesAnyLayout) {
  using T = TypeParam;
  using R = Real<T>;
  const std::vector<Host<T>> matrices = {random_rectangle<T>(21, 13, 1), repeated<T>(21, 13, 5, 2)};
  const Factors<T> expected = factors_of<T>(matrices);
  const Kokkos::View<T***, Kokkos::LayoutRight, MemorySpace> A("A", 21, 13, 2);
  const Kokkos::View<T***, Kokkos::LayoutRight, MemorySpace> U("U", 21, 13, 2);
  const Kokkos::View<T***, Kokkos::LayoutRight, MemorySpace> V("V", 13, 13, 2);
  const Kokkos::View<R**, Kokkos::LayoutRight, MemorySpace> s("s", 13, 2);
  const auto mirror = Kokkos::create_mirror_view(A);
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t j = 0; j < 13; ++j) {
      for (std::size_t i = 0; i < 21; ++i) {
        mirror(i, j, b) = matrices[b](i, j);
      }
    }
  }
  Kokkos::deep_copy(A, mirror);
  EXPECT_TRUE(svd_batched(ExecutionSpace(), A, s, U, V).converged());
  const auto left = to_host(U);
  const auto right = to_host(V);
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t j = 0; j < 13; ++j) {
      for (std::size_t i = 0; i < 21; ++i) {
        EXPECT_EQ(left(i, j, b), expected.U[b](i, j));
        EXPECT_TRUE(i >= 13 || right(i, j, b) == expected.V[b](i, j));
      }
    }
  }
  Kokkos::deep_copy(s, R(-1));
  EXPECT_TRUE(svd_batched_values(ExecutionSpace(), A, s).converged());
  const auto values = to_host(s);
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t j = 0; j < 13; ++j) {
      EXPECT_EQ(static_cast<double>(values(j, b)), expected.s[b][j]);
    }
  }
}

TEST(SvdBatch, RefusesWhatDoesNotFitAndTakesWhatIsEmpty) {
  const ExecutionSpace space;
  const auto batch = [](Index rows, Index columns, Index count) {
    return Batch<double>("batch", rows, columns, count);
  };
  const auto values = [](Index rows, Index count) {
    return Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>("values", rows, count);
  };
  test::expect_refusal(ErrorKind::argument, "eigen::svd_batched: s is 4 x 3; expected 5 x 3", [&] {
    static_cast<void>(svd_batched(space, batch(7, 5, 3), values(4, 3), batch(7, 5, 3), batch(5, 5, 3)));
  });
  test::expect_refusal(ErrorKind::argument, "eigen::svd_batched: U must be 7 x 5 x 3", [&] {
    static_cast<void>(svd_batched(space, batch(7, 5, 3), values(5, 3), batch(7, 7, 3), batch(5, 5, 3)));
  });
  test::expect_refusal(ErrorKind::argument, "eigen::svd_batched: V must be 5 x 5 x 3", [&] {
    static_cast<void>(svd_batched(space, batch(7, 5, 3), values(5, 3), batch(7, 5, 3), batch(5, 7, 3)));
  });
  test::expect_refusal(ErrorKind::argument, "eigen::svd_batched: 0 sweeps; expected at least 1", [&] {
    static_cast<void>(svd_batched_values(space, batch(7, 5, 3), values(5, 3), {.sweeps = 0}));
  });
  EXPECT_TRUE(svd_batched(space, batch(7, 0, 3), values(0, 3), batch(7, 0, 3), batch(0, 0, 3)).converged());
  EXPECT_TRUE(svd_batched(space, batch(7, 5, 0), values(5, 0), batch(7, 5, 0), batch(5, 5, 0)).converged());
  // One sweep is not enough for a random matrix.
  const Factors<double> short_of = factors_of<double>({random_rectangle<double>(40, 40, 1)}, {.sweeps = 1});
  EXPECT_EQ(short_of.report.not_converged, 1);
  EXPECT_EQ(short_of.report.first_failed, 0);
}

}  // namespace
}  // namespace heddle::eigen::svd_test
