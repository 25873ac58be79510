// Steps that would make psi grow, refused before the first.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::driver {

/// Throws Error(argument), with the largest step that is safe, where no Taylor series of propagator.degree bears
/// time.step; `overruled`: what runs it all the same.
void require_stable_step(const Deck& deck, const schrodinger::Hamiltonian& hamiltonian, const char* overruled);

}  // namespace heddle::driver
