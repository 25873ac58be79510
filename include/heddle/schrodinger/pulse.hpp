// Laser pulses, and conversions from their usual units.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace heddle::schrodinger {

/// The envelope f(t) of a pulse, whose largest value is 1 at t_c; s = (t - t_c)/duration.
enum class Envelope {
  sine_squared,  ///< cos^2(pi s) for |s| < 1/2: the sine squared that begins at 0 and ends after `duration`.
  gaussian,      ///< 2^(-2 s^2) for |s| < 5: `duration` is the full width at half maximum of f^2, the intensity.
  trapezoid,     ///< For |s| < 1/2: linear rise to 1 during `ramp`, then 1, and linear fall during `ramp`.
  constant,      ///< 1 for |s| < 1/2.
};
/// The name of an envelope: "sine-squared", "gaussian", "trapezoid" or "constant".
[[nodiscard]] std::string_view to_string(Envelope envelope);
/// The envelope with this name. Throws Error(argument) for any other text.
[[nodiscard]] Envelope envelope_from(std::string_view text);

/// A laser pulse with the field E(t) = amplitude f(t) cos(omega (t - t_c) + phase), where t_c = `centre`; it is exactly
/// 0 outside the envelope's interval.
///
/// All values are in atomic units. In the length gauge the electron, whose charge is -1, has the potential energy + x
/// E(t) in the field.
struct Pulse {
  /// Shape f(t) of the envelope.
  Envelope envelope = Envelope::sine_squared;
  double amplitude = 0.0;   ///< Largest field, hartree/(e bohr).
  double omega = 0.0;       ///< Angular frequency of the carrier, 1/atomic unit of time.
  double phase = 0.0;       ///< Phase of the carrier at t_c, radians.
  double duration = 100.0;  ///< Duration of the envelope as Envelope defines it, atomic units of time.
  double ramp = 0.0;    ///< Time of each ramp of the trapezoid, atomic units of time; other envelopes do not use it.
  double centre = 0.0;  ///< Centre t_c of the envelope, atomic units of time.

  /// The field E(time), hartree/(e bohr).
  [[nodiscard]] double field(double time) const;
  /// The first and the last time at which the field may differ from 0, atomic units of time.
  [[nodiscard]] std::array<double, 2> interval() const;
};

/// The sum of the fields of all pulses at `time`, hartree/(e bohr).
[[nodiscard]] double field_of(std::span<const Pulse> pulses, double time);

/// Throws Error(argument) for values that are not finite, a negative omega, a duration <= 0, or a ramp that is negative
/// or longer than half the duration.
void validate(const Pulse& pulse);

/// The field amplitude of a linearly polarised wave, hartree/(e bohr), from its intensity in W/cm^2, with I = c
/// epsilon_0 E^2/2; an amplitude of 1 is 3.5094455e16 W/cm^2. Constants of CODATA 2022. Throws Error(argument) for a
/// negative or infinite intensity.
[[nodiscard]] double amplitude_from_intensity(double intensity);
/// The intensity in W/cm^2 of a linearly polarised wave from its field amplitude, hartree/(e bohr): the inverse of
/// amplitude_from_intensity().
[[nodiscard]] double intensity_from_amplitude(double amplitude);
/// The angular frequency omega = 2 pi c/wavelength of light, 1/atomic unit of time, from its wavelength in nm; an omega
/// of 1 is 45.563353 nm. Throws Error(argument) unless the wavelength is positive.
[[nodiscard]] double omega_from_wavelength(double wavelength);
/// A time in atomic units from one in femtoseconds; 1 fs is 41.341373 atomic units.
[[nodiscard]] double time_from_femtoseconds(double femtoseconds);

}  // namespace heddle::schrodinger
