// Cells of grids whose points are numbered along three axes, the first one first.
#pragma once

#include "io/mesh/mesh_parts.hpp"

#include <array>

namespace heddle::impl {

/// The most points along an axis: of what memory can hold, no product of three such numbers overflows.
inline constexpr Index most_along = Index{1} << 20;
/// The most points that a grid may announce of which the file has no number for each.
inline constexpr Index most_without_arrays = Index{1} << 24;

/// Points along each axis.
using GridPoints = std::array<Index, 3>;

/// Number of points.
[[nodiscard]] Index points_in(const GridPoints& points);
/// Number of cells: one for each step along the axes that have more than one point.
[[nodiscard]] Index cells_in(const GridPoints& points);
/// The cells: vertices, lines, and along two and three axes pixels and voxels, or, where `turning`, quads and
/// hexahedra.
[[nodiscard]] FileCells grid_cells(const GridPoints& points, bool turning);

}  // namespace heddle::impl
