// H(t) = T + V(t) of one electron on the grid.
#pragma once

#include <heddle/dist/matrix.hpp>
#include <heddle/schrodinger/absorber.hpp>
#include <heddle/schrodinger/grid.hpp>
#include <heddle/schrodinger/potential.hpp>
#include <heddle/schrodinger/pulse.hpp>

#include <complex>
#include <span>
#include <vector>

namespace heddle::schrodinger {

/// A wave function on a grid in host memory.
using State = std::vector<std::complex<double>>;

/// H_ij(t) = t_|i-j| + delta_ij V(x_i, t), real and symmetric, in hartree. V is the potential energy of the nuclei and
/// the pulses, V(x, t) = V_nuclei(x, t) + x E(t): the electron's charge is -1, the gauge is that of length.
///
/// An absorber is no part of it: a complex one stands beside it, H - i W, and a mask follows each step of a Simulation.
class Hamiltonian {
 public:
  /// Throws Error(argument) as the validate() do.
  Hamiltonian(const Grid& grid, const Potential& potential, const Nuclei& nuclei = {},
              const std::vector<Pulse>& pulses = {}, const Absorber& absorber = {});

  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  [[nodiscard]] const Potential& potential() const noexcept { return potential_; }
  [[nodiscard]] const Nuclei& nuclei() const noexcept { return nuclei_; }
  [[nodiscard]] const std::vector<Pulse>& pulses() const noexcept { return pulses_; }
  [[nodiscard]] const Absorber& absorber() const noexcept { return absorber_; }
  /// T + V_nuclei(t): the same without pulses and absorber.
  [[nodiscard]] Hamiltonian bare() const { return {grid_, potential_, nuclei_}; }
  /// Whether H depends on time.
  [[nodiscard]] bool moves() const noexcept;
  /// E(t) of all pulses.
  [[nodiscard]] double field(double time) const { return field_of(pulses_, time); }
  /// t_0 ... t_w of kinetic_band().
  [[nodiscard]] std::span<const double> kinetic() const noexcept { return kinetic_; }
  /// W(x_i) >= 0 where the grid absorbs, by H - i W; empty where it does not.
  [[nodiscard]] std::span<const double> absorption() const noexcept { return absorption_; }
  /// V(x_i, t).
  [[nodiscard]] std::vector<double> potential_at(double time) const;

  /// H psi at a time, on the host: (2w + 1) n multiplications, the sums in fixed order. `potential`: potential_at().
  void apply(std::span<const double> potential, std::span<const double> state, std::span<double> result) const;
  void apply(std::span<const double> potential, std::span<const std::complex<double>> state,
             std::span<std::complex<double>> result) const;

  /// A = factor H(t) on A's communicator; A is n x n, in any placement. Throws Error(argument) for another shape.
  /// Blocks until the kinetic band has reached the device, not until A is filled; a Simulation sends it once.
  void fill(double factor, double time, const DistributedMatrix<double>& A) const;

 private:
  void require_finite_energies() const;

  Grid grid_;
  Potential potential_;
  Nuclei nuclei_;
  std::vector<Pulse> pulses_;
  Absorber absorber_;
  std::vector<double> kinetic_;
  std::vector<double> absorption_;
};

}  // namespace heddle::schrodinger
