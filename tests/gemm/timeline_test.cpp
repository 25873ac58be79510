// Timelines of products: intervals and the share of transfers hidden by products.
#include "support/errors.hpp"
#include <heddle/core/error.hpp>
#include <heddle/gemm/timeline.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <type_traits>

namespace heddle::timeline_test {
namespace {

// Driver and library pass intervals between ranks as bytes.
static_assert(std::is_trivially_copyable_v<TimelineInterval>);

TimelineInterval interval(TimelineKind kind, double begin, double end) {
  TimelineInterval result;
  result.kind = kind;
  result.begin = begin;
  result.end = end;
  return result;
}
TimelineInterval product(double begin, double end) {
  return interval(TimelineKind::product, begin, end);
}
TimelineInterval receive(double begin, double end) {
  return interval(TimelineKind::receive, begin, end);
}

TEST(Timeline, KindsHaveNames) {
  EXPECT_EQ(to_string(TimelineKind::product), "product");
  EXPECT_EQ(to_string(TimelineKind::receive), "receive");
  EXPECT_EQ(to_string(TimelineKind::send), "send");
  EXPECT_EQ(to_string(TimelineKind::wait), "wait");
  test::expect_refusal(ErrorKind::argument, "not a value of heddle::TimelineKind",
                       [&] { (void)to_string(static_cast<TimelineKind>(4)); });
}

TEST(HiddenShare, IsOneWhereNothingTravelled) {
  EXPECT_EQ(hidden_share({}), 1.0);
  EXPECT_EQ(hidden_share({product(0, 1)}), 1.0);
  EXPECT_EQ(hidden_share({product(0, 1), receive(2, 2)}), 1.0);
  // Sends and waits are not transfers into this rank.
  EXPECT_EQ(hidden_share({interval(TimelineKind::send, 0, 1), interval(TimelineKind::wait, 0, 1)}), 1.0);
}

TEST(HiddenShare, IsZeroWithoutProducts) {
  EXPECT_EQ(hidden_share({receive(0, 1), receive(3, 4)}), 0.0);
  EXPECT_EQ(hidden_share({receive(0, 1), product(0.5, 0.5)}), 0.0);
  EXPECT_EQ(hidden_share({receive(0, 1), interval(TimelineKind::send, 0, 1), interval(TimelineKind::wait, 0, 1)}), 0.0);
}

TEST(HiddenShare, CountsWhatAProductCovers) {
  EXPECT_EQ(hidden_share({product(1, 2), receive(1, 2)}), 1.0);
  EXPECT_EQ(hidden_share({product(0, 3), receive(1, 2)}), 1.0);
  EXPECT_EQ(hidden_share({product(1, 3), receive(0, 2)}), 0.5);
  EXPECT_EQ(hidden_share({product(0, 1), receive(0, 2)}), 0.5);
  EXPECT_EQ(hidden_share({product(1, 3), receive(0, 4)}), 0.5);
}

TEST(HiddenShare, TouchingIsNotCovering) {
  EXPECT_EQ(hidden_share({product(0, 1), receive(1, 2), product(2, 3)}), 0.0);
}

TEST(HiddenShare, TouchingIntervalsLeaveNoGap) {
  EXPECT_EQ(hidden_share({product(0, 1), product(1, 2), receive(0, 2)}), 1.0);
  EXPECT_EQ(hidden_share({product(0, 2), receive(0, 1), receive(1, 4)}), 0.5);
}

TEST(HiddenShare, OverlapsCountOnce) {
  // Received: 0 to 3. Computed: 0 to 1.5, on two lanes.
  EXPECT_EQ(hidden_share({product(0, 1), product(0.5, 1.5), receive(0, 2), receive(1, 3), receive(0.5, 1)}), 0.5);
}

TEST(HiddenShare, OneProductCoversSeveralTransfers) {
  EXPECT_EQ(hidden_share({product(0.5, 3.5), receive(0, 1), receive(2, 3), receive(3.25, 3.75)}),
            (0.5 + 1.0 + 0.25) / 2.5);
}

TEST(HiddenShare, AsksForNoOrder) {
  // Against a sum over the quarters of the time line.
  std::mt19937 bits(5);
  std::uniform_int_distribution<int> quarter(0, 40);
  for (int trial = 0; trial < 200; ++trial) {
    Timeline trace;
    for (int i = 0; i < 12; ++i) {
      const int begin = quarter(bits);
      const int end = quarter(bits);
      trace.push_back(interval(i % 3 == 0 ? TimelineKind::product : TimelineKind::receive, 0.25 * std::min(begin, end),
                               0.25 * std::max(begin, end)));
    }
    int travelling = 0;
    int hidden = 0;
    for (int q = 0; q < 40; ++q) {
      const auto runs = [&](TimelineKind kind) {
        return std::any_of(trace.begin(), trace.end(), [&](const TimelineInterval& one) {
          return one.kind == kind && one.begin <= 0.25 * q && one.end > 0.25 * q;
        });
      };
      travelling += runs(TimelineKind::receive) ? 1 : 0;
      hidden += runs(TimelineKind::receive) && runs(TimelineKind::product) ? 1 : 0;
    }
    const double expected = travelling > 0 ? static_cast<double>(hidden) / travelling : 1.0;
    EXPECT_NEAR(hidden_share(trace), expected, 1e-14) << "trial " << trial;
  }
}

}  // namespace
}  // namespace heddle::timeline_test
