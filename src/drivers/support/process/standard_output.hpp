// Text that a command prints for people, and the exit code if some is lost.
#pragma once

#include "drivers/support/options/options.hpp"

#include <string>

namespace heddle::driver {

/// Print a line, unless --quiet is given: on standard output or, if --json - has the report there, on standard error.
/// checked_output() reports failed writes; the command goes on until then.
void print_line(const CommonOptions& options, const std::string& line);

/// Prints text on standard output as it stands.
void print_text(const std::string& text);

/// The exit code of a process that would end with `code`: exit_failed, with a line on standard error, where something
/// of its standard output was lost.
[[nodiscard]] int checked_output(int code);

}  // namespace heddle::driver
