#include "pictures.hpp"

#include "shared_files.hpp"
#include <heddle/core/error.hpp>
#include <heddle/io/pending_file.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

namespace heddle::driver {
namespace {

std::string python() {
  if (const char* chosen = std::getenv("HEDDLE_PYTHON"); chosen != nullptr && *chosen != '\0') return chosen;
  // The system's own, where packages of matplotlib and h5py live; the first on the PATH may be another.
  return access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

// Runs a program and gives its exit status; its output goes where ours goes.
int run_program(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const auto& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  pid_t ended = -1;
  while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (child < 0 || ended < 0) throw Error(ErrorKind::computation, "could not run " + arguments[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

void draw(const Picture& picture, const std::filesystem::path& input, const std::filesystem::path& output) {
  const auto script = find_shared(picture.script);
  if (!script) {
    throw Error(ErrorKind::input, message_of(picture.script, " is missing from share/heddle of this installation"));
  }
  PendingFile pending(output);
  const std::string interpreter = python();
  const int status = run_program({interpreter, "-B", script->string(), input.string(), pending.path().string()});
  if (status == 127) throw Error(ErrorKind::input, interpreter + " could not be run; set HEDDLE_PYTHON to a Python 3");
  if (status == 3) {
    throw Error(ErrorKind::input, message_of(interpreter, " lacks ", picture.modules, " (Debian: ", picture.packages,
                                             "); set HEDDLE_PYTHON to one that has what is missing"));
  }
  if (status != 0) throw Error(ErrorKind::computation, message_of("plotting ", input.string(), " failed"));
  pending.commit();
}

}  // namespace heddle::driver
