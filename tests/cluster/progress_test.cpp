// Bands that arrive from another node while a rank computes a tile, and not only between tiles.
#include "support/matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::progress_test {
namespace {

// Receives that ended strictly inside of a product.
int arrived_during_products(const Timeline& timeline) {
  return static_cast<int>(std::count_if(timeline.begin(), timeline.end(), [&](const TimelineInterval& received) {
    return received.kind == TimelineKind::receive &&
           std::any_of(timeline.begin(), timeline.end(), [&](const TimelineInterval& product) {
             return product.kind == TimelineKind::product && product.begin < received.end && received.end < product.end;
           });
  }));
}

TEST(Progress, BandsArriveWhileTilesAreComputed) {
  const Communicator comm = test::world();
  ASSERT_EQ(comm.nodes(), comm.size());
  if constexpr (!test::on_host) {
    GTEST_SKIP() << "a GPU's copy engines work on beside products";
  }
  // Some tens of milliseconds a tile, and bands of several megabytes.
  const Index n = 1600;
  const auto A = test::random_matrix<double>(comm, Placement::row_bands(n, n, comm.size()), 1);
  const auto B = test::random_matrix<double>(comm, Placement::column_bands(n, n, comm.size()), 2);
  const DistributedMatrix<double> C(comm, Placement::row_bands(n, n, comm.size()));
  const GemmOptions options{.tile = 200, .grid = {comm.size(), 1}, .record_timeline = true};
  GemmPlan<double> plan(comm, Operation::none, A.placement(), Operation::none, B.placement(), C.placement(), options);
  int arrived = 0;
  // A tile may be over before the thread has had a core.
  for (int round = 0; round < 20 && arrived == 0; ++round) {
    plan.execute(1.0, A, B, 0.0, C);
    arrived = comm.all_reduce(arrived_during_products(plan.timeline()), Reduction::sum);
  }
  EXPECT_GT(arrived, 0);
}

}  // namespace
}  // namespace heddle::progress_test
