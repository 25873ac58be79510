// Hartree-Fock and Kohn-Sham fields of molecules in three dimensions, in a Gaussian basis.
#pragma once

#include <heddle/models/exchange_correlation.hpp>
#include <heddle/models/gaussian_basis.hpp>
#include <heddle/models/mean_field.hpp>
#include <heddle/models/molecular_grid.hpp>
#include <heddle/models/molecule.hpp>

#include <memory>

namespace heddle::models {

/// The field of a molecule's electrons:
///
///     F_up = T + V + J[D_up + D_down] - a K[D_up] + v_xc,up
///
/// with the integrals of gaussian_integrals.hpp. v_xc, the derivative of a functional of densities (none with `hf`), is
/// integrated over a MolecularGrid. The iteration begins in the field of the nuclei and of (N - 1)/(sum of Z) times
/// slater_charges().
///
/// Memory: n^4/8 doubles of integrals, n doubles for each point of the grid (4 n for a functional of gradients), and
/// some ten matrices. The host's threads do all work; results have the same bits for any number of them.
class GaussianField final : public MeanField {
 public:
  /// Bytes of the integrals of n functions, and of their values on a grid of `points` points, with or without
  /// gradients.
  [[nodiscard]] static double bytes(std::size_t n, std::size_t points, bool gradients = false) noexcept;

  /// Throws as electrons_of(), GaussianBasis, MolecularGrid and ElectronRepulsion do, and Error(memory), before any
  /// work, if bytes() exceeds the machine's memory.
  GaussianField(const Molecule& molecule, const std::vector<Shell>& shells, const ExchangeCorrelation& functional,
                const MolecularGridOptions& grid = {});
  ~GaussianField() override;

  [[nodiscard]] std::size_t size() const override;
  [[nodiscard]] std::span<const double> overlap() const override;
  [[nodiscard]] std::vector<double> start() const override;
  [[nodiscard]] FieldMatrices field(const SpinOrbitals& orbitals, bool paired) const override;

  /// The basis.
  [[nodiscard]] const GaussianBasis& basis() const;
  /// Number of points of the grid; 0 with `hf`, which needs none.
  [[nodiscard]] std::size_t points() const;
  /// Integral of the density of these orbitals over the grid: the number of electrons, up to the grid's error. NaN with
  /// `hf`.
  [[nodiscard]] double electrons_on_grid(const SpinOrbitals& orbitals) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace heddle::models
