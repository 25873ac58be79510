// Other programs, run and waited for.
#pragma once

#include <string>
#include <vector>

namespace heddle::driver {

struct ProgramOptions {
  std::vector<std::string> environment;  ///< NAME=value, all of it; empty: this process's.
  bool silent = false;                   ///< What it prints on standard output is dropped.
};

/// Exit status of a program; 127 where there is none of that name, 128 where a signal ended it. Its output goes where
/// ours goes. Throws Error(computation) where no process can be had.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

/// The environment that this process was started with, less what a launcher of MPI ranks put there: a program run with
/// it is no rank of this job.
[[nodiscard]] std::vector<std::string> environment_outside_mpi();

}  // namespace heddle::driver
