// The keys of a deck: names, members, meaning.
#pragma once

#include "drivers/tdse/deck/deck.hpp"

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::driver {

/// Visit every key of one [[pulse]] with its member; names begin with `prefix`. See visit_keys().
template <class AnyPulse, class Visitor>
void visit_pulse_keys(AnyPulse& pulse, const std::string& prefix, Visitor&& visit) {
  visit(prefix + "envelope", pulse.envelope, "sine-squared, gaussian, trapezoid or constant");
  visit(prefix + "amplitude", pulse.amplitude, "largest field, hartree/(e bohr); 1 is 3.509e16 W/cm^2");
  visit(prefix + "omega", pulse.omega, "of the carrier, in cos(omega (t - centre) + phase); V has + x E(t)");
  visit(prefix + "phase", pulse.phase, "radians");
  visit(prefix + "duration", pulse.duration, "from first to last; gaussian: full width at half maximum of intensity");
  visit(prefix + "ramp", pulse.ramp, "trapezoid: duration of the rise, and of the fall");
  visit(prefix + "centre", pulse.centre,
        "time of the envelope's middle; left out: so that it begins at t = 0, which puts a gaussian's "
        "middle five durations later");
}

/// Another unit for a key of [[pulse]], converted when a deck is read.
struct PulseUnit {
  const char* name;
  const char* of;    ///< The key that it converts to.
  const char* unit;  ///< As unit_of_key() returns it.
  const char* meaning;
  /// Convert a value; `pulse` has the keys of the preceding rows.
  double (*convert)(double value, const schrodinger::Pulse& pulse);
};
const std::array<PulseUnit, 5>& pulse_units();

/// Visit every key with its member in the order in which keys are written: visit(key, member, meaning). Keys of pulses
/// are "pulse.1.amplitude", counted from 1.
template <class AnyDeck, class Visitor> void visit_keys(AnyDeck& deck, Visitor&& visit) {
  visit("grid.xmin", deck.grid.xmin, "first point, bohr");
  visit("grid.xmax", deck.grid.xmax, "last point, bohr");
  visit("grid.points", deck.grid.points, "number of points, both ends included");
  visit("grid.dx", deck.dx, "spacing instead of points, bohr; rounded so that it divides the width");
  visit("grid.kinetic", deck.grid.kinetic, "kinetic energy: fd2, fd4, fd6 or sinc");
  visit("potential.kind", deck.potential.kind, "soft-core, harmonic or file");
  visit("potential.charge", deck.potential.charge, "Z of each nucleus, in -Z/sqrt((x - X)^2 + a)");
  visit("potential.softening", deck.potential.softening, "a, bohr^2");
  visit("potential.omega", deck.potential.omega, "harmonic: V = omega^2 x^2/2");
  visit("potential.file", deck.potential_file,
        "file: text with columns x V, interpolated linearly; from the deck's folder, with --set from the current one");
  visit("nuclei.separation", deck.nuclei.separation, "R: nuclei at -R/2 and R/2, bohr");
  visit("nuclei.motion", deck.nuclei.motion, "fixed, stretch, shake or drift");
  visit("nuclei.amplitude", deck.nuclei.amplitude,
        "alpha: stretch -/+(R/2 + alpha sin beta t), shake -/+R/2 + alpha sin beta t");
  visit("nuclei.omega", deck.nuclei.omega, "beta");
  visit("nuclei.velocity", deck.nuclei.velocity, "v: drift -/+R/2 + v t");
  for (std::size_t k = 0; k < deck.pulses.size(); ++k) {
    visit_pulse_keys(deck.pulses[k], "pulse." + std::to_string(k + 1) + '.', visit);
  }
  visit("absorber.kind", deck.absorber.kind, "none, polynomial, transmission-free (both H - i W) or mask");
  visit("absorber.width", deck.absorber.width, "of the layer at either end, bohr; s runs from 0 to 1 in it");
  visit("absorber.strength", deck.absorber.strength, "polynomial: W = strength s^power, hartree");
  visit("absorber.power", deck.absorber.power, "polynomial");
  visit("absorber.energy", deck.absorber.energy, "transmission-free: least kinetic energy to absorb, hartree");
  visit("absorber.time", deck.absorber.time, "mask: cos(pi s/2)^(1/8) is what this time applies");
  visit("time.step", deck.time_step, "dt, atomic units of time");
  visit("time.steps", deck.time_steps, "number of steps");
  visit("initial.kind", deck.initial,
        "eigenstate (of H at t = 0, no pulse), imaginary-time (the same), gaussian, file");
  visit("initial.level", deck.initial_level, "eigenstate, imaginary-time: 0 is the ground state");
  visit("initial.levels", deck.initial_levels, "several at once instead, as [0, 1, 2]: one wave function each");
  visit("initial.tolerance", deck.initial_tolerance, "imaginary-time: largest ||H phi - E phi||, hartree");
  visit("initial.position", deck.initial_position, "gaussian: centre, bohr");
  visit("initial.momentum", deck.initial_momentum, "p: the state is multiplied by exp(i p x), an eigenstate too");
  visit("initial.width", deck.initial_width, "gaussian: standard deviation of |psi|^2, bohr");
  visit("initial.file", deck.initial_file,
        "file: text with columns x Re [Im], or a .h5 file that heddle tdse wrote; found as potential.file");
  visit("propagator.kind", deck.propagator.kind,
        "expm, magnus4, chebyshev, split-operator, crank-nicolson or auto: the cheapest for the tolerance; left out: "
        "auto, but expm with substeps, a degree, or arithmetic other than native");
  visit("propagator.order", deck.propagator.order, "in dt, 2 or 4; 0: 4 for magnus4, 2 for others, either for auto");
  visit("propagator.substeps", deck.propagator.substeps, "equal parts of each step; auto chooses");
  visit("propagator.degree", deck.propagator.degree,
        "expm, magnus4: fixed degree of the Taylor series; 0: by tolerance");
  visit("propagator.tolerance", deck.propagator.tolerance,
        "relative error of an exponential; auto: of psi per unit of time, 0 being 1e-6; 0: round-off");
  visit("propagator.arithmetic", deck.propagator.arithmetic,
        "of the products of expm and magnus4: native, emulated (the same bits on any machine) or auto");
  visit("output.file", deck.output_file, "HDF5 file; empty: the deck's name with .h5, in the current folder");
  visit("output.every", deck.output_every, "steps from one stored density to the next");
  visit("output.state", deck.output_state, "store psi with each density");
  visit("output.states", deck.output_states, "lowest eigenstates of H(t), no pulse, whose populations are followed");
  visit("output.autocorrelation", deck.output_autocorrelation, "store <psi(0)|psi(t)>, and its spectrum if H is fixed");
  visit("output.radius", deck.output_radius, "R > 0: store the probability that is no longer at |x| <= R, bohr");
  visit("output.spectrum_from", deck.output_spectrum_from, "first energy of the spectrum, hartree");
  visit("output.spectrum_to", deck.output_spectrum_to, "last energy; both 0: where psi has energies");
  visit("output.harmonics", deck.output_harmonics,
        "largest frequency of the harmonic spectrum, in units of the carrier of the first pulse that has one");
  visit("output.window", deck.output_window, "of the spectra: hann or rectangular");
  visit("output.table", deck.output_table, "text file with a row of observables for each step; empty: none");
  visit("output.checkpoint_seconds", deck.output_checkpoint_seconds,
        "between two writings of the unfinished run to FILE.partial.h5");
  visit("output.checkpoint_steps", deck.output_checkpoint_steps, "the same by steps; 0: by seconds alone");
}

/// Return all keys of a deck; those of pulses have no number.
[[nodiscard]] std::vector<std::string> known_keys();
[[nodiscard]] std::string nearest_key(const std::string& key);
/// Return the unit in which a deck gives the number of `key`, as the attributes of files name units; "1" for a number
/// without one.
[[nodiscard]] std::string unit_of_key(const std::string& key);
/// Turn "pulse.2.omega" into "pulse.omega"; other keys, "pulse.02.omega" included, are unchanged.
[[nodiscard]] std::string without_number(const std::string& key);

/// Return the shortest text that reads back to the same number, with a point or an exponent.
[[nodiscard]] std::string value_text(double value);
[[nodiscard]] std::string value_text(const std::string& value);
[[nodiscard]] std::string value_text(const std::vector<Index>& values);
inline std::string value_text(Index value) {
  return std::to_string(value);
}
inline std::string value_text(int value) {
  return std::to_string(value);
}
inline std::string value_text(bool value) {
  return value ? "true" : "false";
}
template <class Enum>
  requires std::is_enum_v<Enum> std::string value_text(Enum value) {
    return value_text(std::string(to_string(value)));
  }

}  // namespace heddle::driver
