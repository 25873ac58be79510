// Integrals of Gaussian functions beside closed forms of s functions, and numerical integration of others.
#include <heddle/models/gaussian_integrals.hpp>
#include <heddle/models/molecular_grid.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace heddle::test::integrals_test {
namespace {

using models::GaussianBasis;
using models::Shell;
using std::numbers::pi;

constexpr std::array<double, 3> A = {0, 0, 0};
constexpr std::array<double, 3> B = {0.3, -0.4, 1.2};

// s, p, d, f at two centres, one shell contracted.
GaussianBasis mixed_basis() {
  return GaussianBasis({{A, 0, {1.3}, {}},
                        {A, 1, {0.7}, {}},
                        {A, 2, {0.9, 0.4}, {0.6, 0.5}},
                        {B, 0, {0.8, 2.5}, {0.7, 0.3}},
                        {B, 1, {1.1}, {}},
                        {B, 3, {0.8}, {}}});
}

models::MolecularGrid grid_of_two() {
  models::Molecule molecule;
  molecule.atoms = {{1, A}, {1, B}};
  return models::MolecularGrid(molecule, {.radial = 90, .polar = 30});
}

// Sum over the grid: kernel(point, weight, sum) adds the terms of a point.
template <class Kernel> std::vector<double> integrated(const GaussianBasis& basis, const Kernel& kernel) {
  const models::MolecularGrid grid = grid_of_two();
  const std::size_t n = basis.size();
  std::vector<double> result(n * n, 0.0);
  for (std::size_t g = 0; g < grid.size(); ++g) kernel(grid.points()[g], grid.weights()[g], result);
  return result;
}

void expect_alike(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], tolerance) << "element " << k;
}

TEST(Integrals, BoysFunctionIsItsIntegral) {
  const models::GaussLegendre rule = models::gauss_legendre(80);
  for (const double x : {0.0, 1e-9, 0.3, 2.0, 11.7, 29.9, 36.0, 80.0}) {
    std::vector<double> found(9);
    models::boys(x, found);
    for (std::size_t m = 0; m < found.size(); ++m) {
      double sum = 0;
      for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
        const double t = 0.5 * (1 + rule.nodes[k]);
        sum += 0.5 * rule.weights[k] * std::pow(t, 2.0 * static_cast<double>(m)) * std::exp(-x * t * t);
      }
      EXPECT_NEAR(found[m], sum, 1e-12 * sum) << "F_" << m << "(" << x << ")";
    }
  }
}

TEST(Integrals, OfTwoSphericalFunctionsHaveClosedForms) {
  const double a = 0.9;
  const double b = 1.7;
  const GaussianBasis basis({{A, 0, {a}, {}}, {B, 0, {b}, {}}});
  const double square = 0.09 + 0.16 + 1.44;
  const double p = a + b;
  const double mu = a * b / p;
  const double overlap = std::pow(4 * a * b / (p * p), 0.75) * std::exp(-mu * square);
  EXPECT_NEAR(models::overlap_matrix(basis)[1], overlap, 1e-14);
  EXPECT_NEAR(models::overlap_matrix(basis)[0], 1, 1e-14);
  EXPECT_NEAR(models::kinetic_matrix(basis)[1], mu * (3 - 2 * mu * square) * overlap, 1e-14);
  EXPECT_NEAR(models::kinetic_matrix(basis)[0], 1.5 * a, 1e-14);
  // A unit point charge at A: erf(sqrt(p) |P - A|)/|P - A| times the overlap, P = b B/p.
  const double apart = b / p * std::sqrt(square);
  const models::GaussianCharge point = {1, A, 0};
  EXPECT_NEAR(models::potential_matrix(basis, {&point, 1})[1], overlap * std::erf(std::sqrt(p) * apart) / apart, 1e-14);
  EXPECT_NEAR(models::potential_matrix(basis, {&point, 1})[0], 2 * std::sqrt(2 * a / pi), 1e-14);
  // (11|22) of charges of exponents 2a and 2b.
  const models::ElectronRepulsion repulsion(basis);
  const double root = std::sqrt(2 * a * 2 * b / (2 * a + 2 * b));
  EXPECT_NEAR(repulsion(0, 0, 1, 1), std::erf(root * std::sqrt(square)) / std::sqrt(square), 1e-14);
  EXPECT_NEAR(repulsion(0, 0, 0, 0), 2 * std::sqrt(a / pi), 1e-14);
  EXPECT_EQ(repulsion(0, 1, 1, 0), repulsion(1, 0, 0, 1));
}

