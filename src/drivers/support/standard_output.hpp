// What a command prints for people, and what becomes of it.
#pragma once

#include "drivers/support/options.hpp"

#include <string>

namespace heddle::driver {

/// Prints a line, unless --quiet is given: on standard output or, where --json - has the report there, on standard
/// error. What can't be written is said by checked_output(), and stops nothing before.
void print_line(const CommonOptions& options, const std::string& line);

/// Prints text on standard output as it stands.
void print_text(const std::string& text);

/// The exit code of a process that would end with `code`: exit_failed, with a line on standard error, where something
/// of its standard output was lost.
[[nodiscard]] int checked_output(int code);

}  // namespace heddle::driver
