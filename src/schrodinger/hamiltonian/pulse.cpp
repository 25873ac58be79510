// Fields of laser pulses and conversions of units.
#include "core/names.hpp"
#include "libm/functions.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/pulse.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heddle::schrodinger {

namespace {

constexpr impl::Names<Envelope, 4> envelope_names = {{{Envelope::sine_squared, "sine-squared"},
                                                      {Envelope::gaussian, "gaussian"},
                                                      {Envelope::trapezoid, "trapezoid"},
                                                      {Envelope::constant, "constant"}}};

// Constants of CODATA 2022.
constexpr double hartree_in_joule = 4.3597447222060e-18;
constexpr double bohr_in_metre = 5.29177210544e-11;
constexpr double time_in_second = 2.4188843265864e-17;
constexpr double speed_of_light = 137.035999177;  // in atomic units: 1/alpha

// End of the Gaussian, in durations: 2^-50 of its largest value.
constexpr double gaussian_reach = 5.0;

// c epsilon_0/2 in atomic units, with 4 pi epsilon_0 = 1, and then in W/cm^2.
constexpr double intensity_of_unit_field = speed_of_light / (8 * std::numbers::pi) * hartree_in_joule / time_in_second /
                                           (bohr_in_metre * bohr_in_metre) * 1e-4;

double envelope_at(const Pulse& pulse, double since_centre) {
  const double s = since_centre / pulse.duration;
  switch (pulse.envelope) {
    case Envelope::sine_squared: {
      const double cosine = libm::cos(std::numbers::pi * s);
      return cosine * cosine;
    }
    case Envelope::gaussian:
      return libm::exp(-2 * std::numbers::ln2 * s * s);
    case Envelope::trapezoid: {
      const double to_end = pulse.duration / 2 - std::abs(since_centre);
      return to_end < pulse.ramp ? to_end / pulse.ramp : 1.0;
    }
    case Envelope::constant:
      return 1.0;
  }
  throw Error(ErrorKind::argument, "not an envelope");
}

}  // namespace

std::string_view to_string(Envelope envelope) {
  return impl::name_of(envelope_names, envelope, "envelope");
}

Envelope envelope_from(std::string_view text) {
  return impl::value_of(envelope_names, text, "envelope");
}

std::array<double, 2> Pulse::interval() const {
  const double half = (envelope == Envelope::gaussian ? gaussian_reach : 0.5) * duration;
  return {centre - half, centre + half};
}

double Pulse::field(double time) const {
  const auto [begin, end] = interval();
  if (!(time > begin && time < end)) return 0.0;
  const double since_centre = time - centre;
  return amplitude * envelope_at(*this, since_centre) * libm::cos(omega * since_centre + phase);
}

double field_of(std::span<const Pulse> pulses, double time) {
  double sum = 0.0;
  for (const Pulse& pulse : pulses) sum += pulse.field(time);
  return sum;
}

void validate(const Pulse& pulse) {
  require(std::isfinite(pulse.amplitude) && std::isfinite(pulse.phase) && std::isfinite(pulse.centre),
          "pulse: amplitude = ", pulse.amplitude, ", phase = ", pulse.phase, " and centre = ", pulse.centre,
          " must be finite");
  require(std::isfinite(pulse.omega) && pulse.omega >= 0, "pulse: omega = ", pulse.omega,
          " must be finite and not negative");
  require(std::isfinite(pulse.duration) && pulse.duration > 0, "pulse: duration = ", pulse.duration,
          " must be finite and positive");
  require(pulse.ramp >= 0 && pulse.ramp <= pulse.duration / 2, "pulse: ramp = ", pulse.ramp,
          " must be from 0 to half the duration, ", pulse.duration / 2);
}

double amplitude_from_intensity(double intensity) {
  require(std::isfinite(intensity) && intensity >= 0, "intensity = ", intensity,
          " W/cm^2 must be finite and not negative");
  return std::sqrt(intensity / intensity_of_unit_field);
}

double intensity_from_amplitude(double amplitude) {
  return intensity_of_unit_field * amplitude * amplitude;
}

double omega_from_wavelength(double wavelength) {
  require(std::isfinite(wavelength) && wavelength > 0, "wavelength = ", wavelength, " nm must be finite and positive");
  return 2 * std::numbers::pi * speed_of_light * (bohr_in_metre * 1e9) / wavelength;
}

double time_from_femtoseconds(double femtoseconds) {
  return femtoseconds * 1e-15 / time_in_second;
}

}  // namespace heddle::schrodinger
