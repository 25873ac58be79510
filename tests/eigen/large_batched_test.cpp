// Batches of matrices that no team's scratch memory holds: block columns of all of them, side by side.
#include "eigen/problems.hpp"
#include "support/labels.hpp"
#include <heddle/eigen/batched.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

namespace heddle::eigen::large_batched_test {
namespace {

using Kokkos::complex;

template <class T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;
template <class T> using BatchValues = Kokkos::View<Real<T>**, Kokkos::LayoutLeft, MemorySpace>;

// Matrices of a batch and their results, on the host.
template <Scalar T> struct Solved {
  std::vector<Host<T>> A;
  std::vector<Host<T>> V;
  std::vector<std::vector<double>> w;
  JacobiBatchedReport report;
};

template <Scalar T> Solved<T> solved(const std::vector<Host<T>>& matrices, const JacobiBatchedOptions& options = {}) {
  const std::size_t n = matrices.front().extent(0);
  const std::size_t count = matrices.size();
  const Batch<T> A("A", n, n, count);
  const Batch<T> V("V", n, n, count);
  const BatchValues<T> w("w", n, count);
  const auto mirror = Kokkos::create_mirror_view(A);
  for (std::size_t b = 0; b < count; ++b) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        mirror(i, j, b) = matrices[b](i, j);
      }
    }
  }
  Kokkos::deep_copy(A, mirror);
  Solved<T> result{matrices, {}, {}, jacobi_batched(ExecutionSpace(), A, w, V, options)};
  const auto values = to_host(w);
  const auto vectors = to_host(V);
  for (std::size_t b = 0; b < count; ++b) {
    result.V.push_back(host_matrix<T>(static_cast<Index>(n)));
    result.w.emplace_back();
    for (std::size_t j = 0; j < n; ++j) {
      result.w[b].push_back(static_cast<double>(values(j, b)));
      for (std::size_t i = 0; i < n; ++i) {
        result.V[b](i, j) = vectors(i, j, b);
      }
    }
  }
  return result;
}

// Otherwise a library decides the bits of large matrices on GPUs.
constexpr JacobiBatchedOptions with_bits{.reproducible = true};

template <Scalar T> Host<T> scaled_by(const Host<T>& A, int exponent) {
  const Host<T> B = host_matrix<T>(static_cast<Index>(A.extent(0)));
  const auto times = [exponent](Real<T> x) { return std::ldexp(x, exponent); };
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t i = 0; i < A.extent(0); ++i) {
      if constexpr (is_complex<T>) {
        B(i, j) = T(times(A(i, j).real()), times(A(i, j).imag()));
      } else {
        B(i, j) = times(A(i, j));
      }
    }
  }
  return B;
}

// Check in double, whose range is sufficient; both sides are scaled by 2^exponent first.
template <Scalar T> void expect_solved(const Solved<T>& solved, std::size_t b, int exponent = 0) {
  using W = Wide<T>;
  const auto n = static_cast<Index>(solved.A[b].extent(0));
  const Host<T> A = scaled_by(solved.A[b], exponent);
  std::vector<double> w = solved.w[b];
  EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
  for (double& value : w) {
    value = std::ldexp(value, exponent);
  }
  const Quality judged = quality<T>(A, solved.V[b], w);
  // 10 is the bound of all tests of rotations; sums over a CPU's lanes are more accurate.
  const double bound = test::on_host ? 2 : 10;
  EXPECT_LE(judged.residual, bound);
  EXPECT_LE(judged.orthogonality, bound);
  // Lengths are checked column by column: 2-norms of the whole matrix are too mild.
  for (Index j = 0; j < n; ++j) {
    double square = 0;
    for (Index i = 0; i < n; ++i) {
      const W v(solved.V[b](i, j));
      square += static_cast<double>(Kokkos::abs(v)) * static_cast<double>(Kokkos::abs(v));
    }
    EXPECT_NEAR(square, 1, 2 * static_cast<double>(n) * static_cast<double>(unit_roundoff<T>)) << "column " << j;
  }
}

