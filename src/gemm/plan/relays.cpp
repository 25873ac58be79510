// Choice of the rank of each node that receives a band from other nodes and passes it on within its node.
#include "gemm/plan/relays.hpp"

#include <algorithm>

namespace heddle::impl {

Relays::Relays(const Product& product, const PlanOperand& operand, const std::vector<RankSchedule>& schedules)
    : node_of_(product.node_of), bands_(static_cast<std::size_t>((product.*operand.bands)())) {
  if (node_of_.empty() || (product.*operand.placement).residence() == Residence::host) return;
  const auto nodes = static_cast<std::size_t>(*std::max_element(node_of_.begin(), node_of_.end())) + 1;
  struct Loader {
    int rank;
    std::size_t place;  // Place of the band among the rank's loads.
  };
  std::vector<std::vector<Loader>> loaders(nodes * bands_);
  for (int rank = 0; rank < product.ranks; ++rank) {
    const RankSchedule& schedule = schedules[static_cast<std::size_t>(rank)];
    const std::vector<Load>& loads = schedule.*operand.loads;
    takes_part_.push_back(loads.size() == static_cast<std::size_t>(schedule.*operand.slots));
    if (!takes_part_.back()) continue;
    const auto node = static_cast<std::size_t>(node_of_[static_cast<std::size_t>(rank)]);
    for (std::size_t place = 0; place < loads.size(); ++place) {
      loaders[node * bands_ + static_cast<std::size_t>(loads[place].band)].push_back({rank, place});
    }
  }
  relay_.assign(nodes * bands_, -1);
  bool any = false;
  // Ranks of a node relay as many bands as each other; of equals the one that loads the band earliest relays it.
  std::vector<int> relayed(static_cast<std::size_t>(product.ranks), 0);
  for (std::size_t k = 0; k < loaders.size(); ++k) {
    if (loaders[k].size() < 2) continue;
    const auto best =
        std::min_element(loaders[k].begin(), loaders[k].end(), [&](const Loader& one, const Loader& other) {
          return std::pair(relayed[static_cast<std::size_t>(one.rank)], one.place) <
                 std::pair(relayed[static_cast<std::size_t>(other.rank)], other.place);
        });
    ++relayed[static_cast<std::size_t>(best->rank)];
    relay_[k] = best->rank;
    any = true;
  }
  if (!any) relay_.clear();
}

int Relays::source(int rank, int band, int owner) const {
  const auto node = [&](int of) { return node_of_[static_cast<std::size_t>(of)]; };
  if (relay_.empty() || node(owner) == node(rank) || !takes_part_[static_cast<std::size_t>(rank)]) return owner;
  const int relay = relay_at(rank, band);
  return relay < 0 || relay == rank ? owner : relay;
}

}  // namespace heddle::impl
