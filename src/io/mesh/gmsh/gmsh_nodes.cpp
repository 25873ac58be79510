// Lookup of a Gmsh file's nodes by their tags.
#include "io/mesh/gmsh/gmsh_nodes.hpp"

#include <algorithm>

namespace heddle::impl {

bool NodeTags::append(Index tag) {
  const Index node = size_++;
  if (tag >= table_tags_) {
    sorted_.emplace_back(tag, node);
    return true;
  }
  const auto place = static_cast<std::size_t>(tag);
  if (place >= table_.size()) {
    const auto grown = std::max(place + 1, table_.size() + table_.size() / 2);
    table_.resize(std::min(grown, static_cast<std::size_t>(table_tags_)), -1);
  }
  if (table_[place] >= 0) return false;
  table_[place] = node;
  return true;
}

Index NodeTags::finish() {
  std::sort(sorted_.begin(), sorted_.end());
  const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end(),
                                        [](const auto& one, const auto& other) { return one.first == other.first; });
  return twice == sorted_.end() ? -1 : (twice + 1)->second;
}

Index NodeTags::find(Index tag) const {
  if (tag < 0) return -1;
  if (tag < table_tags_) {
    const auto place = static_cast<std::size_t>(tag);
    return place < table_.size() ? table_[place] : -1;
  }
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(tag, Index{0}));
  return found != sorted_.end() && found->first == tag ? found->second : -1;
}

}  // namespace heddle::impl
