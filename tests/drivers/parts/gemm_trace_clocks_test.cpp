// Tests of the alignment of several ranks' clocks in timelines.
#include "drivers/gemm/trace_clocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace heddle::driver::gemm_trace_clocks_test {
namespace {

TimelineInterval interval(TimelineKind kind, double begin, double end, int band = -1, int peer = -1) {
  return {kind, begin, end, 'B', -1, band, peer, 8.0, 0};
}

double earliest_of(const std::vector<Timeline>& timelines) {
  double earliest = INFINITY;
  for (const Timeline& timeline : timelines) {
    for (const TimelineInterval& one : timeline) earliest = std::min(earliest, one.begin);
  }
  return earliest;
}

// Return the largest time by which any message arrives before it was sent.
double worst_lag(const std::vector<Timeline>& timelines) {
  double worst = 0;
  for (std::size_t from = 0; from < timelines.size(); ++from) {
    for (const TimelineInterval& sent : timelines[from]) {
      if (sent.kind != TimelineKind::send || sent.peer == static_cast<int>(from)) continue;
      for (const TimelineInterval& received : timelines[static_cast<std::size_t>(sent.peer)]) {
        if (received.kind == TimelineKind::receive && received.peer == static_cast<int>(from) &&
            received.column_band == sent.column_band) {
          worst = std::max(worst, sent.begin - received.end);
        }
      }
    }
  }
  return worst;
}

void expect_only_moved(const Timeline& before, const Timeline& after) {
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t k = 0; k < before.size(); ++k) {
    EXPECT_NEAR(after[k].begin - after.front().begin, before[k].begin - before.front().begin, 1e-12);
    EXPECT_NEAR(after[k].end - after[k].begin, before[k].end - before[k].begin, 1e-12);
    EXPECT_EQ(after[k].column_band, before[k].column_band);
  }
}

TEST(AlignClocks, LeavesWhatIsInOrderAsItWas) {
  std::vector<Timeline> timelines{{interval(TimelineKind::send, 0.0, 2.0, 3, 1)},
                                  {interval(TimelineKind::receive, 0.5, 1.0, 3, 0)}};
  align_clocks(timelines);
  EXPECT_EQ(timelines[0][0].begin, 0.0);
  EXPECT_EQ(timelines[1][0].begin, 0.5);
  EXPECT_EQ(timelines[1][0].end, 1.0);
  std::vector<Timeline> none;
  align_clocks(none);
  EXPECT_TRUE(none.empty());
}

TEST(AlignClocks, PutsNothingBeforeZero) {
  // As seen on two GPUs: 4.076 ms before the product began.
  std::vector<Timeline> timelines{
      {interval(TimelineKind::receive, -4.076e-3, -4.0e-3, 1, 1), interval(TimelineKind::wait, 0, 1)},
      {interval(TimelineKind::product, 0.0, 1.0)}};
  const auto before = timelines;
  align_clocks(timelines);
  EXPECT_EQ(earliest_of(timelines), 0.0);
  expect_only_moved(before[0], timelines[0]);
  // Both shift equally: nothing indicates that the ranks' clocks differ.
  EXPECT_NEAR(timelines[1][0].begin, 4.076e-3, 1e-15);
}

TEST(AlignClocks, NothingArrivesBeforeItWasSent) {
  std::vector<Timeline> timelines{
      {interval(TimelineKind::send, 1.0, 1.5, 7, 1)},
      {interval(TimelineKind::receive, 0.25, 0.5, 7, 0), interval(TimelineKind::send, 0.5, 0.75, 8, 2)},
      {interval(TimelineKind::receive, 0.0, 0.125, 8, 1)}};
  const auto before = timelines;
  align_clocks(timelines);
  EXPECT_EQ(worst_lag(timelines), 0.0);
  for (std::size_t rank = 0; rank < timelines.size(); ++rank) expect_only_moved(before[rank], timelines[rank]);
  // Shifted through rank 1, which shifts too.
  EXPECT_NEAR(timelines[2][0].end, 1.0, 1e-12);
}

TEST(AlignClocks, ABandThatTravelsTwiceIsTwoMessages) {
  std::vector<Timeline> timelines{
      {interval(TimelineKind::send, 0.0, 0.5, 7, 1), interval(TimelineKind::send, 2.0, 2.5, 7, 1)},
      {interval(TimelineKind::receive, 0.0, 0.25, 7, 0), interval(TimelineKind::receive, 2.0, 2.25, 7, 0)}};
  const auto before = timelines;
  align_clocks(timelines);
  EXPECT_EQ(timelines[1][0].begin, before[1][0].begin);
}

TEST(AlignClocks, ContradictionsEnd) {
  // Each says of the other that it is late.
  std::vector<Timeline> timelines{
      {interval(TimelineKind::send, 1.0, 1.5, 1, 1), interval(TimelineKind::receive, 0.0, 0.5, 2, 1)},
      {interval(TimelineKind::send, 1.0, 1.5, 2, 0), interval(TimelineKind::receive, 0.0, 0.5, 1, 0)}};
  const auto before = timelines;
  align_clocks(timelines);
  EXPECT_GE(earliest_of(timelines), 0.0);
  for (std::size_t rank = 0; rank < timelines.size(); ++rank) expect_only_moved(before[rank], timelines[rank]);
}

// A true course of events, recorded by each rank with its own clock.
TEST(AlignClocks, MendsAnyOffsets) {
  std::mt19937_64 bits(22);
  const auto number = [&](double scale) { return scale * static_cast<double>(bits() >> 11) * 0x1p-53; };
  for (int trial = 0; trial < 200; ++trial) {
    const auto ranks = static_cast<std::size_t>(1 + bits() % 6);
    std::vector<Timeline> timelines(ranks);
    std::vector<double> offset(ranks);
    for (double& of : offset) of = number(2.0) - 1.0;
    for (int band = 0; band < 40; ++band) {
      const std::size_t from = bits() % ranks;
      const std::size_t to = bits() % ranks;
      const double sent = number(10.0);
      const double arrived = sent + number(0.5);
      timelines[from].push_back(interval(TimelineKind::product, sent - offset[from], arrived - offset[from], band));
      if (from == to) continue;
      timelines[from].push_back(
          interval(TimelineKind::send, sent - offset[from], arrived - offset[from], band, static_cast<int>(to)));
      timelines[to].push_back(interval(TimelineKind::receive, arrived - number(1.0) - offset[to], arrived - offset[to],
                                       band, static_cast<int>(from)));
    }
    const auto before = timelines;
    align_clocks(timelines);
    EXPECT_LE(worst_lag(timelines), 1e-12) << "trial " << trial;
    EXPECT_GE(earliest_of(timelines), 0.0) << "trial " << trial;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (!timelines[rank].empty()) expect_only_moved(before[rank], timelines[rank]);
    }
  }
}

}  // namespace
}  // namespace heddle::driver::gemm_trace_clocks_test
