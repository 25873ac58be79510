// Format of the commands' help.
#pragma once

#include "drivers/support/options/option_table.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

/// Formats the help without former names of options.
class HelpFormatter : public CLI::Formatter {
 public:
  /// `declared` is read when help is asked for.
  explicit HelpFormatter(const std::vector<DeclaredOption>& declared) : declared_(declared) {}
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;

 private:
  const std::vector<DeclaredOption>& declared_;
};

}  // namespace heddle::driver
