// Tests that factors and triangular systems over ranks have the bits of one rank.
#include "exact/lu/row_moves.hpp"
#include "matrices.hpp"
#include "support/errors.hpp"
#include <heddle/exact/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace heddle::exact::distributed_lu_test {
namespace {

using Kokkos::complex;

template <class T>
DistributedMatrix<T> spread(const Communicator& comm, const Placement& placement, const Matrix<T>& A) {
  const DistributedMatrix<T> distributed(comm, placement);
  const auto local = Kokkos::create_mirror_view(distributed.local());
  for (Index j = 0; j < static_cast<Index>(local.extent(1)); ++j) {
    for (Index i = 0; i < static_cast<Index>(local.extent(0)); ++i) {
      local(i, j) = A.host(distributed.global_row(i), distributed.global_column(j));
    }
  }
  Kokkos::deep_copy(distributed.local(), local);
  return distributed;
}
// Returns the first difference between this rank's part and the whole matrix.
template <class T> std::string differences(const DistributedMatrix<T>& found, const Matrix<T>& expected) {
  const auto local = Kokkos::create_mirror_view(found.local());
  Kokkos::deep_copy(local, found.local());
  for (Index j = 0; j < static_cast<Index>(local.extent(1)); ++j) {
    for (Index i = 0; i < static_cast<Index>(local.extent(0)); ++i) {
      const Index row = found.global_row(i);
      const Index column = found.global_column(j);
      const std::string is = text_of(local(i, j));
      const std::string ought = text_of(expected.host(row, column));
      if (is != ought) {
        return std::to_string(row) + ", " + std::to_string(column) + ": " + is + " instead of " + ought;
      }
    }
  }
  return "";
}
std::vector<Placement> placements(const Communicator& comm, Index m, Index n) {
  const int last = comm.size() - 1;
  return {Placement::row_bands(m, n, comm.size()), Placement::on_rank(m, n, last),
          placement_from("cyclic:5x3", m, n, comm.size()),
          Placement::block_cyclic(m, n, m, 16, 1, comm.size()).begun_at(0, last)};
}

template <class T> class ExactFactorsOverRanks : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(ExactFactorsOverRanks, Types);

template <class T> void check_lu(const Communicator& comm, const Matrix<T>& A, const std::string& what) {
  const auto m = static_cast<Index>(A.host.extent(0));
  const auto n = static_cast<Index>(A.host.extent(1));
  Matrix<T> expected(A.host.extent(0), A.host.extent(1));
  Kokkos::deep_copy(expected.device, A.host);
  const LuResult whole = lu(ExecutionSpace(), expected.device);
  expected.read();
  int block = 0;
  for (const Placement& placement : placements(comm, m, n)) {
    const DistributedMatrix<T> distributed = spread(comm, placement, A);
    const LuResult result = lu(comm, distributed, {.block = block});
    EXPECT_EQ(result.pivots, whole.pivots) << what << ", block " << block;
    EXPECT_EQ(result.info, whole.info) << what << ", block " << block;
    EXPECT_EQ(differences(distributed, expected), "") << what << ", block " << block << ", " << placement.describe();
    // Blocks of 16 columns are factored in the last placement.
    block = block == 0 ? 1 : block == 1 ? 7 : 16;
  }
}

TYPED_TEST(ExactFactorsOverRanks, LuIsThatOfOneRank) {
  using T = TypeParam;
  const Communicator comm(MPI_COMM_WORLD);
  std::mt19937_64 random(11);
  for (const auto& [m, n] : {std::array<std::size_t, 2>{1, 1}, {5, 3}, {3, 5}, {75, 75}, {90, 40}, {40, 90}}) {
    // Equal columns cancel in the second one; denormal numbers need many exact sums.
    for (const Data data : {Data::tame, Data::spread, Data::cancelling, Data::denormal}) {
      Matrix<T> A(m, n);
      A.fill(random, data);
      check_lu(comm, A,
               std::to_string(m) + " x " + std::to_string(n) + ", data " + std::to_string(static_cast<int>(data)));
    }
  }
}

TYPED_TEST(ExactFactorsOverRanks, LuOfSingularMatricesTiesAndWhatIsNoNumber) {
  using T = TypeParam;
  const Communicator comm(MPI_COMM_WORLD);
  std::mt19937_64 random(12);
  Matrix<T> A(40, 40);
  A.fill(random, Data::tame);
  for (std::size_t i = 0; i < 40; ++i) {
    A.host(i, 21) = T(0);
    A.host(i, 33) = T(0);
  }
  check_lu(comm, A, "singular");
  for (std::size_t j = 0; j < 40; ++j) {
    for (std::size_t i = 0; i < 40; ++i) {
      A.host(i, j) = T(static_cast<Real<T>>((i * 7 + j * 5) % 3) - Real<T>(1));
    }
  }
  check_lu(comm, A, "ties");
  A.fill(random, Data::tame);
  A.host(8, 19) = T(std::numeric_limits<Real<T>>::quiet_NaN());
  A.host(30, 2) = T(std::numeric_limits<Real<T>>::infinity());
  check_lu(comm, A, "not finite");
  check_lu(comm, Matrix<T>(6, 6), "zeros");
  const DistributedMatrix<T> none(comm, Placement::row_bands(0, 5, comm.size()));
  EXPECT_TRUE(lu(comm, none).pivots.empty());
}

TYPED_TEST(ExactFactorsOverRanks, TriangularSystemsAreThoseOfOneRank) {
  using T = TypeParam;
  const Communicator comm(MPI_COMM_WORLD);
  std::mt19937_64 random(13);
  for (const Index n : {Index{1}, Index{20}, Index{150}, Index{201}}) {
    for (const Data data : {Data::tame, Data::spread, Data::cancelling}) {
      Matrix<T> A(static_cast<std::size_t>(n), static_cast<std::size_t>(n));
      A.fill(random, data);
      for (Index i = 0; i < n; ++i) {
        A.host(i, i) += T(Real<T>(4));
      }
      Kokkos::deep_copy(A.device, A.host);
      std::vector<T> b(static_cast<std::size_t>(n));
      for (T& value : b) {
        value = number<T>(random, data);
      }
      int turn = 0;
      const std::vector<Placement> ways = placements(comm, n, n);
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        for (const Operation op : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
          const Diagonal diagonal = turn % 2 == 0 ? Diagonal::stored : Diagonal::unit;
          const int refinements = turn % 3;
          const Placement& placement = ways[static_cast<std::size_t>(turn) % ways.size()];
          ++turn;
          const Kokkos::View<T*, MemorySpace> x("heddle::test::x", b.size());
          Kokkos::deep_copy(x, Kokkos::View<const T*, Kokkos::HostSpace>(b.data(), b.size()));
          trsv(ExecutionSpace(), triangle, op, diagonal, A.device, x, refinements);
          const auto expected = Kokkos::create_mirror_view(x);
          Kokkos::deep_copy(expected, x);
          std::vector<T> found = b;
          trsv<T>(comm, triangle, op, diagonal, spread(comm, placement, A), found, refinements);
          for (std::size_t i = 0; i < found.size(); ++i) {
            ASSERT_EQ(text_of(found[i]), text_of(expected(i)))
                << i << " of " << n << ", turn " << turn << ", " << placement.describe();
          }
        }
      }
    }
  }
}