TEST(Integrals, OverlapsAndPotentialsAreThoseOfNumericalIntegration) {
  const GaussianBasis basis = mixed_basis();
  const std::size_t n = basis.size();
  std::vector<double> values(n);
  const auto weighted = [&](const auto& weight) {
    return integrated(basis, [&](const std::array<double, 3>& r, double w, std::vector<double>& sum) {
      basis.evaluate(r, values);
      const double factor = w * weight(r);
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i) sum[i + j * n] += factor * values[i] * values[j];
      }
    });
  };
  const std::vector<double> overlap = models::overlap_matrix(basis);
  expect_alike(overlap, weighted([](const auto&) { return 1.0; }), 1e-7);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(overlap[i + i * n], 1, 1e-13);
  const models::GaussianCharge cloud = {-1.5, {0.2, 0.1, 0.4}, 0.6};
  expect_alike(models::potential_matrix(basis, {&cloud, 1}), weighted([&](const std::array<double, 3>& r) {
                 const double u = std::hypot(r[0] - 0.2, r[1] - 0.1, r[2] - 0.4);
                 return -1.5 * std::erf(std::sqrt(0.6) * u) / u;
               }),
               1e-7);
}

TEST(Integrals, KineticEnergiesAreThoseOfGradients) {
  const GaussianBasis basis = mixed_basis();
  const std::size_t n = basis.size();
  std::vector<double> plus(n);
  std::vector<double> minus(n);
  const double step = 1e-3;
  const std::vector<double> found = integrated(basis, [&](std::array<double, 3> r, double w, std::vector<double>& sum) {
    for (std::size_t d = 0; d < 3; ++d) {
      // The derivative to fourth order in the step.
      std::vector<double> slope(n);
      for (const auto& [shift, factor] : {std::pair(1, 8.0 / 12), {2, -1.0 / 12}}) {
        std::array<double, 3> moved = r;
        moved[d] = r[d] + shift * step;
        basis.evaluate(moved, plus);
        moved[d] = r[d] - shift * step;
        basis.evaluate(moved, minus);
        for (std::size_t i = 0; i < n; ++i) slope[i] += factor * (plus[i] - minus[i]) / step;
      }
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i) sum[i + j * n] += 0.5 * w * slope[i] * slope[j];
      }
    }
  });
  expect_alike(models::kinetic_matrix(basis), found, 1e-6);
}

// phi_k^2 of an s function is the charge of a Gaussian of twice its exponent, whose potential has integrals of its own.
TEST(Integrals, RepulsionByAGaussianChargeIsItsPotential) {
  const GaussianBasis basis = mixed_basis();
  const std::size_t n = basis.size();
  const models::ElectronRepulsion repulsion(basis);
  const models::GaussianCharge charge = {1, A, 2 * 1.3};
  const std::vector<double> potential = models::potential_matrix(basis, {&charge, 1});
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(repulsion(i, j, 0, 0), potential[i + j * n], 1e-12);
      EXPECT_EQ(repulsion(i, j, 0, 0), repulsion(0, 0, j, i));
    }
  }
}

TEST(Integrals, CoulombAndExchangeMatricesAreTheirSums) {
  const GaussianBasis basis = mixed_basis();
  const std::size_t n = basis.size();
  const models::ElectronRepulsion repulsion(basis);
  std::vector<double> density(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) density[i + j * n] = std::cos(static_cast<double>(i * j + i + j));
  }
  const std::vector<double> J = repulsion.coulomb(density);
  const std::vector<double> K = repulsion.exchange(density);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      double coulomb = 0;
      double exchange = 0;
      for (std::size_t l = 0; l < n; ++l) {
        for (std::size_t k = 0; k < n; ++k) {
          coulomb += repulsion(i, j, k, l) * density[k + l * n];
          exchange += repulsion(i, k, j, l) * density[k + l * n];
        }
      }
      EXPECT_NEAR(J[i + j * n], coulomb, 1e-11);
      EXPECT_NEAR(K[i + j * n], exchange, 1e-11);
    }
  }
}

}  // namespace
}  // namespace heddle::test::integrals_test