template <Scalar T> void expect_same_bits(const Solved<T>& one, std::size_t at, const Solved<T>& other, std::size_t b) {
  EXPECT_EQ(one.w[at], other.w[b]);
  EXPECT_EQ(std::memcmp(one.V[at].data(), other.V[b].data(), one.V[at].size() * sizeof(T)), 0);
}

template <Scalar T> Host<T> constant(Index n, double diagonal, double beside) {
  const Host<T> A = host_matrix<T>(n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      A(i, j) = T(static_cast<Real<T>>(i == j ? diagonal : beside));
    }
  }
  return A;
}

std::vector<double> clusters(Index n) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) {
    values.push_back(i % 3 == 0 ? 1.0 : i % 3 == 1 ? -1.0 : 1.0 + 1e-12 * static_cast<double>(i));
  }
  return values;
}
std::vector<double> half_zeros(Index n) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) {
    values.push_back(i % 2 == 0 ? 0.0 : 1.0 + static_cast<double>(i));
  }
  return values;
}

template <class T> class LargeBatches : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(LargeBatches, Types);

TYPED_TEST(LargeBatches, SolveEachOfHardMatrices) {
  using T = TypeParam;
  using R = Real<T>;
  constexpr int least = std::numeric_limits<R>::min_exponent;
  constexpr int most = std::numeric_limits<R>::max_exponent;
  for (const Index n : {65, 96, 128}) {
    std::vector<Host<T>> matrices = {random_hermitian<T>(n, 1),
                                     graded<T>(n, 1e6, 2),
                                     with_spectrum<T>(clusters(n), 3),
                                     with_spectrum<T>(half_zeros(n), 4),
                                     constant<T>(n, 1, 1),   // Of rank 1.
                                     constant<T>(n, 0, 0),   // Zeros alone.
                                     constant<T>(n, -3, 0),  // A diagonal.
                                     random_hermitian<T>(n, 5),
                                     random_hermitian<T>(n, 6),
                                     scaled_by<T>(random_hermitian<T>(n, 7), least + 4),
                                     scaled_by<T>(random_hermitian<T>(n, 8), most - 12),
                                     with_spectrum<T>(latms_spectrum(2, n, 1e5), 9)};
    matrices[7](n - 1, 2) = T(std::numeric_limits<R>::quiet_NaN());
    matrices[8](5, 0) = T(std::numeric_limits<R>::infinity());
    const Solved<T> all = solved<T>(matrices);
    EXPECT_EQ(all.report.not_converged, 2);
    EXPECT_EQ(all.report.first_failed, 7);
    for (std::size_t b = 0; b < matrices.size(); ++b) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", matrix " + std::to_string(b));
      if (b == 7 || b == 8) {
        EXPECT_TRUE(std::isnan(all.w[b].front()));
        continue;
      }
      expect_solved<T>(all, b, b == 9 ? -least : b == 10 ? -most : 0);
    }
    // A matrix's bits do not depend on its neighbours.
    const Solved<T> once_more = solved<T>(matrices, with_bits);
    for (const std::size_t b : {0, 1, 3}) {
      expect_solved<T>(once_more, b);
      expect_same_bits<T>(solved<T>({matrices[b]}, with_bits), 0, once_more, b);
      if (test::on_host) {
        expect_same_bits<T>(all, b, once_more, b);
      }
    }
  }
}

TYPED_TEST(LargeBatches, SolveUpTo512Rows) {
  using T = TypeParam;
  for (const Index n : {200, 256, 511, 512}) {
    if (n > 256 && is_complex<T> && n % 2 == 1) {
      continue;
    }
    SCOPED_TRACE("n = " + std::to_string(n));
    const Solved<T> all = solved<T>({random_hermitian<T>(n, 11), with_spectrum<T>(clusters(n), 12)});
    EXPECT_TRUE(all.report.converged());
    expect_solved<T>(all, 0);
    expect_solved<T>(all, 1);
  }
}

