// Absorbing potentials and masks.
#include "core/names.hpp"
#include "libm/functions.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/absorber.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heddle::schrodinger {

namespace {

constexpr impl::Names<AbsorberKind, 4> absorber_names = {{{AbsorberKind::none, "none"},
                                                          {AbsorberKind::polynomial, "polynomial"},
                                                          {AbsorberKind::transmission_free, "transmission-free"},
                                                          {AbsorberKind::mask, "mask"}}};

// Depth of a point in its layer; negative outside both layers.
double depth_of(const Grid& grid, const Absorber& absorber, Index i) {
  const double to_end = std::min(grid.x(i) - grid.xmin, grid.xmax - grid.x(i));
  return absorber.width - to_end;
}

double transmission_free(double energy, double share) {
  constexpr double c = 2.6220575542921198;
  constexpr double a = 1 - 16 / (c * c * c);
  constexpr double b = (1 - 17 / (c * c * c)) / (c * c);
  const double x = c * share;
  return energy * (a * x - b * x * x * x + 4 / ((c - x) * (c - x)) - 4 / ((c + x) * (c + x)));
}

}  // namespace

std::string_view to_string(AbsorberKind kind) {
  return impl::name_of(absorber_names, kind, "absorber");
}

AbsorberKind absorber_kind_from(std::string_view text) {
  return impl::value_of(absorber_names, text, "absorber");
}

void validate(const Grid& grid, const Absorber& absorber) {
  if (absorber.kind == AbsorberKind::none) return;
  require(absorber.width > 0 && absorber.width <= (grid.xmax - grid.xmin) / 2, "absorber.width = ", absorber.width,
          " must be positive and at most half the grid's, ", (grid.xmax - grid.xmin) / 2);
  require(std::isfinite(absorber.strength) && absorber.strength >= 0, "absorber.strength = ", absorber.strength,
          " must be finite and not negative");
  require(std::isfinite(absorber.power) && absorber.power >= 0, "absorber.power = ", absorber.power,
          " must be finite and not negative");
  require(std::isfinite(absorber.energy) && absorber.energy > 0, "absorber.energy = ", absorber.energy,
          " must be finite and positive");
  require(std::isfinite(absorber.time) && absorber.time > 0, "absorber.time = ", absorber.time,
          " must be finite and positive");
}

std::vector<double> absorbing_potential(const Grid& grid, const Absorber& absorber) {
  const bool polynomial = absorber.kind == AbsorberKind::polynomial;
  if (!polynomial && absorber.kind != AbsorberKind::transmission_free) return {};
  validate(grid);
  validate(grid, absorber);
  std::vector<double> values(static_cast<std::size_t>(grid.points));
  for (Index i = 0; i < grid.points; ++i) {
    const double depth = depth_of(grid, absorber, i);
    if (depth < 0) continue;
    values[i] = polynomial ? absorber.strength * libm::pow(depth / absorber.width, absorber.power)
                           : transmission_free(absorber.energy, depth / (absorber.width + grid.spacing()));
  }
  return values;
}

std::vector<double> mask_of_step(const Grid& grid, const Absorber& absorber, double time_step) {
  if (absorber.kind != AbsorberKind::mask) return {};
  validate(grid);
  validate(grid, absorber);
  require(std::isfinite(time_step) && time_step > 0, "time.step = ", time_step, " must be finite and positive");
  std::vector<double> values(static_cast<std::size_t>(grid.points), 1.0);
  for (Index i = 0; i < grid.points; ++i) {
    const double share = depth_of(grid, absorber, i) / absorber.width;
    // The cosine, computed as the sine of the complement, so that it is exactly 0 at the end.
    if (share > 0) {
      values[i] = libm::pow(libm::sin(std::numbers::pi / 2 * (1 - share)), time_step / (8 * absorber.time));
    }
  }
  return values;
}

}  // namespace heddle::schrodinger
