// Several wave functions in one simulation: each has the same bits as alone, and a run with a pulse, an absorber and
// several states is continued bit for bit.
#include "problems.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <tuple>

namespace heddle::test::several_states_test {
namespace {

using schrodinger::Absorber;
using schrodinger::AbsorberKind;
using schrodinger::Pulse;

Hamiltonian ion_in_a_pulse(AbsorberKind kind) {
  Pulse pulse;
  pulse.amplitude = 0.1;
  pulse.omega = 0.8;
  pulse.duration = 4.0;
  pulse.centre = 0.05;
  Absorber absorber;
  absorber.kind = kind;
  absorber.width = 3.0;
  return {Grid{-8, 8, 81, Kinetic::fd4}, soft_core(1, 1), moving(Motion::stretch), {pulse, pulse}, absorber};
}

std::vector<State> lowest(const Hamiltonian& hamiltonian, Index count) {
  std::vector<State> states;
  for (Index k = 0; k < count; ++k) states.push_back(schrodinger::eigenstate(hamiltonian, k));
  return states;
}

void expect_equal(const schrodinger::Observables& seen, const schrodinger::Observables& expected) {
  EXPECT_EQ(seen.step, expected.step);
  EXPECT_EQ(seen.time, expected.time);
  EXPECT_EQ(seen.norm, expected.norm);
  EXPECT_EQ(seen.energy, expected.energy);
  EXPECT_EQ(seen.position, expected.position);
  EXPECT_EQ(seen.node_positions, expected.node_positions);
  EXPECT_EQ(seen.field, expected.field);
  EXPECT_EQ(seen.energies, expected.energies);
  EXPECT_EQ(seen.populations, expected.populations);
}

TEST(SeveralStates, EachIsWhatItWouldBeAlone) {
  for (const auto kind : {PropagatorKind::expm, PropagatorKind::crank_nicolson}) {
    const auto hamiltonian = ion_in_a_pulse(AbsorberKind::polynomial);
    const auto initial = lowest(hamiltonian, 3);
    Simulation together(world(), hamiltonian, options_of(0.02, kind), initial);
    EXPECT_EQ(together.count(), 3);
    std::vector<Simulation> single;
    for (const State& state : initial) single.emplace_back(world(), hamiltonian, options_of(0.02, kind), state);
    EXPECT_EQ(single[0].count(), 1);
    EXPECT_EQ(single[0].largest_overlap(), 0.0);
    for (int step = 0; step < 4; ++step) {
      together.step();
      for (Index k = 0; k < 3; ++k) {
        single[k].step();
        ASSERT_EQ(together.state(k), single[k].state());
        expect_equal(together.observables(k), single[k].observables());
      }
    }
  }
}

// `automatic` tests all states: the hardest one decides, in any order.
TEST(SeveralStates, TheHardestOneChooses) {
  const Hamiltonian hamiltonian({-12, 12, 121, Kinetic::fd4}, soft_core(1, 1), moving(Motion::stretch));
  const State bound = schrodinger::eigenstate(hamiltonian, 0);
  const State passing = schrodinger::gaussian_packet(hamiltonian.grid(), 2.0, 4.0, 0.7);
  const auto chosen_for = [&](const std::vector<State>& states) {
    Simulation simulation(world(), hamiltonian, options_of(0.4, PropagatorKind::automatic), states);
    simulation.step();
    const auto& chosen = simulation.propagator();
    return std::tuple(chosen.kind, chosen.order, chosen.substeps);
  };
  EXPECT_NE(chosen_for({bound}), chosen_for({passing}));
  // The nuclei shake the bound state, which takes more substeps than the passing one.
  EXPECT_EQ(chosen_for({bound, passing}), chosen_for({bound}));
  EXPECT_EQ(chosen_for({passing, bound}), chosen_for({bound}));
}

TEST(SeveralStates, StayOrthogonalWhereNothingIsAbsorbed) {
  const auto hamiltonian = ion_in_a_pulse(AbsorberKind::none);
  Simulation simulation(world(), hamiltonian, options_of(0.05), lowest(hamiltonian, 4));
  for (int step = 0; step < 10; ++step) {
    EXPECT_LT(simulation.largest_overlap(), 1e-12);
    simulation.step();
  }
  // Two equal states: their overlap is 1.
  const auto one = schrodinger::eigenstate(hamiltonian, 0);
  EXPECT_NEAR(Simulation(world(), hamiltonian, options_of(0.05), std::vector{one, one}).largest_overlap(), 1.0, 1e-13);
}

TEST(SeveralStates, ContinueBitForBit) {
  for (const auto kind : {AbsorberKind::polynomial, AbsorberKind::transmission_free, AbsorberKind::mask}) {
    const auto hamiltonian = ion_in_a_pulse(kind);
    const auto initial = lowest(hamiltonian, 3);
    Simulation straight(world(), hamiltonian, options_of(0.03), initial);
    for (int k = 0; k < 6; ++k) straight.step();
    Simulation first(world(), hamiltonian, options_of(0.03), initial);
    for (int k = 0; k < 3; ++k) first.step();
    Simulation second(world(), hamiltonian, options_of(0.03),
                      std::vector{first.state(0), first.state(1), first.state(2)}, first.steps_done());
    for (int k = 0; k < 3; ++k) second.step();
    for (Index k = 0; k < 3; ++k) {
      EXPECT_EQ(second.state(k), straight.state(k));
      expect_equal(second.observables(k), straight.observables(k));
    }
    EXPECT_LT(straight.observables(2).norm, 1.0) << "something was absorbed";
  }
}

TEST(SeveralStates, RefusesNone) {
  const auto hamiltonian = ion_in_a_pulse(AbsorberKind::none);
  test::expect_refusal(ErrorKind::argument, "a simulation needs an initial state",
                       [&] { Simulation(world(), hamiltonian, {}, std::vector<State>{}); });
  Simulation simulation(world(), hamiltonian, {}, lowest(hamiltonian, 2));
  test::expect_refusal(ErrorKind::argument, "wave function 2 of 2", [&] { (void)simulation.state(2); });
  test::expect_refusal(ErrorKind::argument, "wave function -1 of 2", [&] { (void)simulation.observables(-1); });
}

}  // namespace
}  // namespace heddle::test::several_states_test
