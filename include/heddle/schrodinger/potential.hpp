// What the electron moves in: the nuclei, where they are at a time, and the potential energy they make.
#pragma once

#include <heddle/schrodinger/grid.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace heddle::schrodinger {

enum class PotentialKind {
  soft_core,  ///< V(x, t) = - sum over both nuclei of Z / sqrt((x - X(t))^2 + a)
  harmonic,   ///< V(x) = omega^2 x^2 / 2
  table,      ///< V(x) between given points by linear interpolation
};
/// "soft-core", "harmonic" or "file".
[[nodiscard]] std::string_view to_string(PotentialKind kind);
[[nodiscard]] PotentialKind potential_kind_from(std::string_view text);

/// Atomic units: energies in hartree, lengths in bohr.
struct Potential {
  PotentialKind kind = PotentialKind::soft_core;
  double charge = 1.0;          ///< Z of each nucleus.
  double softening = 1.0;       ///< a, a squared length.
  double omega = 1.0;           ///< Angular frequency of `harmonic`.
  std::vector<double> table_x;  ///< Rising.
  std::vector<double> table_v;
};

/// Of the two nuclei, at X = -/+ R/2 when fixed.
enum class Motion {
  fixed,
  stretch,  ///< -/+ (R/2 + alpha sin(beta t)): the bond vibrates.
  shake,    ///< -/+ R/2 + alpha sin(beta t): both move together.
  drift,    ///< -/+ R/2 + v t.
};
[[nodiscard]] std::string_view to_string(Motion motion);
[[nodiscard]] Motion motion_from(std::string_view text);

struct Nuclei {
  double separation = 2.0;  ///< R, bohr.
  Motion motion = Motion::fixed;
  double amplitude = 0.5;  ///< alpha, bohr.
  double omega = 3.0;      ///< beta, 1/atomic unit of time.
  double velocity = 1.0;   ///< v, bohr/atomic unit of time.

  [[nodiscard]] std::array<double, 2> positions(double time) const;
};

/// Throws Error(argument) for values that are not finite, a softening <= 0, a negative separation, a table that does
/// not rise, has fewer than two points or does not cover the grid, and for nuclei that move in a potential that has
/// none.
void validate(const Grid& grid, const Potential& potential, const Nuclei& nuclei);

/// V at every point of the grid.
[[nodiscard]] std::vector<double> potential_energy(const Grid& grid, const Potential& potential, const Nuclei& nuclei,
                                                   double time);

}  // namespace heddle::schrodinger