// Gaps of all sizes, beside matrices of which each ends in another way where a library's vectors are refined.
TYPED_TEST(LargeBatches, SolveWhatHasCloseEigenvalues) {
  using T = TypeParam;
  constexpr Index n = 100;
  const double u = unit_roundoff<T>;
  std::vector<Host<T>> matrices;
  for (int power = 0; power < 12; ++power) {
    std::vector<double> values(n);
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<double>(i);
      values[static_cast<std::size_t>(i)] = i < 30 ? 1 + std::pow(u, power / 12.0) * at / n : -at / n;
    }
    matrices.push_back(with_spectrum<T>(values, power));
    matrices.push_back(random_hermitian<T>(n, power));
    matrices.push_back(graded<T>(n, 1e3, power));
  }
  const Solved<T> all = solved<T>(matrices);
  EXPECT_TRUE(all.report.converged());
  const Solved<T> normwise = solved<T>(matrices, {.accuracy = JacobiAccuracy::norm});
  EXPECT_TRUE(normwise.report.converged());
  for (std::size_t b = 0; b < matrices.size(); ++b) {
    SCOPED_TRACE("matrix " + std::to_string(b));
    expect_solved<T>(all, b);
    expect_solved<T>(normwise, b);
  }
}

// Any strides, the upper triangle alone, and values without vectors.
TYPED_TEST(LargeBatches, ReadOneTriangleOfAnyLayout) {
  using T = TypeParam;
  using R = Real<T>;
  constexpr Index n = 70;
  const std::vector<Host<T>> matrices = {random_hermitian<T>(n, 1), graded<T>(n, 1e4, 2)};
  const Solved<T> expected = solved<T>(matrices, with_bits);
  const Kokkos::View<T***, Kokkos::LayoutRight, MemorySpace> A("A", n, n, 2);
  const Kokkos::View<T***, Kokkos::LayoutRight, MemorySpace> V("V", n, n, 2);
  const Kokkos::View<R**, Kokkos::LayoutRight, MemorySpace> w("w", n, 2);
  const auto mirror = Kokkos::create_mirror_view(A);
  for (std::size_t b = 0; b < 2; ++b) {
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        mirror(i, j, b) = i <= j ? matrices[b](i, j) : T(std::numeric_limits<R>::quiet_NaN());
      }
    }
  }
  Kokkos::deep_copy(A, mirror);
  EXPECT_TRUE(jacobi_batched(ExecutionSpace(), A, w, V, {.upper = true, .reproducible = true}).converged());
  const auto values = to_host(w);
  const auto vectors = to_host(V);
  for (std::size_t b = 0; b < 2; ++b) {
    for (Index j = 0; j < n; ++j) {
      EXPECT_EQ(static_cast<double>(values(j, b)), expected.w[b][static_cast<std::size_t>(j)]);
      for (Index i = 0; i < n; ++i) {
        EXPECT_EQ(vectors(i, j, b), expected.V[b](i, j));
      }
    }
  }
  Kokkos::deep_copy(w, R(0));
  EXPECT_TRUE(jacobi_batched_values(ExecutionSpace(), A, w, {.upper = true, .reproducible = true}).converged());
  const auto only = to_host(w);
  for (Index j = 0; j < n; ++j) {
    EXPECT_EQ(static_cast<double>(only(j, 0)), expected.w[0][static_cast<std::size_t>(j)]);
  }
}

TEST(LargeBatch, OfGradedMatricesIsRightToTheLastDigits) {
  constexpr Index n = 80;
  // The last one spans more than the kernels' squares can.
  const std::vector<double> powers = {8, 20, 100, 250};
  std::vector<Host<double>> matrices;
  for (const double power : powers) {
    matrices.push_back(graded<double>(n, std::pow(10.0, power), static_cast<int>(power)));
  }
  const Solved<double> all = solved<double>(matrices);
  EXPECT_TRUE(all.report.converged());
  for (std::size_t b = 0; b < matrices.size(); ++b) {
    const std::vector<double> exact = wide_eigenvalues<double>(matrices[b]);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_LE(std::abs(all.w[b][i] - exact[i]), 10 * n * unit_roundoff<double> * exact[i]) << b << ", " << i;
    }
  }
}

