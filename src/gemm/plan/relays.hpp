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
  [[nodiscard]] int source(int rank, int band, int owner) const {
    const auto node = [&](int of) { return node_of_[static_cast<std::size_t>(of)]; };
    if (relays_.empty() || node(owner) == node(rank) || !takes_part_[static_cast<std::size_t>(rank)]) return owner;
    const int relay = relay_of(rank, band).rank;
    return relay < 0 || relay == rank ? owner : relay;
  }
  /// Whether the rank passes a band that it receives from other nodes on to others of its node.
  [[nodiscard]] bool passes_on(int rank, int band) const {
    return !relays_.empty() && relay_of(rank, band).rank == rank;
  }
  /// Place of a band among the loads of the relay of a rank's node, which is source() for that rank.
  [[nodiscard]] int place(int rank, int band) const { return relay_of(rank, band).place; }
  [[nodiscard]] bool empty() const { return relays_.empty(); }

 private:
  struct Relay {
    int rank = -1;  // -1: ranks of the node receive the band from its owner.
    int place = 0;  // Place of the band among the relay's loads.
  };
  [[nodiscard]] const Relay& relay_of(int rank, int band) const {
    return relays_[static_cast<std::size_t>(node_of_[static_cast<std::size_t>(rank)]) * bands_ +
                   static_cast<std::size_t>(band)];
  }

  std::vector<int> node_of_;
  std::size_t bands_ = 0;
  std::vector<Relay> relays_;     // By node and band; none if no band is relayed.
  std::vector<bool> takes_part_;  // By rank.
};

}  // namespace heddle::impl
