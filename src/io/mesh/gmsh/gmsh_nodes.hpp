// Tags of a Gmsh file's nodes: any positive numbers, in any order.
#pragma once

#include <heddle/core/scalar.hpp>

#include <utility>
#include <vector>

namespace heddle::impl {

/// Finds the number of a node, counted in the file's order, from its tag. 8 to 16 bytes a node.
class NodeTags {
 public:
  /// For about so many nodes: tags up to twice that have a table, those beyond are searched for.
  explicit NodeTags(Index nodes) : table_tags_(2 * nodes + 1024) {}

  /// Gives the next node its tag, which is positive. False where another is known to have it.
  bool append(Index tag);
  /// To be called after the last. The first node found to have the tag of an earlier one, or -1.
  [[nodiscard]] Index finish();
  /// Number of the node, or -1.
  [[nodiscard]] Index find(Index tag) const;

  [[nodiscard]] Index size() const noexcept { return size_; }

 private:
  Index table_tags_;
  std::vector<Index> table_;                     // Node of each tag, or -1.
  std::vector<std::pair<Index, Index>> sorted_;  // Tag and node.
  Index size_ = 0;
};

}  // namespace heddle::impl
