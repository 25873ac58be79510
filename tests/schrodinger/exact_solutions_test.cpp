// Simulations against solutions in closed form.
#include "problems.hpp"

#include <gtest/gtest.h>

namespace heddle::test::exact_solutions_test {
namespace {

TEST(ExactSolution, CoherentStateSwings) {
  const double omega = 1.25;
  const double start = 2.0;
  const Hamiltonian hamiltonian({-9, 9, 97, Kinetic::sinc}, harmonic(omega));
  SimulationOptions options;
  options.time_step = 0.2;
  Simulation simulation(world(), hamiltonian, options,
                        schrodinger::gaussian_packet(hamiltonian.grid(), start, 0.0, std::sqrt(0.5 / omega)));
  const double energy = 0.5 * omega + 0.5 * omega * omega * start * start;
  // |<k|alpha>|^2 is Poisson's distribution with mean omega x0^2/2.
  const double mean = omega * start * start / 2;
  for (int k = 0; k < 30; ++k) {
    simulation.step();
    const auto& seen = simulation.observables();
    EXPECT_NEAR(seen.position, start * std::cos(omega * simulation.time()), 1e-10);
    EXPECT_NEAR(seen.energy, energy, 1e-9);
    double poisson = std::exp(-mean);
    for (int level = 0; level < 4; ++level) {
      EXPECT_NEAR(seen.populations[level], poisson, 1e-10);
      poisson *= mean / (level + 1);
    }
  }
}

TEST(ExactSolution, FreePacketSpreads) {
  const Grid grid{-30, 30, 241, Kinetic::sinc};
  const Hamiltonian hamiltonian(grid, harmonic(0));
  SimulationOptions options;
  options.time_step = 0.5;
  options.states = 0;
  const double width = 1.0;
  Simulation simulation(world(), hamiltonian, options, schrodinger::gaussian_packet(grid, -5, 1.5, width));
  for (int k = 0; k < 8; ++k) simulation.step();
  const double t = simulation.time();
  const auto& seen = simulation.observables();
  EXPECT_NEAR(seen.position, -5 + 1.5 * t, 1e-9);
  double variance = 0.0;
  for (Index i = 0; i < grid.points; ++i) {
    variance += std::norm(simulation.state()[i]) * std::pow(grid.x(i) - seen.position, 2) * grid.spacing();
  }
  const double spread = t / (2 * width);
  EXPECT_NEAR(variance, width * width + spread * spread, 1e-8);
}

// psi = exp(i (v x - v^2 t/2)) phi0(x - v t) exp(-i E0 t), at a time when v t is a whole number of points.
double drift_error(Index steps) {
  const Grid grid{-14, 18, 161, Kinetic::sinc};
  Nuclei nuclei = moving(Motion::drift);
  nuclei.velocity = 1.0;
  const Hamiltonian hamiltonian(grid, soft_core(1, 1), nuclei);
  const auto at_rest = schrodinger::lowest_eigenstates(hamiltonian, 0, 1);
  const double duration = 2.0;
  SimulationOptions options;
  options.time_step = duration / static_cast<double>(steps);
  const auto state =
      state_after(world(), hamiltonian, options, schrodinger::eigenstate(hamiltonian, 0, nuclei.velocity), steps);
  const Index shift = 10;
  double sum = 0.0;
  for (Index i = 0; i < grid.points; ++i) {
    const double phi = i >= shift ? at_rest.state(0)[i - shift] : 0.0;
    const double phase = grid.x(i) - 0.5 * duration - at_rest.energies[0] * duration;
    sum += std::norm(state[i] - phi * std::polar(1.0, phase));
  }
  return std::sqrt(sum * grid.spacing());
}

TEST(ExactSolution, DriftingNucleiCarryTheElectron) {
  const double coarse = drift_error(10);
  const double fine = drift_error(20);
  EXPECT_LT(fine, 4e-3);
  EXPECT_NEAR(coarse / fine, 4.0, 0.2);
}

}  // namespace
}  // namespace heddle::test::exact_solutions_test
