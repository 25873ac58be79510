// A list of cells in a .vtk file: in older files the number of corners of each cell before these, since version 5 a
// list of offsets and one of corners.
#pragma once

#include "io/matrix/chunks.hpp"
#include "io/mesh/vtk/legacy_source.hpp"

#include <string>

namespace heddle::impl {

class LegacyCells {
 public:
  LegacyCells() { offsets_.append(0); }

  /// Reads what follows CELLS, or another keyword of such a list, of a mesh of so many points.
  void read(LegacySource& source, Index points);

  [[nodiscard]] bool is_read() const noexcept { return is_read_; }
  [[nodiscard]] Index size() const noexcept { return cells_; }
  [[nodiscard]] Index corners() const { return static_cast<Index>(corners_.size()); }
  /// Moves size() + 1 offsets and the corners to where there is room for them.
  void move_to(Index* offsets, Index* corners);

  /// The first cell that has a corner which is no point, or -1, and what is to be said of it; `offsets` are its own.
  /// The numbers of a polyhedron are not all corners, and kinds of cells may come later, so that reading does not
  /// refuse it.
  [[nodiscard]] Index bad_cell(const Index* offsets) const;
  [[nodiscard]] const std::string& bad_corner() const noexcept { return bad_corner_; }

 private:
  void read_counted(LegacySource& source, Index size, Index points);
  void read_offsets(LegacySource& source, Index count, Index corners, Index points);
  void look_at_corner(const LegacySource& source, Index cell, Index corner, Index points);

  Index cells_ = 0;
  Chunks<Index> offsets_;
  Chunks<Index> corners_;
  Index bad_cell_ = -1;     // Where a corner was no point first, by cell
  Index bad_place_ = -1;    // or by place in the list of all,
  std::string bad_corner_;  // and what is to be said of it.
  bool is_read_ = false;
};

}  // namespace heddle::impl
