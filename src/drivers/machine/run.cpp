// `heddle run`: runs another program with libheddle_blas.so and, on request, libheddle_libm.so.
#include "drivers/commands.hpp"
#include <heddle/core/error.hpp>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace heddle::driver {
namespace {

constexpr const char* blas_library = "libheddle_blas.so";
constexpr const char* device_library = "libheddle_blas_device.so";
constexpr const char* libm_library = "libheddle_libm.so";

struct RunOptions {
  bool report = false;
  bool device = false;
  bool libm = false;
};

const OptionTable<RunOptions>& run_options() {
  static const OptionTable<RunOptions> table = {
      {"--report", &RunOptions::report, Flag{},
       "At the program's end, print which routines of the BLAS it called, how often and how long"},
      {"--device", &RunOptions::device, Flag{},
       "Compute large products on the GPU, where copies there and back take less time than it saves; the bits stay"},
      {"--libm", &RunOptions::libm, Flag{},
       "Preload exp, log, pow, sin and other elementary functions that round correctly, and switch off NumPy's own "
       "loops for them"},
  };
  return table;
}

// Find the library beside the command: in the build's folders or where it is installed.
std::filesystem::path find_blas() {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& place : {folder.parent_path() / HEDDLE_LIBRARY_FOLDER, folder.parent_path()}) {
    if (std::filesystem::is_regular_file(place / blas_library, error)) return place / blas_library;
  }
  throw Error(ErrorKind::input,
              message_of(blas_library, " is not beside this command (looked in ",
                         (folder.parent_path() / HEDDLE_LIBRARY_FOLDER).string(), " and ",
                         folder.parent_path().string(), "): ci/build makes it, static builds have none"));
}

// Append a word to a variable that may have some.
void append_to(const char* name, const std::string& word, const char* separator) {
  const char* before = std::getenv(name);
  const std::string all = before == nullptr || *before == '\0' ? word : before + (separator + word);
  setenv(name, all.c_str(), 1);
}

// NumPy's loops for processors with AVX2 or AVX-512 compute elementary functions themselves: without them it calls the
// preloaded ones. The names are those of NumPy up to 2.3 and from 2.4 on; it warns about names that are not its own. It
// refuses both variables at once.
void switch_off_numpy_loops() {
  if (std::getenv("NPY_ENABLE_CPU_FEATURES") != nullptr) return;
  append_to("NPY_DISABLE_CPU_FEATURES", "AVX2 FMA3 AVX512F AVX512_SKX X86_V3 X86_V4", " ");
  append_to("PYTHONWARNINGS", "ignore:During parsing environment variable", ",");
}

// Replace this process by the program; return only on failure. Each rank of a job becomes a rank of the program.
void execute(const RunOptions& options, std::vector<std::string> words) {
  require(!words.empty(), "run: no command; expected one and its arguments, as in: heddle run python3 script.py");
  const std::filesystem::path blas = find_blas();
  if (options.device) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(blas.parent_path() / device_library, error)) {
      throw Error(ErrorKind::input, message_of("run --device: ", device_library, " is not beside ", blas.string(),
                                               ": this Heddle was built for CPUs alone"));
    }
    setenv("HEDDLE_BLAS_DEVICE", "1", 1);
  }
  std::string preloaded = blas.string();
  if (options.libm) {
    const std::filesystem::path libm = blas.parent_path() / libm_library;
    std::error_code error;
    if (!std::filesystem::is_regular_file(libm, error)) {
      throw Error(ErrorKind::input, message_of("run --libm: ", libm_library, " is not beside ", blas.string()));
    }
    preloaded += ":" + libm.string();
    switch_off_numpy_loops();
  }
  if (const char* others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0') {
    preloaded += std::string(":") + others;
  }
  setenv("LD_PRELOAD", preloaded.c_str(), 1);
  // Threads that spin for the next product would occupy the cores of the program's own threads.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  if (options.report) setenv("HEDDLE_BLAS_REPORT", "1", 1);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  throw Error(ErrorKind::input, message_of("run: ", words.front(), ": ", std::strerror(errno)));
}

}  // namespace

void add_run(CLI::App& app, Selection& selection) {
  CLI::App& command =
      add_subcommand(app, {"run", "Another program, with a BLAS whose results are the same on any machine",
                           "  heddle run --report python3 script.py"});
  command.prefix_command();
  const auto options = std::make_shared<RunOptions>();
  run_options().declare(command, *options, selection.declared);
  when_chosen(command, [options, &command] { execute(*options, command.remaining()); });
}

}  // namespace heddle::driver
