// Cells of structured grids, with VTK's type numbers.
#include "io/mesh/structured.hpp"

#include <algorithm>
#include <vector>

namespace heddle::impl {

Index points_in(const GridPoints& points) {
  return points[0] * points[1] * points[2];
}

Index cells_in(const GridPoints& points) {
  if (points_in(points) == 0) return 0;
  Index cells = 1;
  for (const Index along : points) cells *= std::max<Index>(1, along - 1);
  return cells;
}

FileCells grid_cells(const GridPoints& points, bool turning) {
  constexpr auto pixel = static_cast<CellKind>(8);
  constexpr std::array<std::array<CellKind, 4>, 2> kinds = {
      {{CellKind::vertex, CellKind::line, pixel, CellKind::voxel},
       {CellKind::vertex, CellKind::line, CellKind::quad, CellKind::hexahedron}}};
  std::vector<Index> steps;  // From a point to the next, along each axis that has more than one.
  GridPoints along{};
  Index step = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (points[axis] > 1) steps.push_back(step);
    along[axis] = std::max<Index>(1, points[axis] - 1);
    step *= points[axis];
  }
  const Index count = cells_in(points);
  const Index each = Index{1} << steps.size();
  const FileCells cells = {host_list<CellKind>("heddle::io::kinds", count),
                           host_list<Index>("heddle::io::offsets", count + 1),
                           host_list<Index>("heddle::io::corners", each * count)};
  cells.offsets(0) = 0;
  for (Index cell = 0; cell < count; ++cell) {
    const Index begin =
        cell % along[0] + points[0] * (cell / along[0] % along[1] + points[1] * (cell / along[0] / along[1]));
    for (Index corner = 0; corner < each; ++corner) {
      // The third corner of a square turns back, that of a pixel does not.
      const Index place = turning ? corner ^ (corner >> 1 & 1) : corner;
      Index point = begin;
      for (std::size_t k = 0; k < steps.size(); ++k) point += (place >> k & 1) * steps[k];
      cells.points(each * cell + corner) = point;
    }
    cells.kinds(cell) = kinds[turning ? 1 : 0][steps.size()];
    cells.offsets(cell + 1) = each * (cell + 1);
  }
  return cells;
}

}  // namespace heddle::impl
