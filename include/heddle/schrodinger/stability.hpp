// Which steps a truncated Taylor series bears: what makes a wave function grow without bound, and the largest step that
// does not.
#pragma once

#include <heddle/schrodinger/propagator.hpp>

namespace heddle::schrodinger {

/// Bounds of the energies of H(t) - i W at all times, in hartree: the kinetic energy is within 0 and `kinetic`, the
/// potential energy, pulses included, within `lowest_potential` and `highest_potential`, and W within 0 and
/// `absorption`.
struct EnergyBounds {
  /// The largest of T: 2/dx^2 for fd2, 8/(3 dx^2) for fd4, 136/(45 dx^2) for fd6; for sinc just below pi^2/(2 dx^2).
  double kinetic = 0.0;
  double lowest_potential = 0.0;   ///< At most the lowest of V(x, t).
  double highest_potential = 0.0;  ///< At least the highest of V(x, t).
  double absorption = 0.0;         ///< The largest of W.

  /// A bound of |H|, however T and V come together.
  [[nodiscard]] double largest() const;
};

/// The bounds of a Hamiltonian's energies, on the calling rank's host alone. Those of T are sums of its elements
/// (Gershgorin), and of W exact. Those of V are exact where no nucleus moves and there is no pulse. Two nuclei that
/// move are at least R_min apart, so that V is not below -Z (1/sqrt(a) + 1/sqrt(R_min^2/4 + a)): wherever the electron
/// is, one of them is R_min/2 away. Pulses add their amplitudes times the largest |x|.
[[nodiscard]] EnergyBounds energy_bounds(const Hamiltonian& hamiltonian);

/// By how much the Taylor series T_p of exp() of degree p, computed in double, can make a vector grow: the bound of
/// ||T_p(-i (H - i W) t)|| - 1 for all ||H t|| <= `exponent` and 0 <= W t <= `absorption`.
///
/// It is the largest of |T_p(-w - i y)| - 1 over |y| <= exponent and 0 <= w <= absorption, which is taken on the border
/// of the rectangle, and u sum_k r^k/k! with r^2 = exponent^2 + absorption^2 and the unit round-off u for the
/// cancellation of the terms: at an exponent of 30 they are e^30 = 10^13 times as large as their sum, so that the
/// series of no degree has a digit at 37. With W, which need not commute with H, ||T_p(A)^m|| may be 1 + sqrt(2) times
/// what the bound says of it.
///
/// Of degrees 3, 4, 7, 8, 11, 12, ... |T_p(-i y)| <= 1 from 0 to some y: 1.732 for 3, 2.828 for 4. Of the others it is
/// above 1 from the beginning, if by little: of degree 1 it is sqrt(1 + y^2), of degree 2 sqrt(1 + y^4/4). The step
/// that they bear then depends on the number of steps.
///
/// Throws Error(argument) for a degree below 1, or a negative or infinite exponent or absorption. Source: the border,
/// and that the bound holds for matrices that are not normal, as for chebyshev: M. Crouzeix, C. Palencia, SIAM J.
/// Matrix Anal. Appl. 38, 649 (2017).
[[nodiscard]] double taylor_growth(int degree, double exponent, double absorption = 0.0);

/// How far a propagator's steps are from making psi grow.
struct StepStability {
  double exponent = 0.0;      ///< Bound of ||H t|| in each exponential of a step, t being its time.
  double growth = 0.0;        ///< taylor_growth() of each; 0 where the method is stable at any step.
  double allowed = 0.0;       ///< What `growth` may be, so that the run's is within what was asked for.
  int exponentials = 0;       ///< Number of exponentials of a step.
  bool safe = true;           ///< growth <= allowed.
  double largest_step = 0.0;  ///< The largest step that is safe; infinity where every step is.
  int least_degree = 0;       ///< The lowest degree that bears this step; 0 where none does, or none is fixed.
};

/// The growth of psi's norm over a whole run, or of any part of psi, that is taken for none: one part in a hundred.
inline constexpr double tolerable_growth = 0.01;

/// Whether `steps` steps of `time_step` are safe, which they are where no part of any psi can grow by more than the
/// factor 1 + `growth` in all of them together, and if not which would be. What psi consists of does not matter: the
/// highest states of the grid, in which there is nothing of it but round-off, grow fastest and take over.
///
/// Of the propagators, expm and magnus4 with a fixed propagator.degree are series that can grow, and the step which
/// they bear falls as dx^2. All others are stable at any step, and no more than inaccurate at a long one:
/// crank_nicolson and split_operator are unitary, and expm and magnus4 without a fixed degree, chebyshev and automatic
/// take as many terms or squarings as ||H dt|| asks for.
///
/// 1e-12 for each exponential is always allowed: no sum of so many terms is expected to be exact. Throws
/// Error(argument) for options that validate() refuses, a time step that is not finite and positive, a negative number
/// of steps, and a growth that is not positive.
[[nodiscard]] StepStability stability_of_step(const Hamiltonian& hamiltonian, const PropagatorOptions& options,
                                              double time_step, Index steps, double growth = tolerable_growth);

}  // namespace heddle::schrodinger
