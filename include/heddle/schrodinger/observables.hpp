// What is read off a wave function after each step.
#pragma once

#include <heddle/schrodinger/eigenstates.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

#include <array>
#include <span>
#include <vector>

namespace heddle::schrodinger {

/// Atomic units. Sums over the grid are compensated, in an order that the number of points determines.
struct Observables {
  Index step = 0;
  double time = 0.0;
  double norm = 0.0;      ///< sqrt(sum |psi|^2 dx)
  double energy = 0.0;    ///< <psi|H(t)|psi> / <psi|psi>
  double position = 0.0;  ///< <x> = sum x |psi|^2 / sum |psi|^2
  /// Dipole moment, the electron's charge being -1: Z (X_1 + X_2) - <x>; -<x> in a potential without nuclei.
  double dipole = 0.0;
  /// Sign changes along the grid of Re(exp(-i (theta + q (x - x_m))) psi), x_m being where |psi| is largest, theta the
  /// phase there and q the mean momentum (q dx = arg sum conj(psi_i) psi_{i+1}; 0 beyond pi/2), so that a moving packet
  /// has no more of them than one at rest. Points where |psi|^2 is below 1e-3 of its largest value are passed over. For
  /// an eigenstate: its level.
  Index nodes = 0;
  std::array<double, 2> nuclei{};   ///< X_1, X_2
  std::vector<double> energies;     ///< E_k(t) of the lowest instantaneous eigenstates, of H without its pulses
  std::vector<double> populations;  ///< |<phi_k(t)|psi>|^2
  double edge_probability = 0.0;    ///< (|psi_0|^2 + |psi_{n-1}|^2) dx: is the grid wide enough?
  double field = 0.0;               ///< E(t) of the pulses, hartree/(e bohr)

  /// 1 - ||psi||^2, what an absorber has taken of a psi that began with norm 1; without one, the propagator's error.
  [[nodiscard]] double absorbed() const { return 1.0 - norm * norm; }
  /// 1 - sum of the populations of those eigenstates with E_k < 0: the electron is bound in none of them, or absorbed.
  /// It means ionisation where V goes to 0 outwards and all bound states that matter are observed.
  [[nodiscard]] double ionisation() const;
};

/// Observables of psi at a time, on the calling rank's host alone; a Simulation reduces the same ones on its device,
/// and they differ from these by round-off. `eigenstates` are those of H.bare() at that time; none gives no
/// populations. Cost: one H psi and one product with each eigenstate.
[[nodiscard]] Observables observe(const Hamiltonian& hamiltonian, double time,
                                  std::span<const std::complex<double>> state, const Eigenstates& eigenstates);

/// <a|b> = sum conj(a_i) b_i dx, compensated and in rising order. With a = psi(0), b = psi(t): the autocorrelation
/// C(t). Throws Error(argument) unless both have the grid's length.
[[nodiscard]] std::complex<double> overlap(const Grid& grid, std::span<const std::complex<double>> a,
                                           std::span<const std::complex<double>> b);

/// Probability that is no longer at |x| <= radius, of a psi that began with norm 1: 1 - sum over |x_i| <= radius of
/// |psi_i|^2 dx. What an absorber has taken is outside. Compensated and in rising order.
[[nodiscard]] double probability_outside(const Grid& grid, std::span<const std::complex<double>> state, double radius);

}  // namespace heddle::schrodinger
