// The faces of polyhedra, put together as files have them.
#pragma once

#include "io/matrix/chunks.hpp"
#include "io/mesh/mesh_parts.hpp"

#include <span>
#include <string>

namespace heddle::impl {

/// Takes cells in order: the faces of each, then end_cell().
class PolyhedraBuilder {
 public:
  PolyhedraBuilder();

  /// A face, whose points count from `first`.
  void add_face(std::span<const Index> points, Index first = 0);
  /// A number of faces, and of each a number of points and these, as VTK has them in one list. False where the list is
  /// none of that.
  [[nodiscard]] bool add_stream(std::span<const Index> stream, Index first = 0);
  void end_cell() { cells_.append(faces()); }

  [[nodiscard]] bool any() const noexcept { return offsets_.size() > 1; }
  /// The faces of all cells; none where no cell has any.
  [[nodiscard]] PolyhedronFaces take();

 private:
  [[nodiscard]] Index faces() const { return static_cast<Index>(offsets_.size()) - 1; }

  Chunks<Index> cells_;
  Chunks<Index> offsets_;
  Chunks<Index> points_;
};

/// Takes apart the polyhedra among `cells`, whose points are lists as add_stream() takes: these go to `faces`, and the
/// cell gets its points, each once. Returns the fault, or nothing.
[[nodiscard]] std::string split_streams(FileCells& cells, PolyhedronFaces& faces);

}  // namespace heddle::impl
