// More than 2^31 elements on one rank, which another needs: they travel in many messages, between two nodes.
#include "large/available.hpp"
#include "support/matrices.hpp"
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

namespace heddle {
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

float expected(Index i, Index j) {
  // All products of one period, and those of the columns that are left over.
  static_assert(edge % period == 0);
  float sum = 0.0F;
  for (Index k = 0; k < period; ++k) sum += OfA()(i, k) * OfB()(k, j);
  return sum * static_cast<float>(edge / period);
}

TEST(LargeRanks, AnOperandOfOneRankTravels) {
  const Communicator comm = test::world();
  const bool has_memory = comm.all_reduce(test::available() >= (12LL << 20) ? 1 : 0, Reduction::minimum) != 0;
  if (!has_memory) GTEST_SKIP() << "12 GiB of memory are not to be had";
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

}  // namespace
}  // namespace heddle
