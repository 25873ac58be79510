// What stands in the way of the files that a run writes.
#pragma once

#include "drivers/support/file_lock.hpp"
#include "drivers/tdse/run/run.hpp"

#include <memory>
#include <vector>

namespace heddle::driver {

/// Keeps other runs away from what a run writes, while it lives.
using OutputLocks = std::vector<std::unique_ptr<FileLock>>;

/// Throws Error(argument) where two of the files of a run are one, its report in `json` included, and, unless
/// options.force is set, where it would replace a result or an unfinished run that it does not continue; with or
/// without it, where another process is in a run that writes one of them. Reads folders: for one rank, before the
/// computation.
[[nodiscard]] OutputLocks require_free_outputs(const Deck& deck, const std::string& json, const RunOptions& options);

}  // namespace heddle::driver
