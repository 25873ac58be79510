// Agreement of all ranks of a job on one exit code.
#include "drivers/support/ranks.hpp"

#include "drivers/support/context.hpp"
#include <heddle/comm/communicator.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace heddle::driver {

namespace {

// If HEDDLE_TIMEOUT is set, the ranks have already waited that long for one another.
std::chrono::seconds patience() {
  return std::chrono::seconds(std::getenv("HEDDLE_TIMEOUT") == nullptr ? 10 : 1);
}
// Longer than the time between ranks that fail at the same moment and run out of patience.
constexpr std::chrono::seconds agreement(1);

// Tell all other ranks that this one has failed and run out of patience; return false if a lower one of them will
// speak.
bool is_speaker(MPI_Comm comm, int rank, int size) {
  std::vector<MPI_Request> sent(static_cast<std::size_t>(size), MPI_REQUEST_NULL);
  for (int other = 0; other < size; ++other) {
    // Those that never look are ended with the job.
    if (other != rank) MPI_Isend(&rank, 1, MPI_INT, other, 0, comm, &sent[static_cast<std::size_t>(other)]);
  }
  const auto deadline = std::chrono::steady_clock::now() + agreement;
  while (std::chrono::steady_clock::now() < deadline) {
    for (int lower = 0; lower < rank; ++lower) {
      int found = 0;
      MPI_Iprobe(lower, 0, comm, &found, MPI_STATUS_IGNORE);
      if (found != 0) return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Return false if the others have not come in time.
bool arrives(MPI_Request& request) {
  const auto deadline = std::chrono::steady_clock::now() + patience();
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  while (done == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  return done != 0;
}

}  // namespace

std::optional<int> launcher_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  // Slurm sets SLURM_PROCID for a batch script too; SLURM_STEP_ID is there only if srun started this process.
  if (const char* text = std::getenv("SLURM_PROCID"); text != nullptr && std::getenv("SLURM_STEP_ID") != nullptr) {
    return std::atoi(text);
  }
  return std::nullopt;
}

void prepare_single_process() {
  if (launcher_rank()) return;
  // The user's own setting stays.
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  // Isolated processes of one user have the same folder in /tmp, and one that ends removes it while another starts.
  setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
  constexpr rlim_t needed = rlim_t{16} << 20U;
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < needed) setenv("PMIX_MCA_gds", "hash", 0);
}

int run_agreed(const std::function<int()>& work) {
  struct Outcome {
    int exit_code = exit_done;
    int failed = 0;
  };
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);

  Outcome mine;
  std::string message;
  try {
    mine.exit_code = work();
  } catch (...) {
    const Failure failure = current_failure();
    mine = {failure.exit_code, 1};
    message = failure.message;
  }

  std::vector<Outcome> all(static_cast<std::size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&mine, 2, MPI_INT, all.data(), 2, MPI_INT, comm, &request);
  if (mine.failed == 0) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (!arrives(request)) {
    if (is_speaker(comm, rank, size)) {
      complain((message.starts_with("rank ") ? "" : "rank " + std::to_string(rank) + ": ") + message);
    } else {
      std::this_thread::sleep_for(patience());
    }
    abort_job(MPI_COMM_WORLD, mine.exit_code);
  }
  MPI_Comm_free(&comm);

  const auto speaker = std::find_if(all.begin(), all.end(), [](const Outcome& one) { return one.failed != 0; });
  if (speaker != all.end()) {
    if (rank == speaker - all.begin()) complain(message);
    return speaker->exit_code;
  }
  return std::max_element(all.begin(), all.end(),
                          [](const Outcome& one, const Outcome& other) { return one.exit_code < other.exit_code; })
      ->exit_code;
}

}  // namespace heddle::driver
