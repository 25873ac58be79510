// Linear systems of one rank's Views: the bits of the functions over ranks, and refused arguments.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace heddle::views_test {
namespace {

using test::same_bits;

template <class T> class Views : public ::testing::Test {
 protected:
  Communicator alone{MPI_COMM_SELF};
  ExecutionSpace space = alone.space();
  // The same matrix, distributed in another placement.
  [[nodiscard]] DistributedMatrix<T> distributed(const HostMatrix<T>& A) const {
    const DistributedMatrix<T> matrix(
        alone, Placement::row_bands(static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)), 1),
        "distributed");
    scatter(A, 0, matrix);
    return matrix;
  }
  static MatrixView<T> view(const HostMatrix<T>& A) { return test::padded_on_device<T>(A); }
  void expect_same(const MatrixView<T>& view, const DistributedMatrix<T>& matrix, const std::string& what) const {
    EXPECT_TRUE(same_bits<T>(test::to_host<T>(view), gather(matrix, 0))) << what;
  }
};
TYPED_TEST_SUITE(Views, test::AllScalars);

TYPED_TEST(Views, HaveTheBitsOfMatricesOverRanks) {
  using T = TypeParam;
  for (const Index n : {1, 40, 150}) {
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      const std::string what = message_of("n = ", n, ", ", to_string(arithmetic));
      const FactorOptions options{.arithmetic = arithmetic, .block = 16, .group = 4};
      const HostMatrix<T> A = test::host_random<T>(n, n, 11);
      const HostMatrix<T> B = test::host_random<T>(n, 5, 12);
      const auto LU = this->view(A);
      const auto of_ranks = this->distributed(A);
      const LuReport factors = lu(this->space, LU, options);
      EXPECT_EQ(lu(this->alone, of_ranks, options).pivots, factors.pivots) << what;
      this->expect_same(LU, of_ranks, "lu, " + what);

      for (const Operation op : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
        const auto x = this->view(B);
        const auto X = this->distributed(B);
        lu_solve(this->space, op, LU, factors, x, options);
        lu_solve(this->alone, op, of_ranks, factors, X, options);
        this->expect_same(x, X, "lu_solve, " + what);
        trsm(this->space, Triangle::upper, op, Diagonal::stored, LU, x, options);
        trsm(this->alone, Triangle::upper, op, Diagonal::stored, of_ranks, X, options);
        this->expect_same(x, X, "trsm, " + what);
      }
      EXPECT_EQ(condition(this->space, LU, factors, 3.0, options),
                condition(this->alone, of_ranks, factors, 3.0, options));
      const Determinant<T> one = determinant(this->space, LU, factors);
      const Determinant<T> other = determinant(this->alone, of_ranks, factors);
      EXPECT_EQ(one.mantissa, other.mantissa);
      EXPECT_EQ(one.exponent, other.exponent);

      const auto inverted = this->view(A);
      const auto inverted_of_ranks = this->distributed(A);
      EXPECT_EQ(inverse(this->space, inverted, options).info, 0);
      EXPECT_EQ(inverse(this->alone, inverted_of_ranks, options).info, 0);
      this->expect_same(inverted, inverted_of_ranks, "inverse, " + what);
    }
  }
}

