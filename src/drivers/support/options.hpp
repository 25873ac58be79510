// The options that every subcommand has, and one scalar type for those that take matrices.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

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

/// Adds --json, --quiet, --progress and --no-progress to a subcommand, and `example` as the last lines of its help.
void add_common_options(CLI::App& command, CommonOptions& common, const std::string& example);

/// Adds --scalar: double, float, complex-double or complex-float.
CLI::Option* add_scalar_option(CLI::App& command, std::string& scalar);

/// Option checks whose messages people can read, and which leave no mark in the help.
[[nodiscard]] CLI::Validator at_least(double least);
[[nodiscard]] CLI::Validator not_empty();
[[nodiscard]] CLI::Validator one_of(const std::vector<std::string>& names);

/// Adds --tile: "auto", kept as 0, or a positive number.
void add_tile_option(CLI::App& command, long long& tile);

}  // namespace heddle::driver
