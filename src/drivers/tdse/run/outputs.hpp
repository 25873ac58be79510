// What stands in the way of the files that a run writes.
#pragma once

#include "drivers/tdse/run/run.hpp"

namespace heddle::driver {

/// Throws Error(argument) where two of the files of a run are one, its report in `json` included, and, unless
/// options.force is set, where it would replace a result or an unfinished run that it does not continue. Reads folders:
/// for one rank, before the computation.
void require_free_outputs(const Deck& deck, const std::string& json, const RunOptions& options);

}  // namespace heddle::driver
