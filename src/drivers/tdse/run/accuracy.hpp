// How accurate a run is meant to be, and what is said of it.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/schrodinger/observables.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

/// What is wrong with a run's steps before the first is taken: pulses whose middle it does not reach, and, of methods
/// other than automatic, pulses whose carrier or envelope the steps do not follow. A line each.
[[nodiscard]] std::vector<std::string> notes_on_pulses(const Deck& deck);
/// What is wrong with the grid for a psi, in a line; empty where nothing is.
[[nodiscard]] std::string note_on_grid(const Deck& deck, const schrodinger::GridResolution& resolution);

/// The propagator of a run. Without propagator.tolerance automatic keeps psi's error below 1e-6 per atomic unit of
/// time, and in a run that reports ionisation below 1e-8: after a time t an ionisation of p has an error of 2e-8 t
/// sqrt(p), two correct digits for p > 2e-11 t^2.
[[nodiscard]] schrodinger::PropagatorOptions propagator_of(const Deck& deck, Index tile);

/// "4.3e-05 +- 7e-06": as many digits of a value as its error leaves, and whether it is below it.
[[nodiscard]] std::string with_error(double value, double error);

}  // namespace heddle::driver
