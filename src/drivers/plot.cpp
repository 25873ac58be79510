// `heddle plot`: checks the file and the target, and hands both to the script that draws files of its kind.
#include "commands.hpp"
#include "gemm_trace.hpp"
#include "shared_files.hpp"
#include "support/text.hpp"
#include "tdse_hdf5.hpp"
#include <heddle/core/error.hpp>
#include <heddle/io/pending_file.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace heddle::driver {

namespace {

struct Options {
  std::string file;
  std::string output;
};

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

// What draws a file, and what that takes.
struct Picture {
  const char* script;
  const char* modules;
  const char* packages;
};

// By what the file holds, whatever its name. Throws Error(input) where it can't be drawn.
Picture picture_of(const std::filesystem::path& input) {
  if (looks_like_json(input)) {
    require_trace(input);
    return {"plot/gemm_trace.py", "matplotlib", "python3-matplotlib"};
  }
  const Hdf5Reader file(input);
  for (const char* needed : {"/grid/x", "/time/t", "/frames/t", "/density", "/nuclei/position", "/observables/norm"}) {
    (void)file.extents(needed);
  }
  return {"plot/plot.py", "matplotlib or h5py", "python3-matplotlib, python3-h5py"};
}

int run(const CommonOptions& common, const Options& options) {
  Report report("plot");
  const std::filesystem::path input = options.file;
  const Picture picture = picture_of(input);
  std::filesystem::path output = options.output;
  if (output.empty()) output = input.filename().replace_extension(".png");
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
  report.inputs()["file"] = options.file;
  report.results()["output"] = output.string();
  if (!common.json.empty()) report.write(common.json);
  if (!common.quiet) std::printf("wrote %s\n", output.c_str());
  return exit_done;
}

}  // namespace

void add_plot(CLI::App& app, Selection& selection) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand(
      "plot", "Picture of a run of `heddle tdse` (density, nuclei and observables) or of a trace of `heddle gemm`");
  command.add_option("file", options->file, "HDF5 file that heddle tdse wrote, or JSON that heddle gemm --trace wrote")
      ->type_name("FILE")
      ->required();
  command.add_option("-o,--output", options->output, "PNG to write (default: FILE's name with .png, in this folder)")
      ->type_name("PNG");
  add_common_options(command, selection.common,
                     "  heddle plot h2plus.h5 --output h2plus.png\n  heddle plot trace.json");
  command.callback([options, &selection] {
    selection.serial = [options](const CommonOptions& common) { return run(common, *options); };
  });
}

}  // namespace heddle::driver
