// The grid on which a wave function is given, and the kinetic energy on it.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string_view>
#include <vector>

namespace heddle::schrodinger {

/// How -1/2 d^2/dx^2 is discretised: central differences of order 2, 4 or 6, or the sinc basis (all orders, dense).
enum class Kinetic { fd2, fd4, fd6, sinc };
/// The name of a discretisation: "fd2", "fd4", "fd6" or "sinc".
[[nodiscard]] std::string_view to_string(Kinetic kinetic);
/// The discretisation with this name. Throws Error(argument) for any other text.
[[nodiscard]] Kinetic kinetic_from(std::string_view text);

/// A uniform grid x_i = xmin + i dx for i = 0 ... points - 1, both ends included, with dx = (xmax - xmin)/(points - 1).
/// Lengths are in bohr.
///
/// psi is taken as zero outside the grid; with fd2 this is exactly a box with walls at xmin - dx and xmax + dx. A wave
/// function is normalised to sum_i |psi_i|^2 dx = 1 and has the unit bohr^(-1/2).
struct Grid {
  double xmin = -10.0;             ///< Position of the first point, bohr.
  double xmax = 10.0;              ///< Position of the last point, bohr.
  Index points = 201;              ///< Number of points.
  Kinetic kinetic = Kinetic::fd2;  ///< How the kinetic energy is discretised.

  /// The distance dx of neighbouring points, bohr.
  [[nodiscard]] double spacing() const { return (xmax - xmin) / static_cast<double>(points - 1); }
  /// The position x_i of a point, bohr; exactly xmin and xmax at the ends.
  [[nodiscard]] double x(Index i) const { return i == points - 1 ? xmax : xmin + static_cast<double>(i) * spacing(); }
  /// The positions of all points, bohr. Throws Error(argument) as validate() does.
  [[nodiscard]] std::vector<double> positions() const;
};

/// Throws Error(argument) unless the ends are finite, xmin < xmax and points >= 3.
void validate(const Grid& grid);

/// The elements t_0 ... t_w of the kinetic energy T_ij = t_|i-j| in hartree, which is zero beyond the band: w = 1, 2, 3
/// for the differences of order 2, 4, 6, and points - 1 for sinc. T is symmetric and positive definite in each case.
/// Throws Error(argument) as validate() does.
///
/// Source for sinc: D. T. Colbert, W. H. Miller, J. Chem. Phys. 96, 1982 (1992): t_0 = pi^2/(6 dx^2), t_d = (-1)^d/(d
/// dx)^2.
[[nodiscard]] std::vector<double> kinetic_band(const Grid& grid);

}  // namespace heddle::schrodinger
