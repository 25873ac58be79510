// Runs other programs and waits for them.
#include "drivers/support/process/programs.hpp"

#include <heddle/core/error.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace heddle::driver {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const auto& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, const ProgramOptions& options) {
  const std::vector<char*> words = pointers_to(arguments);
  const std::vector<char*> variables = pointers_to(options.environment);
  const pid_t child = fork();
  if (child == 0) {
    if (options.silent) {
      const int nowhere = open("/dev/null", O_WRONLY);
      if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    }
    execvpe(words[0], words.data(), options.environment.empty() ? environ : variables.data());
    _exit(127);
  }
  int status = 0;
  pid_t ended = -1;
  while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (child < 0 || ended < 0) throw Error(ErrorKind::computation, "could not run " + arguments[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::vector<std::string> environment_outside_mpi() {
  // The environment at the start: MPI_Init adds variables of its own, launched or not.
  std::ifstream file("/proc/self/environ", std::ios::binary);
  std::vector<std::string> variables;
  for (std::string one; std::getline(file, one, '\0');) variables.push_back(one);
  const auto any_of = [](const auto& prefixes) {
    return [&prefixes](std::string_view variable) {
      return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* one) { return variable.starts_with(one); });
    };
  };
  constexpr std::array<const char*, 4> ranks = {"OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID="};
  constexpr std::array<const char*, 8> launchers = {"OMPI_", "OPAL_", "ORTE_",  "PRTE_",
                                                    "PMI_",  "PMIX_", "HYDRA_", "SLURM_"};
  if (std::any_of(variables.begin(), variables.end(), any_of(ranks))) std::erase_if(variables, any_of(launchers));
  return variables;
}

std::string python_program() {
  if (const char* chosen = std::getenv("HEDDLE_PYTHON"); chosen != nullptr && *chosen != '\0') return chosen;
  // Prefer the system's Python, where packages of matplotlib and h5py are installed; the first on the PATH may be
  // another.
  return access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

}  // namespace heddle::driver
