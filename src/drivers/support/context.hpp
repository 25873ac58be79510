// What a subcommand runs in: the ranks, the device, the common options.
#pragma once

#include "drivers/support/options.hpp"
#include "drivers/support/progress.hpp"
#include "drivers/support/report.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/comm/device.hpp>

#include <string>

namespace heddle::driver {

/// Exit codes of the command.
enum ExitCode : int {
  exit_done = 0,    ///< Done, and every check passed.
  exit_failed = 1,  ///< A check or the computation failed.
  exit_usage = 2,   ///< Bad usage, or input or output that can't be used.
};

/// Made by main() on every rank once MPI and Kokkos are initialised.
class Context {
 public:
  Context(const Communicator& comm, const DeviceBinding& device, const CommonOptions& options)
      : comm_(comm), device_(device), options_(options) {}

  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] const DeviceBinding& device() const { return device_; }
  [[nodiscard]] const CommonOptions& options() const { return options_; }
  /// Whether this is the rank that speaks and writes.
  [[nodiscard]] bool root() const { return comm_.rank() == 0; }

  /// Prints a line on standard output: rank 0 alone, and not under --quiet.
  void say(const std::string& line) const;
  [[nodiscard]] Progress progress(const std::string& label) const {
    return {label, options_.progress, root() && !options_.quiet};
  }
  /// A report with the numbers of ranks and of threads per rank among its inputs.
  [[nodiscard]] Report report(const std::string& command) const;
  /// Collective end of a command: says each check, writes the report where --json asked for it, and gives the exit
  /// code. A check that failed is named on standard error.
  [[nodiscard]] int finish(const Report& report) const;

 private:
  const Communicator& comm_;
  const DeviceBinding& device_;
  const CommonOptions& options_;
};

/// One line on standard error: "heddle: " and the message.
void complain(const std::string& message);

/// Message and exit code of the exception being handled.
struct Failure {
  int exit_code = exit_failed;
  std::string message;
};
[[nodiscard]] Failure current_failure();

}  // namespace heddle::driver
