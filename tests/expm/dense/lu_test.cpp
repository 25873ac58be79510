// Linear systems over the ranks: residuals, known solutions, and the same bits as on one rank.
#include "expm/dense/pade.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace heddle::lu_test {
namespace {

using impl::SystemSolver;

// Largest |Q X - P| in a column relative to (n + 4) u max |Q| |X|, which partial pivoting keeps small (Higham 2002,
// 9.3).
template <Scalar T> double relative_residual(const HostMatrix<T>& Q, const HostMatrix<T>& X, const HostMatrix<T>& P) {
  using Wide = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
  const std::size_t n = Q.extent(0);
  double largest = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    double of_column = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      Wide sum(P(i, j));
      double sizes = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        sum -= Wide(Q(i, k)) * Wide(X(k, j));
        sizes += Kokkos::abs(Wide(Q(i, k))) * Kokkos::abs(Wide(X(k, j)));
      }
      of_column = std::max(of_column, static_cast<double>(Kokkos::abs(sum)));
      size = std::max(size, sizes);
    }
    largest =
        std::max(largest, of_column / (static_cast<double>(n + 4) * static_cast<double>(unit_roundoff<T>) * size));
  }
  return largest;
}

// Row i has one element, in column (5 i + 3) mod n: the diagonal has no pivots.
template <Scalar T> struct Permuted {
  Index n;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const { return j == (5 * i + 3) % n ? T(-2) : T(0); }
};

// Its row and column `bad` are zero.
template <Scalar T> struct Singular {
  Index bad;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    return i == bad || j == bad ? T(0) : test::RandomEntries<T>{3}(i, j) + (i == j ? T(8) : T(0));
  }
};

template <class T> class Lu : public ::testing::Test {
 protected:
  Communicator comm = test::world();
};
TYPED_TEST_SUITE(Lu, test::AllScalars);

TYPED_TEST(Lu, SolvesRandomSystems) {
  using T = TypeParam;
  for (const Index n : {1, 2, 17, 63, 64, 65, 128, 200, 300}) {
    SystemSolver<T> solver(this->comm, n);
    for (const Placement& placement : {Placement::row_bands(n, n, this->comm.size()), solver.placement()}) {
      SCOPED_TRACE(placement.describe());
      const auto Q = test::random_matrix<T>(this->comm, placement, 1);
      const auto P = test::random_matrix<T>(this->comm, placement, 2);
      const HostMatrix<T> q = gather(Q, 0);
      const HostMatrix<T> p = gather(P, 0);
      solver.solve(Q, P);
      const HostMatrix<T> x = gather(P, 0);
      if (this->comm.rank() == 0) {
        EXPECT_LE(relative_residual<T>(q, x, p), 1.0);
      }
    }
  }
}

TYPED_TEST(Lu, PivotsWhereTheDiagonalIsZero) {
  using T = TypeParam;
  const Index n = 131;
  const Placement bands = Placement::row_bands(n, n, this->comm.size());
  const DistributedMatrix<T> Q(this->comm, bands);
  fill(Q, Permuted<T>{n});
  const auto P = test::random_matrix<T>(this->comm, bands, 4);
  const HostMatrix<T> p = gather(P, 0);
  SystemSolver<T>(this->comm, n).solve(Q, P);
  const HostMatrix<T> x = gather(P, 0);
  for (Index j = 0; j < static_cast<Index>(x.extent(1)); ++j) {
    for (Index i = 0; i < n; ++i) {
      ASSERT_EQ(x((5 * i + 3) % n, j), p(i, j) / T(-2)) << i << ", " << j;
    }
  }
}

TYPED_TEST(Lu, BitsAreThoseOfOneRank) {
  using T = TypeParam;
  const Communicator alone(MPI_COMM_SELF);
  for (const Index n : {65, 270, 517}) {
    const auto solution = [&](const Communicator& ranks) {
      const Placement bands = Placement::row_bands(n, n, ranks.size());
      const auto Q = test::random_matrix<T>(ranks, bands, 5);
      const auto P = test::random_matrix<T>(ranks, bands, 6);
      SystemSolver<T>(ranks, n).solve(Q, P);
      return gather(P, 0);
    };
    const HostMatrix<T> found = solution(this->comm);
    const HostMatrix<T> expected = solution(alone);
    if (this->comm.rank() == 0) {
      EXPECT_TRUE(test::same_bits(found, expected)) << n;
    }
  }
}

TYPED_TEST(Lu, AgainGivesTheSame) {
  using T = TypeParam;
  const Index n = 140;
  SystemSolver<T> solver(this->comm, n);
  const auto solution = [&](int seed) {
    const auto Q = test::random_matrix<T>(this->comm, solver.placement(), seed);
    const auto P = test::random_matrix<T>(this->comm, Placement::on_rank(n, n, this->comm.size() - 1), seed + 1);
    solver.solve(Q, P);
    return gather(P, 0);
  };
  const HostMatrix<T> first = solution(7);
  const HostMatrix<T> other = solution(9);
  EXPECT_TRUE(test::same_bits(solution(7), first));
  EXPECT_TRUE(this->comm.rank() != 0 || !test::same_bits(other, first));
}

TYPED_TEST(Lu, ASingularMatrixIsEveryRanksError) {
  using T = TypeParam;
  const Index n = 150;
  for (const Index bad : {0, 70, 149}) {
    const Placement bands = Placement::row_bands(n, n, this->comm.size());
    const DistributedMatrix<T> Q(this->comm, bands);
    fill(Q, Singular<T>{bad});
    const auto P = test::random_matrix<T>(this->comm, bands, 8);
    SystemSolver<T> solver(this->comm, n);
    SCOPED_TRACE(::testing::Message() << "zero column " << bad);
    test::expect_refusal(ErrorKind::computation, "singular", [&] { solver.solve(Q, P); });
    // The solver remains usable.
    const auto good = test::random_matrix<T>(this->comm, bands, 9);
    const auto right = test::random_matrix<T>(this->comm, bands, 9);
    solver.solve(good, right);
    add_identity(T(-1), right);
    EXPECT_LE(norm(right, Norm::maximum), 1e6 * unit_roundoff<T>);
  }
}

TYPED_TEST(Lu, TakesNoRowsAndRefusesOtherShapes) {
  using T = TypeParam;
  const DistributedMatrix<T> none(this->comm, Placement::row_bands(0, 0, this->comm.size()));
  EXPECT_NO_THROW(SystemSolver<T>(this->comm, 0).solve(none, none));
  const DistributedMatrix<T> square(this->comm, Placement::row_bands(4, 4, this->comm.size()));
  const DistributedMatrix<T> wide(this->comm, Placement::row_bands(4, 5, this->comm.size()));
  SystemSolver<T> solver(this->comm, 4);
  test::expect_refusal(ErrorKind::argument, "LU: P is 4 x 5; expected 4 x 4", [&] { solver.solve(square, wide); });
  test::expect_refusal(ErrorKind::argument, "LU: Q is 4 x 5; expected 4 x 4", [&] { solver.solve(wide, square); });
}

}  // namespace
}  // namespace heddle::lu_test
