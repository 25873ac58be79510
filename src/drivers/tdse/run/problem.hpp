// What a deck asks for, in words, in a report and in numbers.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/tdse/deck/deck.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::driver {

/// Grid, potential, motion, propagator, pulses and absorber, in a line or more.
void say_problem(const Context& context, const Deck& deck);

/// The deck in short, for a report.
[[nodiscard]] nlohmann::ordered_json deck_inputs(const Deck& deck);

/// Bound on ||H||_1 over the run: the band's sum and the deepest potential, at t = 0 (moving nuclei do not change it
/// much) and with all pulses at their highest.
[[nodiscard]] double norm_bound(const schrodinger::Hamiltonian& hamiltonian);

/// The larger; NaN, which passes every comparison, counts as infinity.
[[nodiscard]] double worse(double so_far, double now);

}  // namespace heddle::driver
