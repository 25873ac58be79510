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

/// Values of a basis at the points of a grid, with gradients if the functional depends on them, and integrals of them.
class LocalIntegrals {
 public:
  LocalIntegrals(const models::GaussianBasis& basis, const models::MolecularGrid& grid,
                 const models::ExchangeCorrelation& functional);

  struct Result {
    std::vector<double> up, down;  ///< dE/dD_ij; `down` is empty if paired.
    double exchange = 0, correlation = 0;
  };
  [[nodiscard]] Result evaluate(const models::SpinOrbitals& orbitals, bool paired) const;
  /// The integral of the density.
  [[nodiscard]] double electrons(const models::SpinOrbitals& orbitals) const;
  [[nodiscard]] std::size_t points() const { return weights_.size(); }

 private:
  // A scalar and a vector at a point: a density and its gradient, or their factors in an integral.
  using WithGradient = std::array<double, 4>;

  [[nodiscard]] std::size_t components() const { return functional_.of_gradients() ? 4 : 1; }
  // The values of all functions at a point, or their derivatives.
  [[nodiscard]] const double* values(std::size_t point, std::size_t component = 0) const {
    return values_.data() + (point * components() + component) * n_;
  }
  [[nodiscard]] std::vector<WithGradient> density(const std::vector<double>& orbitals) const;
  // Integral of phi_i v phi_j + u . grad(phi_i phi_j); `weighted` has v and u times the weights of the points.
  [[nodiscard]] std::vector<double> matrix(const std::vector<WithGradient>& weighted) const;

  models::ExchangeCorrelation functional_;
  std::size_t n_;
  std::vector<double> weights_;
  Kokkos::View<double*, Kokkos::HostSpace> values_;  // n at each point, or 4 n
};

}  // namespace heddle::impl
