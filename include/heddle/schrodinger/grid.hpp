// The grid that a wave function lives on, and the kinetic energy there.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string_view>
#include <vector>

namespace heddle::schrodinger {

/// How -1/2 d^2/dx^2 is discretised: central differences of order 2, 4 or 6, or the sinc basis (all orders, dense).
enum class Kinetic { fd2, fd4, fd6, sinc };
[[nodiscard]] std::string_view to_string(Kinetic kinetic);
/// Throws Error(argument) for an unknown name.
[[nodiscard]] Kinetic kinetic_from(std::string_view text);

/// Uniform grid x_i = xmin + i dx, i = 0 ... points - 1, both ends included, dx = (xmax - xmin)/(points - 1); lengths
/// in bohr.
///
/// psi is taken as zero outside: with fd2 exactly a box with walls at xmin - dx and xmax + dx. A wave function is
/// normalised to sum_i |psi_i|^2 dx = 1 and has the unit bohr^(-1/2).
struct Grid {
  double xmin = -10.0;
  double xmax = 10.0;
  Index points = 201;
  Kinetic kinetic = Kinetic::fd2;

  [[nodiscard]] double spacing() const { return (xmax - xmin) / static_cast<double>(points - 1); }
  /// x_i; exactly xmin and xmax at the ends.
  [[nodiscard]] double x(Index i) const { return i == points - 1 ? xmax : xmin + static_cast<double>(i) * spacing(); }
  [[nodiscard]] std::vector<double> positions() const;
};

/// Throws Error(argument) unless the ends are finite, xmin < xmax and points >= 3.
void validate(const Grid& grid);

/// t_0 ... t_w of the kinetic energy T_ij = t_|i-j| in hartree, zero beyond the band: w = 1, 2, 3 for the differences,
/// points - 1 for sinc. T is symmetric and positive definite in each case.
///
/// Source of sinc: D. T. Colbert, W. H. Miller, J. Chem. Phys. 96, 1982 (1992): t_0 = pi^2/(6 dx^2),
/// t_d = (-1)^d/(d dx)^2.
[[nodiscard]] std::vector<double> kinetic_band(const Grid& grid);

}  // namespace heddle::schrodinger
