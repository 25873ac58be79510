// The files that a deck names.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/comm/communicator.hpp>

namespace heddle::driver {

/// Takes the table of a potential of kind file into the deck, and finds initial.file: rank 0 reads, and what it found
/// is on every rank. Collective. Throws Error(input) for a table that can't be used.
void read_files(const Communicator& comm, Deck& deck);

}  // namespace heddle::driver
