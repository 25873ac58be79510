// Geometry of legacy .vtk files whose points are numbered along three axes.
#include "io/mesh/vtk/legacy_grid.hpp"

#include <cmath>

namespace heddle::impl {

bool LegacyGrid::read(LegacySource& source) {
  const std::string keyword = source.keyword();
  if (keyword == "dimensions") {
    if (has_dimensions_) source.refuse("a second DIMENSIONS");
    has_dimensions_ = true;
    for (Index& along : points_) {
      along = source.number<Index>("a dimension");
      if (along < 0 || along > most_along) {
        source.refuse("a dimension is ", along, ", where 0 to ", most_along, " points are expected");
      }
    }
    source.end_line();
    return true;
  }
  if (dataset_ == LegacyDataset::structured_points) {
    const bool origin = keyword == "origin";
    if (!origin && keyword != "spacing" && keyword != "aspect_ratio") return false;
    for (double& value : origin ? origin_ : spacing_) value = source.number<double>(origin ? "an origin" : "a spacing");
    source.end_line();
    return true;
  }
  if (dataset_ != LegacyDataset::rectilinear_grid) return false;
  for (const std::size_t axis : {0U, 1U, 2U}) {
    if (keyword != std::string(1, "xyz"[axis]) + "_coordinates") continue;
    read_axis(source, axis);
    return true;
  }
  return false;
}

void LegacyGrid::read_axis(LegacySource& source, std::size_t axis) {
  if (!axes_[axis].empty()) source.refuse("a second list of coordinates along this axis");
  const Index count = source.count("the number of coordinates");
  const ElementType type = source.type("the coordinates");
  source.end_line();
  if (!source.has_room(count, 1, type)) {
    source.refuse(count, " coordinates are announced, more than the file's ", source.size(), " bytes can hold");
  }
  axes_[axis].reserve(static_cast<std::size_t>(count));
  with_type(type, [&](auto number) {
    source.read_each<decltype(number)>(count, "a coordinate", [&](Index, auto value) {
      axes_[axis].push_back(static_cast<double>(value));
      if (!std::isfinite(axes_[axis].back())) source.refuse("a coordinate '", value, "' is not finite");
    });
  });
}

void LegacyGrid::end(LegacySource& source, Index listed) const {
  const auto refuse_unless = [&](bool right, Index found, const char* what, Index expected) {
    if (!right) source.refuse("there are ", found, " ", what, ", where the dimensions say ", expected);
  };
  if (has_points()) refuse_unless(listed == points_in(points_), listed, "points", points_in(points_));
  if (dataset_ != LegacyDataset::rectilinear_grid) return;
  constexpr std::array<const char*, 3> names = {"x coordinates", "y coordinates", "z coordinates"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto there = static_cast<Index>(axes_[axis].size());
    refuse_unless(there == points_[axis], there, names[axis], points_[axis]);
  }
}

std::string LegacyGrid::wrong_size(const MeshParts& parts) const {
  const auto has_numbers = [](const std::vector<MeshArray>& arrays) {
    for (const MeshArray& array : arrays) {
      if (array.components() > 0) return true;
    }
    return false;
  };
  const Index points = points_in(points_);
  if (points <= most_without_arrays || has_numbers(parts.point_arrays) || has_numbers(parts.cell_arrays)) return {};
  return message_of("a grid of ", points, " points without any array, where at most ", most_without_arrays,
                    " are taken");
}

MeshPoints LegacyGrid::places() const {
  const NewPoints places = host_points(points_in(points_));
  Index point = 0;
  for (Index k = 0; k < points_[2]; ++k) {
    for (Index j = 0; j < points_[1]; ++j) {
      for (Index i = 0; i < points_[0]; ++i, ++point) {
        const GridPoints at = {i, j, k};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          places(point, axis) = dataset_ == LegacyDataset::rectilinear_grid
                                    ? axes_[axis][static_cast<std::size_t>(at[axis])]
                                    : origin_[axis] + static_cast<double>(at[axis]) * spacing_[axis];
        }
      }
    }
  }
  return places;
}

}  // namespace heddle::impl
