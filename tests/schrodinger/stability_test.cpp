// Bounds of the growth of Taylor series, against their effect on vectors.
#include "problems.hpp"
#include "support/errors.hpp"
#include <heddle/schrodinger/eigenstates.hpp>
#include <heddle/schrodinger/stability.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace heddle::test::stability_test {
namespace {

using schrodinger::Absorber;
using schrodinger::AbsorberKind;
using schrodinger::energy_bounds;
using schrodinger::PropagatorOptions;
using schrodinger::Pulse;
using schrodinger::stability_of_step;
using schrodinger::taylor_growth;

PropagatorOptions series(int degree, PropagatorKind kind = PropagatorKind::expm) {
  PropagatorOptions options;
  options.kind = kind;
  options.degree = degree;
  return options;
}

TEST(TaylorGrowth, OfLowDegreesIsTheClosedForm) {
  for (const double x : {1e-3, 0.1, 0.5, 1.0, 2.0, 7.0}) {
    EXPECT_NEAR(taylor_growth(1, x), std::hypot(1.0, x) - 1, 1e-14 * (1 + x));
    EXPECT_NEAR(taylor_growth(2, x), std::hypot(1 - x * x / 2, x) - 1, 1e-14 * (1 + x * x));
  }
  // |T_4(-i x)|^2 = 1 - x^6/72 + x^8/576, and |T_3|^2 = 1 - x^4/12 + x^6/36: above 1 only beyond sqrt(8) and sqrt(3).
  for (const auto& [degree, limit] : {std::pair(3, std::sqrt(3.0)), std::pair(4, std::sqrt(8.0))}) {
    EXPECT_LE(taylor_growth(degree, limit * (1 - 1e-9)), 1e-14) << degree;
    EXPECT_GT(taylor_growth(degree, limit * (1 + 1e-9)), 1e-10) << degree;
  }
  EXPECT_NEAR(taylor_growth(4, 4.0), std::sqrt(1 - std::pow(4.0, 6) / 72 + std::pow(4.0, 8) / 576) - 1, 1e-13);
}

TEST(TaylorGrowth, NeverFallsWithTheExponent) {
  for (const int degree : {1, 2, 3, 4, 5, 8, 10, 17, 40, 1000}) {
    double last = 0.0;
    for (int k = 0; k <= 100; ++k) {
      const double now = taylor_growth(degree, k / 8.0);
      EXPECT_GE(now, last * (1 - 1e-9) - 1e-15) << degree << ' ' << k;
      last = now;
    }
  }
}

TEST(TaylorGrowth, CancellationLeavesNoDegreeADigit) {
  EXPECT_LT(taylor_growth(100, 5.0), 1e-13);
  EXPECT_GT(taylor_growth(200, 37.0), 0.1) << "e^37 u";
  EXPECT_TRUE(std::isinf(taylor_growth(100000, 1e5)));
}

TEST(TaylorGrowth, OfAbsorptionIsThatOfTheNegativeAxisAndBetween) {
  // exp(-w) by degree 4 is at most 1 up to 2.785293...
  EXPECT_LE(taylor_growth(4, 0.0, 2.785), 1e-14);
  EXPECT_GT(taylor_growth(4, 0.0, 2.786), 1e-5);
  // A corner is worse than either axis.
  EXPECT_LE(taylor_growth(4, 2.8), 1e-14);
  EXPECT_GT(taylor_growth(4, 2.8, 2.7), 0.1);
}

TEST(TaylorGrowth, RefusesWhatIsNoSeries) {
  expect_refusal(ErrorKind::argument, "the degree of a Taylor series, 0, must be at least 1",
                 [] { (void)taylor_growth(0, 1.0); });
  expect_refusal(ErrorKind::argument, "must be finite and not negative", [] { (void)taylor_growth(3, -1.0); });
  expect_refusal(ErrorKind::argument, "must be finite and not negative",
                 [] { (void)taylor_growth(3, 1.0, std::numeric_limits<double>::infinity()); });
}

// All levels of H at a time are within the bounds, and the outermost ones near them.
TEST(EnergyBounds, HoldAllLevelsAtAllTimes) {
  Pulse pulse;
  pulse.amplitude = 2.0;
  pulse.omega = 1.0;
  pulse.duration = 5.0;
  pulse.centre = 2.5;
  Nuclei far = moving(Motion::stretch);
  far.separation = 6.0;
  for (const Kinetic kinetic : {Kinetic::fd2, Kinetic::fd4, Kinetic::fd6, Kinetic::sinc}) {
    const Grid grid{-5.0, 4.0, 46, kinetic};
    for (const Hamiltonian& hamiltonian :
         {Hamiltonian(grid, soft_core(30.0, 0.1), moving(Motion::stretch)),
          Hamiltonian(grid, soft_core(30.0, 0.1), far), Hamiltonian(grid, soft_core(-3.0, 0.5), moving(Motion::shake)),
          Hamiltonian(grid, harmonic(2.0)), Hamiltonian(grid, soft_core(1.0, 1.0), moving(Motion::drift), {pulse})}) {
      const auto bounds = energy_bounds(hamiltonian);
      double most = 0.0;
      for (const double time : {0.0, 0.3, 0.52, 1.05, 1.6, 2.5}) {
        const auto potential = hamiltonian.potential_at(time);
        EXPECT_GE(*std::min_element(potential.begin(), potential.end()), bounds.lowest_potential);
        EXPECT_LE(*std::max_element(potential.begin(), potential.end()), bounds.highest_potential);
        const auto levels = schrodinger::lowest_eigenstates(hamiltonian.bare(), time, grid.points).energies;
        most = std::max({most, std::abs(levels.front()), std::abs(levels.back())});
        if (hamiltonian.pulses().empty()) {
          EXPECT_LE(std::abs(levels.front()), bounds.largest());
          EXPECT_LE(std::abs(levels.back()), bounds.largest());
        }
      }
      if (hamiltonian.pulses().empty()) {
        EXPECT_GT(most, 0.6 * bounds.largest());
      }
    }
  }
  EXPECT_NEAR(energy_bounds(Hamiltonian(Grid{0, 1, 101, Kinetic::fd2}, harmonic(1.0))).kinetic, 2e4, 1e-8);
}

TEST(StabilityOfStep, NamesTheLimitOfTheGrid) {
  // V = 0: degree 4 is safe for 2 dt/dx^2 up to sqrt(8).
  const Hamiltonian free(Grid{-10.0, 10.0, 201, Kinetic::fd2}, soft_core(0.0, 1.0));
  const double limit = std::sqrt(8.0) * 0.01 / 2;
  const auto stability = stability_of_step(free, series(4), 0.01, 100);
  EXPECT_TRUE(stability.safe);
  EXPECT_NEAR(stability.exponent, 2.0, 1e-9);
  EXPECT_EQ(stability.exponentials, 1);
  EXPECT_EQ(stability.least_degree, 3 + 1) << "sqrt(3) is less";
  EXPECT_NEAR(stability.largest_step, limit, 1e-3 * limit);
  EXPECT_GE(stability.largest_step, limit);
  const double named = stability.largest_step;
  EXPECT_TRUE(stability_of_step(free, series(4), named, 100).safe);
  EXPECT_TRUE(stability_of_step(free, series(4), named * (1 - 1e-6), 100).safe);
  EXPECT_FALSE(stability_of_step(free, series(4), named * (1 + 1e-6), 100).safe);
  // With halves of a step the safe step is twice as long, and with a quarter of dx^2 a quarter as long.
  auto halves = series(4);
  halves.substeps = 2;
  EXPECT_NEAR(stability_of_step(free, halves, 0.01, 100).largest_step, 2 * limit, 2e-3 * limit);
  const Hamiltonian finer(Grid{-10.0, 10.0, 401, Kinetic::fd2}, soft_core(0.0, 1.0));
  EXPECT_NEAR(stability_of_step(finer, series(4), 0.01, 100).largest_step, limit / 4, 1e-3 * limit);
}

TEST(StabilityOfStep, KnowsWhatNeverGrows) {
  const Hamiltonian ion = vibrating_ion();
  for (const PropagatorKind kind : {PropagatorKind::automatic, PropagatorKind::expm, PropagatorKind::magnus4,
                                    PropagatorKind::crank_nicolson, PropagatorKind::chebyshev}) {
    const auto stability = stability_of_step(ion, series(0, kind), 1e3, 1000);
    EXPECT_TRUE(stability.safe) << to_string(kind);
    EXPECT_TRUE(std::isinf(stability.largest_step)) << to_string(kind);
    EXPECT_EQ(stability.growth, 0.0);
  }
  EXPECT_TRUE(stability_of_step(ion, series(1), 1e3, 0).safe) << "no step is one";
  const auto hopeless = stability_of_step(ion, series(10), 10.0, 20);
  EXPECT_FALSE(hopeless.safe);
  EXPECT_EQ(hopeless.least_degree, 0);
  // Two exponentials of half a step each, of averages of H that extend slightly beyond its range.
  const auto magnus = stability_of_step(ion, series(10, PropagatorKind::magnus4), 0.05, 20);
  EXPECT_EQ(magnus.exponentials, 2);
  EXPECT_GT(magnus.exponent, 0.5 * stability_of_step(ion, series(10), 0.05, 20).exponent);
  expect_refusal(ErrorKind::argument, "time.step = 0 must be finite and positive",
                 [&] { (void)stability_of_step(ion, series(10), 0.0, 1); });
  expect_refusal(ErrorKind::argument, "time.steps = -1 must not be negative",
                 [&] { (void)stability_of_step(ion, series(10), 0.1, -1); });
  expect_refusal(ErrorKind::argument, "the growth 0 that is tolerable must be finite and positive",
                 [&] { (void)stability_of_step(ion, series(10), 0.1, 1, 0.0); });
  expect_refusal(ErrorKind::argument, "the growth inf that is tolerable must be finite and positive",
                 [&] { (void)stability_of_step(ion, series(10), 0.1, 1, std::numeric_limits<double>::infinity()); });
}

// The highest state of the grid, which grows fastest: its growth in a run is the predicted one.
TEST(StabilityOfStep, IsWhatRunsDo) {
  const Hamiltonian box(Grid{-3.0, 3.0, 61, Kinetic::fd2}, soft_core(0.5, 1.0));
  const auto levels = schrodinger::lowest_eigenstates(box, 0.0, box.grid().points);
  const auto top = levels.state(box.grid().points - 1);
  const Index steps = 40;
  for (const int degree : {1, 2, 3, 4, 6, 10}) {
    const double limit = stability_of_step(box, series(degree), 1e-3, steps).largest_step;
    for (const double share : {1.0, 1.2}) {
      Simulation simulation(world(), box, options_of(share * limit, PropagatorKind::expm, degree),
                            State(top.begin(), top.end()));
      for (Index k = 0; k < steps; ++k) simulation.step();
      const double norm = simulation.observables().norm;
      const auto said = stability_of_step(box, series(degree), share * limit, steps);
      EXPECT_EQ(said.safe, share == 1.0);
      EXPECT_LE(norm, std::pow(1 + said.growth, steps) * (1 + 1e-9)) << degree;
      if (said.safe) {
        EXPECT_LE(norm, 1.01 + 1e-9) << degree;
      } else {
        EXPECT_GT(norm, 1.01) << degree << ": a fifth more is no longer safe";
      }
    }
  }
}

TEST(StabilityOfStep, CountsWhatIsAbsorbed) {
  Absorber absorber;
  absorber.kind = AbsorberKind::polynomial;
  absorber.width = 2.0;
  absorber.strength = 400.0;
  const Grid grid{-5.0, 5.0, 101, Kinetic::fd2};
  const Hamiltonian hamiltonian(grid, soft_core(0.0, 1.0), {}, {}, absorber);
  const auto stability = stability_of_step(hamiltonian, series(4), 1e-3, 100);
  EXPECT_TRUE(stability.safe);
  EXPECT_LT(stability.largest_step, 0.0071) << "2.785/400, where W alone would do";
  EXPECT_GT(stability.largest_step, 0.004);
}

}  // namespace
}  // namespace heddle::test::stability_test
