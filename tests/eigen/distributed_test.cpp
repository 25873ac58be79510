// Eigensystems distributed over ranks against those of one rank.
#include "eigen/problems.hpp"
#include "support/errors.hpp"
#include <heddle/eigen/distributed.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace heddle::eigen::distributed_test {
namespace {

using Kokkos::complex;

template <Scalar T> struct HermitianEntries {
  int seed;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    const test::RandomEntries<T> entry{seed};
    if constexpr (is_complex<T>) {
      return i == j ? T(entry(i, i).real()) : i < j ? entry(i, j) : Kokkos::conj(entry(j, i));
    } else {
      return i <= j ? entry(i, j) : entry(j, i);
    }
  }
};

template <class T> class DistributedJacobi : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(DistributedJacobi, Types);

TYPED_TEST(DistributedJacobi, SolvesAnyPlacement) {
  using R = Real<TypeParam>;
  const Communicator comm = test::world();
  const int ranks = comm.size();
  for (const Index n : {1, 2, 9, 40, 130, 201}) {
    for (const int kind : {0, 1, 2}) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", placement " + std::to_string(kind));
      const Placement place = kind == 0   ? Placement::row_bands(n, n, ranks)
                              : kind == 1 ? Placement::on_rank(n, n, ranks - 1)
                                          : Placement::block_cyclic(n, n, 7, 5, 1, ranks);
      const DistributedMatrix<TypeParam> A(comm, place, "A");
      fill(A, HermitianEntries<TypeParam>{3});
      const DistributedMatrix<TypeParam> V(comm, Placement::row_bands(n, n, ranks), "V");
      const Kokkos::View<R*, MemorySpace> w("w", static_cast<std::size_t>(n));
      const JacobiReport report = jacobi<TypeParam>(comm, A, w, V, {.block = kind == 1 ? 8 : 0});
      EXPECT_TRUE(report.converged);
      const auto values = to_host(w);
      // The same on every rank.
      std::vector<double> mine;
      for (Index i = 0; i < n; ++i) {
        mine.push_back(static_cast<double>(values(i)));
      }
      std::vector<double> of_rank_0 = mine;
      comm.broadcast(std::span<double>(of_rank_0), 0);
      EXPECT_EQ(mine, of_rank_0);
      const HostMatrix<TypeParam> whole = gather(A, 0);
      const HostMatrix<TypeParam> vectors = gather(V, 0);
      if (comm.rank() == 0) {
        EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
        const Quality found = quality<TypeParam>(whole, vectors, mine);
        EXPECT_LE(found.residual, 10);
        EXPECT_LE(found.orthogonality, 10);
        // The eigenvalues of one rank, to the bounds of both.
        const Kokkos::View<R*, MemorySpace> alone("alone", static_cast<std::size_t>(n));
        EXPECT_TRUE(jacobi_values(comm.space(), to_device<TypeParam>(whole), alone).converged);
        const auto expected = to_host(alone);
        const double norm = std::max(std::abs(mine.front()), std::abs(mine.back()));
        for (Index i = 0; i < n; ++i) {
          EXPECT_LE(std::abs(mine[static_cast<std::size_t>(i)] - static_cast<double>(expected(i))),
                    20 * static_cast<double>(n) * static_cast<double>(unit_roundoff<TypeParam>) * norm);
        }
      }
    }
  }
}

TEST(DistributedJacobiEnds, LeavesDiagonalMatricesAsTheyAre) {
  const Communicator comm = test::world();
  const Index n = 50;
  const DistributedMatrix<double> A(comm, Placement::column_bands(n, n, comm.size()), "A");
  fill(A, 0.0);
  const DistributedMatrix<double> V(comm, Placement::column_bands(n, n, comm.size()), "V");
  for (const double corner : {0.0, 3.0}) {
    if (corner != 0) {
      add_identity(corner, A);
    }
    const Kokkos::View<double*, MemorySpace> w("w", static_cast<std::size_t>(n));
    const JacobiReport report = jacobi<double>(comm, A, w, V);
    EXPECT_TRUE(report.converged);
    EXPECT_EQ(report.end, JacobiEnd::diagonal);
    const auto values = to_host(w);
    for (Index i = 0; i < n; ++i) {
      EXPECT_EQ(values(i), corner);
    }
    EXPECT_EQ(trace(V), 50.0);
  }
}

TEST(DistributedJacobiEnds, SaysWhatStoppedIt) {
  const Communicator comm = test::world();
  const Index n = 100;
  const Placement bands = Placement::row_bands(n, n, comm.size());
  const DistributedMatrix<double> A(comm, bands, "A");
  fill(A, HermitianEntries<double>{5});
  const DistributedMatrix<double> V(comm, bands, "V");
  const Kokkos::View<double*, MemorySpace> w("w", static_cast<std::size_t>(n));
  const JacobiReport report = jacobi<double>(comm, A, w, V, {.sweeps = 2});
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.end, JacobiEnd::sweep_limit);
  EXPECT_EQ(report.off_norms.size(), 2U);
}

TEST(DistributedJacobiEnds, RefusesWhatDoesNotFit) {
  const Communicator comm = test::world();
  const Index n = 30;
  const Placement bands = Placement::row_bands(n, n, comm.size());
  const DistributedMatrix<double> A(comm, bands, "A");
  fill(A, HermitianEntries<double>{5});
  const DistributedMatrix<double> V(comm, bands, "V");
  const DistributedMatrix<double> small(comm, Placement::row_bands(n, n - 1, comm.size()), "small");
  const Kokkos::View<double*, MemorySpace> w("w", static_cast<std::size_t>(n));
  const auto refused = [&](const auto& call, const std::string& part) {
    test::expect_refusal(ErrorKind::argument, part, call);
  };
  refused([&] { static_cast<void>(jacobi<double>(comm, small, w, V)); }, "square");
  refused([&] { static_cast<void>(jacobi<double>(comm, A, w, small)); }, "30 x 29");
  refused([&] { static_cast<void>(jacobi<double>(comm, A, w, V, {.method = JacobiMethod::cyclic})); }, "cyclic");
  refused([&] { static_cast<void>(jacobi<double>(comm, A, w, V, {.accuracy = JacobiAccuracy::relative})); },
          "relative");
  refused([&] { static_cast<void>(jacobi<double>(comm, A, w, V, {.warm_start = true})); }, "warm start");
  test::fill_ones_but<double>(A, 3, 4, std::numeric_limits<double>::quiet_NaN());
  refused([&] { static_cast<void>(jacobi<double>(comm, A, w, V)); }, "NaN");
}

}  // namespace
}  // namespace heddle::eigen::distributed_test
