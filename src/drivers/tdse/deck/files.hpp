// Files that a deck names: reads a potential's table, finds initial.file, and checks where outputs are.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/comm/communicator.hpp>

namespace heddle::driver {

/// Read the table of a potential of kind file into the deck, and find initial.file. Rank 0 reads and broadcasts.
/// Collective. Throw Error(input) if a table is unusable.
void read_files(const Communicator& comm, Deck& deck);

/// Throw Error(input) if a line of the deck places output.file or output.table outside the working directory: decks
/// come from others, and such files are the user's to name (`--set output.file=PATH`). The folder of `restart`, the
/// file to be continued, is allowed, too.
void require_outputs_below(const Deck& deck, const std::filesystem::path& restart);

}  // namespace heddle::driver
