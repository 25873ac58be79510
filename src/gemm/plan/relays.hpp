// Who sends a band of an operand to whom where ranks are on several nodes: what several ranks of a node load comes to
// one of them, and from there to the others, so that it crosses the node's link once.
#pragma once

#include "gemm/plan/schedule.hpp"

#include <vector>

namespace heddle::impl {

/// The relays of one operand. Only ranks that hold all of the operand's bands that they load, each in a slot of its
/// own, take part: a slot that is used again could be free no sooner than another rank has taken the band out of it,
/// which may wait for a band of the first one. Bands in host memory, which come by their owner's bus, have no relays.
class Relays {
 public:
  /// Without any: all ranks are on one node.
  Relays() = default;
  Relays(const Product& product, const PlanOperand& operand, const std::vector<RankSchedule>& schedules);

  /// The rank that sends `rank` what `owner` has of a band: the owner, or the one of the rank's node that has it of
  /// the owner.
  [[nodiscard]] int source(int rank, int band, int owner) const;
  /// Whether others of its node may have what the rank receives of a band from other nodes.
  [[nodiscard]] bool passes_on(int rank, int band) const { return !relay_.empty() && relay_at(rank, band) == rank; }
  [[nodiscard]] bool empty() const { return relay_.empty(); }

 private:
  [[nodiscard]] int relay_at(int rank, int band) const {
    return relay_[static_cast<std::size_t>(node_of_[static_cast<std::size_t>(rank)]) * bands_ +
                  static_cast<std::size_t>(band)];
  }

  std::vector<int> node_of_;
  std::size_t bands_ = 0;
  std::vector<int> relay_;        // By node and band; -1: each has it of the owner.
  std::vector<bool> takes_part_;  // By rank.
};

}  // namespace heddle::impl
