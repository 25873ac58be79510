// Locks and overwrite checks of the files that a run writes.
#pragma once

#include "drivers/support/process/file_lock.hpp"
#include "drivers/tdse/run/run.hpp"

#include <memory>
#include <vector>

namespace heddle::driver {

/// Locks that exclude other runs from a run's output files during their lifetime.
using OutputLocks = std::vector<std::unique_ptr<FileLock>>;

/// Throw Error(argument) if two files of a run coincide, its report in `json` included; if, without options.force, the
/// run would replace a result or an unfinished run that it does not continue; or if another process is writing one of
/// the files. Reads folders: for one rank, before the computation.
[[nodiscard]] OutputLocks require_free_outputs(const Deck& deck, const std::string& json, const RunOptions& options);

}  // namespace heddle::driver
