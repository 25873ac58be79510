// More than 2^31 elements on one rank, which another needs: they travel in many messages, between two nodes.
#include "large/available.hpp"
#include "support/matrices.hpp"
#include <heddle/gemm/gemm.hpp>
#include <heddle/transpose/distributed.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heddle::ranks_test {
namespace {

constexpr Index edge = 46400;
static_assert(edge * edge > (Index{1} << 31));
constexpr Index width = 3;
constexpr Index period = 5;

// Whole numbers, whose sums float holds, with a pattern that every shift of a row or a column changes.
struct OfA {
  KOKKOS_FUNCTION float operator()(Index i, Index j) const { return static_cast<float>((7 * i + 3 * j) % period); }
};
struct OfB {
  KOKKOS_FUNCTION float operator()(Index i, Index j) const { return static_cast<float>((i + j) % period - 1); }
};
// Product of A's first columns and B's first rows.
struct OfThinProduct {
  KOKKOS_FUNCTION float operator()(Index i, Index j) const {
    float sum = 0.0F;
    for (Index k = 0; k < width; ++k) sum += OfA()(i, k) * OfB()(k, j);
    return sum;
  }
};
struct OfTransposedA {
  KOKKOS_FUNCTION float operator()(Index i, Index j) const { return OfA()(j, i); }
};

float expected(Index i, Index j) {
  // All products of one period, and those of the columns that are left over.
  static_assert(edge % period == 0);
  float sum = 0.0F;
  for (Index k = 0; k < period; ++k) sum += OfA()(i, k) * OfB()(k, j);
  return sum * static_cast<float>(edge / period);
}

// Number of elements that are not value(i, j), on the rank that has the whole matrix.
template <class Value> Index wrong_elements(const DistributedMatrix<float>& C, const Value& value) {
  const auto local = C.local();
  const auto rows = static_cast<Index>(local.extent(0));
  Index wrong = 0;
  Kokkos::parallel_reduce(
      "heddle::test::wrong",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(C.communicator().space(), 0,
                                                                    static_cast<Index>(local.extent(1))),
      KOKKOS_LAMBDA(Index j, Index & sum) {
        for (Index i = 0; i < rows; ++i) sum += local(i, j) == value(i, j) ? 0 : 1;
      },
      wrong);
  return wrong;
}

// Why a test can't run, on every rank alike; empty where it can.
std::string missing_memory(const Communicator& comm, long long gibibytes) {
  const bool has = comm.all_reduce(test::available() >= (gibibytes << 20) ? 1 : 0, Reduction::minimum) != 0;
  return has ? "" : std::to_string(gibibytes) + " GiB of memory are not to be had";
}

TEST(LargeRanks, AnOperandOfOneRankTravels) {
  const Communicator comm = test::world();
  if (const std::string why = missing_memory(comm, 12); !why.empty()) GTEST_SKIP() << why;
  const DistributedMatrix<float> A(comm, Placement::on_rank(edge, edge, 0));
  const DistributedMatrix<float> B(comm, Placement::row_bands(edge, width, comm.size()));
  const DistributedMatrix<float> C(comm, Placement::row_bands(edge, width, comm.size()));
  fill(A, OfA());
  fill(B, OfB());
  const GemmReport report = gemm<float>(comm, Operation::none, Operation::none, 1.0F, A, B, 0.0F, C, {.tile = 1000});
  const HostMatrix<float> all = gather(C, 0);
  if (comm.rank() != 0) return;
  Index wrong = 0;
  for (Index j = 0; j < width; ++j) {
    for (Index i = 0; i < edge; ++i) wrong += all(i, j) == expected(i, j) ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
  // Half of A, to the other rank.
  EXPECT_GT(report.bytes_between_nodes, 1.9e9 * sizeof(float) / 2);
}

TEST(LargeRanks, TheSecondOperandOfOneRankTravels) {
  const Communicator comm = test::world();
  if (const std::string why = missing_memory(comm, 12); !why.empty()) GTEST_SKIP() << why;
  const DistributedMatrix<float> A(comm, Placement::column_bands(width, edge, comm.size()));
  const DistributedMatrix<float> B(comm, Placement::on_rank(edge, edge, 0));
  const DistributedMatrix<float> C(comm, Placement::column_bands(width, edge, comm.size()));
  fill(A, OfA());
  fill(B, OfB());
  const GemmReport report = gemm<float>(comm, Operation::none, Operation::none, 1.0F, A, B, 0.0F, C,
                                        {.tile = 1000, .grid = {1, comm.size()}});
  const HostMatrix<float> all = gather(C, 0);
  if (comm.rank() != 0) return;
  Index wrong = 0;
  for (Index j = 0; j < edge; ++j) {
    for (Index i = 0; i < width; ++i) wrong += all(i, j) == expected(i, j) ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(report.bytes_between_nodes, 1.9e9 * sizeof(float) / 2);
}

TEST(LargeRanks, AResultOfOneRankComesHome) {
  const Communicator comm = test::world();
  if (const std::string why = missing_memory(comm, 12); !why.empty()) GTEST_SKIP() << why;
  const DistributedMatrix<float> A(comm, Placement::row_bands(edge, width, comm.size()));
  const DistributedMatrix<float> B(comm, Placement::column_bands(width, edge, comm.size()));
  const DistributedMatrix<float> C(comm, Placement::on_rank(edge, edge, 1));
  fill(A, OfA());
  fill(B, OfB());
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    SCOPED_TRACE(std::string(to_string(arithmetic)));
    fill(C, -1.0F);
    const GemmReport report = gemm<float>(comm, Operation::none, Operation::none, 1.0F, A, B, 0.0F, C,
                                          {.tile = 2000, .arithmetic = arithmetic});
    if (comm.rank() == 1) {
      EXPECT_EQ(wrong_elements(C, OfThinProduct()), 0);
    }
    EXPECT_GT(report.bytes_between_nodes, 1.9e9 * sizeof(float) / 2);
  }
}

TEST(LargeRanks, AMatrixMovesToAnotherRankAsItIsAndTransposed) {
  const Communicator comm = test::world();
  if (const std::string why = missing_memory(comm, 19); !why.empty()) GTEST_SKIP() << why;
  const DistributedMatrix<float> A(comm, Placement::on_rank(edge, edge, 0));
  const DistributedMatrix<float> B(comm, Placement::on_rank(edge, edge, 1));
  fill(A, OfA());
  redistribute(A, B);
  if (comm.rank() == 1) {
    EXPECT_EQ(wrong_elements(B, OfA()), 0);
  }
  transpose<float>(comm, 1.0F, A, Operation::transpose, B);
  if (comm.rank() == 1) {
    EXPECT_EQ(wrong_elements(B, OfTransposedA()), 0);
  }
}

}  // namespace
}  // namespace heddle::ranks_test
