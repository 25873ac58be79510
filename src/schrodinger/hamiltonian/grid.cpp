// Grids and the elements of their kinetic energy.
#include "core/names.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/grid.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heddle::schrodinger {

namespace {

constexpr impl::Names<Kinetic, 4> kinetic_names = {
    {{Kinetic::fd2, "fd2"}, {Kinetic::fd4, "fd4"}, {Kinetic::fd6, "fd6"}, {Kinetic::sinc, "sinc"}}};

// -1/2 times the weights of the central second difference, for dx = 1.
std::vector<double> unit_band(Kinetic kinetic, Index points) {
  switch (kinetic) {
    case Kinetic::fd2:
      return {1.0, -1.0 / 2};
    case Kinetic::fd4:
      return {5.0 / 4, -2.0 / 3, 1.0 / 24};
    case Kinetic::fd6:
      return {49.0 / 36, -3.0 / 4, 3.0 / 40, -1.0 / 180};
    case Kinetic::sinc: {
      std::vector<double> band(points);
      band[0] = std::numbers::pi * std::numbers::pi / 6;
      for (Index d = 1; d < points; ++d) {
        const double distance = static_cast<double>(d);
        band[d] = (d % 2 == 0 ? 1.0 : -1.0) / (distance * distance);
      }
      return band;
    }
  }
  throw Error(ErrorKind::argument, "not a kinetic operator");
}

}  // namespace

std::string_view to_string(Kinetic kinetic) {
  return impl::name_of(kinetic_names, kinetic, "kinetic operator");
}

Kinetic kinetic_from(std::string_view text) {
  return impl::value_of(kinetic_names, text, "kinetic operator");
}

std::vector<double> Grid::positions() const {
  validate(*this);
  std::vector<double> all(points);
  for (Index i = 0; i < points; ++i) all[i] = x(i);
  return all;
}

void validate(const Grid& grid) {
  require(std::isfinite(grid.xmin) && std::isfinite(grid.xmax), "grid.xmin = ", grid.xmin,
          " and grid.xmax = ", grid.xmax, " must be finite");
  require(grid.xmin < grid.xmax, "grid.xmin = ", grid.xmin, " must be less than grid.xmax = ", grid.xmax);
  require(grid.points >= 3, "grid.points = ", grid.points, " must be at least 3");
  require(std::isfinite(grid.xmax - grid.xmin) && grid.xmin + grid.spacing() > grid.xmin &&
              grid.xmax - grid.spacing() < grid.xmax,
          "grid: ", grid.points, " points from ", grid.xmin, " to ", grid.xmax, " can't be told apart");
}

std::vector<double> kinetic_band(const Grid& grid) {
  validate(grid);
  std::vector<double> band = unit_band(grid.kinetic, grid.points);
  band.resize(std::min<std::size_t>(band.size(), static_cast<std::size_t>(grid.points)));
  const double square = grid.spacing() * grid.spacing();
  for (double& value : band) value /= square;
  return band;
}

}  // namespace heddle::schrodinger
