// The Hamiltonian H(t) = T + V(t) of one electron on the grid.
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

/// The Hamiltonian H_ij(t) = t_|i-j| + delta_ij V(x_i, t) of one electron, real and symmetric, in hartree. V is the
/// potential energy of the nuclei and the pulses, V(x, t) = V_nuclei(x, t) + x E(t): the charge of the electron is -1,
/// and the gauge is the length gauge.
///
/// An absorber is no part of H: a complex one gives H - i W, and a mask follows each step of a Simulation.
class Hamiltonian {
 public:
  /// Makes the Hamiltonian. Throws Error(argument) if validate() of the grid, potential, nuclei, pulses or absorber
  /// does.
  Hamiltonian(const Grid& grid, const Potential& potential, const Nuclei& nuclei = {},
              const std::vector<Pulse>& pulses = {}, const Absorber& absorber = {});

  /// The grid on which H acts.
  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  /// The potential of H.
  [[nodiscard]] const Potential& potential() const noexcept { return potential_; }
  /// The nuclei of H.
  [[nodiscard]] const Nuclei& nuclei() const noexcept { return nuclei_; }
  /// The pulses of H.
  [[nodiscard]] const std::vector<Pulse>& pulses() const noexcept { return pulses_; }
  /// The absorber given with H.
  [[nodiscard]] const Absorber& absorber() const noexcept { return absorber_; }
  /// T + V_nuclei(t): the Hamiltonian without pulses and absorber.
  [[nodiscard]] Hamiltonian bare() const { return {grid_, potential_, nuclei_}; }
  /// Whether H depends on time.
  [[nodiscard]] bool moves() const noexcept;
  /// The field E(t) of all pulses, hartree/(e bohr).
  [[nodiscard]] double field(double time) const { return field_of(pulses_, time); }
  /// The elements t_0 ... t_w of the kinetic energy, as from kinetic_band().
  [[nodiscard]] std::span<const double> kinetic() const noexcept { return kinetic_; }
  /// The complex potential W(x_i) >= 0 of an absorber, as in H - i W; empty if there is none.
  [[nodiscard]] std::span<const double> absorption() const noexcept { return absorption_; }
  /// V(x_i, t) at all points of the grid, in hartree.
  [[nodiscard]] std::vector<double> potential_at(double time) const;

  /// Computes result = H psi on the host with (2w + 1) n multiplications and sums in a fixed order; `state` is psi,
  /// `potential` is potential_at() that time.
  void apply(std::span<const double> potential, std::span<const double> state, std::span<double> result) const;
  /// Computes result = H psi for a complex psi, as for a real one.
  void apply(std::span<const double> potential, std::span<const std::complex<double>> state,
             std::span<std::complex<double>> result) const;

  /// Sets A = factor H(t) for an n x n matrix A in any placement, on A's communicator. Throws Error(argument) for
  /// another shape. Blocks until the kinetic band has reached the device, but not until A is filled; a Simulation sends
  /// the band once.
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
