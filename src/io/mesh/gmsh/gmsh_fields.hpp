// The data of a Gmsh file: $NodeData and $ElementData.
#pragma once

#include "io/mesh/gmsh/gmsh_source.hpp"
#include "io/mesh/mesh_parts.hpp"

#include <utility>
#include <vector>

namespace heddle::impl {

/// Map from tags to nodes or elements; a tag may stand for several elements.
class GmshTags {
 public:
  void append(Index tag) { sorted_.emplace_back(tag, size()); }
  [[nodiscard]] Index size() const { return static_cast<Index>(sorted_.size()); }
  /// Before the first each().
  void finish();
  /// f(number) for all that have the tag; false where none has.
  template <class F> bool each(Index tag, const F& f) const {
    auto found = first(tag);
    const bool any = found != sorted_.end() && found->first == tag;
    for (; found != sorted_.end() && found->first == tag; ++found) f(found->second);
    return any;
  }

 private:
  using Pairs = std::vector<std::pair<Index, Index>>;
  [[nodiscard]] Pairs::const_iterator first(Index tag) const;

  Pairs sorted_;
};

/// Reads a section of data up to its end into a new array of doubles, not a number where none is given. An array whose
/// name is there already is passed over, as those of later time steps are.
void read_gmsh_field(GmshSource& source, const GmshTags& tags, std::vector<MeshArray>& arrays);

}  // namespace heddle::impl
