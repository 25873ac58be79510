// Least squares over all ranks: compared with solutions in more than double precision; consistent and underdetermined
// systems; and refused arguments.
#include "over_ranks.hpp"
#include "support/errors.hpp"
#include "wide.hpp"
#include <heddle/solve/qr.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::least_squares_test {
namespace {

using test::conjugate_of;
using test::norm_of;
using test::wide;
using test::Wide;

template <class W> W inner(const std::vector<W>& x, const std::vector<W>& y) {
  W sum(0);
  for (std::size_t i = 0; i < x.size(); ++i) sum += conjugate_of(x[i]) * y[i];
  return sum;
}

// Full-rank least squares by modified Gram-Schmidt, done twice, in long double, for m x n with m >= n, given by
// columns.
template <class W> std::vector<W> smallest_residual(const std::vector<std::vector<W>>& columns, std::vector<W> b) {
  const std::size_t n = columns.size();
  std::vector<std::vector<W>> q;
  std::vector<std::vector<W>> r(n, std::vector<W>(n, W(0)));
  std::vector<W> c(n, W(0));
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<W> v = columns[j];
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < j; ++k) {
        const W share = inner(q[k], v);
        r[k][j] += share;
        for (std::size_t i = 0; i < v.size(); ++i) v[i] -= share * q[k][i];
      }
    }
    r[j][j] = norm_of(v);
    for (W& element : v) element /= r[j][j];
    q.push_back(v);
  }
  for (std::size_t k = 0; k < n; ++k) {
    c[k] = inner(q[k], b);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] -= c[k] * q[k][i];
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) c[k] -= r[k][j] * c[j];
    c[k] /= r[k][k];
  }
  return c;
}
// The shortest solution of A x = b, given by rows of one size: A^H y with (A A^H) y = b.
template <class W> std::vector<W> shortest_solution(std::vector<std::vector<W>> columns, std::vector<W> b) {
  const std::size_t m = b.size();
  const std::size_t n = columns.size();
  for (std::size_t i = 0; i < m; ++i) {
    long double most = 0;
    for (const auto& column : columns) most = std::max(most, std::abs(column[i]));
    for (auto& column : columns) column[i] /= most;
    b[i] /= most;
  }
  std::vector<std::vector<W>> G(m, std::vector<W>(m, W(0)));
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t k = 0; k < m; ++k) {
      for (std::size_t j = 0; j < n; ++j) G[k][i] += columns[j][i] * conjugate_of(columns[j][k]);
    }
  }
  const std::vector<W> y = smallest_residual(G, b);
  std::vector<W> x(n, W(0));
  for (std::size_t j = 0; j < n; ++j) x[j] = inner(columns[j], y);
  return x;
}
template <Scalar T> std::vector<std::vector<Wide<T>>> columns_of(const HostMatrix<T>& A) {
  std::vector<std::vector<Wide<T>>> columns(A.extent(1), std::vector<Wide<T>>(A.extent(0)));
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t i = 0; i < A.extent(0); ++i) columns[j][i] = wide(A(i, j));
  }
  return columns;
}

template <class T> class LeastSquares : public test::OverRanks<T> {
 protected:
  using test::OverRanks<T>::comm;

  HostMatrix<T> solved(const HostMatrix<T>& A, const HostMatrix<T>& B, const LeastSquaresOptions& options,
                       LeastSquaresReport& report) {
    const auto columns = static_cast<Index>(B.extent(1));
    const DistributedMatrix<T> X(comm, Placement::column_bands(static_cast<Index>(A.extent(1)), columns, comm.size()),
                                 "X");
    fill(X, T(-77));
    report = least_squares(comm, this->spread(A), this->spread(B), X, options);
    return this->everywhere(X);
  }
};
TYPED_TEST_SUITE(LeastSquares, test::AllScalars);

