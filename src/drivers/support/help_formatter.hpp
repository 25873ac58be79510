// How the help of commands is written.
#pragma once

#include "drivers/support/option_table.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

/// The help, without old names.
class HelpFormatter : public CLI::Formatter {
 public:
  /// `declared` is read when help is asked for.
  explicit HelpFormatter(const std::vector<DeclaredOption>& declared) : declared_(declared) {}
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;

 private:
  const std::vector<DeclaredOption>& declared_;
};

}  // namespace heddle::driver
