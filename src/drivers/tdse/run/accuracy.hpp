// Tolerance of a run's propagator, and notes on the accuracy of pulses and grid.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/schrodinger/observables.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

/// Return notes on a run's steps before the first: pulses whose middle the run does not reach and, for methods other
/// than automatic, pulses whose carrier or envelope the steps do not resolve. One line each.
[[nodiscard]] std::vector<std::string> notes_on_pulses(const Deck& deck);
/// Return one line if the grid is too coarse for a psi; otherwise an empty text.
[[nodiscard]] std::string note_on_grid(const Deck& deck, const schrodinger::GridResolution& resolution);

/// Return the propagator options of a run. Without propagator.tolerance automatic keeps psi's error below 1e-6 per
/// atomic unit of time, and below 1e-8 in a run that reports ionisation: after a time t an ionisation of p has an error
/// of 2e-8 t sqrt(p), two correct digits for p > 2e-11 t^2.
[[nodiscard]] schrodinger::PropagatorOptions propagator_of(const Deck& deck, Index tile);

/// Return "4.3e-05 +- 7e-06": the digits of a value that its error leaves, and a note if it is below its error.
[[nodiscard]] std::string with_error(double value, double error);

}  // namespace heddle::driver
