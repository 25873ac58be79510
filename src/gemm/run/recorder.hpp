// Timeline of a product while it runs.
#pragma once

#include <heddle/comm/event.hpp>
#include <heddle/gemm/timeline.hpp>

#include <chrono>
#include <vector>

namespace heddle::impl {

/// Collects the intervals of one product. Devices and host have clocks of their own: both are counted from start(),
/// when the instance is idle. Between finish() and the next start() nothing is recorded.
class TimelineRecorder {
 public:
  /// `everything`: transfers too, not products alone.
  explicit TimelineRecorder(bool everything) : everything_(everything) {}

  void start(const ExecutionSpace& space) {
    recording_ = true;
    intervals_.clear();
    timed_.clear();
    origin_ = Event::on(space, true);
    // A device that several ranks share reaches this event when it is this rank's turn; its copy engines do not wait
    // for that, and their transfers would be recorded before the origin.
    if (everything_) origin_.wait();
    host_origin_ = std::chrono::steady_clock::now();
  }
  /// Whether transfers are recorded too, where anything is.
  [[nodiscard]] bool records_everything() const { return everything_; }
  /// Whether products, and whether transfers too, are recorded now.
  [[nodiscard]] bool recording() const { return recording_; }
  [[nodiscard]] bool everything() const { return everything_ && recording_; }
  void stop() { recording_ = false; }
  /// Host seconds since start().
  [[nodiscard]] double now() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - host_origin_).count();
  }
  /// An interval by the host's clock.
  void add(TimelineInterval interval) { intervals_.push_back(interval); }
  /// An interval between two timed events, read in finish().
  void add(TimelineInterval interval, Event begin, Event end) {
    timed_.push_back({interval, std::move(begin), std::move(end)});
  }
  /// All intervals, sorted, with the waits between products until `seconds`; every event is past.
  [[nodiscard]] Timeline finish(double seconds);

 private:
  struct Timed {
    TimelineInterval interval;
    Event begin;
    Event end;
  };
  bool everything_;
  bool recording_ = false;
  Event origin_;
  std::chrono::steady_clock::time_point host_origin_;
  Timeline intervals_;
  std::vector<Timed> timed_;
};

/// Sum of the lengths of a timeline's waits, in seconds.
[[nodiscard]] double seconds_waited(const Timeline& timeline);

}  // namespace heddle::impl