TYPED_TEST(Views, AreSolvedAsMatricesOverRanks) {
  using T = TypeParam;
  const Index n = 90;
  // Positive definite, and with rows and columns of very different sizes.
  const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
    const T entry = i == j ? T(static_cast<Real<T>>(3 * n))
                           : test::RandomEntries<T>{5}(i, j) + conjugate(test::RandomEntries<T>{5}(j, i));
    return entry * T(static_cast<Real<T>>(std::ldexp(1.0, static_cast<int>(i % 9 + j % 9))));
  });
  const HostMatrix<T> B = test::host_random<T>(n, 3, 6);
  for (const SolveMethod method : {SolveMethod::lu, SolveMethod::cholesky}) {
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      const std::string what = message_of(to_string(method), ", ", to_string(arithmetic));
      const SolveOptions options{.method = method,
                                 .factorization = {.arithmetic = arithmetic, .block = 16, .group = 2},
                                 .refinements = 1,
                                 .certificate = true};
      const auto x = this->view(HostMatrix<T>("x", B.extent(0), B.extent(1)));
      const auto X = this->distributed(B);
      const SolveReport one = solve(this->space, this->view(A), this->view(B), x, options);
      const SolveReport other = solve(this->alone, this->distributed(A), this->distributed(B), X, options);
      this->expect_same(x, X, what);
      EXPECT_TRUE(one.equilibrated) << what;
      EXPECT_EQ(one.factorization.pivots, other.factorization.pivots) << what;
      EXPECT_LE(one.componentwise_error, 4 * static_cast<double>(unit_roundoff<T>)) << what;
      EXPECT_LE(one.error_bound, 1e6 * static_cast<double>(unit_roundoff<T>)) << what;
      EXPECT_GT(one.error_bound, 0.0) << what;
    }
  }
  const auto L = this->view(A);
  const auto of_ranks = this->distributed(A);
  ASSERT_EQ(cholesky(this->space, L).info, 0);
  ASSERT_EQ(cholesky(this->alone, of_ranks).info, 0);
  const auto x = this->view(B);
  const auto X = this->distributed(B);
  cholesky_solve(this->space, L, x);
  cholesky_solve(this->alone, of_ranks, X);
  this->expect_same(x, X, "cholesky_solve");
}

// Near the ends of the range matrices are equilibrated, and residuals and sizes are scaled by powers of two.
TYPED_TEST(Views, NearTheEndsOfTheRangeAreSolvedAsMatricesOverRanks) {
  using T = TypeParam;
  using R = Real<T>;
  using Limits = std::numeric_limits<R>;
  const auto unit = static_cast<double>(unit_roundoff<T>);
  const Index n = 20;
  for (const int power : {Limits::max_exponent - 3, Limits::min_exponent - Limits::digits + 30}) {
    const R size = std::ldexp(R(1), power);
    const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
      return (test::RandomEntries<T>{5}(i, j) * T(R(0.25)) + T(R(i == j ? 1 : 0))) * T(size);
    });
    // The last column's solution is far from 1: its residuals are scaled by another power than those of the others.
    const HostMatrix<T> B = test::host_matrix<T>(n, 3, [&](Index i, Index j) {
      return test::RandomEntries<T>{6}(i, j) * T(j < 2 ? size : std::ldexp(R(1), power / 2));
    });
    for (const int refinements : {0, 2}) {
      const std::string what = message_of("2^", power, ", ", refinements, " refinements");
      const SolveOptions options{.factorization = {.block = 4}, .refinements = refinements, .certificate = true};
      const auto x = this->view(HostMatrix<T>("x", B.extent(0), B.extent(1)));
      const auto X = this->distributed(B);
      const SolveReport one = solve(this->space, this->view(A), this->view(B), x, options);
      const SolveReport other = solve(this->alone, this->distributed(A), this->distributed(B), X, options);
      this->expect_same(x, X, what);
      EXPECT_TRUE(one.equilibrated) << what;
      EXPECT_EQ(one.normwise_error, other.normwise_error) << what;
      EXPECT_EQ(one.componentwise_error, other.componentwise_error) << what;
      EXPECT_EQ(one.error_bound, other.error_bound) << what;
      EXPECT_GT(one.normwise_error, 0.0) << what;
      EXPECT_LE(one.normwise_error, (refinements > 0 ? 4.0 : 4.0 * n) * unit) << what;
    }
  }
}

