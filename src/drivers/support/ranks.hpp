// One outcome for all ranks of a job.
#pragma once

#include <functional>
#include <optional>

namespace heddle::driver {

/// This process's rank as its launcher's environment tells it, before MPI is initialised; nothing where none launched
/// it.
[[nodiscard]] std::optional<int> launcher_rank();

/// Before MPI starts: has Open MPI do without a file of some megabytes that it makes for a process that no launcher
/// started, where `ulimit -f` allows none.
void respect_file_limit();

/// Runs `work` on every rank of MPI_COMM_WORLD and gives all of them one exit code.
///
/// Where work throws on every rank alike, or on some while the others come to its end, the lowest of them says why, in
/// one line. Where a rank fails while others still wait for it inside work, it says so and aborts the job, ten seconds
/// later; of several such ranks the lowest does.
[[nodiscard]] int run_agreed(const std::function<int()>& work);

}  // namespace heddle::driver
