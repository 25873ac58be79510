// Potential energies of the electron and the motion of the nuclei.
#include "core/names.hpp"
#include "libm/functions.hpp"
#include "schrodinger/hamiltonian/potential_values.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::schrodinger {

namespace {

constexpr impl::Names<PotentialKind, 3> potential_names = {
    {{PotentialKind::soft_core, "soft-core"}, {PotentialKind::harmonic, "harmonic"}, {PotentialKind::table, "file"}}};
constexpr impl::Names<Motion, 4> motion_names = {
    {{Motion::fixed, "fixed"}, {Motion::stretch, "stretch"}, {Motion::shake, "shake"}, {Motion::drift, "drift"}}};

void require_finite(const char* name, double value) {
  require(std::isfinite(value), name, " = ", value, " must be finite");
}

void validate_table(const Grid& grid, const Potential& potential) {
  const auto& x = potential.table_x;
  const auto& v = potential.table_v;
  require(x.size() == v.size() && x.size() >= 2, "potential table: ", x.size(), " positions and ", v.size(),
          " values; expected as many of each, at least 2");
  for (std::size_t i = 0; i < x.size(); ++i) {
    require(std::isfinite(x[i]) && std::isfinite(v[i]), "potential table, point ", i + 1, ": x = ", x[i],
            ", V = ", v[i], " must be finite");
    require(i == 0 || x[i - 1] < x[i], "potential table, point ", i + 1, ": x = ", x[i], " must be greater than ",
            x[std::max<std::size_t>(i, 1) - 1], " before it");
  }
  // Positions in a text file may miss the ends of the grid by rounding.
  const double slack = 1e-9 * grid.spacing();
  require(x.front() <= grid.xmin + slack && x.back() >= grid.xmax - slack,
          "potential table: it reaches from x = ", x.front(), " to ", x.back(), " and does not cover the grid from ",
          grid.xmin, " to ", grid.xmax);
}

double interpolated(const Potential& potential, double x) {
  const auto& xs = potential.table_x;
  const auto& vs = potential.table_v;
  const auto above = std::upper_bound(xs.begin(), xs.end(), x);
  const std::size_t right = std::clamp<std::size_t>(above - xs.begin(), 1, xs.size() - 1);
  const double share = std::clamp((x - xs[right - 1]) / (xs[right] - xs[right - 1]), 0.0, 1.0);
  return (1.0 - share) * vs[right - 1] + share * vs[right];
}

}  // namespace

std::string_view to_string(PotentialKind kind) {
  return impl::name_of(potential_names, kind, "potential");
}

PotentialKind potential_kind_from(std::string_view text) {
  return impl::value_of(potential_names, text, "potential");
}

std::string_view to_string(Motion motion) {
  return impl::name_of(motion_names, motion, "motion");
}

Motion motion_from(std::string_view text) {
  return impl::value_of(motion_names, text, "motion");
}

std::array<double, 2> Nuclei::positions(double time) const {
  const double half = separation / 2;
  switch (motion) {
    case Motion::fixed:
      return {-half, half};
    case Motion::stretch: {
      const double displaced = half + amplitude * libm::sin(omega * time);
      return {-displaced, displaced};
    }
    case Motion::shake: {
      const double shift = amplitude * libm::sin(omega * time);
      return {-half + shift, half + shift};
    }
    case Motion::drift: {
      const double shift = velocity * time;
      return {-half + shift, half + shift};
    }
  }
  throw Error(ErrorKind::argument, "not a motion");
}

void validate(const Grid& grid, const Potential& potential, const Nuclei& nuclei) {
  require_finite("potential.charge", potential.charge);
  require_finite("potential.softening", potential.softening);
  require_finite("potential.omega", potential.omega);
  require_finite("nuclei.separation", nuclei.separation);
  require_finite("nuclei.amplitude", nuclei.amplitude);
  require_finite("nuclei.omega", nuclei.omega);
  require_finite("nuclei.velocity", nuclei.velocity);
  require(potential.softening > 0, "potential.softening = ", potential.softening, " must be positive");
  require(nuclei.separation >= 0, "nuclei.separation = ", nuclei.separation, " must not be negative");
  require(potential.kind == PotentialKind::soft_core || nuclei.motion == Motion::fixed,
          "nuclei.motion = ", to_string(nuclei.motion), " needs potential.kind = soft-core: a potential of kind ",
          to_string(potential.kind), " has no nuclei");
  if (potential.kind == PotentialKind::table) validate_table(grid, potential);
}

std::vector<double> potential_energy(const Grid& grid, const Potential& potential, const Nuclei& nuclei, double time) {
  validate(grid);
  validate(grid, potential, nuclei);
  return potential_values(grid, potential, nuclei, time);
}

std::vector<double> potential_values(const Grid& grid, const Potential& potential, const Nuclei& nuclei, double time) {
  std::vector<double> values(grid.points);
  const auto centres = nuclei.positions(time);
  for (Index i = 0; i < grid.points; ++i) {
    const double x = grid.x(i);
    switch (potential.kind) {
      case PotentialKind::soft_core:
        for (const double centre : centres) {
          const double distance = x - centre;
          values[i] -= potential.charge / std::sqrt(distance * distance + potential.softening);
        }
        break;
      case PotentialKind::harmonic:
        values[i] = potential.omega * potential.omega * x * x / 2;
        break;
      case PotentialKind::table:
        values[i] = interpolated(potential, x);
        break;
    }
  }
  return values;
}

}  // namespace heddle::schrodinger
