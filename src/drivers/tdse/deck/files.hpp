// Files that a deck names: reads a potential's table and finds initial.file.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/comm/communicator.hpp>

namespace heddle::driver {

/// Read the table of a potential of kind file into the deck, and find initial.file. Rank 0 reads and broadcasts.
/// Collective. Throw Error(input) if a table is unusable.
void read_files(const Communicator& comm, Deck& deck);

}  // namespace heddle::driver
