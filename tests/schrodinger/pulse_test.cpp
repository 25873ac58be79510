// Pulses: units, envelopes and their integrals, and their contribution to V.
#include "problems.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

namespace heddle::test::pulse_test {
namespace {

using schrodinger::Envelope;
using schrodinger::Pulse;

constexpr Envelope all_envelopes[] = {Envelope::sine_squared, Envelope::gaussian, Envelope::trapezoid,
                                      Envelope::constant};

Pulse pulse_of(Envelope envelope) {
  Pulse pulse;
  pulse.envelope = envelope;
  pulse.amplitude = 0.3;
  pulse.duration = 12.0;
  pulse.ramp = 3.0;
  pulse.centre = 5.0;
  return pulse;
}

TEST(PulseUnits, AreThoseOfCodata) {
  // epsilon_0, c and the atomic unit of the electric field in SI.
  const double field = 5.14220675112e11;
  EXPECT_NEAR(schrodinger::intensity_from_amplitude(1.0) * 1e4 / (0.5 * 8.8541878188e-12 * 299792458.0 * field * field),
              1.0, 1e-9);
  EXPECT_NEAR(schrodinger::amplitude_from_intensity(3.50944758e16), 1.0, 1e-6) << "the usual figure";
  EXPECT_NEAR(schrodinger::amplitude_from_intensity(1e14), 0.05338, 1e-5);
  EXPECT_NEAR(schrodinger::intensity_from_amplitude(schrodinger::amplitude_from_intensity(2e13)), 2e13, 1.0);
  EXPECT_EQ(schrodinger::amplitude_from_intensity(0.0), 0.0);
  EXPECT_NEAR(schrodinger::omega_from_wavelength(45.5633525), 1.0, 1e-7);
  EXPECT_NEAR(schrodinger::omega_from_wavelength(800.0), 0.05695419, 1e-7);
  EXPECT_NEAR(schrodinger::time_from_femtoseconds(1.0), 41.341373, 1e-6);
  test::expect_refusal(ErrorKind::argument, "intensity = -1 W/cm^2 must be finite and not negative",
                       [&] { (void)schrodinger::amplitude_from_intensity(-1.0); });
  test::expect_refusal(ErrorKind::argument, "wavelength = 0 nm must be finite and positive",
                       [&] { (void)schrodinger::omega_from_wavelength(0.0); });
}

TEST(Pulse, IsExactlyZeroOutside) {
  for (const Envelope envelope : all_envelopes) {
    const Pulse pulse = pulse_of(envelope);
    const auto [begin, end] = pulse.interval();
    EXPECT_EQ(pulse.field(begin), 0.0) << to_string(envelope);
    EXPECT_EQ(pulse.field(end), 0.0);
    EXPECT_EQ(pulse.field(begin - 1e-9), 0.0);
    EXPECT_EQ(pulse.field(end + 1e-9), 0.0);
    EXPECT_EQ(pulse.field(pulse.centre), 0.3);
    EXPECT_NE(pulse.field(begin + 0.25), 0.0);
    EXPECT_EQ(schrodinger::envelope_from(to_string(envelope)), envelope);
  }
}

TEST(Pulse, IntegralsOfTheEnvelopes) {
  const auto integral = [](const Pulse& pulse) {
    const auto [begin, end] = pulse.interval();
    const int steps = 20000;
    double sum = 0.0;
    for (int k = 0; k < steps; ++k) sum += pulse.field(begin + (k + 0.5) * (end - begin) / steps);
    return sum * (end - begin) / steps / pulse.amplitude;
  };
  EXPECT_NEAR(integral(pulse_of(Envelope::sine_squared)), 6.0, 1e-8);
  EXPECT_NEAR(integral(pulse_of(Envelope::trapezoid)), 9.0, 1e-6);
  EXPECT_NEAR(integral(pulse_of(Envelope::constant)), 12.0, 1e-9);
  EXPECT_NEAR(integral(pulse_of(Envelope::gaussian)), 12.0 * std::sqrt(std::numbers::pi / (2 * std::numbers::ln2)),
              1e-8);
  // Half of the intensity at half of the full width.
  const Pulse gaussian = pulse_of(Envelope::gaussian);
  EXPECT_NEAR(std::pow(gaussian.field(5.0 + 6.0) / 0.3, 2), 0.5, 1e-14);
}

TEST(Pulse, CarrierAndPhase) {
  Pulse pulse = pulse_of(Envelope::constant);
  pulse.omega = 0.7;
  pulse.phase = 0.4;
  EXPECT_DOUBLE_EQ(pulse.field(6.5), 0.3 * std::cos(0.7 * 1.5 + 0.4));
}

TEST(Pulse, AddsToThePotential) {
  const Pulse first = pulse_of(Envelope::sine_squared);
  Pulse second = pulse_of(Envelope::gaussian);
  second.amplitude = -0.1;
  const Grid grid{-3, 3, 7, Kinetic::fd2};
  const Hamiltonian without(grid, harmonic(1));
  const Hamiltonian with(grid, harmonic(1), {}, {first, second});
  EXPECT_FALSE(without.moves());
  EXPECT_TRUE(with.moves());
  EXPECT_FALSE(with.bare().moves());
  const double field = first.field(4.0) + second.field(4.0);
  EXPECT_DOUBLE_EQ(with.field(4.0), field);
  for (Index i = 0; i < 7; ++i) {
    EXPECT_DOUBLE_EQ(with.potential_at(4.0)[i], without.potential_at(4.0)[i] + grid.x(i) * field);
    EXPECT_EQ(with.bare().potential_at(4.0)[i], without.potential_at(4.0)[i]);
  }
  Pulse nothing = first;
  nothing.amplitude = 0.0;
  EXPECT_FALSE(Hamiltonian(grid, harmonic(1), {}, {nothing}).moves());
}

TEST(Pulse, RefusesWhatCannotBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](double Pulse::*member, double value) {
    Pulse pulse = pulse_of(Envelope::trapezoid);
    pulse.*member = value;
    SCOPED_TRACE(::testing::Message() << value);
    test::expect_refusal(ErrorKind::argument, "pulse: ", [&] { validate(pulse); });
    test::expect_refusal(ErrorKind::argument, "pulse: ", [&] {
      Hamiltonian({-3, 3, 7, Kinetic::fd2}, harmonic(1), {}, {pulse});
    });
  };
  EXPECT_NO_THROW(validate(pulse_of(Envelope::trapezoid)));
  refused(&Pulse::amplitude, nan);
  refused(&Pulse::omega, -1.0);
  refused(&Pulse::duration, 0.0);
  refused(&Pulse::duration, std::numeric_limits<double>::infinity());
  refused(&Pulse::ramp, 6.1);
  refused(&Pulse::ramp, -0.1);
  refused(&Pulse::centre, nan);
  test::expect_refusal(ErrorKind::argument, "envelope 'square': expected one of sine-squared, gaussian,",
                       [&] { (void)schrodinger::envelope_from("square"); });
}

}  // namespace
}  // namespace heddle::test::pulse_test
