// The context of a subcommand: the ranks, the device, the common options.
#pragma once

#include "drivers/support/options/options.hpp"
#include "drivers/support/progress.hpp"
#include "drivers/support/report.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/comm/device.hpp>

#include <optional>
#include <string>

namespace heddle::driver {

/// Exit codes of the command.
enum ExitCode : int {
  exit_done = 0,    ///< Done, and every check passed.
  exit_failed = 1,  ///< A check or the computation failed, or a result could not be written for lack of room.
  exit_usage = 2,   ///< Bad usage, or input or output that can't be used.
};

/// Message and exit code of an exception.
struct Failure {
  int exit_code = exit_failed;
  std::string message;
};
/// Return the failure of the exception that is being handled.
[[nodiscard]] Failure current_failure();

/// Made by main() on every rank once MPI and Kokkos are initialised.
class Context {
 public:
  Context(const Communicator& comm, const DeviceBinding& device, const CommonOptions& options)
      : comm_(comm), device_(device), options_(options) {}

  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] const DeviceBinding& device() const { return device_; }
  [[nodiscard]] const CommonOptions& options() const { return options_; }
  /// Return true on the rank that prints and writes.
  [[nodiscard]] bool root() const { return comm_.rank() == 0; }

  /// Prints a line on standard output: rank 0 alone, and not under --quiet.
  void say(const std::string& line) const;
  [[nodiscard]] Progress progress(const std::string& label) const {
    return {label, options_.progress, root() && !options_.quiet};
  }
  /// A report with the numbers of ranks and of threads per rank among its inputs.
  [[nodiscard]] Report report(const std::string& command) const;
  /// Collective end of a command: print each check, write the report if --json asks for it, and return the exit code.
  /// Standard error names a check that failed.
  [[nodiscard]] int finish(const Report& report) const;
  /// Write the report if `command` fails before finish(), as far as report() got it. Called on rank 0, not collective.
  void report_failure(const std::string& command, const Failure& failure) const;

 private:
  const Communicator& comm_;
  const DeviceBinding& device_;
  const CommonOptions& options_;
  mutable std::optional<Report> report_;  // The last report that was made.
};

/// One line on standard error: "heddle: " and the message, without its middle where it has more than 300 bytes.
void complain(const std::string& message);

/// Write the report of a command that failed if --json asks for it; do nothing for bad usage, or if the report can't be
/// written either.
void report_failure(const CommonOptions& options, Report report, const Failure& failure);

}  // namespace heddle::driver
