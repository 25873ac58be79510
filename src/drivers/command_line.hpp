// One command line of `heddle`, from its words to its exit code.
#pragma once

#include "drivers/commands.hpp"
#include "drivers/manual/pages.hpp"

#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

/// The command that a command line selects, or how the line ended.
struct CommandLine {
  Selection selection;
  /// The exit code of a line that is done once it is read: help and version, which rank 0 has printed, and bad usage.
  std::optional<int> exit_code;
  /// Message about bad usage, one line, not printed yet; empty otherwise.
  std::string complaint;
};

/// Reads the words that main() is given. Every rank of a job finds the same.
[[nodiscard]] CommandLine read_command_line(int argc, const char* const* argv);

/// The options of every command as its table has them, by command: see description_of().
[[nodiscard]] nlohmann::ordered_json describe_options();

/// Return the pages on all commands that the documentation holds, in the order of the help; see manual/.
[[nodiscard]] std::vector<CommandPage> command_pages();

/// Runs what needs neither MPI nor Kokkos, on rank 0 of a job alone; gives its exit code.
[[nodiscard]] int run_serial(const Selection& selection);

/// Runs what needs all ranks, MPI and Kokkos initialised on `device`; gives the exit code that all ranks share.
[[nodiscard]] int run_parallel(const Selection& selection, const DeviceBinding& device);

}  // namespace heddle::driver