// Random numbers; graded columns; one column that is nearly the sum of two others.
enum class Entries { random, graded, close };
template <Scalar T> HostMatrix<T> matrix_of(Entries entries, Index rows, Index columns) {
  const int reach = sizeof(Real<T>) == 8 ? 250 : 30;
  const HostMatrix<T> A = test::host_matrix<T>(rows, columns, [&](Index i, Index j) {
    const T x = test::RandomEntries<T>{8}(i, j);
    // If the matrix is wider than high, its rows are graded.
    const Index line = rows >= columns ? j : i;
    const int power = entries == Entries::graded ? static_cast<int>(line % 5 - 2) * reach / 2 : 0;
    return x * T(std::ldexp(Real<T>(1), power));
  });
  if (entries == Entries::close && rows >= columns && columns > 2) {
    for (Index i = 0; i < rows; ++i) A(i, 2) = A(i, 0) + A(i, 1) + A(i, 2) * T(Real<T>(1) / 64);
  }
  return A;
}

TYPED_TEST(LeastSquares, AreThoseOfMoreDigits) {
  using T = TypeParam;
  const double unit = static_cast<double>(unit_roundoff<T>);
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    for (const auto& [rows, columns] :
         {std::pair<Index, Index>{1, 1}, {30, 1}, {40, 40}, {120, 35}, {700, 8}, {1, 6}, {20, 51}}) {
      for (const Entries entries : {Entries::random, Entries::graded, Entries::close}) {
        SCOPED_TRACE(message_of(rows, " x ", columns, ", ", static_cast<int>(entries), ", ", to_string(arithmetic)));
        const HostMatrix<T> A = matrix_of<T>(entries, rows, columns);
        const HostMatrix<T> B = test::host_random<T>(rows, 3, 9);
        LeastSquaresReport report;
        const HostMatrix<T> X =
            this->solved(A, B, {.qr = {.arithmetic = arithmetic, .block = 16}, .condition = true}, report);
        ASSERT_EQ(report.qr.info, 0);
        ASSERT_GE(report.condition, 1.0);
        ASSERT_LT(report.condition, 1e6);
        const auto columns_of_a = columns_of<T>(A);
        for (std::size_t k = 0; k < B.extent(1); ++k) {
          const std::vector<Wide<T>> b = columns_of<T>(B)[k];
          const std::vector<Wide<T>> expected =
              rows < columns ? shortest_solution(columns_of_a, b) : smallest_residual(columns_of_a, b);
          std::vector<Wide<T>> rest = b;
          // Errors of elements of x are weighted by their effect on b, which cancels the sizes of columns.
          std::vector<Wide<T>> off(expected.size());
          std::vector<Wide<T>> of_x(expected.size());
          for (std::size_t j = 0; j < expected.size(); ++j) {
            const long double size = rows < columns ? 1.0L : norm_of(columns_of_a[j]);
            off[j] = (wide(X(j, k)) - expected[j]) * size;
            of_x[j] = expected[j] * size;
            for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= columns_of_a[j][i] * expected[j];
          }
          const double residual = static_cast<double>(norm_of(rest));
          const double share = rows > columns ? residual / static_cast<double>(norm_of(of_x)) : 0.0;
          const double bound = 8.0 * unit * report.condition * (1.0 + report.condition * share);
          EXPECT_LE(static_cast<double>(norm_of(off)), bound * static_cast<double>(norm_of(of_x)));
          if (rows > columns) {
            EXPECT_NEAR(report.residual_norms[k], residual, 40.0 * unit * static_cast<double>(norm_of(b)));
          } else {
            EXPECT_EQ(report.residual_norms[k], 0.0);
          }
        }
      }
    }
  }
}

TYPED_TEST(LeastSquares, SystemsThatCanBeSolvedAre) {
  using T = TypeParam;
  using R = Real<T>;
  const Index rows = 90;
  const Index columns = 37;
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    // With small integers B is exact.
    const HostMatrix<T> A = test::host_matrix<T>(rows, columns, [](Index i, Index j) {
      return T(static_cast<R>(std::round(8 * test::random_number(i, j, 5)))) + T(i == j ? R(20) : R(0));
    });
    const HostMatrix<T> expected =
        test::host_matrix<T>(columns, 2, [](Index i, Index j) { return T(static_cast<R>((i * 7 + j * 3) % 11 - 5)); });
    const HostMatrix<T> B = test::host_matrix<T>(rows, 2, [&](Index i, Index k) {
      T sum(0);
      for (Index j = 0; j < columns; ++j) sum += A(i, j) * expected(j, k);
      return sum;
    });
    LeastSquaresReport report;
    const HostMatrix<T> X = this->solved(A, B, {.qr = {.arithmetic = arithmetic}}, report);
    EXPECT_EQ(report.qr.info, 0);
    EXPECT_TRUE(std::isnan(report.condition));
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_LE(report.residual_norms[k], 1e5 * static_cast<double>(unit_roundoff<T>));
      for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j) {
        EXPECT_LE(Kokkos::abs(X(j, k) - expected(j, k)), R(400) * unit_roundoff<T>);
      }
    }
  }
}

