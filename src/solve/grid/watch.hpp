// Progress and timeline of a factorization.
#pragma once

#include "gemm/run/recorder.hpp"
#include "solve/grid/rank_grid.hpp"
#include "solve/lu/schedule.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/comm/event.hpp>
#include <heddle/solve/lu.hpp>

#include <algorithm>
#include <utility>

namespace heddle::impl {

/// Records the panels, exchanges and updates of a rank if FactorOptions::record_timeline is set, and calls
/// FactorOptions::progress for finished panels. Each function does its work at once.
class Watch {
 public:
  Watch(const ExecutionSpace& space, const LuSchedule& schedule, const FactorOptions& options)
      : space_(space),
        schedule_(schedule),
        progress_(options.progress),
        records_(options.record_timeline),
        recorder_(options.record_timeline) {}

  void start() {
    if (records_) recorder_.start(space_);
  }
  /// From here on number k stands for `each` panels of the matrix, from panel first + k each on, and share(p) is the
  /// share of the flops that is done once p panels are applied; without it, the panels' share of all flops.
  void count_from(Index first, Index each = 1, std::function<double(Index)> share = {}) {
    first_ = first;
    each_ = each;
    share_ = std::move(share);
  }
  /// Records panel p, which this rank factors on `space`.
  template <class Work> void panel(Index p, const ExecutionSpace& space, const Work& work) {
    record(space, {TimelineKind::product, 0, 0, 'L', number(p), -1, -1, 0.0, 1}, work);
  }
  /// Records panel p, of `bytes` bytes, on its way over this rank.
  template <class Work> void exchange(Index p, const Relay& way, double bytes, const Work& work) {
    if (!records_) {
      work();
      return;
    }
    const double begin = recorder_.now();
    work();
    const double end = recorder_.now();
    if (way.from >= 0) recorder_.add({TimelineKind::receive, begin, end, 'L', number(p), -1, way.from, bytes});
    for (const int to : way.to) recorder_.add({TimelineKind::send, begin, end, 'L', number(p), -1, to, bytes});
  }
  /// Records an update by panels [first, last).
  template <class Work> void update(Index first, Index last, const Work& work) {
    record(space_, {TimelineKind::product, 0, 0, 'L', number(first), number(last - 1)}, work);
  }
  /// Reports progress once panel p is applied.
  void done(Index p) const {
    if (progress_) progress_(share_ ? share_(first_ + (p + 1) * each_) : share_done(schedule_, p + 1));
  }
  /// The first `panels` panels' share of the flops.
  [[nodiscard]] static double share_done(const LuSchedule& schedule, Index panels) {
    const auto flops = [&](Index steps) {
      const auto m = static_cast<double>(schedule.rows);
      const auto n = static_cast<double>(schedule.columns);
      const auto k = static_cast<double>(steps);
      return m * n * k - (m + n) * k * k / 2.0 + k * k * k / 3.0;
    };
    const double all = flops(schedule.steps());
    return all > 0 ? std::min(1.0, flops(std::min(panels * schedule.block, schedule.steps())) / all) : 1.0;
  }
  /// The timeline since start(), once all work is done.
  [[nodiscard]] Timeline finish(double seconds) { return records_ ? recorder_.finish(seconds) : Timeline{}; }

 private:
  [[nodiscard]] int number(Index p) const { return static_cast<int>(first_ + p * each_); }
  template <class Work> void record(const ExecutionSpace& space, const TimelineInterval& interval, const Work& work) {
    if (!records_) {
      work();
      return;
    }
    Event begin = Event::on(space, true);
    work();
    recorder_.add(interval, std::move(begin), Event::on(space, true));
  }

  ExecutionSpace space_;
  LuSchedule schedule_;
  std::function<void(double)> progress_;
  Index first_ = 0;
  Index each_ = 1;
  std::function<double(Index)> share_;
  bool records_;
  TimelineRecorder recorder_;
};

}  // namespace heddle::impl
