// The potential of the electron: the nuclei, their positions at a time, and their potential energy.
#pragma once

#include <heddle/schrodinger/grid.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace heddle::schrodinger {

/// The form of the potential energy V of the electron; Potential explains the symbols.
enum class PotentialKind {
  soft_core,  ///< V(x, t) = - sum over both nuclei of Z / sqrt((x - X(t))^2 + a)
  harmonic,   ///< V(x) = omega^2 x^2 / 2
  table,      ///< V(x) between given points by linear interpolation
};
/// The name of a kind: "soft-core", "harmonic" or "file" (for a table).
[[nodiscard]] std::string_view to_string(PotentialKind kind);
/// The kind with this name. Throws Error(argument) for any other text.
[[nodiscard]] PotentialKind potential_kind_from(std::string_view text);

/// The potential energy of the electron, in atomic units: energies in hartree, lengths in bohr.
struct Potential {
  PotentialKind kind = PotentialKind::soft_core;  ///< Form of the potential.
  double charge = 1.0;                            ///< Charge Z of each nucleus, for `soft_core`.
  double softening = 1.0;                         ///< Softening a, a squared length in bohr^2, for `soft_core`.
  double omega = 1.0;                             ///< Angular frequency omega, for `harmonic`, 1/atomic unit of time.
  std::vector<double> table_x;                    ///< Rising positions x of the points of `table`, bohr.
  /// V at the points of `table`, hartree.
  std::vector<double> table_v;
};

/// How the two nuclei move; when fixed they are at X = -/+ R/2. Nuclei explains the symbols.
enum class Motion {
  /// The nuclei stand at -/+ R/2.
  fixed,
  stretch,  ///< The bond vibrates: the nuclei are at -/+ (R/2 + alpha sin(beta t)).
  shake,    ///< Both nuclei move together: they are at -/+ R/2 + alpha sin(beta t).
  drift,    ///< Both nuclei drift: they are at -/+ R/2 + v t.
};
/// The name of a motion: "fixed", "stretch", "shake" or "drift".
[[nodiscard]] std::string_view to_string(Motion motion);
/// The motion with this name. Throws Error(argument) for any other text.
[[nodiscard]] Motion motion_from(std::string_view text);

/// The two nuclei and how they move.
struct Nuclei {
  double separation = 2.0;        ///< Distance R of the nuclei at rest, bohr.
  Motion motion = Motion::fixed;  ///< How the nuclei move.
  double amplitude = 0.5;         ///< Amplitude alpha of `stretch` and `shake`, bohr.
  double omega = 3.0;             ///< Angular frequency beta of `stretch` and `shake`, 1/atomic unit of time.
  double velocity = 1.0;          ///< Velocity v of `drift`, bohr/atomic unit of time.

  /// The positions X_1 and X_2 of the nuclei at `time`, bohr.
  [[nodiscard]] std::array<double, 2> positions(double time) const;
};

/// Throws Error(argument) for values that are not finite, a softening that is not positive, a negative separation, a
/// table whose positions do not rise, that has fewer than two points or that does not cover the grid, and for moving
/// nuclei in a potential that has no nuclei.
void validate(const Grid& grid, const Potential& potential, const Nuclei& nuclei);

/// V(x_i, time) at every point of the grid, in hartree. Throws Error(argument) as validate() of the grid and of the
/// potential does.
[[nodiscard]] std::vector<double> potential_energy(const Grid& grid, const Potential& potential, const Nuclei& nuclei,
                                                   double time);

}  // namespace heddle::schrodinger