TYPED_TEST(LeastSquares, AnyPlacementHasTheSameBits) {
  using T = TypeParam;
  for (const auto& [rows, columns] : {std::pair<Index, Index>{300, 170}, {90, 200}}) {
    const HostMatrix<T> A = test::host_random<T>(rows, columns, 3);
    const HostMatrix<T> B = test::host_random<T>(rows, 70, 4);
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      HostMatrix<T> first;
      std::vector<double> norms;
      const int ranks = this->comm.size();
      for (const auto& [of_a, of_b, of_x] :
           {std::tuple{Placement::on_rank(rows, columns, 0), Placement::on_rank(rows, 70, 0),
                       Placement::on_rank(columns, 70, 0)},
            std::tuple{Placement::row_bands(rows, columns, ranks), Placement::column_bands(rows, 70, ranks),
                       Placement::block_cyclic(columns, 70, 7, 5, ranks, 1)}}) {
        const DistributedMatrix<T> X(this->comm, of_x, "X");
        const LeastSquaresReport report = least_squares(this->comm, this->spread(A, of_a), this->spread(B, of_b), X,
                                                        {.qr = {.arithmetic = arithmetic, .block = 32}});
        const HostMatrix<T> found = this->everywhere(X);
        if (first.extent(0) == 0) {
          first = found;
          norms = report.residual_norms;
        }
        EXPECT_TRUE(test::same_bits<T>(found, first));
        EXPECT_EQ(report.residual_norms, norms);
      }
    }
  }
}

TYPED_TEST(LeastSquares, WhatHasNoFullRankIsSaidAndXIsLeft) {
  using T = TypeParam;
  const Index rows = 40;
  const Index columns = 20;
  const HostMatrix<T> B = test::host_random<T>(rows, 2, 4);
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    const LeastSquaresOptions options{.qr = {.arithmetic = arithmetic, .block = 8}};
    LeastSquaresReport report;
    const HostMatrix<T> zero = test::host_random<T>(rows, columns, 5);
    for (Index i = 0; i < rows; ++i) zero(i, 13) = T(0);
    HostMatrix<T> X = this->solved(zero, B, options, report);
    EXPECT_EQ(report.qr.info, 14);
    EXPECT_TRUE(report.residual_norms.empty());
    EXPECT_EQ(X(3, 1), T(-77));
    const HostMatrix<T> bad = test::host_random<T>(rows, columns, 5);
    bad(30, 6) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    X = this->solved(bad, B, options, report);
    EXPECT_EQ(report.qr.info, 7);
    EXPECT_EQ(X(0, 0), T(-77));
    // A NaN in B affects only its own column.
    const HostMatrix<T> some = test::host_random<T>(rows, 2, 4);
    some(39, 1) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    const HostMatrix<T> A = test::host_random<T>(rows, columns, 5);
    X = this->solved(A, some, options, report);
    EXPECT_EQ(report.qr.info, 0);
    EXPECT_TRUE(std::isfinite(report.residual_norms[0]));
    EXPECT_TRUE(std::isnan(report.residual_norms[1]));
    const HostMatrix<T> alike = this->solved(A, B, options, report);
    for (Index j = 0; j < columns; ++j) {
      EXPECT_EQ(X(j, 0), alike(j, 0));
      EXPECT_TRUE(std::isnan(real_of<Real<T>>(X(j, 1))));
    }
  }
}

