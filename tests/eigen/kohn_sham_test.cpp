// The Kohn-Sham model part by part against closed forms.
#include "kohn_sham_support.hpp"

#include <algorithm>
#include <numbers>

namespace heddle::test::kohn_sham_test {
namespace {

using eigen::KohnSham;
using eigen::KohnShamOptions;
using std::numbers::pi;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> eigenvalues_of(const std::vector<double>& matrix) {
  std::vector<double> w;
  std::vector<double> V;
  lapack_diagonalise(matrix, w, V);
  return w;
}

void expect_symmetric(const std::vector<double>& matrix, std::size_t n) {
  ASSERT_EQ(matrix.size(), n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) ASSERT_EQ(matrix[i + j * n], matrix[j + i * n]) << i << ", " << j;
  }
}

TEST(KohnShamGrid, LiesBetweenWallsAboutTheNuclei) {
  const KohnSham model({.points = 9, .length = 10, .electrons = 2, .charges = {1, 3}, .positions = {4, 2}});
  EXPECT_DOUBLE_EQ(model.spacing(), 1.0);
  ASSERT_EQ(model.points(), 9);
  for (int i = 0; i < 9; ++i) {
    EXPECT_DOUBLE_EQ(model.grid()[i], -1.0 + i);
    const double left = model.grid()[i] - 2;
    const double right = model.grid()[i] - 4;
    EXPECT_DOUBLE_EQ(model.external()[i], -3 / std::sqrt(left * left + 1) - 1 / std::sqrt(right * right + 1));
  }
  EXPECT_EQ(KohnSham({.electrons = 2, .charges = {1, 3}, .positions = {4, 2}}).electrons(), 2);
  EXPECT_EQ(KohnSham({.charges = {1, 3}, .positions = {4, 2}}).electrons(), 4);
}

TEST(KohnShamKinetic, BoxHasItsClosedForm) {
  for (const int n : {1, 2, 7, 60}) {
    const KohnSham model({.points = n, .length = 7, .electrons = 2, .charges = {2}, .positions = {0.3}});
    const auto kinetic = model.kinetic();
    expect_symmetric(kinetic, n);
    EXPECT_EQ(kinetic.front(), kinetic.back()) << "one wall is as the other";
    const auto values = eigenvalues_of(kinetic);
    for (int k = 1; k <= n; ++k) {
      const double wave = k * pi / 7;
      EXPECT_NEAR(values[k - 1], wave * wave / 2, 1e-13 * values[n - 1]) << n << ", " << k;
    }
  }
}

// -1/sqrt(x^2 + 2): psi = (1 + sqrt(x^2 + 2)) exp(-sqrt(x^2 + 2)), E = -1/2.
TEST(KohnShamKinetic, SoftHydrogenIsMinusOneHalf) {
  KohnShamOptions options;
  options.points = 300;
  options.length = 70;
  options.softening = std::numbers::sqrt2;
  options.charges = {1};
  options.positions = {0.7};
  options.electrons = 2;
  const KohnSham model(options);
  auto matrix = model.kinetic();
  for (int i = 0; i < 300; ++i) matrix[i * 301] += model.external()[i];
  EXPECT_NEAR(eigenvalues_of(matrix)[0], -0.5, 1e-12);
}

// In the middle of n(x) = exp(-x^2/2)/sqrt(2 pi) with a = 1, by its Fourier transform: v_H = exp(1/4) K_0(1/4)/sqrt(2
// pi).
TEST(KohnShamHartree, GaussianHasItsClosedForm) {
  const KohnSham model({.points = 301, .length = 30, .electrons = 2, .charges = {1}, .positions = {0}});
  std::vector<double> density(301);
  for (int i = 0; i < 301; ++i) density[i] = std::exp(-model.grid()[i] * model.grid()[i] / 2) / std::sqrt(2 * pi);
  const double bessel = 1.5415067512483029;
  EXPECT_NEAR(model.hartree(density)[150], std::exp(0.25) * bessel / std::sqrt(2 * pi), 1e-13);
}

// The definition, in space: Simpson's rule over whole periods of sin^2, its mean 1/2 beyond.
double exchange_by_definition(double density, double a) {
  const double k = pi * density / 2;
  const auto integrand = [&](double u) {
    const double wave = u == 0 ? 1.0 : std::sin(k * u) / (k * u);
    return wave * wave / std::sqrt(u * u + a * a);
  };
  const int intervals = 2000000;
  const double end = std::ceil(400 * a * k / pi) * pi / k + 400 * pi / k;
  const double h = end / intervals;
  double sum = integrand(0) + integrand(end);
  for (int i = 1; i < intervals; ++i) sum += (i % 2 == 0 ? 2 : 4) * integrand(i * h);
  const double beyond = (std::sqrt(1 + (a / end) * (a / end)) - 1) / (2 * k * k * a * a);
  return -density / 2 * (sum * h / 3 + beyond);
}

TEST(LocalExchange, AgreesWithItsDefinition) {
  for (const double a : {1.0, 0.3}) {
    for (const double density : {0.02, 0.3, 1.0, 4.0}) {
      const double expected = exchange_by_definition(density, a);
      EXPECT_NEAR(eigen::local_exchange(density, a).energy, expected, 1e-10 * std::abs(expected))
          << density << ", " << a;
    }
  }
}

TEST(LocalExchange, HasItsLimits) {
  for (const double a : {1.0, 0.5}) {
    // All but 1/density is exponentially small.
    for (const double density : {30.0, 1e6}) {
      const auto dense = eigen::local_exchange(density, a);
      EXPECT_NEAR(dense.energy, -1 / (2 * a) + 1 / (pi * pi * a * a * density), 3e-15);
      EXPECT_NEAR(dense.potential, -1 / (2 * a), 3e-15);
    }
    // The next terms are smaller by (pi a density)^2.
    for (const double density : {1e-8, 1e-20, 1e-100}) {
      const auto dilute = eigen::local_exchange(density, a);
      const double logarithm = std::log(pi * a * density / 2) + std::numbers::egamma;
      EXPECT_NEAR(dilute.energy / (-density / 2 * (1.5 - logarithm)), 1.0, 1e-13) << density;
      EXPECT_NEAR(dilute.potential / (-density * (1 - logarithm)), 1.0, 1e-13) << density;
    }
  }
  for (const double none : {0.0, -1e-3, 1e-300}) {
    EXPECT_EQ(eigen::local_exchange(none, 1).energy, 0.0);
    EXPECT_EQ(eigen::local_exchange(none, 1).potential, 0.0);
  }
}

TEST(LocalExchange, PotentialIsTheDerivative) {
  const auto energy = [](double density) { return density * eigen::local_exchange(density, 1).energy; };
  for (const double density : {1e-9, 1e-4, 0.05, 0.4, 1.1, 6.0, 50.0}) {
    // Fourth order.
    const double h = 2e-3 * density;
    const double slope =
        (8 * (energy(density + h) - energy(density - h)) - (energy(density + 2 * h) - energy(density - 2 * h))) /
        (12 * h);
    const double potential = eigen::local_exchange(density, 1).potential;
    EXPECT_NEAR(slope, potential, 1e-11 * std::abs(potential)) << density;
  }
}

// H's diagonal is the derivative of all but the kinetic energy.
TEST(KohnShamHamiltonian, IsTheDerivativeOfTheEnergy) {
  const KohnSham model;
  const auto n = static_cast<std::size_t>(model.points());
  const auto density = model.initial_density();
  std::vector<double> change(n);
  for (std::size_t i = 0; i < n; ++i) change[i] = density[i] * std::sin(0.7 * model.grid()[i] + 0.4);
  const auto energy = [&](double step) {
    std::vector<double> moved = density;
    for (std::size_t i = 0; i < n; ++i) moved[i] += step * change[i];
    return integral(model, model.external(), moved) + 0.5 * integral(model, model.hartree(moved), moved) +
           model.exchange_energy(moved);
  };
  const auto H = model.hamiltonian(density);
  const auto kinetic = model.kinetic();
  expect_symmetric(H, n);
  std::vector<double> potential(n);
  for (std::size_t i = 0; i < n; ++i) potential[i] = H[i * (n + 1)] - kinetic[i * (n + 1)];
  const double h = 1e-2;
  const double slope = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h);
  EXPECT_NEAR(slope, integral(model, potential, change), 1e-9);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) ASSERT_EQ(H[i + j * n], kinetic[i + j * n]);
  }
}

