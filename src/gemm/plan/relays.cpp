// Choice of the rank of each node that receives a band from other nodes and passes it on within its node.
#include "gemm/plan/relays.hpp"

#include <algorithm>

namespace heddle::impl {

Relays::Relays(const Product& product, const PlanOperand& operand, const std::vector<RankSchedule>& schedules)
    : node_of_(product.node_of), bands_(static_cast<std::size_t>((product.*operand.bands)())) {
  if (node_of_.empty() || (product.*operand.placement).residence() == Residence::host) return;
  std::vector<std::vector<int>> ranks_of;  // By node: those that take part.
  for (int rank = 0; rank < product.ranks; ++rank) {
    const RankSchedule& schedule = schedules[static_cast<std::size_t>(rank)];
    takes_part_.push_back((schedule.*operand.loads).size() == static_cast<std::size_t>(schedule.*operand.slots));
    const auto node = static_cast<std::size_t>(node_of_[static_cast<std::size_t>(rank)]);
    if (node >= ranks_of.size()) ranks_of.resize(node + 1);
    if (takes_part_.back()) ranks_of[node].push_back(rank);
  }
  struct Loader {
    int rank;
    int place;  // Place of the band among the rank's loads.
  };
  std::vector<std::vector<Loader>> loaders(bands_);  // Those of a node, by band.
  // Ranks of a node relay as many bands as each other; of equals the one that loads the band earliest relays it.
  std::vector<int> relayed(static_cast<std::size_t>(product.ranks), 0);
  for (std::size_t node = 0; node < ranks_of.size(); ++node) {
    for (std::vector<Loader>& of_band : loaders) of_band.clear();
    for (const int rank : ranks_of[node]) {
      const std::vector<Load>& loads = schedules[static_cast<std::size_t>(rank)].*operand.loads;
      for (std::size_t place = 0; place < loads.size(); ++place) {
        loaders[static_cast<std::size_t>(loads[place].band)].push_back({rank, static_cast<int>(place)});
      }
    }
    for (std::size_t band = 0; band < bands_; ++band) {
      if (loaders[band].size() < 2) continue;
      const auto best =
          std::min_element(loaders[band].begin(), loaders[band].end(), [&](const Loader& one, const Loader& other) {
            return std::pair(relayed[static_cast<std::size_t>(one.rank)], one.place) <
                   std::pair(relayed[static_cast<std::size_t>(other.rank)], other.place);
          });
      ++relayed[static_cast<std::size_t>(best->rank)];
      if (relays_.empty()) relays_.assign(ranks_of.size() * bands_, {});
      relays_[node * bands_ + band] = {best->rank, best->place};
    }
  }
}

}  // namespace heddle::impl
