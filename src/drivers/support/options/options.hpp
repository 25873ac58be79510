// The options that every command has.
#pragma once

#include "drivers/support/options/option_table.hpp"

#include <string>

namespace heddle::driver {

/// When a running command shows its progress.
enum class ProgressMode {
  automatic,  ///< A bar if standard error is a terminal, otherwise a line now and then.
  always,     ///< The bar, wherever standard error goes (mpirun hides the terminal from its ranks).
  never,
};

struct CommonOptions {
  std::string json;  ///< File for the report; empty: none; "-": standard output.
  bool quiet = false;
  ProgressMode progress = ProgressMode::automatic;

  [[nodiscard]] bool report_to_output() const { return json == "-"; }
  /// Return the file for the report; empty if it goes to none.
  [[nodiscard]] std::string json_file() const { return report_to_output() ? std::string() : json; }
};

/// --json, --quiet, --progress and --no-progress.
[[nodiscard]] const OptionTable<CommonOptions>& common_options();

}  // namespace heddle::driver
