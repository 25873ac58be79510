// Recording of a product's timeline.
#include "gemm/run/recorder.hpp"

#include <algorithm>

namespace heddle::impl {
namespace {

bool by_begin(const TimelineInterval& one, const TimelineInterval& other) {
  return one.begin < other.begin;
}

// body(begin, end) for each stretch of [0, seconds) that no product of a timeline sorted by begin covers.
template <class Body> void for_each_gap(const Timeline& timeline, double seconds, const Body& body) {
  double covered = 0.0;
  for (const TimelineInterval& interval : timeline) {
    if (interval.kind != TimelineKind::product) {
      continue;
    }
    if (interval.begin > covered) {
      body(covered, interval.begin);
    }
    covered = std::max(covered, interval.end);
  }
  if (seconds > covered) {
    body(covered, seconds);
  }
}

}  // namespace

Timeline TimelineRecorder::finish(double seconds) {
  recording_ = false;
  for (Timed& timed : timed_) {
    timed.interval.begin = timed.begin.seconds_since(origin_);
    timed.interval.end = timed.end.seconds_since(origin_);
    intervals_.push_back(timed.interval);
  }
  timed_.clear();
  std::stable_sort(intervals_.begin(), intervals_.end(), by_begin);
  Timeline waits;
  for_each_gap(intervals_, seconds, [&](double begin, double end) {
    waits.push_back({TimelineKind::wait, begin, end, 'C', -1, -1, -1, 0.0, 0});
  });
  intervals_.insert(intervals_.end(), waits.begin(), waits.end());
  std::stable_sort(intervals_.begin(), intervals_.end(),
                   [](const TimelineInterval& one, const TimelineInterval& other) { return one.kind < other.kind; });
  return std::move(intervals_);
}

double seconds_waited(const Timeline& timeline) {
  double sum = 0.0;
  for (const TimelineInterval& interval : timeline) {
    sum += interval.kind == TimelineKind::wait ? interval.end - interval.begin : 0.0;
  }
  return sum;
}

}  // namespace heddle::impl
