// Tolerance of a run's propagator, and notes on the accuracy of pulses and grid.
#include "drivers/tdse/run/accuracy.hpp"

#include "drivers/support/process/text.hpp"
#include "drivers/tdse/record/record.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::driver {

std::vector<std::string> notes_on_pulses(const Deck& deck) {
  std::vector<std::string> notes;
  const double end = static_cast<double>(deck.time_steps) * deck.time_step;
  const bool follows = deck.propagator.kind == schrodinger::PropagatorKind::automatic;
  for (std::size_t k = 0; k < deck.pulses.size(); ++k) {
    const auto& pulse = deck.pulses[k];
    if (end < pulse.centre) {
      notes.push_back(format("ends at t = %.6g, before a pulse's middle, %.6g", end, pulse.centre));
    }
    const auto [first, last] = pulse.interval();
    if (follows || pulse.amplitude == 0 || first >= end || last <= 0) continue;
    const double step = deck.time_step / deck.propagator.substeps;
    const double turn = step * pulse.omega;
    const double steps_of_envelope = pulse.duration / step;
    const std::string which = deck.pulses.size() > 1 ? format("pulse %zu", k + 1) : std::string("the pulse");
    if (turn > 1) {
      notes.push_back(
          format("a step of %g turns the carrier of %s by %.3g radians, and does not follow it: take steps of "
                 "%.2g, or propagator.kind = automatic",
                 step, which.c_str(), turn, 1 / pulse.omega));
    }
    if (steps_of_envelope < 8) {
      notes.push_back(
          format("the envelope of %s lasts %.3g steps of %g, which do not follow it: take steps of %.2g, or "
                 "propagator.kind = automatic",
                 which.c_str(), steps_of_envelope, step, pulse.duration / 8));
    }
  }
  return notes;
}

std::string note_on_grid(const Deck& deck, const schrodinger::GridResolution& resolution) {
  const double share = resolution.kinetic > 0 ? std::abs(resolution.kinetic_error) / resolution.kinetic : 0.0;
  constexpr double most_share = 1e-2;
  constexpr double most_tail = 1e-4;
  if (share > most_share) {
    return format(
        "dx = %.4g with %s takes %.2g %% off psi's kinetic energy, %.2g hartree: the results are those of this "
        "grid; see what half the dx gives",
        deck.grid.spacing(), std::string(to_string(deck.grid.kinetic)).c_str(), 100 * share, resolution.kinetic_error);
  }
  if (resolution.tail > most_tail) {
    return format(
        "%.1e of psi are waves of less than 4 points, dx = %.4g: the results are those of this grid; see what "
        "half the dx gives",
        resolution.tail, deck.grid.spacing());
  }
  return {};
}

schrodinger::PropagatorOptions propagator_of(const Deck& deck, Index tile) {
  schrodinger::PropagatorOptions options = deck.propagator;
  options.tile = tile;
  options.duration = static_cast<double>(deck.time_steps) * deck.time_step;
  // Independent of the length of the run, since a longer run may continue a shorter one.
  constexpr double for_ionisation = 1e-8;
  if (options.kind == schrodinger::PropagatorKind::automatic && options.tolerance == 0 && records_ionisation(deck)) {
    options.tolerance = for_ionisation;
  }
  return options;
}

std::string with_error(double value, double error) {
  if (!std::isfinite(error)) return format("%.6g (error not known)", value);
  const double size = std::abs(value);
  if (!(size > error)) return format("%.1e +- %.0e (below its error)", value, error);
  constexpr double most_digits = 12;
  const double digits = error > 0 ? std::floor(std::log10(size)) - std::floor(std::log10(error)) + 1 : most_digits;
  return format("%.*g +- %.0e", static_cast<int>(std::clamp(digits, 1.0, most_digits)), value, error);
}

}  // namespace heddle::driver
