// Nodes of wave functions: known ones, nodes that are about to begin, and wave functions without nodes.
#include "problems.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/observables.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace heddle::test::nodes_test {
namespace {

using schrodinger::node_positions;
using Complex = std::complex<double>;
using Places = std::vector<double>;

const Grid grid{-8, 8, 401, Kinetic::fd2};

// An eigenstate of x^2/2, by the recurrence of normalised Hermite functions.
double level_at(int level, double x) {
  double last = 0.0;
  double value = std::exp(-0.5 * x * x) / std::pow(std::acos(-1.0), 0.25);
  for (int k = 0; k < level; ++k) {
    const double next = std::sqrt(2.0 / (k + 1)) * x * value - std::sqrt(static_cast<double>(k) / (k + 1)) * last;
    last = value;
    value = next;
  }
  return value;
}

State level(int k) {
  State state;
  for (const double x : grid.positions()) state.emplace_back(level_at(k, x));
  return state;
}

Places roots_of_level(int k) {
  Places roots;
  const double step = 1.0 / 64;
  for (double x = -8 - step / 3; x < 8; x += step) {
    double low = x;
    double high = x + step;
    if (!(level_at(k, low) * level_at(k, high) < 0)) continue;
    for (int halving = 0; halving < 50; ++halving) {
      const double middle = 0.5 * (low + high);
      (level_at(k, low) * level_at(k, middle) > 0 ? low : high) = middle;
    }
    roots.push_back(low);
  }
  return roots;
}

void expect_places(const Places& found, const Places& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], tolerance);
}

TEST(Nodes, OfAnEigenstateAreTheRootsOfItsPolynomial) {
  for (int k = 0; k < 13; ++k) {
    const Places roots = roots_of_level(k);
    ASSERT_EQ(roots.size(), static_cast<std::size_t>(k));
    for (const double phase : {0.0, 2.1, std::acos(-1.0), -0.4}) {
      for (const double momentum : {0.0, 3.0, -1.3}) {
        State state = level(k);
        for (Index i = 0; i < grid.points; ++i) state[i] *= std::polar(1e-3, phase + momentum * grid.x(i));
        expect_places(node_positions(grid, state), roots, 2e-3);
      }
    }
  }
}

TEST(Nodes, ATurningPhaseAndNoiseFarOutAreNone) {
  // Two lobes a quarter of a turn apart: psi is nowhere 0, although its parts are.
  State turning = level(0);
  const State first = level(1);
  for (std::size_t i = 0; i < turning.size(); ++i) turning[i] += Complex(0, 1) * first[i];
  EXPECT_EQ(node_positions(grid, turning), Places());

  std::mt19937_64 generator(3);
  std::normal_distribution<double> noise(0.0, 1e-3);
  State noisy = level(3);
  for (Complex& value : noisy) value += Complex(noise(generator), noise(generator));
  expect_places(node_positions(grid, noisy), roots_of_level(3), 1e-2);
  // Pure noise, none of whose lobes is negligible, still has nodes within the grid, in rising order.
  for (Complex& value : noisy) value = Complex(noise(generator), noise(generator));
  const Places wild = node_positions(grid, noisy);
  EXPECT_TRUE(std::is_sorted(wild.begin(), wild.end()));
  EXPECT_GT(wild.size(), 10U);
  EXPECT_GT(wild.front(), grid.xmin);
  EXPECT_LT(wild.back(), grid.xmax);
}

// Opposite momenta: a standing wave has nodes half a wave length apart where its density is significant, and none in
// its tails.
TEST(Nodes, OfAStandingWave) {
  State standing = level(0);
  for (Index i = 0; i < grid.points; ++i) standing[i] *= std::cos(4 * grid.x(i)) * std::polar(1.0, 0.3);
  const Places found = node_positions(grid, standing);
  ASSERT_GE(found.size(), 4U);
  EXPECT_EQ(found.size() % 2, 0U);
  const double quarter = std::acos(-1.0) / 8;
  for (const double place : found) {
    EXPECT_LT(std::abs(place), 3.5);
    EXPECT_NEAR(place, quarter * (1 + 2 * std::round((place / quarter - 1) / 2)), 2e-3);
  }
}

