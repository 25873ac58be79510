// Routes of messages over the nodes of a group of ranks.
#include "solve/grid/rank_grid.hpp"

namespace heddle::impl {

Relay relay(const std::vector<int>& group, const std::vector<int>& node_of, int root, int me) {
  const auto node = [&](int rank) { return node_of[static_cast<std::size_t>(rank)]; };
  // One rank of each node: the root's first, then the others in turn.
  std::vector<int> heads{root};
  const auto begin = std::find(group.begin(), group.end(), root);
  const auto take = [&](int rank) {
    const bool known = std::any_of(heads.begin(), heads.end(), [&](int head) { return node(head) == node(rank); });
    if (!known) heads.push_back(rank);
  };
  std::for_each(begin, group.end(), take);
  std::for_each(group.begin(), begin, take);

  const auto at = std::find(heads.begin(), heads.end(), me);
  if (at == heads.end()) {
    return {*std::find_if(heads.begin(), heads.end(), [&](int head) { return node(head) == node(me); }), {}};
  }
  Relay way{at == heads.begin() ? -1 : *(at - 1), {}};
  if (at + 1 != heads.end()) way.to.push_back(*(at + 1));
  for (const int rank : group) {
    if (rank != me && node(rank) == node(me)) way.to.push_back(rank);
  }
  return way;
}

}  // namespace heddle::impl
