// Becke's partition of space, and quadrature rules of radii and spheres.
#include "libm/functions.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/gaussian_basis.hpp>
#include <heddle/models/molecular_grid.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace heddle::models {

namespace {

using GridSpace = Kokkos::DefaultHostExecutionSpace;

struct Sphere {
  std::vector<std::array<double, 3>> directions;
  std::vector<double> weights;  // 4 pi in all
};

Sphere product_sphere(int polar) {
  const GaussLegendre rule = gauss_legendre(polar);
  Sphere sphere;
  const int azimuthal = 2 * polar;
  for (int i = 0; i < polar; ++i) {
    const double cosine = rule.nodes[static_cast<std::size_t>(i)];
    const double sine = std::sqrt((1 - cosine) * (1 + cosine));
    for (int k = 0; k < azimuthal; ++k) {
      const double phi = 2 * std::numbers::pi * (k + 0.5) / azimuthal;
      sphere.directions.push_back({sine * libm::cos(phi), sine * libm::sin(phi), cosine});
      sphere.weights.push_back(rule.weights[static_cast<std::size_t>(i)] * 2 * std::numbers::pi / azimuthal);
    }
  }
  return sphere;
}

struct Radius {
  double r, weight;  // The weight includes r^2.
};

std::vector<Radius> radii_of(int count, double size) {
  std::vector<Radius> radii;
  for (int i = count; i >= 1; --i) {
    const double angle = i * std::numbers::pi / (count + 1);
    const double x = libm::cos(angle);
    // 1 + x and 1 - x without cancellation.
    const double above = 2 * libm::cos(angle / 2) * libm::cos(angle / 2);
    const double below = 2 * libm::sin(angle / 2) * libm::sin(angle / 2);
    const double power = libm::pow(above, 0.6) / std::numbers::ln2;
    const double logarithm = libm::log(2 / below);
    const double r = size * power * logarithm;
    const double slope = size * power * (0.6 / (1 + x) * logarithm + 1 / below);
    radii.push_back({r, std::numbers::pi / (count + 1) * libm::sin(angle) * slope * r * r});
  }
  return radii;
}

// The inverse of Slater's exponent of the outermost shell.
double size_of_atom(const Atom& atom) {
  Molecule alone;
  alone.atoms = {atom};
  double least = 1e300;
  for (const GaussianCharge& shell : slater_charges(alone)) least = std::min(least, shell.exponent);
  return std::clamp(0.7 / std::sqrt(least), 0.5, 2.0);
}

double distance_between(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return libm::hypot(libm::hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

// Becke's weight of cell `own` at a point.
double becke_share(const Molecule& molecule, std::size_t own, const std::array<double, 3>& point) {
  const std::size_t count = molecule.atoms.size();
  if (count == 1) return 1;
  double sum = 0;
  double share = 0;
  for (std::size_t a = 0; a < count; ++a) {
    double cell = 1;
    const double ra = distance_between(point, molecule.atoms[a].position);
    for (std::size_t b = 0; b < count && cell > 0; ++b) {
      if (b == a) continue;
      double mu = (ra - distance_between(point, molecule.atoms[b].position)) /
                  distance_between(molecule.atoms[a].position, molecule.atoms[b].position);
      for (int k = 0; k < 3; ++k) mu = 0.5 * mu * (3 - mu * mu);
      cell *= std::max(0.0, 0.5 * (1 - mu));
    }
    sum += cell;
    if (a == own) share = cell;
  }
  return sum > 0 ? share / sum : 0;
}

}  // namespace

GaussLegendre gauss_legendre(int m) {
  require(m >= 1, "gauss_legendre: ", m, " points; expected at least 1");
  GaussLegendre rule;
  rule.nodes.resize(static_cast<std::size_t>(m));
  rule.weights.resize(static_cast<std::size_t>(m));
  for (int i = 0; i < m; ++i) {
    double x = libm::cos(std::numbers::pi * (i + 0.75) / (m + 0.5));
    double slope = 1;
    for (int turn = 0; turn < 100; ++turn) {
      double now = 1;
      double before = 0;
      for (int k = 1; k <= m; ++k) {
        const double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
        before = now;
        now = next;
      }
      slope = m * (before - x * now) / ((1 - x) * (1 + x));
      const double step = now / slope;
      x -= step;
      if (std::abs(step) < 1e-15) break;
    }
    const auto at = static_cast<std::size_t>(m - 1 - i);
    rule.nodes[at] = x;
    rule.weights[at] = 2 / ((1 - x) * (1 + x) * slope * slope);
  }
  return rule;
}

MolecularGrid::MolecularGrid(const Molecule& molecule, const MolecularGridOptions& options) {
  require(options.radial >= 10 && options.radial <= 1000, "grid: ", options.radial, " radii; expected 10 to 1000");
  require(options.polar >= 4 && options.polar <= 200, "grid: ", options.polar, " polar angles; expected 4 to 200");
  std::map<int, Sphere> spheres;
  const auto sphere_of = [&](int polar) -> const Sphere& {
    const auto found = spheres.find(polar);
    return found != spheres.end() ? found->second : spheres.emplace(polar, product_sphere(polar)).first->second;
  };
  std::vector<std::size_t> owners;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    const Atom& atom = molecule.atoms[a];
    const double size = size_of_atom(atom);
    for (const Radius& radius : radii_of(options.radial, size)) {
      const int polar = radius.r < size / 4   ? std::max(4, options.polar / 2)
                        : radius.r < size / 2 ? std::max(4, 2 * options.polar / 3)
                                              : options.polar;
      const Sphere& sphere = sphere_of(polar);
      for (std::size_t k = 0; k < sphere.weights.size(); ++k) {
        std::array<double, 3> point = atom.position;
        for (std::size_t d = 0; d < 3; ++d) point[d] += radius.r * sphere.directions[k][d];
        points_.push_back(point);
        weights_.push_back(radius.weight * sphere.weights[k]);
        owners.push_back(a);
      }
    }
  }
  Kokkos::parallel_for("heddle::models::grid",
                       Kokkos::RangePolicy<GridSpace, Kokkos::IndexType<std::size_t>>(GridSpace(), 0, points_.size()),
                       [&](std::size_t g) { weights_[g] *= becke_share(molecule, owners[g], points_[g]); });
  GridSpace().fence("heddle::models::grid");
}

}  // namespace heddle::models