TEST(Nodes, OfExactZeros) {
  const Grid seven{-3, 3, 7, Kinetic::fd2};
  EXPECT_EQ(node_positions(seven, State{0, 1, 2, 0, -2, -1, 0}), Places{0});
  EXPECT_EQ(node_positions(seven, State{1, 0, 0, 0, 0, 0, -1}), Places{0});
  EXPECT_EQ(node_positions(seven, State{1, 0, 0, 0, 0, 0, 1}), Places());
  EXPECT_EQ(node_positions(seven, State{0, 1, 0, 0, 0, Complex(0, 1), 0}), Places());
  EXPECT_EQ(node_positions(seven, State{0, 3, 0, -3, 0, 3, 0}), (Places{-1, 1}));
  EXPECT_EQ(node_positions(seven, State(7, 0.0)), Places());
  EXPECT_EQ(node_positions(seven, State(7, 1.0)), Places());
  // Symmetric zeros and round-off between two lobes.
  EXPECT_EQ(node_positions(seven, State{0, 1, 1e-17, 0, -1e-17, -1, 0}), Places{0});
  expect_refusal(ErrorKind::argument, "node_positions: 6 values of psi for 7 points",
                 [&] { (void)node_positions(seven, State(6, 1.0)); });
}

State mixed(double share, double phase) {
  State state = level(0);
  const State other = level(1);
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = (state[i] + share * other[i]) * std::polar(1.0, phase);
  return state;
}

// The lobe beyond the node is 0.0069 to 0.0149 times the other, near the threshold.
TEST(Nodes, GoOnMoreEasilyThanTheyBegin) {
  int alone = 0;
  int followed = 0;
  Places before;
  std::size_t before_alone = 0;
  for (int k = 0; k < 60; ++k) {
    const State state = mixed(k % 2 == 0 ? 0.7 : 0.6, 0.3 * k);
    const Places now = node_positions(grid, state, before);
    const std::size_t now_alone = node_positions(grid, state).size();
    alone += now_alone == before_alone ? 0 : 1;
    followed += now.size() == before.size() ? 0 : 1;
    before = now;
    before_alone = now_alone;
  }
  EXPECT_GT(alone, 10) << "the case is to be one that flickers";
  EXPECT_EQ(followed, 1);
  // A node below the threshold ends, and a node elsewhere does not preserve it.
  EXPECT_EQ(node_positions(grid, mixed(0.4, 0.0), before), Places());
  EXPECT_EQ(node_positions(grid, mixed(0.6, 0.0), Places{3.0}), Places());
  EXPECT_EQ(node_positions(grid, mixed(0.6, 0.0), before).size(), 1U);
}

// The nodes that a simulation finds after each step, against those of its psi alone.
TEST(Nodes, AreFollowedBySimulationsAndByThoseThatContinueThem) {
  const Communicator comm(MPI_COMM_WORLD);
  const Hamiltonian hamiltonian(grid, harmonic(1));
  SimulationOptions options = options_of(0.02, PropagatorKind::chebyshev);
  options.states = 0;
  // The outer lobe moves from beyond the node to this side and back.
  Simulation whole(comm, hamiltonian, options, mixed(0.62, 0.0));
  std::vector<Places> seen;
  Places before;
  int going_on = 0;
  for (int step = 0; step <= 400; ++step) {
    if (step > 0) whole.step();
    const auto& now = whole.observables();
    EXPECT_EQ(now.node_positions, node_positions(grid, whole.state(), before));
    EXPECT_EQ(now.nodes, static_cast<Index>(now.node_positions.size()));
    before = now.node_positions;
    going_on += before.size() > node_positions(grid, whole.state()).size() ? 1 : 0;
    seen.push_back(before);
  }
  EXPECT_GT(going_on, 0) << "some nodes are to be there for what was before alone";
  for (const Index step : {0, 150, 320}) {
    Simulation first(comm, hamiltonian, options, mixed(0.62, 0.0));
    while (first.steps_done() < step) {
      static_cast<void>(first.observables());
      first.step();
    }
    Simulation second(comm, hamiltonian, options, first.state(), step, first.observables().node_positions);
    while (second.steps_done() < 400) {
      EXPECT_EQ(second.observables().node_positions, seen[second.steps_done()]) << step;
      second.step();
    }
  }
}

}  // namespace
}  // namespace heddle::test::nodes_test
