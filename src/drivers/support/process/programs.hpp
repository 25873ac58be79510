// Runs other programs and waits for them.
#pragma once

#include <string>
#include <vector>

namespace heddle::driver {

struct ProgramOptions {
  std::vector<std::string> environment;  ///< NAME=value, all of it; empty: this process's.
  bool silent = false;                   ///< Drop the program's standard output.
};

/// Run a program and return its exit status; 127 if no program has that name, 128 if a signal ended it. Its output goes
/// to ours. Throws Error(computation) if no process can be started.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

/// Return the environment that this process was started with, less the variables of a launcher of MPI ranks: a program
/// run with it is no rank of this job.
[[nodiscard]] std::vector<std::string> environment_outside_mpi();

/// Return the Python 3 that HEDDLE_PYTHON names, or else the system's, or else the first on the PATH.
[[nodiscard]] std::string python_program();

}  // namespace heddle::driver
