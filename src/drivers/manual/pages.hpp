// Documentation of the command `heddle`, collected from the tables of its parser.
#pragma once

#include "drivers/support/options/option_table.hpp"

#include <string>
#include <utility>
#include <vector>

namespace heddle::driver {

/// An option of a command.
struct OptionPage {
  OptionWords words;
  std::string standard;  ///< The default; empty: none.
};

/// A command. A group, such as `heddle study`, has commands instead of options.
struct CommandPage {
  std::string name;     ///< Name after "heddle ": "study faces".
  std::string about;    ///< One sentence without its full stop.
  std::string example;  ///< Lines indented by two blanks; empty for a group.
  bool is_group = false;
  std::vector<OptionPage> options;
};

/// One file of the manual.
struct ManualFile {
  std::string name;
  std::string text;
};

/// Return the environment variables that commands read, with descriptions.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& environment();

/// Write heddle.1 and one page for each command, in roff.
[[nodiscard]] std::vector<ManualFile> man_pages(const std::vector<CommandPage>& commands);
/// Write commands.md and deck-keys.md.
[[nodiscard]] std::vector<ManualFile> markdown_pages(const std::vector<CommandPage>& commands);
/// Write the completion of bash, `heddle`, and of zsh, `_heddle`.
[[nodiscard]] std::vector<ManualFile> bash_completion(const std::vector<CommandPage>& commands);
[[nodiscard]] std::vector<ManualFile> zsh_completion(const std::vector<CommandPage>& commands);

/// Join the words with `between` between any two.
[[nodiscard]] std::string joined(const std::vector<std::string>& words, const std::string& between);
/// Return `text` with each character of `special` replaced by its partner.
[[nodiscard]] std::string escaped(const std::string& text, const std::vector<std::pair<char, std::string>>& special);

/// Return lines without the two blanks at the beginning of each line of an example.
[[nodiscard]] std::string unindented(const std::string& lines);

}  // namespace heddle::driver
