// Estimated errors of a run: pulses of any duration, grids, sizes of psi.
#include "problems.hpp"
#include "schrodinger/hamiltonian/fourier.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::test::accuracy_test {
namespace {

using schrodinger::Envelope;
using schrodinger::Observables;
using schrodinger::Pulse;

Pulse pulse_of(Envelope envelope, double amplitude, double omega, double duration, double centre, double phase = 0.0) {
  Pulse pulse;
  pulse.envelope = envelope;
  pulse.amplitude = amplitude;
  pulse.omega = omega;
  pulse.duration = duration;
  pulse.centre = centre;
  pulse.phase = phase;
  pulse.ramp = envelope == Envelope::trapezoid ? duration / 4 : 0.0;
  return pulse;
}

// <x> of an oscillator of frequency 1 at rest at 0: -integral of sin(t - s) E(s), by the midpoint rule, whose error
// decreases as fast as the envelope is smooth.
double driven_position(const std::vector<Pulse>& pulses, double time) {
  double sum = 0.0;
  for (const Pulse& pulse : pulses) {
    const auto [first, last] = pulse.interval();
    const double begin = std::max(first, 0.0);
    const double end = std::min(last, time);
    const int parts = 400000;
    const double h = (end - begin) / parts;
    for (int k = 0; k < parts && h > 0; ++k) {
      const double s = begin + (k + 0.5) * h;
      sum -= h * std::sin(time - s) * pulse.field(s);
    }
  }
  return sum;
}

struct Shot {
  const char* name;
  std::vector<Pulse> pulses;
};

const std::vector<Shot>& shots() {
  static const std::vector<Shot> all = {
      {"a kick within a step", {pulse_of(Envelope::sine_squared, 5, 1e-3, 0.02, 2.03)}},
      {"a kick over the end of a step", {pulse_of(Envelope::sine_squared, 5, 1e-3, 0.02, 2.0)}},
      {"a kick like a delta", {pulse_of(Envelope::constant, 5e5, 0, 1e-6, 1.234567)}},
      {"a short Gaussian", {pulse_of(Envelope::gaussian, 3, 2, 0.05, 2.71)}},
      {"a trapezoid", {pulse_of(Envelope::trapezoid, 2, 0, 0.33, 3.01)}},
      {"a high carrier", {pulse_of(Envelope::sine_squared, 50, 30, 2, 2.5, 1.57)}},
      {"two kicks and a slow pulse",
       {pulse_of(Envelope::constant, 8, 0, 0.013, 0.77), pulse_of(Envelope::sine_squared, 0.1, 1.1, 3, 2),
        pulse_of(Envelope::sine_squared, -7, 3, 0.04, 3.3)}},
  };
  return all;
}

Observables after(const Hamiltonian& hamiltonian, const SimulationOptions& options, const State& initial, Index steps) {
  Simulation simulation(world(), hamiltonian, options, initial);
  for (Index k = 0; k < steps; ++k) simulation.step();
  return simulation.observables();
}

TEST(Accuracy, AutomaticSeesEveryPulse) {
  const Index steps = 36;
  const double step = 0.1;
  const double duration = static_cast<double>(steps) * step;
  for (const Kinetic kinetic : {Kinetic::sinc, Kinetic::fd6}) {
    const Grid grid{-8, 8, kinetic == Kinetic::sinc ? 97 : 385, kinetic};
    for (const Shot& shot : shots()) {
      const Hamiltonian hamiltonian(grid, harmonic(1), {}, shot.pulses);
      SimulationOptions options = options_of(step, PropagatorKind::automatic);
      options.propagator.duration = duration;
      options.states = 0;
      const Observables seen = after(hamiltonian, options, schrodinger::eigenstate(hamiltonian, 0), steps);
      const double exact = driven_position(shot.pulses, duration);
      EXPECT_GT(std::abs(exact), 1e-3) << shot.name;
      // fd6 has an additional error of dx^6.
      EXPECT_NEAR(seen.position, exact, kinetic == Kinetic::sinc ? 1e-5 : 3e-5) << shot.name;
      EXPECT_LE(seen.error, 2e-6 * duration) << shot.name;
      if (kinetic == Kinetic::sinc) {
        EXPECT_LE(std::abs(seen.position - exact), seen.position_error() + 1e-7) << shot.name;
      }
    }
  }
}

// The error of a chosen method includes fields that it does not resolve.
TEST(Accuracy, OtherMethodsKnowWhatTheyMiss) {
  const Grid grid{-8, 8, 97, Kinetic::sinc};
  std::vector<PropagatorKind> kinds = {PropagatorKind::expm, PropagatorKind::magnus4, PropagatorKind::crank_nicolson,
                                       PropagatorKind::chebyshev};
  if (impl::has_fourier()) kinds.push_back(PropagatorKind::split_operator);
  for (const PropagatorKind kind : kinds) {
    for (const Shot& shot : shots()) {
      const Hamiltonian hamiltonian(grid, harmonic(1), {}, shot.pulses);
      SimulationOptions options = options_of(0.1, kind);
      options.states = 0;
      const State initial = schrodinger::eigenstate(hamiltonian, 0);
      Simulation simulation(world(), hamiltonian, options, initial);
      for (Index k = 0; k < 36; ++k) simulation.step();
      options.propagator.kind = PropagatorKind::automatic;
      options.propagator.tolerance = 1e-9;
      options.propagator.duration = 3.6;
      const State exact = state_after(world(), hamiltonian, options, initial, 36);
      const double error = distance(grid, simulation.state(), exact);
      EXPECT_GE(simulation.observables().error, 0.5 * error) << to_string(kind) << ", " << shot.name;
    }
  }
}

// The split operator has a different kinetic energy at the ends of the grid, which automatic must detect.
TEST(Accuracy, AutomaticTakesTheKineticEnergyThatIsGiven) {
  for (const Kinetic kinetic : {Kinetic::sinc, Kinetic::fd4, Kinetic::fd6}) {
    for (const double half : {8.0, 11.0, 14.0}) {
      for (const double place : {0.5, 0.8}) {
        const Grid grid{-half, half, 61, kinetic};
        const Hamiltonian hamiltonian(grid, harmonic(0.3));
        const State initial = schrodinger::gaussian_packet(grid, place * half, 0.5, 1.0);
        SimulationOptions options = options_of(0.1, PropagatorKind::automatic);
        options.states = 0;
        options.propagator.duration = 4.0;
        Simulation simulation(world(), hamiltonian, options, initial);
        for (Index k = 0; k < 40; ++k) simulation.step();
        const State exact = state_after(world(), hamiltonian, options_of(4.0), initial, 1);
        const double error = distance(grid, simulation.state(), exact);
        EXPECT_LE(error, 2e-6 * 4.0) << to_string(kinetic) << ", half the grid " << half << ", "
                                     << simulation.propagator_description();
        EXPECT_LE(error, 2 * simulation.observables().error + 1e-12) << simulation.propagator_description();
      }
    }
  }
}

// A wave that reaches the end of the grid after the choice.
TEST(Accuracy, AutomaticChangesItsChoice) {
  const Grid grid{-10, 10, 81, Kinetic::sinc};
  const Hamiltonian hamiltonian(grid, harmonic(0.01));
  const State initial = schrodinger::gaussian_packet(grid, 0, 2.0, 1.0);
  SimulationOptions options = options_of(0.05, PropagatorKind::automatic);
  options.states = 0;
  options.propagator.duration = 6.0;
  Simulation simulation(world(), hamiltonian, options, initial);
  for (Index k = 0; k < 120; ++k) simulation.step();
  const double error =
      distance(grid, simulation.state(), state_after(world(), hamiltonian, options_of(6.0), initial, 1));
  EXPECT_LE(error, 2 * simulation.observables().error) << simulation.propagator_description();
  EXPECT_LE(error, 1e-4) << simulation.propagator_description();
}

TEST(Accuracy, PsiOfAnySize) {
  const Grid grid{-8, 8, 65, Kinetic::sinc};
  const Hamiltonian hamiltonian(grid, harmonic(1), {}, {pulse_of(Envelope::sine_squared, 0.3, 1, 4, 2)});
  const State initial = schrodinger::gaussian_packet(grid, 1.0, 0.5, 0.8);
  for (const PropagatorKind kind :
       {PropagatorKind::automatic, PropagatorKind::chebyshev, PropagatorKind::crank_nicolson}) {
    SimulationOptions options = options_of(0.05, kind);
    options.propagator.duration = 1.0;
    const Observables plain = after(hamiltonian, options, initial, 20);
    for (const int exponent : {-900, -540, 460}) {
      State scaled = initial;
      for (auto& value : scaled) value *= std::scalbn(1.0, exponent);
      const Observables seen = after(hamiltonian, options, scaled, 20);
      EXPECT_NEAR(std::scalbn(seen.norm, -exponent), plain.norm, 1e-12);
      EXPECT_NEAR(seen.position, plain.position, 1e-12);
      EXPECT_NEAR(seen.energy, plain.energy, 1e-11);
      EXPECT_NEAR(seen.error, plain.error, 1e-3 * plain.error + 1e-13);
      EXPECT_EQ(seen.nodes, plain.nodes);
      const auto alone = observe(hamiltonian, 0.0, scaled, {});
      EXPECT_NEAR(alone.position, 1.0, 1e-6);
      EXPECT_GT(alone.norm, 0.0);
    }
  }
  for (const double factor : {0.0, 1e-300, 1e160}) {
    State scaled = initial;
    for (auto& value : scaled) value *= factor;
    test::expect_refusal(ErrorKind::argument, "initial state: its largest value is",
                         [&] { Simulation(world(), hamiltonian, options_of(0.1), scaled); });
  }
}

// The kinetic energy of a Gaussian is 1/(8 width^2); fd2 gives k^2/2 (1 - k^2 dx^2/12).
TEST(Accuracy, GridsThatDoNotResolve) {
  const double width = 0.5;
  for (const double dx : {0.05, 0.1, 0.2}) {
    const Grid grid{-10, 10, static_cast<Index>(std::round(20 / dx)) + 1, Kinetic::fd2};
    const Hamiltonian hamiltonian(grid, harmonic(1));
    const auto found = schrodinger::grid_resolution(hamiltonian, schrodinger::gaussian_packet(grid, 0.3, 0.0, width));
    const double kinetic = 1 / (8 * width * width);
    EXPECT_NEAR(found.kinetic, kinetic, 1e-10);
    // <k^4> = 3 <k^2>^2.
    EXPECT_NEAR(found.kinetic_error / (dx * dx / 24 * 3 * 4 * kinetic * kinetic), 1.0, 3 * dx * dx);
    EXPECT_LT(found.tail, 1e-12);
  }
  const Grid coarse{-10, 10, 21, Kinetic::sinc};
  const auto found =
      schrodinger::grid_resolution({coarse, harmonic(1)}, schrodinger::gaussian_packet(coarse, 0.3, 0.0, width));
  EXPECT_EQ(found.kinetic_error, 0.0);
  EXPECT_GT(found.tail, 0.01);
}

}  // namespace
}  // namespace heddle::test::accuracy_test
