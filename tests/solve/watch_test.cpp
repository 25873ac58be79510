// Progress and timelines of factorizations.
#include "solve/grid/watch.hpp"

#include "support/matrices.hpp"
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace heddle::watch_test {
namespace {

class Watched : public ::testing::Test {
 protected:
  Communicator comm = test::world();
  static constexpr Index order = 150;
  static constexpr Index panels = 10;
  std::vector<double> shares;
  FactorOptions options{
      .block = 16, .group = 2, .record_timeline = true, .progress = [this](double share) { shares.push_back(share); }};
  [[nodiscard]] DistributedMatrix<double> positive() const {
    const auto A = test::random_matrix<double>(comm, Placement::row_bands(order, order, comm.size()), 1);
    add_identity(4.0 * static_cast<double>(order), A);
    return A;
  }
  // Count over all ranks.
  [[nodiscard]] int count(const Timeline& timeline, TimelineKind kind, int lane) const {
    const auto mine = std::count_if(timeline.begin(), timeline.end(), [&](const TimelineInterval& interval) {
      return interval.kind == kind && interval.lane == lane;
    });
    return comm.all_reduce(static_cast<int>(mine), Reduction::sum);
  }
  void expect_whole(const FactorizationReport& report) {
    ASSERT_EQ(shares.size(), static_cast<std::size_t>(panels));
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_GT(shares.front(), 0.0);
    EXPECT_EQ(shares.back(), 1.0);
    // Each panel is factored once, and received by all other ranks.
    EXPECT_EQ(count(report.timeline, TimelineKind::product, 1), panels);
    // An update has two parts if the next panel waits for one of them.
    const impl::LuSchedule schedule{order, order, options.block, options.group};
    int updates = 0;
    for (Index p = 0; p < panels; ++p) {
      const impl::LuSchedule::Update update = schedule.update_after(p);
      for (const auto& part : {schedule.before_next_panel(update), schedule.beside_next_panel(update)}) {
        updates += part.columns.empty() ? 0 : 1;
      }
    }
    EXPECT_EQ(updates, panels - 1 + 4);  // Four groups are applied to all columns.
    EXPECT_EQ(count(report.timeline, TimelineKind::product, 0), updates * comm.size());
    EXPECT_EQ(count(report.timeline, TimelineKind::receive, 0), panels * (comm.size() - 1));
    EXPECT_EQ(count(report.timeline, TimelineKind::send, 0), panels * (comm.size() - 1));
    for (const TimelineInterval& interval : report.timeline) {
      EXPECT_LE(0.0, interval.begin);
      EXPECT_LE(interval.begin, interval.end);
      EXPECT_LE(interval.end, report.seconds + 1e-3);
      if (interval.kind == TimelineKind::wait) continue;
      EXPECT_EQ(interval.operand, 'L');
      ASSERT_GE(interval.row_band, 0);
      ASSERT_LT(interval.row_band, panels);
      EXPECT_LT(interval.column_band, panels);
      if (interval.kind == TimelineKind::receive) {
        const Index first = interval.row_band * Index{16};
        const Index width = std::min<Index>(16, order - first);
        EXPECT_EQ(interval.bytes, static_cast<double>((order - first) * width) * sizeof(double));
      }
    }
  }
};

TEST_F(Watched, LuTellsOfEachPanel) {
  expect_whole(lu(comm, positive(), options));
}

TEST_F(Watched, CholeskyTellsOfEachPanel) {
  expect_whole(cholesky(comm, positive(), options));
}

TEST_F(Watched, SolveHasTheTimelineOfItsFactors) {
  const Placement of_right = Placement::row_bands(order, 2, comm.size());
  const auto B = test::random_matrix<double>(comm, of_right, 2);
  const DistributedMatrix<double> X(comm, of_right);
  expect_whole(solve(comm, positive(), B, X, {.factorization = options}).factorization);
}

TEST_F(Watched, NothingIsNotedUnlessAskedFor) {
  options.record_timeline = false;
  options.progress = {};
  EXPECT_TRUE(lu(comm, positive(), options).timeline.empty());
  EXPECT_TRUE(shares.empty());
}

TEST(Share, IsThatOfTheFlops) {
  // For a square matrix the share is all but the cube of the remaining part.
  const impl::LuSchedule square{64, 64, 16, 1};
  for (Index p = 0; p <= 4; ++p) {
    const double left = 1.0 - static_cast<double>(p) / 4.0;
    EXPECT_NEAR(impl::Watch::share_done(square, p), 1.0 - left * left * left, 1e-15) << p;
  }
  EXPECT_EQ(impl::Watch::share_done({0, 5, 16, 1}, 0), 1.0);
  EXPECT_EQ(impl::Watch::share_done({10, 100, 16, 1}, 1), 1.0);
}

}  // namespace
}  // namespace heddle::watch_test