TEST(KohnShamDensity, BeginsWithAllElectronsAtTheNuclei) {
  // Also where no point is near a nucleus.
  for (const int points : {2, 256}) {
    for (const double length : {0.0, 5000.0}) {
      const KohnSham model({.points = points, .length = length});
      const auto density = model.initial_density();
      EXPECT_NEAR(integral(model, density, std::vector<double>(points, 1.0)), 4.0, 1e-13);
      for (int i = 0; i < points; ++i) EXPECT_NEAR(density[i], density[points - 1 - i], 1e-14);
    }
  }
}

TEST(KohnSham, RefusesWhatCannotBe) {
  const auto refused = [](const KohnShamOptions& options, const std::string& word) {
    expect_refused([&] { const KohnSham model(options); }, word);
  };
  refused({.points = 0}, "points = 0");
  refused({.points = -5}, "points = -5");
  refused({.electrons = 3}, "electrons = 3");
  refused({.electrons = -2}, "electrons = -2");
  refused({.points = 3, .electrons = 8}, "8 electrons fill 4 orbitals");
  refused({.charges = {1, 1, 1}, .positions = {0, 1, 2}}, "add up to 3");
  refused({.charges = {1, 0.5}, .positions = {0, 1}}, "add up to 1.5");
  refused({.charges = {1e-12}, .positions = {0}}, "add up to");
  refused({.charges = {1, 1}}, "2 charges and 4 positions");
  refused({.charges = {}, .positions = {}}, "at least one");
  refused({.charges = {1, -1}, .positions = {0, 1}}, "charge -1");
  refused({.charges = {1, nan}, .positions = {0, 1}}, "charges[1]");
  refused({.charges = {1, 1}, .positions = {infinity, 1}}, "positions[0]");
  refused({.softening = 0}, "softening = 0");
  refused({.softening = nan}, "softening");
  refused({.length = nan}, "length");
  refused({.length = infinity}, "length");
  refused({.length = -1}, "length = -1");
  refused({.length = 6}, "length = 6");
  const KohnSham model({.points = 5, .length = 10});
  std::vector<double> density(4);
  expect_refused([&] { (void)model.hamiltonian(density); }, "4 values");
  expect_refused([&] { (void)model.residual(model.initial_density(), density); }, "4 values");
  density = {0, 0, nan, 0, 0};
  expect_refused([&] { (void)model.hamiltonian(density); }, "density[2]");
  expect_refused([&] { (void)model.exchange_energy(density); }, "density[2]");
  expect_refused([&] { (void)model.density(std::vector<double>(5)); }, "2 orbitals");
  expect_refused([&] { (void)model.density(std::vector<double>(11)); }, "11 values");
  expect_refused([&] { (void)model.energies(std::vector<double>(10, nan)); }, "vectors[0]");
  expect_refused([] { (void)eigen::local_exchange(nan, 1); }, "density");
  expect_refused([] { (void)eigen::local_exchange(1, 0); }, "softening");
}