TEST(ExactFactorsOverRanks, RefuseWhatTheyCannotDo) {
  const Communicator comm(MPI_COMM_WORLD);
  const DistributedMatrix<double> A(comm, Placement::row_bands(4, 3, comm.size()));
  std::vector<double> x(3);
  test::expect_refusal(ErrorKind::argument, "exact::trsv: A is 4 x 3, x has 3 elements",
                       [&] { trsv<double>(comm, Triangle::lower, Operation::none, Diagonal::unit, A, x); });
  const DistributedMatrix<double> square(comm, Placement::row_bands(3, 3, comm.size()));
  test::expect_refusal(ErrorKind::argument, "exact::trsv: -1 refinements",
                       [&] { trsv<double>(comm, Triangle::lower, Operation::none, Diagonal::unit, square, x, -1); });
  test::expect_refusal(ErrorKind::argument, "exact::lu: blocks of -2 columns",
                       [&] { static_cast<void>(lu(comm, A, {.block = -2})); });
  test::expect_refusal(ErrorKind::argument, "exact::lu: the algorithm plain is for one rank",
                       [&] { static_cast<void>(lu(comm, A, {.algorithm = Algorithm::plain})); });
  if (comm.size() > 1) {
    test::expect_refusal(ErrorKind::argument, "block",
                         [&] { static_cast<void>(lu(comm, A, {.block = 1 + comm.rank()})); });
  }
}

TEST(ExactRowMoves, AreWhatInterchangesComeTo) {
  std::mt19937_64 random(14);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Index rows = 1 + static_cast<Index>(random() % 12);
    const Index row = static_cast<Index>(random() % static_cast<unsigned>(rows));
    std::vector<Index> pivots;
    std::vector<Index> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), Index{0});
    for (Index i = row; i < rows && pivots.size() < 5; ++i) {
      pivots.push_back(i + static_cast<Index>(random() % static_cast<unsigned>(rows - i)));
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(pivots.back())]);
    }
    const std::vector<impl::RowMove> moves = impl::moves_of(row, pivots);
    EXPECT_LE(moves.size(), 2 * pivots.size());
    std::vector<Index> moved(order.size());
    std::iota(moved.begin(), moved.end(), Index{0});
    for (const impl::RowMove& move : moves) {
      EXPECT_NE(move.target, move.source);
      moved[static_cast<std::size_t>(move.target)] = move.source;
    }
    EXPECT_EQ(moved, order);
  }
}

}  // namespace
}  // namespace heddle::exact::distributed_lu_test
