// Laser pulses, and the units in which they are usually given.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace heddle::schrodinger {

/// f(t) of a pulse, with its largest value 1 at t_c and s = (t - t_c)/duration.
enum class Envelope {
  sine_squared,  ///< cos^2(pi s), |s| < 1/2: the sine squared that begins at 0 and ends after `duration`
  gaussian,      ///< 2^(-2 s^2), |s| < 5: `duration` is the full width at half maximum of f^2, the intensity
  trapezoid,     ///< |s| < 1/2: up along a line during `ramp`, 1, and down again during `ramp`
  constant,      ///< 1, |s| < 1/2
};
/// "sine-squared", "gaussian", "trapezoid" or "constant".
[[nodiscard]] std::string_view to_string(Envelope envelope);
[[nodiscard]] Envelope envelope_from(std::string_view text);

/// E(t) = amplitude f(t) cos(omega (t - t_c) + phase), t_c = `centre`; exactly 0 outside the envelope's interval.
///
/// Atomic units. In length gauge the electron, whose charge is -1, has the potential energy + x E(t) in it.
struct Pulse {
  Envelope envelope = Envelope::sine_squared;
  double amplitude = 0.0;   ///< Largest field, hartree/(e bohr).
  double omega = 0.0;       ///< Of the carrier, 1/atomic unit of time.
  double phase = 0.0;       ///< Of the carrier at t_c, radians.
  double duration = 100.0;  ///< Atomic units of time; see Envelope.
  double ramp = 0.0;        ///< Of the trapezoid alone, atomic units of time.
  double centre = 0.0;      ///< t_c, atomic units of time.

  [[nodiscard]] double field(double time) const;
  /// Where the field may differ from 0: its first and last time.
  [[nodiscard]] std::array<double, 2> interval() const;
};

/// Sum of the fields.
[[nodiscard]] double field_of(std::span<const Pulse> pulses, double time);

/// Throws Error(argument) for values that are not finite, a negative omega, a duration <= 0, or a ramp that is negative
/// or longer than half the duration.
void validate(const Pulse& pulse);

/// Field amplitude of a linearly polarised wave: I = c epsilon_0 E^2/2, intensity in W/cm^2; 1 is 3.5094451e16 W/cm^2.
/// Constants of CODATA 2022. Throws Error(argument) for a negative or infinite intensity.
[[nodiscard]] double amplitude_from_intensity(double intensity);
[[nodiscard]] double intensity_from_amplitude(double amplitude);
/// omega = 2 pi c/wavelength, wavelength in nm; 1 is 45.563353 nm. Throws Error(argument) unless it is positive.
[[nodiscard]] double omega_from_wavelength(double wavelength);
/// Atomic units of time in a femtosecond: 41.341373.
[[nodiscard]] double time_from_femtoseconds(double femtoseconds);

}  // namespace heddle::schrodinger
