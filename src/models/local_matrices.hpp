// Exchange and correlation of orbitals on a grid of points.
#pragma once

#include <heddle/models/functionals.hpp>
#include <heddle/models/gaussian_basis.hpp>
#include <heddle/models/mean_field.hpp>
#include <heddle/models/molecular_grid.hpp>

#include <Kokkos_Core.hpp>

#include <vector>

namespace heddle::impl {

/// The values of a basis at the points of a grid, and the integrals that are made of them.
class LocalIntegrals {
 public:
  LocalIntegrals(const models::GaussianBasis& basis, const models::MolecularGrid& grid);

  struct Result {
    std::vector<double> up, down;  ///< integral of phi_i v phi_j; `down` is empty where paired.
    double exchange = 0, correlation = 0;
  };
  [[nodiscard]] Result evaluate(models::Functional functional, const models::SpinOrbitals& orbitals, bool paired) const;
  /// The integral of the density.
  [[nodiscard]] double electrons(const models::SpinOrbitals& orbitals) const;
  [[nodiscard]] std::size_t points() const { return weights_.size(); }

 private:
  [[nodiscard]] std::vector<double> density(const std::vector<double>& orbitals) const;
  // integral of phi_i v phi_j, of v at the points times weights.
  [[nodiscard]] std::vector<double> matrix(const std::vector<double>& weighted) const;

  std::size_t n_;
  std::vector<double> weights_;
  Kokkos::View<double*, Kokkos::HostSpace> values_;  // n at each point
};

}  // namespace heddle::impl
