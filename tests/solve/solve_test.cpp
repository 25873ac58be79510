// Triangular systems, linear systems, inverses and determinants over all ranks.
#include "over_ranks.hpp"
#include "support/errors.hpp"
#include "wide.hpp"
#include <heddle/exact/matrix.hpp>
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::solve_test {
namespace {

using test::wide;
using test::Wide;

template <Scalar T> T element(Operation op, const HostMatrix<T>& A, std::size_t i, std::size_t j) {
  if (op == Operation::none) return A(i, j);
  return op == Operation::transpose ? A(j, i) : conjugate(A(j, i));
}

// max |op(A) X - B|_ij / (|op(A)| |X|)_ij over c n u; `read` selects the elements of A that count.
template <Scalar T, class Read>
double backward_error(Operation op, const HostMatrix<T>& A, const HostMatrix<T>& X, const HostMatrix<T>& B,
                      const Read& read) {
  const std::size_t n = A.extent(0);
  double worst = 0;
  for (std::size_t j = 0; j < X.extent(1); ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      Wide<T> sum = -wide(B(i, j));
      long double sizes = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const Wide<T> a = read(i, k, element(op, A, i, k));
        sum += a * wide(X(k, j));
        sizes += std::abs(a) * std::abs(wide(X(k, j)));
      }
      const double bound = static_cast<double>(unit_roundoff<T>) * (is_complex<T> ? 4 : 1) *
                           static_cast<double>(n + 4) * static_cast<double>(sizes);
      const double off = static_cast<double>(std::abs(sum));
      worst = std::max(worst, off == 0 ? 0.0 : off / bound);
    }
  }
  return worst;
}

using test::same_bits;

template <class T> class Systems : public test::OverRanks<T> {
 protected:
  using test::OverRanks<T>::comm;

  [[nodiscard]] Placement bands(Index rows, Index columns) const {
    return Placement::row_bands(rows, columns, comm.size());
  }
  [[nodiscard]] Placement blocks(Index rows, Index columns) const {
    return Placement::block_cyclic(rows, columns, 7, 5, comm.size(), 1);
  }
};
TYPED_TEST_SUITE(Systems, test::AllScalars);

