// The options that every command has.
#pragma once

#include "drivers/support/option_table.hpp"

#include <string>

namespace heddle::driver {

/// When a running command shows how far it is.
enum class ProgressMode {
  automatic,  ///< A bar where standard error is a terminal, a line now and then where it is not.
  always,     ///< The bar, wherever standard error goes (mpirun hides the terminal from its ranks).
  never,
};

struct CommonOptions {
  std::string json;  ///< File for the report; empty: none.
  bool quiet = false;
  ProgressMode progress = ProgressMode::automatic;
};

/// --json, --quiet, --progress and --no-progress.
[[nodiscard]] const OptionTable<CommonOptions>& common_options();

}  // namespace heddle::driver
