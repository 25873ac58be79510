// Relays of bands between nodes: a band that several ranks of a node load comes to one of them, and from there to the
// others, so that it crosses the node's link once.
#pragma once

#include "gemm/plan/schedule.hpp"

#include <vector>

namespace heddle::impl {

/// The relays of one operand. Only ranks that hold all of the operand's bands that they load, each in a slot of its
/// own, take part: a slot that is used again could be free no sooner than another rank has taken the band out of it,
/// which may wait for a band of the first one. Bands in host memory, which come by their owner's bus, have no relays.
class Relays {
 public:
  /// No relays: all ranks are on one node.
  Relays() = default;
  Relays(const Product& product, const PlanOperand& operand, const std::vector<RankSchedule>& schedules);

  /// Return the rank that sends `rank` the piece of a band that `owner` owns: the owner, or the relay of the rank's
  /// node.
  [[nodiscard]] int source(int rank, int band, int owner) const;
  /// Whether the rank passes a band that it receives from other nodes on to others of its node.
  [[nodiscard]] bool passes_on(int rank, int band) const { return !relay_.empty() && relay_at(rank, band) == rank; }
  [[nodiscard]] bool empty() const { return relay_.empty(); }

 private:
  [[nodiscard]] int relay_at(int rank, int band) const {
    return relay_[static_cast<std::size_t>(node_of_[static_cast<std::size_t>(rank)]) * bands_ +
                  static_cast<std::size_t>(band)];
  }

  std::vector<int> node_of_;
  std::size_t bands_ = 0;
  std::vector<int> relay_;        // By node and band; -1: ranks receive it from the owner.
  std::vector<bool> takes_part_;  // By rank.
};

}  // namespace heddle::impl
