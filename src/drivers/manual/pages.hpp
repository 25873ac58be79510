// What documents say of the command `heddle`, collected from the tables that its parser is made of.
#pragma once

#include "drivers/support/option_table.hpp"

#include <string>
#include <utility>
#include <vector>

namespace heddle::driver {

/// An option of a command.
struct OptionPage {
  OptionWords words;
  std::string standard;  ///< The default; empty: none.
};

/// A command. A group, as `heddle study`, has commands instead of options.
struct CommandPage {
  std::string name;     ///< After "heddle ": "study faces".
  std::string about;    ///< One sentence without its full stop.
  std::string example;  ///< Lines, indented by two; empty for a group.
  bool is_group = false;
  std::vector<OptionPage> options;
};

/// One file of the manual.
struct ManualFile {
  std::string name;
  std::string text;
};

/// The variables of the environment that commands read, and what each says.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& environment();

/// heddle.1 and one for each command, in roff.
[[nodiscard]] std::vector<ManualFile> man_pages(const std::vector<CommandPage>& commands);
/// commands.md and deck-keys.md.
[[nodiscard]] std::vector<ManualFile> markdown_pages(const std::vector<CommandPage>& commands);
/// The completion of bash, `heddle`, and of zsh, `_heddle`.
[[nodiscard]] std::vector<ManualFile> bash_completion(const std::vector<CommandPage>& commands);
[[nodiscard]] std::vector<ManualFile> zsh_completion(const std::vector<CommandPage>& commands);

/// The words, with `between` between any two.
[[nodiscard]] std::string joined(const std::vector<std::string>& words, const std::string& between);
/// `text` with each character of `special` replaced by what stands beside it.
[[nodiscard]] std::string escaped(const std::string& text, const std::vector<std::pair<char, std::string>>& special);

/// Lines without the two blanks that an example's begin with.
[[nodiscard]] std::string unindented(const std::string& lines);

}  // namespace heddle::driver
