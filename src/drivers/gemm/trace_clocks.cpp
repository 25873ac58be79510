// One clock for the timelines of several ranks.
#include "drivers/gemm/trace_clocks.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace heddle::driver {
namespace {

// Key of a message: sender, receiver, operand, bands and layer. A band may travel several times, in the same order on
// both sides.
using Message = std::tuple<std::size_t, std::size_t, char, int, int, int>;

Message key_of(std::size_t from, std::size_t to, const TimelineInterval& interval) {
  return {from, to, interval.operand, interval.row_band, interval.column_band, interval.layer};
}

// Return the sorted times of every message: when it was sent, or when it had arrived.
std::map<Message, std::vector<double>> times_of(const std::vector<Timeline>& timelines, TimelineKind kind) {
  std::map<Message, std::vector<double>> times;
  for (std::size_t rank = 0; rank < timelines.size(); ++rank) {
    for (const TimelineInterval& interval : timelines[rank]) {
      const auto peer = static_cast<std::size_t>(interval.peer);
      // A message to the sending rank itself goes to host memory, by the same clock.
      if (interval.kind != kind || interval.peer < 0 || peer >= timelines.size() || peer == rank) continue;
      if (kind == TimelineKind::send) {
        times[key_of(rank, peer, interval)].push_back(interval.begin);
      } else {
        times[key_of(peer, rank, interval)].push_back(interval.end);
      }
    }
  }
  for (auto& [message, moments] : times) std::sort(moments.begin(), moments.end());
  return times;
}

// The least shift of the clock of `to` relative to that of `from`.
struct Lag {
  std::size_t from;
  std::size_t to;
  double seconds;
};

std::vector<Lag> lags_of(const std::vector<Timeline>& timelines) {
  std::map<std::pair<std::size_t, std::size_t>, double> most;
  const auto arrived = times_of(timelines, TimelineKind::receive);
  for (const auto& [message, sent] : times_of(timelines, TimelineKind::send)) {
    const auto found = arrived.find(message);
    if (found == arrived.end()) continue;
    const std::pair way(std::get<0>(message), std::get<1>(message));
    for (std::size_t k = 0; k < std::min(sent.size(), found->second.size()); ++k) {
      const double seconds = sent[k] - found->second[k];
      const auto [place, first] = most.emplace(way, seconds);
      if (!first) place->second = std::max(place->second, seconds);
    }
  }
  std::vector<Lag> lags;
  lags.reserve(most.size());
  for (const auto& [way, seconds] : most) lags.push_back({way.first, way.second, seconds});
  return lags;
}

}  // namespace

void align_clocks(std::vector<Timeline>& timelines) {
  const std::vector<Lag> lags = lags_of(timelines);
  // Longest paths by the algorithm of R. Bellman and L. R. Ford: as many rounds as ranks find all, if the clocks agree.
  std::vector<double> shifts(timelines.size(), 0.0);
  for (std::size_t round = 0; round < timelines.size(); ++round) {
    for (const Lag& lag : lags) shifts[lag.to] = std::max(shifts[lag.to], shifts[lag.from] + lag.seconds);
  }
  double earliest = 0.0;
  for (std::size_t rank = 0; rank < timelines.size(); ++rank) {
    for (const TimelineInterval& interval : timelines[rank]) {
      earliest = std::min(earliest, interval.begin + shifts[rank]);
    }
  }
  for (std::size_t rank = 0; rank < timelines.size(); ++rank) {
    for (TimelineInterval& interval : timelines[rank]) {
      // Never negative by a rounding.
      interval.begin = std::max(interval.begin + shifts[rank] - earliest, 0.0);
      interval.end = std::max(interval.end + shifts[rank] - earliest, interval.begin);
    }
  }
}

}  // namespace heddle::driver
