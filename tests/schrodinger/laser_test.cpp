// An electron in a laser pulse: classical paths by Ehrenfest's theorem, and ionisation by perturbation theory.
#include "problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace heddle::test::laser_test {
namespace {

using schrodinger::Pulse;

Pulse short_pulse(double amplitude, double omega, double duration) {
  Pulse pulse;
  pulse.amplitude = amplitude;
  pulse.omega = omega;
  pulse.phase = 0.3;
  pulse.duration = duration;
  pulse.centre = duration / 2;
  return pulse;
}

// <x> and <p> of a charge -1 in a harmonic potential (omega = 0: free) and the pulse, by Runge and Kutta's method in
// many steps.
std::array<double, 2> classical_path(double omega, const Pulse& pulse, std::array<double, 2> start, double time) {
  const int steps = 4000;
  const double h = time / steps;
  const auto slope = [&](double t, std::array<double, 2> y) {
    return std::array{y[1], -omega * omega * y[0] - pulse.field(t)};
  };
  const auto moved = [](std::array<double, 2> y, double by, std::array<double, 2> along) {
    return std::array{y[0] + by * along[0], y[1] + by * along[1]};
  };
  auto y = start;
  for (int k = 0; k < steps; ++k) {
    const double t = k * h;
    const auto a = slope(t, y);
    const auto b = slope(t + h / 2, moved(y, h / 2, a));
    const auto c = slope(t + h / 2, moved(y, h / 2, b));
    const auto d = slope(t + h, moved(y, h, c));
    for (int i = 0; i < 2; ++i) y[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  }
  return y;
}

// Largest distance of <x> from the classical path, in a pulse of duration 10.
double distance_from_path(double omega, const Pulse& pulse, Index steps) {
  const Grid grid{-25, 25, 101, Kinetic::sinc};
  const Hamiltonian hamiltonian(grid, harmonic(omega), {}, {pulse});
  auto options = options_of(10.0 / static_cast<double>(steps));
  options.states = 0;
  Simulation simulation(world(), hamiltonian, options, schrodinger::gaussian_packet(grid, 1.0, -0.4, 1.0));
  double largest = 0.0;
  for (Index k = 0; k < steps; ++k) {
    simulation.step();
    if ((k + 1) % (steps / 10) != 0) continue;
    const auto& seen = simulation.observables();
    EXPECT_EQ(seen.field, pulse.field(simulation.time()));
    EXPECT_NEAR(seen.norm, 1.0, 1e-12);
    largest =
        std::max(largest, std::abs(seen.position - classical_path(omega, pulse, {1.0, -0.4}, simulation.time())[0]));
  }
  return largest;
}

TEST(Laser, FreeElectronFollowsTheFieldAsACharge) {
  const Pulse pulse = short_pulse(0.5, 1.3, 10.0);
  const double coarse = distance_from_path(0.0, pulse, 50);
  const double fine = distance_from_path(0.0, pulse, 100);
  EXPECT_LT(fine, 1e-3) << "the path is " << classical_path(0.0, pulse, {1.0, -0.4}, 10.0)[0] << " long";
  EXPECT_NEAR(coarse / fine, 4.0, 0.3) << "the midpoint rule is of second order";
}

TEST(Laser, OscillatorFollowsTheClassicalEquation) {
  const Pulse pulse = short_pulse(0.5, 0.9, 10.0);
  const double coarse = distance_from_path(1.0, pulse, 50);
  const double fine = distance_from_path(1.0, pulse, 100);
  EXPECT_LT(fine, 1e-3);
  EXPECT_NEAR(coarse / fine, 4.0, 0.3);
}

// In one step with the field at its middle, momentum and position change as under a constant force, to round-off.
TEST(Laser, FreeElectronStepIsExact) {
  const Grid grid{-25, 25, 101, Kinetic::sinc};
  const Pulse pulse = short_pulse(0.4, 0.8, 6.0);
  auto options = options_of(0.3);
  options.states = 0;
  Simulation simulation(world(), Hamiltonian(grid, harmonic(0), {}, {pulse}), options,
                        schrodinger::gaussian_packet(grid, -1.0, 0.5, 1.5));
  double x = -1.0;
  double p = 0.5;
  for (int k = 0; k < 20; ++k) {
    const double field = pulse.field((k + 0.5) * 0.3);
    simulation.step();
    x += p * 0.3 - field * 0.3 * 0.3 / 2;
    p -= field * 0.3;
    EXPECT_NEAR(simulation.observables().position, x, 1e-9);
  }
}

// Weak pulse, photon energy above the ionisation potential: first order in the field is |<k|x|0>|^2 |int E exp(i (E_k -
// E_0) t) dt|^2, over all states of the box.
TEST(Laser, WeakIonisationIsThatOfPerturbationTheory) {
  const Grid grid{-30, 30, 121, Kinetic::fd4};
  Nuclei nuclei;
  nuclei.separation = 2.0;
  const Pulse pulse = short_pulse(1e-2, 1.6, 30.0);
  const Hamiltonian hamiltonian(grid, soft_core(1, 1), nuclei, {pulse});
  const auto all = schrodinger::lowest_eigenstates(hamiltonian.bare(), 0.0, grid.points);
  ASSERT_GT(pulse.omega, -all.energies[0]);
  double expected = 0.0;
  Index bound = 0;
  for (Index k = 1; k < grid.points; ++k) {
    if (all.energies[k] < 0) {
      ++bound;
      continue;
    }
    double element = 0.0;
    for (Index i = 0; i < grid.points; ++i) element += all.state(k)[i] * grid.x(i) * all.state(0)[i] * grid.spacing();
    std::complex<double> integral = 0.0;
    const int steps = 3000;
    const double h = pulse.duration / steps;
    for (int s = 0; s < steps; ++s) {
      const double t = (s + 0.5) * h;
      integral += h * pulse.field(t) * std::polar(1.0, (all.energies[k] - all.energies[0]) * t);
    }
    expected += std::norm(element * integral);
  }
  ASSERT_GT(expected, 1e-7);
  ASSERT_GT(bound, 5);

  auto options = options_of(0.1);
  options.states = bound + 1;
  Simulation simulation(world(), hamiltonian, options, schrodinger::eigenstate(hamiltonian, 0));
  for (int k = 0; k < 300; ++k) simulation.step();
  // Tolerance: dt^2 omega^2/24 for the quadrature, and second order in the field.
  EXPECT_NEAR(simulation.observables().ionisation() / expected, 1.0, 5e-3);
  EXPECT_NEAR(simulation.observables().absorbed(), 0.0, 1e-11);
}

}  // namespace
}  // namespace heddle::test::laser_test