TYPED_TEST(Views, SingularAndEmptyOnesAreReported) {
  using T = TypeParam;
  const Index n = 12;
  const HostMatrix<T> B = test::host_random<T>(n, 2, 1);
  const auto zeros = this->view(HostMatrix<T>("zeros", n, n));
  const auto x = this->view(B);
  EXPECT_EQ(solve(this->space, zeros, this->view(B), x).factorization.info, 1);
  EXPECT_TRUE(same_bits<T>(test::to_host<T>(x), B));
  EXPECT_EQ(inverse(this->space, zeros).info, 1);
  const auto empty = this->view(HostMatrix<T>("empty", 0, 0));
  EXPECT_EQ(solve(this->space, empty, this->view(HostMatrix<T>("none", 0, 3)), this->view(HostMatrix<T>("none", 0, 3)))
                .factorization.info,
            0);
  const LuReport nothing = lu(this->space, empty);
  EXPECT_EQ(condition(this->space, empty, nothing, 0.0), 0.0);
  EXPECT_EQ(determinant(this->space, empty, nothing).exponent, 1);
}

// The Views that a program declares: LayoutLeft, with an execution space or a memory space, and their subviews.
TYPED_TEST(Views, OfAnyLayoutWithColumnsOfStrideOneAreTaken) {
  using T = TypeParam;
  const Index n = 24;
  const HostMatrix<T> A = test::host_random<T>(n, n, 3);
  const HostMatrix<T> B = test::host_random<T>(n, 2, 4);
  const auto solution = this->view(HostMatrix<T>("x", n, 2));
  solve(this->space, this->view(A), this->view(B), solution);
  const auto expect_solution = [&](const auto& x, const char* what) {
    EXPECT_TRUE(same_bits<T>(test::to_host<T>(MatrixView<T>(x)), test::to_host<T>(solution))) << what;
  };

  const Kokkos::View<T**, Kokkos::LayoutLeft, ExecutionSpace> a("A", n, n);
  const LocalMatrix<T> b("B", n, 2);
  Kokkos::deep_copy(a, A);
  Kokkos::deep_copy(b, B);
  const LocalMatrix<T> x("x", n, 2);
  const SolveReport report = solve(this->space, a, b, x);
  EXPECT_EQ(report.factorization.info, 0);
  expect_solution(x, "LayoutLeft");
  const Kokkos::View<const T**, Kokkos::LayoutLeft, MemorySpace> constant = b;
  const LocalMatrix<T> wide("wide", n + 3, 5);
  const auto part = Kokkos::subview(wide, Kokkos::pair<Index, Index>(2, n + 2), Kokkos::pair<Index, Index>(1, 3));
  solve(this->space, a, constant, part);
  expect_solution(part, "subview");

  const auto factored = this->view(A);
  const LuReport of_view = lu(this->space, factored);
  const LuReport factors = lu(this->space, a);
  EXPECT_EQ(factors.pivots, of_view.pivots);
  EXPECT_TRUE(same_bits<T>(test::to_host<T>(MatrixView<T>(a)), test::to_host<T>(factored)));
  EXPECT_EQ(condition(this->space, a, factors, 2.0), condition(this->space, factored, of_view, 2.0));
  EXPECT_EQ(determinant(this->space, a, factors).mantissa, determinant(this->space, factored, of_view).mantissa);
  Kokkos::deep_copy(x, B);
  const auto expected = this->view(B);
  lu_solve(this->space, Operation::none, a, factors, x);
  lu_solve(this->space, Operation::none, factored, of_view, expected);
  EXPECT_TRUE(same_bits<T>(test::to_host<T>(MatrixView<T>(x)), test::to_host<T>(expected)));
  Kokkos::deep_copy(a, A);
  const auto inverted = this->view(A);
  EXPECT_EQ(inverse(this->space, a).info, inverse(this->space, inverted).info);
  EXPECT_TRUE(same_bits<T>(test::to_host<T>(MatrixView<T>(a)), test::to_host<T>(inverted)));
  EXPECT_EQ(determinant(this->space, a).mantissa, determinant(this->space, inverted).mantissa);

  const Kokkos::View<T**, Kokkos::LayoutRight, MemorySpace> by_rows("by rows", n, n);
  const std::string why = test::refusal_of([&] { lu(this->space, by_rows); });
  EXPECT_NE(why.find("expected a column-major matrix"), std::string::npos) << why;
}

