// Quadrature points and weights for functions with cusps at nuclei.
#pragma once

#include <heddle/models/molecule.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace heddle::models {

/// Numbers of points of a MolecularGrid about each nucleus.
struct MolecularGridOptions {
  int radial = 80;  ///< Radii about each nucleus, from 10 to 1000.
  int polar = 20;   ///< Polar angles m, from 4 to 200; spheres have 2 m^2 points, those near the nucleus fewer.
};

/// Integrates f over space as the sum of weight f(point): space is divided into fuzzy cells about the nuclei, and each
/// cell is integrated in spherical coordinates about its nucleus.
///
/// Cells: A. D. Becke, J. Chem. Phys. 88, 2547 (1988), three times iterated, without atomic sizes. Radii: Gauss and
/// Chebyshev's rule of the second kind, mapped by r = xi/ln 2 (1 + x)^0.6 ln(2/(1 - x)) (M4 of O. Treutler, R.
/// Ahlrichs, J. Chem. Phys. 102, 346 (1995)), xi the inverse of Slater's exponent of the outermost shell, from 0.5 to 2
/// bohr. Spheres: Gauss and Legendre's rule of m nodes in cos(theta) times 2 m equal steps of phi, which is exact for
/// spherical harmonics up to degree 2 m - 1; m is halved for r < xi/4 and reduced to two thirds for r < xi/2, but at
/// least 4. Bits: reproducible for any number of threads.
class MolecularGrid {
 public:
  /// Throws Error(argument) for options out of their range. The molecule's geometry is that of electrons_of().
  explicit MolecularGrid(const Molecule& molecule, const MolecularGridOptions& options = {});

  /// Number of points.
  [[nodiscard]] std::size_t size() const noexcept { return points_.size(); }
  /// The points, bohr.
  [[nodiscard]] std::span<const std::array<double, 3>> points() const noexcept { return points_; }
  /// The weights, bohr^3.
  [[nodiscard]] std::span<const double> weights() const noexcept { return weights_; }

 private:
  std::vector<std::array<double, 3>> points_;
  std::vector<double> weights_;
};

/// Nodes x in (-1, 1), ascending, and weights of the Gauss-Legendre rule of m points, accurate to round-off.
struct GaussLegendre {
  std::vector<double> nodes;
  std::vector<double> weights;
};
/// Return the rule of m points. Throws Error(argument) for m < 1.
[[nodiscard]] GaussLegendre gauss_legendre(int m);

}  // namespace heddle::models
