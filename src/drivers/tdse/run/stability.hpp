// Refusal of time steps at which the Taylor series is unstable.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::driver {

/// Throw Error(argument) with the largest safe step if the Taylor series of propagator.degree is unstable at time.step;
/// `overruled` names the option that runs it anyway.
void require_stable_step(const Deck& deck, const schrodinger::Hamiltonian& hamiltonian, const char* overruled);

}  // namespace heddle::driver