TYPED_TEST(Views, OfOtherStridesAreRefusedInOneLine) {
  using T = TypeParam;
  const LocalMatrix<T> memory("memory", 40, 40);
  const auto spread = [&](Index rows, Index columns, Index down, Index along) {
    return MatrixView<T>(memory.data(),
                         Kokkos::LayoutStride(static_cast<std::size_t>(rows), static_cast<std::size_t>(down),
                                              static_cast<std::size_t>(columns), static_cast<std::size_t>(along)));
  };
  const MatrixView<T> by_rows = spread(6, 6, 40, 1);
  const MatrixView<T> every_other = spread(6, 6, 2, 40);
  const MatrixView<T> overlapping = spread(6, 6, 1, 3);
  const MatrixView<T> good = spread(6, 6, 1, 40);
  const LuReport pivots{{}, {0, 1, 2, 3, 4, 5}, 1.0};
  const auto lower = Triangle::lower;
  const auto none = Operation::none;
  const auto stored = Diagonal::stored;
  EXPECT_EQ(test::refusal_of([&] { lu(this->space, by_rows); }),
            "lu: A is 6 x 6 with strides 40 and 1; expected a column-major matrix, with strides 1 and 6 or more");
  for (const MatrixView<T>& bad : {by_rows, every_other, overlapping}) {
    const auto refused = [&](const std::string& of, const auto& call) {
      const std::string why = test::refusal_of(call);
      EXPECT_EQ(why.rfind(of, 0), 0U) << why;
      EXPECT_NE(why.find("expected a column-major matrix"), std::string::npos) << why;
      EXPECT_EQ(why.find('\n'), std::string::npos) << why;
    };
    refused("lu: A", [&] { lu(this->space, bad); });
    refused("cholesky: A", [&] { cholesky(this->space, bad); });
    refused("cholesky_solve: L", [&] { cholesky_solve(this->space, bad, good); });
    refused("cholesky_solve: X", [&] { cholesky_solve(this->space, good, bad); });
    refused("trsm: M", [&] { trsm(this->space, lower, none, stored, bad, good); });
    refused("trsm: X", [&] { trsm(this->space, lower, none, stored, good, bad); });
    refused("lu_solve: LU", [&] { lu_solve(this->space, none, bad, pivots, good); });
    refused("lu_solve: X", [&] { lu_solve(this->space, none, good, pivots, bad); });
    refused("solve: A", [&] { solve(this->space, bad, good, good); });
    refused("solve: B", [&] { solve(this->space, good, bad, good); });
    refused("solve: X", [&] { solve(this->space, good, good, bad); });
    refused("inverse: A", [&] { inverse(this->space, bad); });
    refused("condition: LU", [&] { static_cast<void>(condition(this->space, bad, pivots, 1.0)); });
    refused("determinant: LU", [&] { static_cast<void>(determinant(this->space, bad, pivots)); });
  }
  // Strides are not checked between single columns, nor within columns of one row.
  EXPECT_EQ(lu(this->space, spread(6, 1, 1, 1)).pivots.size(), 1U);
  EXPECT_EQ(lu(this->space, spread(1, 6, 5, 7)).pivots.size(), 1U);
  // Shapes that don't fit.
  const MatrixView<T> wide = spread(3, 4, 1, 40);
  EXPECT_EQ(test::refusal_of([&] { solve(this->space, wide, good, good); }),
            "solve: A is 3 x 4; expected a square matrix");
  EXPECT_EQ(test::refusal_of([&] { trsm(this->space, lower, none, stored, good, wide); }),
            "trsm: X has 3 rows; expected 6");
  EXPECT_EQ(test::refusal_of([&] { lu_solve(this->space, none, good, LuReport{}, good); }),
            "lu_solve: 0 pivots; expected 6");
}

}  // namespace
}  // namespace heddle::views_test
