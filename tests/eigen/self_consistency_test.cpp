// Tests of self-consistency of the Kohn-Sham model.
#include "kohn_sham_support.hpp"
#include "support/errors.hpp"

#include <numbers>
#include <utility>

namespace heddle::test::self_consistency_test {
namespace {

using eigen::KohnSham;
using eigen::KohnShamOptions;
using eigen::ScfOptions;
using eigen::ScfResult;
using std::numbers::pi;

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

// Two closed-shell atoms far apart do not interact.
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
  test::expect_refusal(ErrorKind::argument, "density mixer: 4 values in and 3 out; before: 4",
                       [&] { (void)mixer.next(x, std::vector<double>(3)); });
  test::expect_refusal(ErrorKind::argument, "density mixer: 3 values in and 3 out; before: 4",
                       [&] { (void)mixer.next(std::vector<double>(3), std::vector<double>(3)); });
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

}  // namespace
}  // namespace heddle::test::self_consistency_test
