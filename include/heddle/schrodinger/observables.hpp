// The observables of a wave function, which are computed after each step.
#pragma once

#include <heddle/schrodinger/eigenstates.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <vector>

namespace heddle::schrodinger {

/// Observables of a wave function psi at one time, in atomic units. Sums over the grid are compensated, in an order
/// that the number of points determines.
struct Observables {
  /// Number of steps before this time.
  Index step = 0;
  /// The time, atomic units of time.
  double time = 0.0;
  double norm = 0.0;      ///< Norm: sqrt(sum |psi|^2 dx).
  double energy = 0.0;    ///< Energy: <psi|H(t)|psi> / <psi|psi>, hartree.
  double position = 0.0;  ///< Mean position: `<x> = sum x |psi|^2 / sum |psi|^2`, bohr.
  /// Dipole moment, with the electron's charge -1: `Z (X_1 + X_2) - <x>`, or `-<x>` in a potential without nuclei; e
  /// bohr.
  double dipole = 0.0;
  /// Number of nodes, whose places are node_positions. For an eigenstate it is the level, provided that its lobes are
  /// resolved and each has 0.01 of the highest density.
  Index nodes = 0;
  /// Positions of the nodes of psi, from left to right, bohr: node_positions(grid, psi, those of the previous
  /// observation).
  std::vector<double> node_positions;
  std::array<double, 2> nuclei{};  ///< Positions X_1 and X_2 of the nuclei, bohr.
  /// Energies E_k(t) of the lowest instantaneous eigenstates phi_k(t) of H without its pulses, hartree; empty if none
  /// were requested.
  std::vector<double> energies;
  std::vector<double> populations;  ///< Populations |<phi_k(t)|psi>|^2 of these eigenstates.
  /// Probability at the ends of the grid, (|psi_0|^2 + |psi_{n-1}|^2) dx; it tells whether the grid is wide enough.
  double edge_probability = 0.0;
  double field = 0.0;            ///< Field E(t) of the pulses, hartree/(e bohr).
  double position_spread = 0.0;  ///< `sqrt(<x^2> - <x>^2)`, bohr.
  double energy_spread = 0.0;    ///< `sqrt(<H^2> - <H>^2)`, hartree.
  /// Estimate of ||psi - exact psi||/||psi||, where exact is the solution on this grid: the accumulated error of time
  /// steps and exponentials. NaN if it is unknown, as from observe().
  double error = std::numeric_limits<double>::quiet_NaN();
  /// The same estimate for ||psi||^2; it is far smaller for methods that keep the norm.
  double probability_error = std::numeric_limits<double>::quiet_NaN();

  /// Absorbed probability, 1 - ||psi||^2: the part of a psi of initial norm 1 that an absorber removed; without an
  /// absorber it is the propagator's error.
  [[nodiscard]] double absorbed() const { return 1.0 - norm * norm; }
  /// 1 minus the sum of the populations of the eigenstates with E_k < 0: the probability that the electron is bound in
  /// none of them, or was absorbed. It is the ionisation if V goes to 0 outwards and all relevant bound states are
  /// observed.
  [[nodiscard]] double ionisation() const;

  /// Estimated differences of the values from those of the exact psi on this grid, with e = `error`: (2 e + e^2) times
  /// the spread for `<x>` and the dipole, and e^2 |E| more for the energy, whose spread is 0 in an eigenstate.
  [[nodiscard]] double position_error() const { return error * position_spread * (2 + error); }
  [[nodiscard]] double energy_error() const {
    return error * (2 * energy_spread + error * (energy_spread + std::abs(energy)));
  }
  /// Estimated error of a probability p, the squared norm of a part of psi: 2 e sqrt(p (1 - p)) + e^2 +
  /// `probability_error` + 1e-14, the last for the round-off of the parts. It is meant for a psi that began with norm
  /// 1.
  [[nodiscard]] double error_of_probability(double p) const;
};

/// How well a grid represents a wave function.
struct GridResolution {
  /// The kinetic energy `<T>/<1>` from the wave numbers k of psi, each with the energy k^2/2, hartree.
  double kinetic = 0.0;
  /// Difference by which the grid's own kinetic energy is lower, hartree: the error of its finite differences for these
  /// waves.
  double kinetic_error = 0.0;
  /// The share of |psi|^2 with |k| dx > pi/2, waves of less than 4 points: nearly 0 for a resolved psi, with any
  /// kinetic energy.
  double tail = 0.0;
};

/// How well the grid of `hamiltonian` represents `state`, by the discrete Fourier transform of psi continued by zeros
/// to the least power of two that is no less than twice its length. Cost: n log n on the calling rank's host; throws
/// Error(argument) unless psi has the grid's length.
[[nodiscard]] GridResolution grid_resolution(const Hamiltonian& hamiltonian,
                                             std::span<const std::complex<double>> state);

/// The observables of a wave function `state` at `time`, computed on the calling rank's host alone. A Simulation
/// reduces the same ones on its device; they differ from these by round-off. `eigenstates` are those of H.bare() at
/// that time; with none there are no populations. `nodes_before`: node_positions of the previous observation, if any.
/// Cost: one product H psi and one product with each eigenstate. Throws Error(argument) unless psi, and the eigenstates
/// where there are any, have the grid's length.
[[nodiscard]] Observables observe(const Hamiltonian& hamiltonian, double time,
                                  std::span<const std::complex<double>> state, const Eigenstates& eigenstates,
                                  std::span<const double> nodes_before = {});

/// Positions of the nodes of a wave function, from left to right, bohr: valleys of the density between neighbouring
/// lobes of nearly opposite phases, as a complex psi hardly ever passes through 0.
/// - A node begins if d >= 0.01 D, v <= 0.8 d and c <= -0.3. It goes on if d >= 0.003 D, v <= 0.95 d and c < 0, and one
///   of `before`, the positions at the previous time, is between its lobes; without `before` all nodes begin. D is the
///   highest density, d that of the lower lobe, v the lowest between them, c the cosine of the turn of the phase,
///   corrected for the mean momentum. docs/notes/tdse.md, section "Nodes that do not flicker", has the formulas.
/// - Errors: throws Error(argument) unless psi has the grid's length. Lobes narrower than about three points may lack
///   nodes.
/// - Bits: reproducible, by +, -, *, / and square roots alone; a constant factor of psi changes nothing but round-off.
/// - Cost: about 30 flops a point, on the calling rank's host alone.
[[nodiscard]] std::vector<double> node_positions(const Grid& grid, std::span<const std::complex<double>> state,
                                                 std::span<const double> before = {});

/// The overlap <a|b> = sum conj(a_i) b_i dx, a compensated sum in rising order. With a = psi(0) and b = psi(t) it is
/// the autocorrelation C(t). Throws Error(argument) unless both have the grid's length.
[[nodiscard]] std::complex<double> overlap(const Grid& grid, std::span<const std::complex<double>> a,
                                           std::span<const std::complex<double>> b);

/// The probability that a psi of initial norm 1 is no longer at |x| <= radius: 1 - sum over |x_i| <= radius of
/// |psi_i|^2 dx, a compensated sum in rising order. The part that an absorber removed counts as outside. `radius` is in
/// bohr. Throws Error(argument) unless psi has the grid's length and the radius is not negative.
[[nodiscard]] double probability_outside(const Grid& grid, std::span<const std::complex<double>> state, double radius);

}  // namespace heddle::schrodinger