TYPED_TEST(Systems, TrianglesAreSolvedInAllWays) {
  using T = TypeParam;
  for (const Index n : {1, 20, 75}) {
    // Elements of the other triangle are NaN, because they must not be read.
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const bool lower = triangle == Triangle::lower;
      for (const Diagonal diagonal : {Diagonal::unit, Diagonal::stored}) {
        const bool unit = diagonal == Diagonal::unit;
        const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
        const HostMatrix<T> M = test::host_matrix<T>(n, n, [&](Index i, Index j) {
          if (i == j) return unit ? nan : T(2) + test::RandomEntries<T>{3}(i, j);
          return (i > j) == lower ? test::RandomEntries<T>{3}(i, j) * T(Real<T>(0.25)) : nan;
        });
        for (const Operation op : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
          for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
            for (const Index columns : {1, 6}) {
              SCOPED_TRACE(message_of("n = ", n, ", ", columns, " columns, lower ", lower, ", unit ", unit, ", ",
                                      to_string(op), ", ", to_string(arithmetic)));
              const HostMatrix<T> B = test::host_random<T>(n, columns, 8);
              const auto X = this->spread(B, this->blocks(n, columns));
              trsm(this->comm, triangle, op, diagonal, this->spread(M, this->bands(n, n)), X,
                   {.arithmetic = arithmetic, .block = 8, .group = 4});
              const HostMatrix<T> x = this->everywhere(X);
              const bool lower_op = lower == (op == Operation::none);
              EXPECT_LE(backward_error<T>(op, M, x, B,
                                          [&](std::size_t i, std::size_t k, const T& a) {
                                            if (i == k) return unit ? Wide<T>(1) : wide(a);
                                            return (i > k) == lower_op ? wide(a) : Wide<T>(0);
                                          }),
                        1.0);
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(Systems, FactorsSolveInAllWays) {
  using T = TypeParam;
  const Index n = 90;
  const HostMatrix<T> A = test::host_random<T>(n, n, 21);
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    const FactorOptions options{.arithmetic = arithmetic, .block = 16, .group = 2};
    const auto LU = this->spread(A, this->bands(n, n));
    const LuReport factors = lu(this->comm, LU, options);
    for (const Operation op : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
      const HostMatrix<T> B = test::host_random<T>(n, 70, 4);
      const auto X = this->spread(B, this->blocks(n, 70));
      lu_solve(this->comm, op, LU, factors, X, options);
      // Growth of random matrices of this order is below 20.
      EXPECT_LE(backward_error<T>(op, A, this->everywhere(X), B,
                                  [](std::size_t, std::size_t, const T& a) { return wide(a); }),
                20.0)
          << to_string(op) << ", " << to_string(arithmetic);
    }
  }
}

TYPED_TEST(Systems, SolutionsHaveTheSameBitsOnAnyRanksAndPlacements) {
  using T = TypeParam;
  const Index n = 200;
  const HostMatrix<T> A = test::host_random<T>(n, n, 31);
  const HostMatrix<T> B = test::host_random<T>(n, 3, 32);
  const Communicator alone(MPI_COMM_SELF, this->comm.space());
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    const SolveOptions options{.factorization = {.arithmetic = arithmetic, .block = 32, .group = 2}, .refinements = 1};
    const auto on_one = [&](const HostMatrix<T>& host) {
      const DistributedMatrix<T> one(alone, Placement::on_rank(n, static_cast<Index>(host.extent(1)), 0), "one");
      scatter(host, 0, one);
      return one;
    };
    const DistributedMatrix<T> expected = on_one(B);
    const SolveReport of_one = solve(alone, on_one(A), on_one(B), expected, options);
    for (const bool in_bands : {false, true}) {
      const auto placed = [&](Index columns) { return in_bands ? this->bands(n, columns) : this->blocks(n, columns); };
      const DistributedMatrix<T> X(this->comm, placed(3), "X");
      const SolveReport report =
          solve(this->comm, this->spread(A, placed(n)), this->spread(B, this->bands(n, 3)), X, options);
      EXPECT_EQ(report.factorization.pivots, of_one.factorization.pivots);
      EXPECT_TRUE(same_bits<T>(this->everywhere(X), gather(expected, 0))) << to_string(arithmetic);
      EXPECT_LE(report.componentwise_error, 4 * static_cast<double>(unit_roundoff<T>));
      EXPECT_LE(report.normwise_error, report.componentwise_error);
    }
  }
}

TYPED_TEST(Systems, IntegersAreSolvedExactly) {
  using T = TypeParam;
  // A unimodular matrix, a product of elementary ones: for integers the solution is of integers.
  const Index n = 40;
  HostMatrix<T> A = test::host_matrix<T>(n, n, [](Index i, Index j) {
    return i == j ? T(1) : i == j + 1 ? T(-1) : j == i + 1 ? T(1) : T(0);
  });
  const HostMatrix<T> x =
      test::host_matrix<T>(n, 2, [](Index i, Index j) { return T(static_cast<Real<T>>((i * 7 + j) % 11 - 5)); });
  const HostMatrix<T> B = test::host_matrix<T>(n, 2, [&](Index i, Index j) {
    T sum(0);
    for (Index k = 0; k < n; ++k)
      sum += A(static_cast<std::size_t>(i), static_cast<std::size_t>(k)) *
             x(static_cast<std::size_t>(k), static_cast<std::size_t>(j));
    return sum;
  });
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    const DistributedMatrix<T> X(this->comm, this->bands(n, 2), "X");
    solve(this->comm, this->spread(A, this->bands(n, n)), this->spread(B, this->bands(n, 2)), X,
          {.factorization = {.arithmetic = arithmetic, .block = 8, .group = 2}, .refinements = 3});
    const HostMatrix<T> found = this->everywhere(X);
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_LE(std::abs(wide(found.data()[k]) - wide(x.data()[k])), 8 * unit_roundoff<T>) << k;
    }
  }
}

TYPED_TEST(Systems, InversesAndDeterminants) {
  using T = TypeParam;
  const Index n = 33;
  const HostMatrix<T> A = test::host_random<T>(n, n, 51);
  const auto inverted = this->spread(A, this->bands(n, n));
  EXPECT_EQ(inverse(this->comm, inverted, {.block = 8}).info, 0);
  const HostMatrix<T> X = this->everywhere(inverted);
  for (std::size_t j = 0; j < X.extent(1); ++j) {
    for (std::size_t i = 0; i < X.extent(0); ++i) {
      Wide<T> sum = i == j ? -1 : 0;
      for (std::size_t k = 0; k < X.extent(1); ++k) sum += wide(A(i, k)) * wide(X(k, j));
      EXPECT_LE(std::abs(sum), 3000 * unit_roundoff<T>);
    }
  }
  // Two rows are interchanged, and the numbers overflow.
  const T big = T(std::numeric_limits<Real<T>>::max() / 4);
  const HostMatrix<T> D =
      test::host_matrix<T>(4, 4, [&](Index i, Index j) { return i + j == 1 || (i == j && i > 1) ? big : T(0); });
  const auto LU = this->spread(D, this->blocks(4, 4));
  const LuReport factors = lu(this->comm, LU);
  const Determinant<T> found = determinant(this->comm, LU, factors);
  constexpr int exponent = std::numeric_limits<Real<T>>::max_exponent - 2;
  const double mantissa =
      std::ldexp(static_cast<double>(std::numeric_limits<Real<T>>::max()), -std::numeric_limits<Real<T>>::max_exponent);
  EXPECT_NEAR(std::ldexp(real_of<double>(found.mantissa), static_cast<int>(found.exponent - 4 * exponent)),
              -std::pow(mantissa, 4), 1e-5);
  const auto singular = this->spread(HostMatrix<T>("zeros", 5, 5), this->bands(5, 5));
  const Determinant<T> zero = determinant(this->comm, singular, lu(this->comm, singular));
  EXPECT_EQ(zero.mantissa, T(0));
  EXPECT_EQ(zero.exponent, 0);
  const auto empty = this->spread(HostMatrix<T>("empty", 0, 0), this->bands(0, 0));
  EXPECT_EQ(determinant(this->comm, empty, lu(this->comm, empty)).mantissa, T(Real<T>(0.5)));
  EXPECT_EQ(determinant(this->comm, empty, lu(this->comm, empty)).exponent, 1);
}

TYPED_TEST(Systems, ConditionsAreEstimated) {
  using T = TypeParam;
  // |A|_1 = 1 and |A^-1|_1 = 2^9, and the same with rows interchanged.
  const Index n = 30;
  const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
    return (i + 7) % n == j ? T(static_cast<Real<T>>(std::ldexp(1.0, j == 11 ? -9 : 0))) : T(0);
  });
  const auto LU = this->spread(A, this->bands(n, n));
  const LuReport factors = lu(this->comm, LU);
  EXPECT_EQ(condition(this->comm, LU, factors, 1.0), 512.0);
  // The condition of random matrices, compared with the inverse.
  const HostMatrix<T> B = test::host_random<T>(n, n, 77);
  const auto of_b = this->spread(B, this->blocks(n, n));
  const auto inverted = this->spread(B, this->bands(n, n));
  const LuReport factors_of_b = lu(this->comm, of_b);
  ASSERT_EQ(inverse(this->comm, inverted).info, 0);
  const double norm_of_b = norm(this->spread(B, this->bands(n, n)), Norm::one);
  const double expected = norm_of_b * norm(inverted, Norm::one);
  const double found = condition(this->comm, of_b, factors_of_b, norm_of_b);
  EXPECT_LE(found, expected * 1.001);
  EXPECT_GE(found, expected / 3);
  LuReport singular = factors;
  singular.info = 3;
  EXPECT_TRUE(std::isinf(condition(this->comm, LU, singular, 1.0)));
}

