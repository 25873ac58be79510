// Structured points, structured and rectilinear grids of .vtk files.
#pragma once

#include "io/mesh/structured.hpp"
#include "io/mesh/vtk/legacy_source.hpp"

#include <array>
#include <string>
#include <vector>

namespace heddle::impl {

class LegacyGrid {
 public:
  explicit LegacyGrid(LegacyDataset dataset) : dataset_(dataset) {}

  /// Whether its points are listed.
  [[nodiscard]] bool has_points() const noexcept { return dataset_ == LegacyDataset::structured_grid; }
  [[nodiscard]] bool has_dimensions() const noexcept { return has_dimensions_; }
  /// Reads what a keyword of its geometry is followed by; false for another keyword.
  bool read(LegacySource& source);
  /// Refuses a grid whose lists, or whose `listed` points, are not as many as its dimensions say.
  void end(LegacySource& source, Index listed) const;

  [[nodiscard]] const GridPoints& points() const noexcept { return points_; }
  [[nodiscard]] FileCells cells() const { return grid_cells(points_, has_points()); }
  /// Return the fault of a grid with more points than a file without arrays may announce, or nothing.
  [[nodiscard]] std::string wrong_size(const MeshParts& parts) const;
  /// Return the coordinates of points that are not listed.
  [[nodiscard]] MeshPoints places() const;

 private:
  void read_axis(LegacySource& source, std::size_t axis);

  LegacyDataset dataset_;
  bool has_dimensions_ = false;
  GridPoints points_{};
  std::array<double, 3> origin_{};
  std::array<double, 3> spacing_ = {1, 1, 1};
  std::array<std::vector<double>, 3> axes_;  ///< Of a rectilinear grid.
};

}  // namespace heddle::impl
