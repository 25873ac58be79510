// What a simulation promises: order in dt, norm, two propagators that agree, bits on ranks and across a restart.
#include "problems.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle::test {
namespace {

SimulationOptions options_of(double time_step, PropagatorKind kind = PropagatorKind::expm, int degree = 0) {
  SimulationOptions options;
  options.time_step = time_step;
  options.propagator.kind = kind;
  options.propagator.degree = degree;
  return options;
}

const Communicator& world() {
  static const auto* comm = new Communicator(MPI_COMM_WORLD);
  return *comm;
}

TEST(Dynamics, MidpointIsOfSecondOrder) {
  const auto hamiltonian = vibrating_ion();
  const auto initial = schrodinger::eigenstate(hamiltonian, 0);
  const auto after = [&](Index steps) {
    return state_after(world(), hamiltonian, options_of(0.8 / static_cast<double>(steps)), initial, steps);
  };
  const auto reference = after(256);
  const double coarse = distance(hamiltonian.grid(), after(8), reference);
  const double fine = distance(hamiltonian.grid(), after(16), reference);
  EXPECT_GT(coarse, 1e-5);
  EXPECT_NEAR(coarse / fine, 4.0, 0.2);
}

TEST(Dynamics, PropagatorsAgreeToSecondOrder) {
  for (const auto kinetic : {Kinetic::fd2, Kinetic::fd6, Kinetic::sinc}) {
    const Hamiltonian hamiltonian({-8, 8, 49, kinetic}, soft_core(1, 1), moving(Motion::shake));
    const auto initial = schrodinger::gaussian_packet(hamiltonian.grid(), 0.5, 0.5, 1.2);
    const auto difference = [&](Index steps) {
      const double step = 0.4 / static_cast<double>(steps);
      return distance(
          hamiltonian.grid(), state_after(world(), hamiltonian, options_of(step), initial, steps),
          state_after(world(), hamiltonian, options_of(step, PropagatorKind::crank_nicolson), initial, steps));
    };
    const double coarse = difference(20);
    const double fine = difference(40);
    EXPECT_LT(coarse, 1e-2) << to_string(kinetic);
    EXPECT_NEAR(coarse / fine, 4.0, 0.2) << to_string(kinetic);
  }
}

TEST(Dynamics, NormIsKeptInEveryStep) {
  for (const auto kind : {PropagatorKind::expm, PropagatorKind::crank_nicolson}) {
    for (const int degree : {0, 10}) {
      const Hamiltonian hamiltonian({-10, 10, 201, Kinetic::fd2}, soft_core(30, 0.1), moving(Motion::stretch));
      Simulation simulation(world(), hamiltonian, options_of(0.002, kind, degree),
                            schrodinger::eigenstate(hamiltonian, 0));
      double last = simulation.observables().norm;
      EXPECT_NEAR(last, 1.0, 1e-14);
      for (int k = 0; k < 12; ++k) {
        simulation.step();
        EXPECT_NEAR(simulation.observables().norm, last, 1e-12);
        last = simulation.observables().norm;
      }
      if (kind == PropagatorKind::expm) {
        ASSERT_TRUE(simulation.expm_report());
        EXPECT_EQ(simulation.expm_report()->method, degree > 0 ? ExpmMethod::taylor : ExpmMethod::automatic);
        EXPECT_GT(simulation.times().gemm, 0.0);
      } else {
        EXPECT_FALSE(simulation.expm_report());
        break;
      }
    }
  }
}

TEST(Dynamics, TooLowADegreeShowsInTheNorm) {
  const Hamiltonian hamiltonian({-10, 10, 101, Kinetic::fd2}, soft_core(30, 0.1));
  Simulation simulation(world(), hamiltonian, options_of(0.01, PropagatorKind::expm, 2),
                        schrodinger::eigenstate(hamiltonian, 0));
  simulation.step();
  EXPECT_GT(std::abs(simulation.observables().norm - 1.0), 1e-3);
}

TEST(Dynamics, EigenstateOnlyTurnsItsPhase) {
  const Hamiltonian hamiltonian({-8, 8, 65, Kinetic::fd4}, soft_core(2, 0.5));
  const auto initial = schrodinger::eigenstate(hamiltonian, 1);
  const double energy = schrodinger::lowest_eigenstates(hamiltonian, 0, 2).energies[1];
  // Exact in dt: one long step is as good as many.
  for (const Index steps : {1, 50}) {
    const double step = 5.0 / static_cast<double>(steps);
    auto expected = initial;
    for (auto& value : expected) value *= std::polar(1.0, -energy * 5.0);
    EXPECT_LT(
        distance(hamiltonian.grid(), state_after(world(), hamiltonian, options_of(step), initial, steps), expected),
        1e-12);
  }
}

TEST(Dynamics, SameBitsOnAnyNumberOfRanks) {
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

TEST(Dynamics, MoreRanksThanPoints) {
  const Hamiltonian hamiltonian({-1, 1, 3, Kinetic::fd6}, harmonic(1));
  auto options = options_of(0.1);
  options.states = 3;
  Simulation simulation(world(), hamiltonian, options, schrodinger::eigenstate(hamiltonian, 1));
  simulation.step();
  EXPECT_NEAR(simulation.observables().populations[0], 0.0, 1e-13);
  EXPECT_NEAR(simulation.observables().populations[1], 1.0, 1e-13);
}

TEST(Dynamics, ContinuesBitForBit) {
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

TEST(Dynamics, RefusesWhatCannotRun) {
  const Hamiltonian hamiltonian({-1, 1, 9, Kinetic::fd2}, harmonic(1));
  const State good(9, 1.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto made = [&](const SimulationOptions& options, const State& state, Index done = 0) {
    const Simulation simulation(world(), hamiltonian, options, state, done);
  };
  SimulationOptions few = options_of(0.1);
  EXPECT_NO_THROW(made(few, good));
  EXPECT_THROW(made(few, State(8, 1.0)), Error);
  EXPECT_THROW(made(few, State(9, nan)), Error);
  EXPECT_THROW(made(few, good, -1), Error);
  EXPECT_THROW(made(options_of(0.0), good), Error);
  EXPECT_THROW(made(options_of(-0.1), good), Error);
  EXPECT_THROW(made(options_of(nan), good), Error);
  EXPECT_THROW(made(options_of(0.1, PropagatorKind::expm, -1), good), Error);
  few.states = 10;
  EXPECT_THROW(made(few, good), Error);
  few.states = 4;
  few.propagator.tolerance = 1.0;
  EXPECT_THROW(made(few, good), Error);
}

}  // namespace
}  // namespace heddle::test
