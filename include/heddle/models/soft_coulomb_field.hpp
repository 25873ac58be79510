// Hartree-Fock and Kohn-Sham fields of molecules in one dimension, on a grid.
#pragma once

#include <heddle/models/functionals.hpp>
#include <heddle/models/kohn_sham.hpp>
#include <heddle/models/mean_field.hpp>
#include <heddle/models/molecule.hpp>

namespace heddle::models {

/// The field of electrons on the grid of eigen::KohnSham, where charges at a distance u interact by 1/sqrt(u^2 + 1):
///
///     F_up = T + V + J[n] - K[D_up]          K_ij = D_ij v(x_i - x_j)          (hf)
///     F_up = T + V + J[n] + v_xc,up(n_up, n_down)                              (lda_x, lda_csc)
///
/// Vectors of 2-norm 1 are psi(x_i) sqrt(dx), so that the basis is orthonormal. Atoms stand at their first coordinate.
/// Memory: three matrices. Bits: reproducible; sums are made by one thread.
class SoftCoulombField final : public MeanField {
 public:
  /// `length` of the box in bohr; 0: that of eigen::KohnShamOptions. Throws as electrons_of() and eigen::KohnSham do,
  /// and Error(argument) for functionals of three dimensions.
  SoftCoulombField(const Molecule& molecule, int points, Functional functional, double length = 0);

  [[nodiscard]] std::size_t size() const override { return grid_.grid().size(); }
  [[nodiscard]] std::span<const double> overlap() const override { return {}; }
  [[nodiscard]] std::vector<double> start() const override;
  [[nodiscard]] FieldMatrices field(const SpinOrbitals& orbitals, bool paired) const override;

  /// The grid, its nuclei and its kinetic energy.
  [[nodiscard]] const eigen::KohnSham& grid() const { return grid_; }

 private:
  [[nodiscard]] std::vector<double> density(const std::vector<double>& orbitals) const;
  // Subtracts K of these orbitals from F; returns their exchange energy.
  [[nodiscard]] double take_exchange(const std::vector<double>& orbitals, std::vector<double>& F) const;

  Functional functional_;
  Electrons electrons_;
  eigen::KohnSham grid_;
  std::vector<double> kinetic_;
  double nuclear_ = 0;
};

}  // namespace heddle::models
