// The Kohn-Sham model part by part against closed forms, and what self-consistency has to fulfil.
#include <heddle/core/error.hpp>
#include <heddle/eigen/kohn_sham.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

extern "C" void dsyevd_(const char* job, const char* triangle, const int* n, double* A, const int* lda, double* w,
                        double* work, const int* lwork, int* iwork, const int* liwork, int* info, std::size_t,
                        std::size_t);

namespace heddle::test {
namespace {

using eigen::KohnSham;
using eigen::KohnShamOptions;
using eigen::ScfOptions;
using eigen::ScfResult;
using std::numbers::pi;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

void lapack_diagonalise(std::span<const double> H, std::vector<double>& w, std::vector<double>& V) {
  V.assign(H.begin(), H.end());
  const int n = static_cast<int>(std::lround(std::sqrt(static_cast<double>(H.size()))));
  w.resize(n);
  std::vector<double> work(1 + 6 * n + 2 * V.size());
  std::vector<int> iwork(3 + 5 * n);
  const int lwork = static_cast<int>(work.size());
  const int liwork = static_cast<int>(iwork.size());
  int info = 0;
  dsyevd_("V", "L", &n, V.data(), &n, w.data(), work.data(), &lwork, iwork.data(), &liwork, &info, 1, 1);
  ASSERT_EQ(info, 0);
}

std::vector<double> eigenvalues_of(const std::vector<double>& matrix) {
  std::vector<double> w;
  std::vector<double> V;
  lapack_diagonalise(matrix, w, V);
  return w;
}

KohnShamOptions hydrogen_molecule(double distance, int points = 200, double length = 42) {
  KohnShamOptions options;
  options.points = points;
  options.length = length;
  options.charges = {1, 1};
  options.positions = {-distance / 2, distance / 2};
  return options;
}

ScfResult solve(const KohnSham& model, double tolerance = 1e-9) {
  ScfOptions options;
  options.tolerance = tolerance;
  return eigen::self_consistent(model, options, lapack_diagonalise);
}

double integral(const KohnSham& model, std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return model.spacing() * sum;
}

void expect_symmetric(const std::vector<double>& matrix, std::size_t n) {
  ASSERT_EQ(matrix.size(), n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) ASSERT_EQ(matrix[i + j * n], matrix[j + i * n]) << i << ", " << j;
  }
}

// The message says what was wrong.
template <class Function> void expect_refused(const Function& function, const std::string& word) {
  try {
    function();
    ADD_FAILURE() << "not refused: " << word;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::argument) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
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

TEST(SelfConsistency, DefaultAndMoleculeConverge) {
  for (const auto& options : {KohnShamOptions{}, hydrogen_molecule(1.6)}) {
    const KohnSham model(options);
    const auto result = solve(model, 1e-12);
    ASSERT_TRUE(result.converged);
    EXPECT_LE(result.steps.size(), 25U);
    EXPECT_LE(result.steps.back().residual, 1e-12);
    EXPECT_EQ(result.steps.back().energy, result.energies.total());
    for (std::size_t k = 0; k < result.steps.size(); ++k) EXPECT_EQ(result.steps[k].iteration, static_cast<int>(k) + 1);
    const auto n = static_cast<std::size_t>(model.points());
    EXPECT_NEAR(integral(model, result.density, std::vector<double>(n, 1.0)), model.electrons(), 1e-12);
    // Bound, and a gap above the occupied.
    const auto homo = static_cast<std::size_t>(model.occupied()) - 1;
    EXPECT_LT(result.eigenvalues[homo], 0.0);
    EXPECT_GT(result.eigenvalues[homo + 1] - result.eigenvalues[homo], 0.1);
    // The nuclei are symmetric about 0.
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(result.density[i], result.density[n - 1 - i], 1e-11);
    // The density makes the H whose orbitals make it.
    std::vector<double> w;
    std::vector<double> V;
    lapack_diagonalise(model.hamiltonian(result.density), w, V);
    EXPECT_LT(model.residual(result.density, model.density(V)), 1e-11);
  }
}

// E = 2 sum of the occupied eigenvalues - E_H - integral of v_x n + E_x + E_nn.
TEST(SelfConsistency, EigenvaluesAddUpToTheEnergy) {
  for (const auto& options : {KohnShamOptions{}, hydrogen_molecule(1.6)}) {
    const KohnSham model(options);
    const auto result = solve(model, 1e-12);
    ASSERT_TRUE(result.converged);
    double sum = 0.0;
    for (int k = 0; k < model.occupied(); ++k) sum += 2 * result.eigenvalues[k];
    std::vector<double> potential;
    for (const double value : result.density) {
      potential.push_back(eigen::local_exchange(value, options.softening).potential);
    }
    const auto& parts = result.energies;
    EXPECT_NEAR(sum - parts.hartree - integral(model, potential, result.density) + parts.exchange + parts.nuclear,
                parts.total(), 1e-10);
    EXPECT_NEAR(parts.external, integral(model, model.external(), result.density), 1e-12);
    EXPECT_NEAR(parts.exchange, model.exchange_energy(result.density), 1e-12);
    EXPECT_GT(parts.kinetic, 0.0);
  }
}

// Turning an occupied orbital by t towards an empty one costs t^2, and more: it is a minimum.
TEST(SelfConsistency, EnergyIsStationary) {
  const KohnSham model;
  const auto n = static_cast<std::size_t>(model.points());
  const auto result = solve(model, 1e-12);
  ASSERT_TRUE(result.converged);
  for (const std::size_t empty : {2U, 3U, 6U}) {
    const auto cost = [&](double t) {
      auto turned = result.vectors;
      for (std::size_t i = 0; i < n; ++i) {
        turned[n + i] = std::cos(t) * result.vectors[n + i] + std::sin(t) * result.vectors[empty * n + i];
      }
      return model.energies(turned).total() - result.energies.total();
    };
    EXPECT_GT(cost(1e-2), 1e-5);
    EXPECT_NEAR(cost(1e-2) / cost(5e-3), 4.0, 0.2);
    EXPECT_NEAR((cost(1e-4) - cost(-1e-4)) / 2e-4, 0.0, 1e-8);
  }
}

// dE/dR is the mean of the potential's: R. P. Feynman, 1939. The grid does not move, so that it holds on it exactly.
TEST(SelfConsistency, ForceIsHellmannAndFeynmans) {
  const double R = 1.9;
  const double h = 0.02;
  const auto energy = [](double distance) {
    return solve(KohnSham(hydrogen_molecule(distance)), 1e-11).energies.total();
  };
  const double slope = (8 * (energy(R + h) - energy(R - h)) - (energy(R + 2 * h) - energy(R - 2 * h))) / (12 * h);
  const KohnSham model(hydrogen_molecule(R));
  const auto result = solve(model, 1e-11);
  std::vector<double> derivative;
  for (const double x : model.grid()) {
    const auto pull = [&](double nucleus) { return std::pow((x - nucleus) * (x - nucleus) + 1, -1.5) * (x - nucleus); };
    derivative.push_back((pull(-R / 2) - pull(R / 2)) / 2);
  }
  EXPECT_NEAR(slope, integral(model, derivative, result.density) - R * std::pow(R * R + 1, -1.5), 1e-8);
}

TEST(SelfConsistency, EnergyConvergesWithTheGrid) {
  const auto energy = [](int points, double length) {
    return solve(KohnSham({.points = points, .length = length}), 1e-11).energies.total();
  };
  const double wide = energy(256, 0);
  EXPECT_NEAR(energy(128, 0), wide, 1e-6);
  EXPECT_NEAR(energy(513, 0), wide, 1e-10);
  EXPECT_NEAR(energy(256, 56), wide, 1e-8);
}

// Far apart, two closed-shell atoms are themselves.
TEST(SelfConsistency, AtomsFarApartAreAtoms) {
  const auto solved = [](std::vector<double> charges, std::vector<double> positions) {
    KohnShamOptions options;
    options.length = 130;
    options.points = 420;
    options.charges = std::move(charges);
    options.positions = std::move(positions);
    return solve(KohnSham(options), 1e-10);
  };
  const auto atom = solved({2}, {0});
  const auto pair = solved({2, 2}, {-30, 30});
  ASSERT_TRUE(atom.converged && pair.converged);
  // Neutral, without a dipole: what is left is of higher order in 1/60.
  EXPECT_NEAR(pair.energies.total(), 2 * atom.energies.total(), 1e-5);
  EXPECT_NEAR(pair.energies.exchange, 2 * atom.energies.exchange, 1e-5);
  // Exact exchange gives -2.2242; local exchange misses some of the atom's, that is half its Hartree energy.
  EXPECT_NEAR(atom.energies.total(), -2.2242, 0.1);
  EXPECT_GT(atom.energies.total(), -2.2242);
  EXPECT_NEAR(atom.energies.exchange / (-0.5 * atom.energies.hartree), 0.9, 0.05);
}

TEST(SelfConsistency, SaysWhereItDidNotConverge) {
  const KohnSham model;
  ScfOptions options;
  options.iterations = 3;
  std::vector<double> seen;
  const auto result = eigen::self_consistent(model, options, lapack_diagonalise,
                                             [&](const eigen::ScfStep& step) { seen.push_back(step.residual); });
  EXPECT_FALSE(result.converged);
  ASSERT_EQ(result.steps.size(), 3U);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_GT(seen.back(), options.tolerance);
  EXPECT_LT(seen[1], 0.5 * seen[0]);
  EXPECT_EQ(result.density, model.density(result.vectors));
}

TEST(SelfConsistency, GivesTheVectorsOfTheStepBefore) {
  const KohnSham model(hydrogen_molecule(1.6, 60));
  std::vector<double> before;
  int calls = 0;
  const auto diagonalise = [&](std::span<const double> H, std::vector<double>& w, std::vector<double>& V) {
    EXPECT_EQ(V, before);
    lapack_diagonalise(H, w, V);
    before = V;
    ++calls;
  };
  const auto result = eigen::self_consistent(model, {}, diagonalise);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(static_cast<int>(result.steps.size()), calls);
  EXPECT_EQ(result.vectors, before);
}

TEST(SelfConsistency, MemoryPays) {
  const KohnSham model;
  ScfOptions options;
  const auto mixed = eigen::self_consistent(model, options, lapack_diagonalise);
  options.history = 0;
  const auto plain = eigen::self_consistent(model, options, lapack_diagonalise);
  ASSERT_TRUE(mixed.converged && plain.converged);
  EXPECT_LT(mixed.steps.size(), plain.steps.size());
  EXPECT_NEAR(mixed.energies.total(), plain.energies.total(), 1e-12);
}

TEST(SelfConsistency, RefusesWhatADiagonaliserMayNotReturn) {
  const KohnSham model(hydrogen_molecule(1.6, 20));
  const auto run = [&](const eigen::Diagonalise& diagonalise) { (void)eigen::self_consistent(model, {}, diagonalise); };
  expect_refused([&] { run({}); }, "nothing");
  expect_refused([&] { run([](auto, auto&, auto&) {}); }, "eigenvalues");
  expect_refused([&] { run([](auto, auto& w, auto& V) { w.resize(20), V.resize(20); }); }, "vectors");
  try {
    run([](auto, auto& w, auto& V) { w.assign(20, nan), V.assign(400, 0.0); });
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::computation);
  }
  ScfOptions options;
  const auto refused = [&](const std::string& word) {
    expect_refused([&] { (void)eigen::self_consistent(model, options, lapack_diagonalise); }, word);
    options = {};
  };
  options.tolerance = nan, refused("tolerance");
  options.tolerance = -1, refused("tolerance");
  options.iterations = 0, refused("iterations");
  options.mixing = 0, refused("mixing");
  options.mixing = 1.5, refused("mixing");
  options.mixing = nan, refused("mixing");
  options.history = -1, refused("history");
}

// x = M x + b in 5 dimensions: with all differences remembered, exact after 5 of them (H. F. Walker, P. Ni, 2011).
TEST(Mixer, SolvesALinearProblemInItsDimension) {
  constexpr int m = 5;
  const auto map = [](const std::vector<double>& x) {
    std::vector<double> y(m);
    for (int i = 0; i < m; ++i) {
      y[i] = 1.0 + i;
      for (int j = 0; j < m; ++j) y[i] += (i == j ? -1.5 : 0.4 / (1 + i + 2 * j)) * x[j];
    }
    return y;
  };
  eigen::DensityMixer mixer(0.3, m);
  std::vector<double> x(m, 0.0);
  for (int step = 0; step <= m; ++step) x = mixer.next(x, map(x));
  const auto y = map(x);
  for (int i = 0; i < m; ++i) EXPECT_NEAR(x[i], y[i], 1e-9);
  // At the solution it stays, though differences vanish.
  for (int step = 0; step < 3; ++step) x = mixer.next(x, map(x));
  for (int i = 0; i < m; ++i) EXPECT_NEAR(x[i], y[i], 1e-9);
}

// All differences point one way: the newest decides, whose secant finds t = cos(t).
TEST(Mixer, LeavesOutWhatDependsOnNewerSteps) {
  eigen::DensityMixer mixer(0.5, 3);
  std::vector<double> x = {0.1, 9.9};
  for (int step = 0; step < 8; ++step) x = mixer.next(x, std::vector<double>{std::cos(x[0]), 10 - std::cos(x[0])});
  EXPECT_NEAR(x[0], std::cos(x[0]), 1e-14);
  EXPECT_NEAR(x[0] + x[1], 10.0, 1e-13);
}

TEST(Mixer, KeepsTheSum) {
  eigen::DensityMixer mixer(0.7, 2);
  std::vector<double> x = {1, 2, 3, 4};
  for (int step = 0; step < 6; ++step) {
    std::vector<double> y = {x[3] * x[3] / 10, x[0], 0.0, x[1] / 2};
    y[2] = 10 - y[0] - y[1] - y[3];
    x = mixer.next(x, y);
    EXPECT_NEAR(x[0] + x[1] + x[2] + x[3], 10.0, 1e-12);
  }
  EXPECT_THROW((void)mixer.next(x, std::vector<double>(3)), Error);
  EXPECT_THROW((void)mixer.next(std::vector<double>(3), std::vector<double>(3)), Error);
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

// One orbital on one point: nothing else is left to be.
TEST(KohnSham, OnePointHoldsOneOrbital) {
  const KohnSham model({.points = 1, .length = 4, .electrons = 2, .charges = {2}, .positions = {0}});
  const auto result = solve(model);
  ASSERT_TRUE(result.converged);
  EXPECT_EQ(result.steps.size(), 1U);
  EXPECT_DOUBLE_EQ(result.density[0], 1.0);
  EXPECT_DOUBLE_EQ(result.energies.kinetic, pi * pi / 16);
  EXPECT_DOUBLE_EQ(result.energies.external, -4.0);
  EXPECT_DOUBLE_EQ(result.energies.hartree, 2.0);
  EXPECT_EQ(result.energies.nuclear, 0.0);
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
}  // namespace heddle::test
