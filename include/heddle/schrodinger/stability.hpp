// Stability of steps with a truncated Taylor series: the growth of a wave function, and the largest step without
// growth.
#pragma once

#include <heddle/schrodinger/propagator.hpp>

namespace heddle::schrodinger {

/// Bounds of the energies of H(t) - i W at all times, in hartree: the kinetic energy is within 0 and `kinetic`, the
/// potential energy, pulses included, within `lowest_potential` and `highest_potential`, and W within 0 and
/// `absorption`.
struct EnergyBounds {
  /// Largest eigenvalue of T: 2/dx^2 for fd2, 8/(3 dx^2) for fd4, 136/(45 dx^2) for fd6; for sinc just below pi^2/(2
  /// dx^2).
  double kinetic = 0.0;
  double lowest_potential = 0.0;   ///< A value at most the lowest of V(x, t).
  double highest_potential = 0.0;  ///< A value at least the highest of V(x, t).
  double absorption = 0.0;         ///< Largest value of W.

  /// A bound of |H|, for any combination of T and V.
  [[nodiscard]] double largest() const;
};

/// The bounds of a Hamiltonian's energies, computed on the calling rank's host alone. Those of T are sums of its
/// elements (Gershgorin); that of W is exact. Those of V are exact if no nucleus moves and there is no pulse. Two
/// nuclei that move are at least R_min apart, so that V is not below -Z (1/sqrt(a) + 1/sqrt(R_min^2/4 + a)): wherever
/// the electron is, one of them is at least R_min/2 away. Pulses add their amplitudes times the largest |x|.
[[nodiscard]] EnergyBounds energy_bounds(const Hamiltonian& hamiltonian);

/// Bound of the growth of a vector by the Taylor series T_p of exp() of degree p, computed in double: of ||T_p(-i (H -
/// i W) t)|| - 1 for all ||H t|| <= `exponent` and 0 <= W t <= `absorption`.
///
/// It is the sum of the largest |T_p(-w - i y)| - 1 over |y| <= exponent and 0 <= w <= absorption, which is attained on
/// the border of the rectangle, and of u sum_k r^k/k! with r^2 = exponent^2 + absorption^2 and the unit round-off u for
/// the cancellation of the terms: at an exponent of 30 they are e^30 = 10^13 times as large as their sum, so that no
/// series of any degree has a correct digit at 37. With W, which need not commute with H, ||T_p(A)^m|| may be 1 +
/// sqrt(2) times its bound.
///
/// For degrees 3, 4, 7, 8, 11, 12, ... |T_p(-i y)| <= 1 from 0 to some y: 1.732 for 3, 2.828 for 4. For the others it
/// exceeds 1 slightly at any y > 0: it is sqrt(1 + y^2) for degree 1, sqrt(1 + y^4/4) for degree 2. The stable step
/// then depends on the number of steps.
///
/// Throws Error(argument) for a degree below 1, or a negative or infinite exponent or absorption. Source for the border
/// and for the validity of the bound for non-normal matrices, as for chebyshev: M. Crouzeix, C. Palencia, SIAM J.
/// Matrix Anal. Appl. 38, 649 (2017).
[[nodiscard]] double taylor_growth(int degree, double exponent, double absorption = 0.0);

/// Stability of a propagator's steps: whether they make psi grow.
struct StepStability {
  double exponent = 0.0;      ///< Bound of ||H t|| in each exponential of a step, t being its time.
  double growth = 0.0;        ///< taylor_growth() of each exponential; 0 if the method is stable at any step.
  double allowed = 0.0;       ///< Limit of `growth` that keeps the growth of the run within the requested one.
  int exponentials = 0;       ///< Number of exponentials of a step.
  bool safe = true;           ///< Whether growth <= allowed.
  double largest_step = 0.0;  ///< The largest safe step; infinity if every step is safe.
  int least_degree = 0;       ///< The lowest degree for which this step is safe; 0 if none is, or none is fixed.
};

/// The growth of the norm of psi, or of any part of it, over a whole run that is regarded as none: one part in a
/// hundred.
inline constexpr double tolerable_growth = 0.01;

/// Whether `steps` steps of `time_step` are safe, so that no part of any psi can grow by more than the factor 1 +
/// `growth` in all of them together, and if not, which step would be. The result does not depend on psi: the highest
/// states of the grid, which psi contains by round-off only, grow fastest and dominate in the end.
///
/// Only expm and magnus4 with a fixed propagator.degree are series that can grow, and their largest safe step falls as
/// dx^2. All other propagators are stable at any step, and merely inaccurate at a long one: crank_nicolson and
/// split_operator are unitary, and expm and magnus4 without a fixed degree, chebyshev and automatic take as many terms
/// or squarings as ||H dt|| requires.
///
/// 1e-12 for each exponential is always allowed: no sum of so many terms is expected to be exact. Throws
/// Error(argument) for options that validate() refuses, a time step that is not finite and positive, a negative number
/// of steps, and a growth that is not finite and positive.
[[nodiscard]] StepStability stability_of_step(const Hamiltonian& hamiltonian, const PropagatorOptions& options,
                                              double time_step, Index steps, double growth = tolerable_growth);

}  // namespace heddle::schrodinger
