// Exchange and correlation of orbitals on a grid of points.
#pragma once

#include <heddle/models/exchange_correlation.hpp>
#include <heddle/models/gaussian_basis.hpp>
#include <heddle/models/mean_field.hpp>
#include <heddle/models/molecular_grid.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <vector>

namespace heddle::impl {

/// The values of a basis at the points of a grid, with its gradients where a functional is of these, and the integrals
/// that are made of them.
class LocalIntegrals {
 public:
  LocalIntegrals(const models::GaussianBasis& basis, const models::MolecularGrid& grid,
                 const models::ExchangeCorrelation& functional);

  struct Result {
    std::vector<double> up, down;  ///< dE/dD_ij; `down` is empty where paired.
    double exchange = 0, correlation = 0;
  };
  [[nodiscard]] Result evaluate(const models::SpinOrbitals& orbitals, bool paired) const;
  /// The integral of the density.
  [[nodiscard]] double electrons(const models::SpinOrbitals& orbitals) const;
  [[nodiscard]] std::size_t points() const { return weights_.size(); }

 private:
  // A quantity at a point, and a vector: a density and its gradient, or what goes with them in an integral.
  using WithGradient = std::array<double, 4>;

  [[nodiscard]] std::size_t components() const { return functional_.of_gradients() ? 4 : 1; }
  // The values of all functions at a point, or their derivatives.
  [[nodiscard]] const double* values(std::size_t point, std::size_t component = 0) const {
    return values_.data() + (point * components() + component) * n_;
  }
  [[nodiscard]] std::vector<WithGradient> density(const std::vector<double>& orbitals) const;
  // integral of phi_i v phi_j + u . grad(phi_i phi_j), of v and u at the points times weights.
  [[nodiscard]] std::vector<double> matrix(const std::vector<WithGradient>& weighted) const;

  models::ExchangeCorrelation functional_;
  std::size_t n_;
  std::vector<double> weights_;
  Kokkos::View<double*, Kokkos::HostSpace> values_;  // n at each point, or 4 n
};

}  // namespace heddle::impl
