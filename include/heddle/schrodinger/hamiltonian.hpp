// H(t) = T + V(t) of one electron on the grid.
#pragma once

#include <heddle/dist/matrix.hpp>
#include <heddle/schrodinger/grid.hpp>
#include <heddle/schrodinger/potential.hpp>

#include <complex>
#include <span>
#include <vector>

namespace heddle::schrodinger {

/// A wave function on a grid in host memory.
using State = std::vector<std::complex<double>>;

/// H_ij(t) = t_|i-j| + delta_ij V(x_i, t), real and symmetric, in hartree.
class Hamiltonian {
 public:
  /// Throws Error(argument) as the two validate() do.
  Hamiltonian(const Grid& grid, const Potential& potential, const Nuclei& nuclei = {});

  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  [[nodiscard]] const Potential& potential() const noexcept { return potential_; }
  [[nodiscard]] const Nuclei& nuclei() const noexcept { return nuclei_; }
  /// Whether H depends on time.
  [[nodiscard]] bool moves() const noexcept;
  /// t_0 ... t_w of kinetic_band().
  [[nodiscard]] std::span<const double> kinetic() const noexcept { return kinetic_; }
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
  Grid grid_;
  Potential potential_;
  Nuclei nuclei_;
  std::vector<double> kinetic_;
};

}  // namespace heddle::schrodinger