TYPED_TEST(Systems, SingularMatricesLeaveXAlone) {
  using T = TypeParam;
  const Index n = 12;
  const HostMatrix<T> B = test::host_random<T>(n, 2, 1);
  const auto X = this->spread(B, this->bands(n, 2));
  const SolveReport report = solve(this->comm, this->spread(HostMatrix<T>("zeros", n, n), this->bands(n, n)),
                                   this->spread(B, this->bands(n, 2)), X);
  EXPECT_EQ(report.factorization.info, 1);
  EXPECT_TRUE(std::isnan(report.normwise_error));
  EXPECT_TRUE(same_bits<T>(this->everywhere(X), B));
}

TYPED_TEST(Systems, EmptySystems) {
  using T = TypeParam;
  for (const auto& [n, columns] : {std::pair<Index, Index>{0, 0}, {0, 3}, {5, 0}}) {
    const HostMatrix<T> A = test::host_random<T>(n, n, 2);
    const auto X = this->spread(HostMatrix<T>("X", static_cast<std::size_t>(n), static_cast<std::size_t>(columns)),
                                this->bands(n, columns));
    const auto B = this->spread(HostMatrix<T>("B", static_cast<std::size_t>(n), static_cast<std::size_t>(columns)),
                                this->bands(n, columns));
    EXPECT_EQ(solve(this->comm, this->spread(A, this->bands(n, n)), B, X).factorization.info, 0);
  }
}

TYPED_TEST(Systems, RefuseWhatCannotBe) {
  using T = TypeParam;
  const auto matrix = [&](Index rows, Index columns) {
    return this->spread(test::host_random<T>(rows, columns, 1), this->bands(rows, columns));
  };
  EXPECT_THROW(solve(this->comm, matrix(3, 4), matrix(3, 1), matrix(3, 1)), Error);
  EXPECT_THROW(solve(this->comm, matrix(3, 3), matrix(4, 1), matrix(3, 1)), Error);
  EXPECT_THROW(solve(this->comm, matrix(3, 3), matrix(3, 1), matrix(3, 2)), Error);
  EXPECT_THROW(
      solve(this->comm, matrix(3, 3), matrix(3, 1), matrix(3, 1), SolveOptions{.factorization = {}, .refinements = -1}),
      Error);
  EXPECT_THROW(trsm(this->comm, Triangle::lower, Operation::none, Diagonal::unit, matrix(3, 4), matrix(3, 1)), Error);
  EXPECT_THROW(lu_solve(this->comm, Operation::none, matrix(3, 3), LuReport{}, matrix(3, 1)), Error);
  LuReport singular;
  singular.pivots = {0, 1, 2};
  singular.info = 2;
  EXPECT_THROW(lu_solve(this->comm, Operation::none, matrix(3, 3), singular, matrix(3, 1)), Error);
  singular.info = 0;
  singular.pivots = {0, 0, 2};
  EXPECT_THROW(lu_solve(this->comm, Operation::none, matrix(3, 3), singular, matrix(3, 1)), Error);
  singular.pivots = {0, 1, 2};
  test::expect_refusal(ErrorKind::argument, "condition: a norm of -1; expected 0 or more",
                       [&] { static_cast<void>(condition(this->comm, matrix(3, 3), singular, -1.0)); });
}

}  // namespace
}  // namespace heddle::solve_test
