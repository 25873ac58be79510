// Observables and initial states against closed forms.
#include "problems.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/observables.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle::test::observables_test {
namespace {

using schrodinger::gaussian_packet;
using schrodinger::observe;

TEST(Observables, OfAGaussianPacket) {
  const Grid grid{-12, 12, 241, Kinetic::sinc};
  const Hamiltonian hamiltonian(grid, harmonic(1.3));
  const double width = 0.8;
  const auto state = gaussian_packet(grid, 1.5, 2.0, width);
  const auto seen = observe(hamiltonian, 0.7, state, {});
  EXPECT_EQ(seen.time, 0.7);
  EXPECT_NEAR(seen.norm, 1.0, 1e-15);
  EXPECT_NEAR(seen.position, 1.5, 1e-13);
  EXPECT_NEAR(seen.dipole, -1.5, 1e-13);
  // <p^2>/2 + omega^2 <x^2>/2 with <p^2> = p^2 + 1/(4 sigma^2), <x^2> = x^2 + sigma^2.
  const double exact = 0.5 * (4.0 + 0.25 / (width * width)) + 0.5 * 1.69 * (2.25 + width * width);
  EXPECT_NEAR(seen.energy, exact, 1e-11);
  EXPECT_EQ(seen.nodes, 0) << "a moving packet has no nodes";
  EXPECT_TRUE(seen.populations.empty());
}

TEST(Observables, PopulationsOfAllStatesSumToTheNorm) {
  const Hamiltonian hamiltonian({-4, 4, 33, Kinetic::fd4}, soft_core(2, 0.5));
  const auto states = schrodinger::lowest_eigenstates(hamiltonian, 0, 33);
  const auto seen = observe(hamiltonian, 0, gaussian_packet(hamiltonian.grid(), 0.3, -1.0, 0.5), states);
  double sum = 0.0;
  double energy = 0.0;
  for (std::size_t k = 0; k < 33; ++k) {
    sum += seen.populations[k];
    energy += seen.populations[k] * seen.energies[k];
  }
  EXPECT_NEAR(sum, 1.0, 1e-13);
  EXPECT_NEAR(energy, seen.energy, 1e-11);
}

TEST(Observables, DipoleCountsNucleiPositive) {
  Nuclei nuclei = moving(Motion::drift);
  nuclei.velocity = 0.5;
  const Hamiltonian hamiltonian({-8, 8, 81, Kinetic::fd2}, soft_core(3, 1), nuclei);
  const auto seen = observe(hamiltonian, 2.0, gaussian_packet(hamiltonian.grid(), -1.0, 0.0, 0.7), {});
  EXPECT_NEAR(seen.dipole, 3 * (0.0 + 2.0) + 1.0, 1e-10);
  EXPECT_EQ(seen.nuclei, (std::array{0.0, 2.0}));
}

TEST(Observables, NodesOfASuperpositionAndOfAPhase) {
  const Hamiltonian hamiltonian({-10, 10, 201, Kinetic::fd2}, harmonic(1));
  for (const Index level : {0, 1, 5}) {
    auto state = schrodinger::eigenstate(hamiltonian, level, 0.0);
    for (auto& value : state) value *= std::polar(0.5, 1.234);
    EXPECT_EQ(observe(hamiltonian, 0, state, {}).nodes, level);
    EXPECT_EQ(observe(hamiltonian, 0, schrodinger::eigenstate(hamiltonian, level, 1.5), {}).nodes, level);
  }
}

TEST(Observables, RefuseWhatIsOfAnotherGrid) {
  const Grid grid{-1, 1, 5, Kinetic::fd2};
  const Hamiltonian hamiltonian(grid, harmonic(1));
  const State state(5, 1.0);
  schrodinger::Eigenstates states;
  states.points = 5;
  states.energies = {1.0};
  test::expect_refusal(ErrorKind::argument, "observables: eigenstates of 5 points, 1 energies and 0 values",
                       [&] { (void)observe(hamiltonian, 0, state, states); });
  for (const double radius : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    test::expect_refusal(ErrorKind::argument, "probability_outside: radius = ", [&] {
      (void)schrodinger::probability_outside(grid, state, radius);
    });
  }
}

TEST(InitialState, RefusesWhatIsNoState) {
  const Grid grid{-1, 1, 5, Kinetic::fd2};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  test::expect_refusal(ErrorKind::argument, "initial.width = 0 must be positive",
                       [&] { (void)gaussian_packet(grid, 0, 0, 0); });
  test::expect_refusal(ErrorKind::argument, "initial.width = -1 must be positive",
                       [&] { (void)gaussian_packet(grid, 0, 0, -1); });
  test::expect_refusal(ErrorKind::argument, "initial.position = nan and initial.momentum = 0 must be finite",
                       [&] { (void)gaussian_packet(grid, nan, 0, 1); });
  test::expect_refusal(ErrorKind::argument, "initial state: a Gaussian at initial.position = 1000 with",
                       [&] { (void)gaussian_packet(grid, 1000, 0, 0.1); });
  test::expect_refusal(ErrorKind::argument, "initial state: it is zero on the whole grid",
                       [&] { (void)schrodinger::normalised(grid, State(5, 0.0)); });
  test::expect_refusal(ErrorKind::argument, "initial state: 4 values for 5 points",
                       [&] { (void)schrodinger::normalised(grid, State(4, 1.0)); });
  test::expect_refusal(ErrorKind::argument, "initial state: its values must be finite",
                       [&] { (void)schrodinger::normalised(grid, State(5, nan)); });
  const Hamiltonian hamiltonian(grid, harmonic(1));
  test::expect_refusal(ErrorKind::argument, "initial.level = 5: the grid has levels 0 to 4",
                       [&] { (void)schrodinger::eigenstate(hamiltonian, 5); });
  test::expect_refusal(ErrorKind::argument, "initial.level = -1: the grid has levels 0 to 4",
                       [&] { (void)schrodinger::eigenstate(hamiltonian, -1); });
}

TEST(InitialState, NormalisesWhatWouldOverflow) {
  const Grid grid{-1, 1, 5, Kinetic::fd2};
  const auto state = schrodinger::normalised(grid, State(5, 1e300));
  EXPECT_NEAR(std::norm(state[2]) * 5 * grid.spacing(), 1.0, 1e-15);
}

}  // namespace
}  // namespace heddle::test::observables_test