// Diagonals of one size, which say nothing of small eigenvalues: the errors that are promised are those of the
// condition.
TEST(LargeBatch, OfDefiniteMatricesHasTheDigitsThatTheConditionLeaves) {
  constexpr Index n = 66;
  std::vector<Host<double>> matrices;
  for (int kind = 0; kind < 9; ++kind) {
    const Host<double> A = host_matrix<double>(n);
    // Columns of sums of products; a kernel exp(-a (i - j)^2) of condition 10^2 to 10^17; the same between other
    // diagonals.
    const int terms = kind == 0 ? 2 * n : kind == 1 ? n : n / 2;
    const double sharp = kind < 6 ? std::pow(0.4, kind - 2) : 0.3;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        double sum = 0;
        for (int k = 0; k < terms; ++k) {
          sum += test::random_number(i, k, 3) * test::random_number(j, k, 3);
        }
        const auto apart = static_cast<double>(i - j);
        const auto scale = [&](Index at) {
          return std::pow(kind == 6 ? 3.9 : kind == 7 ? 2 : 0.3, at % 3 == 0 ? 1 : 0);
        };
        const double near = std::exp(-sharp * apart * apart) * (kind >= 6 ? scale(i) * scale(j) : 1);
        A(i, j) = kind < 3 ? sum : near;
      }
    }
    matrices.push_back(A);
  }
  const Solved<double> all = solved<double>(matrices);
  EXPECT_TRUE(all.report.converged());
  for (std::size_t b = 0; b < matrices.size(); ++b) {
    SCOPED_TRACE("matrix " + std::to_string(b));
    expect_solved<double>(all, b);
    const Host<double> unit = host_matrix<double>(n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        unit(i, j) = matrices[b](i, j) / std::sqrt(matrices[b](i, i) * matrices[b](j, j));
      }
    }
    const std::vector<double> of_unit = wide_eigenvalues<double>(unit);
    const std::vector<double> exact = wide_eigenvalues<double>(matrices[b]);
    const double rounding = n * unit_roundoff<double>;
    if (!(of_unit.front() > rounding)) {
      continue;  // Not positive definite, or not by enough for its elements to say so.
    }
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_LE(std::abs(all.w[b][i] - exact[i]), 10 * rounding * of_unit.back() / of_unit.front() * exact[i]) << i;
    }
    if (exact.front() > 10 * rounding * exact.back()) {
      EXPECT_GT(all.w[b].front(), 0);
    }
  }
}

TEST(LargeBatch, CountsWhatDidNotConverge) {
  constexpr Index n = 90;
  const std::vector<Host<double>> matrices = {graded<double>(n, 1e4, 1), random_hermitian<double>(n, 2),
                                              constant<double>(n, 2, 0)};
  const Solved<double> definite = solved<double>(matrices, {.accuracy = JacobiAccuracy::relative});
  EXPECT_EQ(definite.report.not_converged, 2);
  EXPECT_EQ(definite.report.first_failed, 1);
  const Solved<double> short_of = solved<double>(matrices, {.sweeps = 1});
  EXPECT_GE(short_of.report.not_converged, 1);
  EXPECT_EQ(short_of.report.first_failed, 0);
  EXPECT_EQ(short_of.report.sweeps, 1);
  EXPECT_GT(short_of.report.rotations, 0);
}

// Orthonormal however often a batch is solved, and with the same bits: the shapes of a failure of cuSOLVER that PyTorch
// has on record (pytorch/pytorch issue 192483).
TEST(LargeBatch, SolvedAgainHasTheSameBits) {
  using T = complex<float>;
  for (const Index n : {40, 72}) {
    std::vector<Host<T>> matrices;
    const int count = n == 40 ? 512 : 8;
    for (int b = 0; b < count; ++b) {
      matrices.push_back(random_hermitian<T>(n, b));
    }
    const Solved<T> any = solved<T>(matrices);
    const Solved<T> first = solved<T>(matrices, with_bits);
    EXPECT_TRUE(any.report.converged());
    EXPECT_TRUE(first.report.converged());
    for (int b = 0; b < count; ++b) {
      expect_solved<T>(any, static_cast<std::size_t>(b));
    }
    for (int call = 0; call < 3; ++call) {
      const Solved<T> again = solved<T>(matrices, with_bits);
      for (std::size_t b = 0; b < matrices.size(); b += static_cast<std::size_t>(count) / 8) {
        expect_solved<T>(again, b);
        expect_same_bits<T>(again, b, first, b);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::eigen::large_batched_test
