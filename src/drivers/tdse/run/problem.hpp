// A deck's problem as printed lines and report entries, and a bound on ||H||_1.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/tdse/deck/deck.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::driver {

/// Print grid, potential, motion, propagator, pulses and absorber.
void say_problem(const Context& context, const Deck& deck);

/// Return the deck in short, for a report.
[[nodiscard]] nlohmann::ordered_json deck_inputs(const Deck& deck);

/// Return a bound on ||H||_1 over the run: the kinetic band's sum plus the deepest potential at t = 0 (moving nuclei
/// change it little) plus all pulses at their peaks.
[[nodiscard]] double norm_bound(const schrodinger::Hamiltonian& hamiltonian);

/// Return the larger number; NaN, with which every comparison is false, counts as infinity.
[[nodiscard]] double worse(double so_far, double now);

}  // namespace heddle::driver
