// Simulations: order in dt, norm, and agreement of two propagators.
#include "problems.hpp"

#include <gtest/gtest.h>

namespace heddle::test::dynamics_test {
namespace {

TEST(Dynamics, MidpointIsOfSecondOrder) {
  const auto hamiltonian = vibrating_ion();
  const auto initial = schrodinger::eigenstate(hamiltonian, 0);
  const auto after = [&](Index steps) {
    return state_after(world(), hamiltonian, options_of(0.8 / static_cast<double>(steps)), initial, steps);
  };
  // Repeated halving of dt: the change of each halving decreases as the error does.
  const auto first = after(8);
  const auto second = after(16);
  const double coarse = distance(hamiltonian.grid(), first, second);
  const double fine = distance(hamiltonian.grid(), second, after(32));
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
    const double coarse = difference(10);
    const double fine = difference(20);
    EXPECT_LT(coarse, 4e-2) << to_string(kinetic);
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
      for (int k = 0; k < 6; ++k) {
        simulation.step();
        EXPECT_NEAR(simulation.observables().norm, last, 1e-12);
        last = simulation.observables().norm;
      }
      if (kind == PropagatorKind::expm) {
        ASSERT_TRUE(simulation.expm_report());
        EXPECT_EQ(simulation.expm_report()->method, degree > 0 ? ExpmMethod::taylor : ExpmMethod::chebyshev);
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

}  // namespace
}  // namespace heddle::test::dynamics_test
