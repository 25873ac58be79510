// Row interchanges as a permutation.
#pragma once

#include <heddle/core/scalar.hpp>

#include <map>
#include <span>
#include <vector>

namespace heddle::exact::impl {

/// A row goes from `source` to `target`.
struct RowMove {
  Index target;
  Index source;
  friend bool operator==(const RowMove&, const RowMove&) = default;
};

/// Returns the moves equivalent to interchanging rows row + k and pivots[k], for k = 0, 1, ... in turn, in the order of
/// the targets: at most two moves a pivot, and each row is a target and a source at most once.
[[nodiscard]] inline std::vector<RowMove> moves_of(Index row, std::span<const Index> pivots) {
  std::map<Index, Index> at;  // The row currently at a place.
  for (std::size_t k = 0; k < pivots.size(); ++k) {
    const Index here = row + static_cast<Index>(k);
    std::swap(at.try_emplace(here, here).first->second, at.try_emplace(pivots[k], pivots[k]).first->second);
  }
  std::vector<RowMove> moves;
  for (const auto& [target, source] : at) {
    if (target != source) {
      moves.push_back({target, source});
    }
  }
  return moves;
}

}  // namespace heddle::exact::impl
