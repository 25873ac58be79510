// Absorbing layers: their shape, absorption and reflection.
#include "problems.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace heddle::test::absorber_test {
namespace {

using schrodinger::Absorber;
using schrodinger::AbsorberKind;

Absorber absorber_of(AbsorberKind kind, double width) {
  Absorber absorber;
  absorber.kind = kind;
  absorber.width = width;
  return absorber;
}

TEST(Absorber, PolynomialRisesFromItsEdge) {
  const Grid grid{-10, 10, 41, Kinetic::fd2};
  Absorber absorber = absorber_of(AbsorberKind::polynomial, 4.0);
  absorber.strength = 0.8;
  absorber.power = 3.0;
  const Hamiltonian hamiltonian(grid, harmonic(0), {}, {}, absorber);
  ASSERT_EQ(hamiltonian.absorption().size(), 41U);
  for (Index i = 0; i < 41; ++i) {
    const double depth = std::max(std::abs(grid.x(i)) - 6.0, 0.0);
    EXPECT_NEAR(hamiltonian.absorption()[i], 0.8 * std::pow(depth / 4.0, 3), 1e-15);
  }
  EXPECT_FALSE(hamiltonian.moves());
  EXPECT_TRUE(hamiltonian.bare().absorption().empty());
}

TEST(Absorber, TransmissionFreeRisesToTheWall) {
  const Grid grid{-10, 10, 201, Kinetic::fd2};
  Absorber absorber = absorber_of(AbsorberKind::transmission_free, 5.0);
  absorber.energy = 0.2;
  const auto values = schrodinger::absorbing_potential(grid, absorber);
  EXPECT_EQ(values[100], 0.0);
  EXPECT_NEAR(values[50], 0.0, 1e-14) << "the edge";
  for (Index i = 151; i < 201; ++i) EXPECT_GT(values[i], values[i - 1]);
  // Near the edge y(x) = x + O(x^3), near the wall 4/(c - x)^2.
  const double unit = 2.6220575542921198 / 5.1;
  EXPECT_NEAR(values[151] / (0.2 * unit * 0.1), 1.0, 1e-2);
  EXPECT_NEAR(values[200] / (0.2 * 4 / (unit * unit * 0.01)), 1.0, 1e-3);
  for (Index i = 0; i < 100; ++i) EXPECT_NEAR(values[i], values[200 - i], 1e-12 * (1 + values[i]));
}

TEST(Absorber, MaskOfTwoStepsIsTheirProduct) {
  const Grid grid{-10, 10, 41, Kinetic::fd2};
  Absorber absorber = absorber_of(AbsorberKind::mask, 5.0);
  absorber.time = 1.0;
  const auto one = mask_of_step(grid, absorber, 1.0);
  const auto part = mask_of_step(grid, absorber, 0.3);
  const auto rest = mask_of_step(grid, absorber, 0.7);
  for (Index i = 0; i < 41; ++i) EXPECT_NEAR(part[i] * rest[i], one[i], 1e-15);
  EXPECT_EQ(one[0], 0.0);
  EXPECT_EQ(one[40], 0.0);
  EXPECT_EQ(one[20], 1.0);
  EXPECT_NEAR(one[5], std::pow(std::cos(std::acos(-1.0) / 4), 0.125), 1e-15) << "halfway into the layer";
  EXPECT_TRUE(absorbing_potential(grid, absorber).empty());
  EXPECT_TRUE(mask_of_step(grid, {}, 1.0).empty());
}

TEST(Absorber, EvenPotentialTakesTheNormAsAnExponential) {
  // power 0 in adjacent layers: W = strength everywhere commutes with H.
  Absorber absorber = absorber_of(AbsorberKind::polynomial, 8.0);
  absorber.strength = 0.25;
  absorber.power = 0.0;
  const Grid grid{-8, 8, 64, Kinetic::fd4};
  for (const auto motion : {Motion::fixed, Motion::stretch}) {
    const Hamiltonian hamiltonian(grid, soft_core(1, 1), moving(motion), {}, absorber);
    const Hamiltonian without(grid, soft_core(1, 1), moving(motion));
    const auto initial = schrodinger::gaussian_packet(grid, 0.5, 0.3, 1.0);
    Simulation simulation(world(), hamiltonian, options_of(0.05), initial);
    for (int k = 0; k < 20; ++k) simulation.step();
    EXPECT_NEAR(simulation.observables().norm, std::exp(-0.25), 1e-12);
    EXPECT_NEAR(simulation.observables().absorbed(), 1 - std::exp(-0.5), 1e-12);
    auto expected = state_after(world(), without, options_of(0.05), initial, 20);
    for (auto& value : expected) value *= std::exp(-0.25);
    EXPECT_LT(distance(grid, simulation.state(), expected), 1e-12);
  }
}

// Remaining probability of a packet that has left: reflected at the layer's rise or returned through it.
double left_of_packet(const Absorber& absorber, double time_step) {
  const Grid grid{-50, 50, 401, Kinetic::fd6};
  auto options = options_of(time_step);
  options.states = 0;
  const Hamiltonian hamiltonian(grid, harmonic(0), {}, {}, absorber);
  Simulation simulation(world(), hamiltonian, options, schrodinger::gaussian_packet(grid, 0.0, 1.5, 3.0));
  double last = 1.0;
  while (simulation.time() < 100.0) {
    simulation.step();
    if (simulation.steps_done() % 10 == 0) {
      const double norm = simulation.observables().norm;
      EXPECT_LE(norm, last + 1e-12) << "absorbers only take away";
      last = norm;
    }
  }
  EXPECT_NEAR(schrodinger::probability_outside(grid, simulation.state(), 60.0), simulation.observables().absorbed(),
              1e-13);
  return last * last;
}

TEST(Absorber, PacketIsGone) {
  Absorber polynomial = absorber_of(AbsorberKind::polynomial, 20.0);
  polynomial.strength = 2.3 * 3 * 1.5 / 20.0;
  EXPECT_LT(left_of_packet(polynomial, 0.5), 1e-4);
  Absorber reflection_free = absorber_of(AbsorberKind::transmission_free, 20.0);
  reflection_free.energy = 0.3;
  EXPECT_LT(left_of_packet(reflection_free, 0.5), 1e-4);
}

TEST(Absorber, MaskTakesTheSameWhateverTheStep) {
  Absorber mask = absorber_of(AbsorberKind::mask, 20.0);
  mask.time = 0.5;
  EXPECT_LT(left_of_packet(mask, 0.5), 1e-4);
  // Halfway through the layer, where a mask without regard to dt would absorb more with shorter steps.
  const Grid grid{-50, 50, 401, Kinetic::fd6};
  const Hamiltonian hamiltonian(grid, harmonic(0), {}, {}, mask);
  const auto initial = schrodinger::gaussian_packet(grid, 28.0, 1.5, 3.0);
  const auto absorbed = [&](Index steps) {
    auto options = options_of(10.0 / static_cast<double>(steps));
    options.states = 0;
    Simulation simulation(world(), hamiltonian, options, initial);
    for (Index k = 0; k < steps; ++k) simulation.step();
    return simulation.observables().absorbed();
  };
  const double coarse = absorbed(20);
  const double middle = absorbed(40);
  const double fine = absorbed(80);
  EXPECT_GT(fine, 0.2);
  EXPECT_NEAR(middle, fine, 1e-2);
  EXPECT_NEAR((coarse - middle) / (middle - fine), 2.0, 0.3) << "split off to first order";
}

TEST(Absorber, RefusesWhatCannotBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Grid grid{-10, 10, 41, Kinetic::fd2};
  const auto refused = [&](double Absorber::*member, double value) {
    Absorber absorber = absorber_of(AbsorberKind::polynomial, 5.0);
    EXPECT_NO_THROW(validate(grid, absorber));
    absorber.*member = value;
    SCOPED_TRACE(::testing::Message() << value);
    test::expect_refusal(ErrorKind::argument, "absorber.", [&] { validate(grid, absorber); });
    test::expect_refusal(ErrorKind::argument, "absorber.", [&] { Hamiltonian(grid, harmonic(1), {}, {}, absorber); });
    absorber.kind = AbsorberKind::none;
    EXPECT_NO_THROW(validate(grid, absorber));
  };
  const Grid no_grid{-10, 10, -5, Kinetic::fd2};
  const Absorber mask = absorber_of(AbsorberKind::mask, 5.0);
  test::expect_refusal(ErrorKind::argument, "grid.points = -5 must be at least 3", [&] {
    (void)schrodinger::absorbing_potential(no_grid, absorber_of(AbsorberKind::polynomial, 5.0));
  });
  test::expect_refusal(ErrorKind::argument, "grid.points = -5 must be at least 3",
                       [&] { (void)schrodinger::mask_of_step(no_grid, mask, 1.0); });
  test::expect_refusal(ErrorKind::argument, "time.step = -1 must be finite and positive",
                       [&] { (void)schrodinger::mask_of_step(grid, mask, -1.0); });
  refused(&Absorber::width, 0.0);
  refused(&Absorber::width, 10.5);
  refused(&Absorber::width, nan);
  refused(&Absorber::strength, -1.0);
  refused(&Absorber::power, -0.5);
  refused(&Absorber::energy, 0.0);
  refused(&Absorber::time, nan);
  for (const auto kind :
       {AbsorberKind::none, AbsorberKind::polynomial, AbsorberKind::transmission_free, AbsorberKind::mask}) {
    EXPECT_EQ(schrodinger::absorber_kind_from(to_string(kind)), kind);
  }
}

}  // namespace
}  // namespace heddle::test::absorber_test
