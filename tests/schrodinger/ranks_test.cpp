// Simulations on any number of ranks: the same bits, also across a restart, and the same refusals.
#include "problems.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle::test::ranks_test {
namespace {

TEST(Ranks, SameBitsOnAnyNumberOfRanks) {
  const Communicator alone(MPI_COMM_SELF);
  for (const auto kind : {PropagatorKind::expm, PropagatorKind::crank_nicolson}) {
    const auto hamiltonian = vibrating_ion();
    const auto initial = schrodinger::gaussian_packet(hamiltonian.grid(), -0.4, 0.3, 0.9);
    Simulation together(world(), hamiltonian, options_of(0.02, kind), initial);
    Simulation single(alone, hamiltonian, options_of(0.02, kind), initial);
    EXPECT_EQ(together.tile(), single.tile());
    for (int k = 0; k < 5; ++k) {
      together.step();
      single.step();
      ASSERT_EQ(together.state(), single.state());
      const auto& seen = together.observables();
      const auto& expected = single.observables();
      EXPECT_EQ(seen.norm, expected.norm);
      EXPECT_EQ(seen.energy, expected.energy);
      EXPECT_EQ(seen.dipole, expected.dipole);
      EXPECT_EQ(seen.nodes, expected.nodes);
      EXPECT_EQ(seen.populations, expected.populations);
      EXPECT_EQ(seen.energies, expected.energies);
      EXPECT_EQ(seen.nuclei, expected.nuclei);
    }
  }
}

TEST(Ranks, MoreRanksThanPoints) {
  const Hamiltonian hamiltonian({-1, 1, 3, Kinetic::fd6}, harmonic(1));
  auto options = options_of(0.1);
  options.states = 3;
  Simulation simulation(world(), hamiltonian, options, schrodinger::eigenstate(hamiltonian, 1));
  simulation.step();
  EXPECT_NEAR(simulation.observables().populations[0], 0.0, 1e-13);
  EXPECT_NEAR(simulation.observables().populations[1], 1.0, 1e-13);
}

TEST(Ranks, ContinuesBitForBit) {
  for (const auto motion : {Motion::fixed, Motion::stretch}) {
    for (const auto kind : {PropagatorKind::expm, PropagatorKind::crank_nicolson}) {
      const Hamiltonian hamiltonian({-8, 8, 150, Kinetic::fd4}, soft_core(1, 1), moving(motion));
      const auto initial = schrodinger::eigenstate(hamiltonian, 0, 0.3);
      const auto options = options_of(0.013, kind);
      Simulation straight(world(), hamiltonian, options, initial);
      for (int k = 0; k < 6; ++k) straight.step();
      Simulation first(world(), hamiltonian, options, initial);
      for (int k = 0; k < 3; ++k) first.step();
      Simulation second(world(), hamiltonian, options, first.state(), first.steps_done());
      for (int k = 0; k < 3; ++k) second.step();
      EXPECT_EQ(second.steps_done(), 6);
      EXPECT_EQ(second.time(), straight.time());
      EXPECT_EQ(second.state(), straight.state());
      EXPECT_EQ(second.observables().populations, straight.observables().populations);
    }
  }
}

TEST(Ranks, SaysThatPsiIsNoLongerFinite) {
  const Hamiltonian hamiltonian({-1, 1, 9, Kinetic::fd2}, harmonic(1));
  // A series of one term: each step multiplies psi by about 1e102.
  Simulation simulation(world(), hamiltonian, options_of(1e100, PropagatorKind::expm, 1), State(9, 1.0));
  std::string message;
  for (int k = 0; k < 10 && message.empty(); ++k) {
    try {
      simulation.step();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::computation);
      message = error.what();
    }
  }
  EXPECT_EQ(message, message_of("psi is no longer finite after step ", simulation.steps_done()));
}

// Nuclei so fast that their phase overflows at the end of the step, not in its middle.
TEST(Ranks, WhatCouldNotBeObservedIsNotSeenLater) {
  Nuclei nuclei = moving(Motion::stretch);
  nuclei.omega = 1e308;
  const Hamiltonian hamiltonian({-8, 8, 41, Kinetic::fd2}, soft_core(1, 1), nuclei);
  auto options = options_of(2.5);
  options.states = 2;
  Simulation simulation(world(), hamiltonian, options, schrodinger::gaussian_packet(hamiltonian.grid(), 0, 0, 1));
  simulation.step();
  for (int k = 0; k < 2; ++k) SCOPED_TRACE(::testing::Message() << k);
  test::expect_refusal(ErrorKind::argument, "eigenstates at t = 2.5: the potential is not finite there",
                       [&] { (void)simulation.observables(); });
}

TEST(Ranks, RefusesWhatCannotRun) {
  const Hamiltonian hamiltonian({-1, 1, 9, Kinetic::fd2}, harmonic(1));
  const State good(9, 1.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto made = [&](const SimulationOptions& options, const State& state, Index done = 0) {
    const Simulation simulation(world(), hamiltonian, options, state, done);
  };
  SimulationOptions few = options_of(0.1);
  EXPECT_NO_THROW(made(few, good));
  test::expect_refusal(ErrorKind::argument, "initial state: 8 values for 9 points", [&] { made(few, State(8, 1.0)); });
  test::expect_refusal(ErrorKind::argument, "initial state: its values must be finite",
                       [&] { made(few, State(9, nan)); });
  test::expect_refusal(ErrorKind::argument, "steps done = -1 must be from 0 to 2^52", [&] { made(few, good, -1); });
  test::expect_refusal(ErrorKind::argument, "time.step = 0 must be finite and positive",
                       [&] { made(options_of(0.0), good); });
  test::expect_refusal(ErrorKind::argument, "time.step = -0.1", [&] { made(options_of(-0.1), good); });
  test::expect_refusal(ErrorKind::argument, "time.step = nan must be finite and positive",
                       [&] { made(options_of(nan), good); });
  test::expect_refusal(ErrorKind::argument, "propagator.degree = -1 must not be negative",
                       [&] { made(options_of(0.1, PropagatorKind::expm, -1), good); });
  few.states = 10;
  test::expect_refusal(ErrorKind::argument, "output.states = 10: the grid has 9 states", [&] { made(few, good); });
  few.states = 4;
  few.propagator.tolerance = 1.0;
  test::expect_refusal(ErrorKind::argument, "propagator.tolerance = 1 must be at least 0 and less than 1",
                       [&] { made(few, good); });
}

}  // namespace
}  // namespace heddle::test::ranks_test
