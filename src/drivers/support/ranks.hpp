// One outcome for all ranks of a job.
#pragma once

#include <functional>
#include <optional>

namespace heddle::driver {

/// This process's rank as its launcher's environment tells it, before MPI is initialised; nothing where none launched
/// it.
[[nodiscard]] std::optional<int> launcher_rank();

/// Before MPI starts, for a process that no launcher started: has Open MPI do without its daemon, which takes 0.1 s to
/// start and wants ssh installed even on one host, without its folder in /tmp, and without a file of some megabytes
/// where `ulimit -f` allows none.
void prepare_single_process();

/// Runs `work` on every rank of MPI_COMM_WORLD and gives all of them one exit code.
///
/// If work throws on every rank alike, or on some while the others come to its end, the lowest of them reports the
/// reason in one line. If a rank fails while others still wait for it inside work, it reports that and aborts the job
/// ten seconds later; of several such ranks the lowest does.
[[nodiscard]] int run_agreed(const std::function<int()>& work);

}  // namespace heddle::driver