TYPED_TEST(LeastSquares, NoEquationsOrUnknowns) {
  using T = TypeParam;
  const auto empty = [](Index rows, Index columns) {
    return HostMatrix<T>("empty", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  };
  LeastSquaresReport report;
  // Without unknowns the residual is B.
  const HostMatrix<T> B = test::host_matrix<T>(4, 1, [](Index, Index) { return T(3); });
  this->solved(empty(4, 0), B, {}, report);
  EXPECT_EQ(report.residual_norms, std::vector<double>{6.0});
  // Without equations zeros are the shortest solution.
  const HostMatrix<T> X = this->solved(empty(0, 4), empty(0, 1), {}, report);
  EXPECT_EQ(report.qr.info, 0);
  EXPECT_EQ(X(2, 0), T(0));
  this->solved(test::host_random<T>(5, 3, 1), empty(5, 0), {}, report);
  EXPECT_TRUE(report.residual_norms.empty());
}

TYPED_TEST(LeastSquares, RefuseShapesThatDontFit) {
  using T = TypeParam;
  const auto of = [&](Index rows, Index columns) {
    return DistributedMatrix<T>(this->comm, Placement::row_bands(rows, columns, this->comm.size()), "M");
  };
  EXPECT_THROW(least_squares(this->comm, of(6, 3), of(5, 2), of(3, 2)), Error);
  EXPECT_THROW(least_squares(this->comm, of(6, 3), of(6, 2), of(6, 2)), Error);
  EXPECT_THROW(least_squares(this->comm, of(6, 3), of(6, 2), of(3, 1)), Error);
  EXPECT_THROW(least_squares(this->comm, of(6, 3), of(6, 2), of(3, 2), {.qr = {.block = -2}}), Error);
  const auto square = of(6, 6);
  test::expect_refusal(ErrorKind::argument, "least_squares: X shares storage with A; expected storage of its own",
                       [&] { least_squares(this->comm, square, of(6, 6), square); });
  test::expect_refusal(ErrorKind::argument, "least_squares: X shares storage with B; expected storage of its own",
                       [&] { least_squares(this->comm, of(6, 6), square, square); });
}

// Small whole numbers times powers of two: numbers of B near the ends of the range change no digit.
TYPED_TEST(LeastSquares, RightHandSidesMayBeOfAnySize) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  constexpr int lowest = Limits::min_exponent - Limits::digits;
  for (const auto& [rows, columns] : {std::pair<Index, Index>{12, 5}, {5, 5}, {5, 12}}) {
    const auto whole = [](Index i, Index j) { return static_cast<Real<T>>((i * 31 + j * 17 + i * j * 7) % 13 - 6); };
    const auto matrix = [&](Index width, int e) {
      return test::host_matrix<T>(rows, width, [&, n = width](Index i, Index j) {
        return T(std::ldexp(whole(i, j) + (i == j && n == columns ? Real<T>(20) : Real<T>(1)), e));
      });
    };
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      const LeastSquaresOptions options{.qr = {.arithmetic = arithmetic}};
      LeastSquaresReport expected_report;
      const HostMatrix<T> expected = this->solved(matrix(columns, 0), matrix(3, 0), options, expected_report);
      for (const int e : {Limits::max_exponent - 3, lowest}) {
        SCOPED_TRACE(message_of(rows, " x ", columns, ", ", to_string(arithmetic), ", 2^", e));
        LeastSquaresReport report;
        const HostMatrix<T> found =
            this->solved(matrix(columns, std::min(e, Limits::max_exponent - 6)), matrix(3, e), options, report);
        ASSERT_EQ(report.qr.info, 0);
        const Real<T> by = std::ldexp(Real<T>(1), e - std::min(e, Limits::max_exponent - 6));
        for (std::size_t k = 0; k < found.size(); ++k) EXPECT_EQ(found.data()[k], expected.data()[k] * by) << k;
        for (std::size_t j = 0; j < report.residual_norms.size(); ++j) {
          const double norm = std::ldexp(expected_report.residual_norms[j], e);
          const double off = 1e-6 * norm + 2 * static_cast<double>(Limits::denorm_min());
          EXPECT_TRUE(std::abs(report.residual_norms[j] - norm) <= off || report.residual_norms[j] == norm)
              << report.residual_norms[j] << ", expected " << norm;
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::least_squares_test