TEST(KohnSham3d, BoxHasItsClosedForm) {
  for (const int m : {1, 2, 5}) {
    const auto values = eigenvalues_of(eigen::kohn_sham_matrix_3d(m, {.length = 3, .charges = {}, .positions = {}}));
    std::vector<double> expected;
    for (int i = 0; i < m * m * m; ++i) {
      const int waves[] = {i % m + 1, i / m % m + 1, i / m / m + 1};
      double square = 0.0;
      for (const int k : waves) square += k * k;
      expected.push_back(square * pi * pi / 18);
    }
    std::sort(expected.begin(), expected.end());
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(values[k], expected[k], 1e-12 * expected.back());
  }
}

TEST(KohnSham3d, PotentialIsWhatItSays) {
  const int m = 5;
  const std::size_t n = 125;
  const double sigma = 0.8;
  const double z = 3;
  const auto free = eigen::kohn_sham_matrix_3d(m, {.length = 6, .charges = {}, .positions = {}});
  // At an ion's place and two spacings beyond it, along z.
  const auto ion = eigen::kohn_sham_matrix_3d(
      m, {.length = 6, .softening = 0.5, .width = sigma, .charges = {z}, .positions = {{0, 1, -1}}});
  expect_symmetric(ion, n);
  for (std::size_t i = 0; i < n * n; ++i) {
    if (i % (n + 1) != 0) {
      ASSERT_EQ(ion[i], free[i]);
    }
  }
  const auto added = [&](std::size_t point) { return ion[point * (n + 1)] - free[point * (n + 1)]; };
  const double density = z / std::pow(2 * pi * sigma * sigma, 1.5);
  const double repulsion = z * std::sqrt(2 / pi) / sigma;
  EXPECT_NEAR(added(2 + 5 * (3 + 5 * 1)), -z / 0.5 + repulsion - std::cbrt(3 / pi * density), 1e-12);
  EXPECT_NEAR(added(2 + 5 * (3 + 5 * 3)),
              -z / std::sqrt(4.25) + z * std::erf(2 / (std::sqrt(2) * sigma)) / 2 -
                  std::cbrt(3 / pi * density * std::exp(-2 / (sigma * sigma))),
              1e-12);
}

// The molecule is its own mirror image in x and in z, and binds its four pairs of electrons.
TEST(KohnSham3d, DefaultIsSymmetric) {
  const std::size_t m = 8;
  const std::size_t n = m * m * m;
  const auto matrix = eigen::kohn_sham_matrix_3d(m);
  expect_symmetric(matrix, n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t x = i % m;
    const std::size_t z = i / m / m;
    EXPECT_NEAR(matrix[i * (n + 1)], matrix[(i - x + (m - 1 - x)) * (n + 1)], 1e-12);
    EXPECT_NEAR(matrix[i * (n + 1)], matrix[(i + (m - 1 - 2 * z) * m * m) * (n + 1)], 1e-12);
  }
  const auto values = eigenvalues_of(matrix);
  EXPECT_LT(values[3], -0.15);
  EXPECT_GT(values[4] - values[3], 0.1);
}

TEST(KohnSham3d, RefusesWhatCannotBe) {
  const auto refused = [](int m, const eigen::KohnSham3dOptions& options, const std::string& word) {
    expect_refused([&] { (void)eigen::kohn_sham_matrix_3d(m, options); }, word);
  };
  refused(0, {}, "0 points");
  refused(65, {}, "65 points");
  refused(2, {.length = 0}, "length");
  refused(2, {.softening = -1}, "softening");
  refused(2, {.width = nan}, "width");
  refused(2, {.charges = {1}}, "1 charges");
  refused(2, {.charges = {1, nan, 1}}, "charges[1]");
  refused(2, {.charges = {1}, .positions = {{0, nan, 0}}}, "position[1]");
}

}  // namespace
}  // namespace heddle::test::kohn_sham_test
