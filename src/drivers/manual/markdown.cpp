// The site's reference pages, also in the repository: docs/site/commands.md and docs/site/deck-keys.md.
#include "drivers/manual/pages.hpp"
#include "drivers/tdse/deck/deck.hpp"

#include <regex>

namespace heddle::driver {
namespace {

// Mark names of options as code, which keeps their two dashes.
std::string outside_of_code(const std::string& text) {
  static const std::regex option("--[a-z]+(-[a-z]+)*");
  return std::regex_replace(escaped(text, {{'|', "\\|"}, {'<', "\\<"}, {'>', "\\>"}, {'*', "\\*"}, {'_', "\\_"}}),
                            option, "`$&`");
}
// Keep existing code, between two backticks, unchanged.
std::string markdown(const std::string& text) {
  std::string result;
  bool is_code = false;
  for (std::size_t begin = 0;; is_code = !is_code) {
    const std::size_t end = text.find('`', begin);
    const std::string part = text.substr(begin, end - begin);
    result += is_code ? part : outside_of_code(part);
    if (end == std::string::npos) return result;
    result += '`';
    begin = end + 1;
  }
}
// A bar within code would end the cell of a table.
std::string code(const std::string& text) {
  return text.empty() || text.find('|') != std::string::npos ? markdown(text) : '`' + text + '`';
}

constexpr const char* origin =
    "<!-- Written by `heddle manual --format markdown --output docs/site`: edit the tables of options instead. -->\n";

std::string row(const OptionPage& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.words.typed_names()) names.push_back(code(name));
  const std::string value = option.words.is_flag() ? "" : code(option.words.type_name);
  const std::string on = option.standard == "true" ? "on" : "";
  const std::string standard = option.words.is_flag() ? on : code(option.standard);
  return "| " + joined(names, " ") + " | " + value + " | " + standard + " | " + markdown(option.words.help) + " |\n";
}

std::string section(const CommandPage& command) {
  std::string text = "\n## heddle " + command.name + "\n\n" + markdown(command.about) + ".\n";
  if (command.is_group) return text;
  text += "\n| option | value | default | what it does |\n|---|---|---|---|\n";
  for (const OptionPage& option : command.options) text += row(option);
  return text + "\n```sh\n" + unindented(command.example) + "\n```\n";
}

}  // namespace

std::vector<ManualFile> markdown_pages(const std::vector<CommandPage>& commands) {
  std::string all =
      "# Commands and options\n" + std::string(origin) +
      "\nEvery command and its options, as `heddle COMMAND --help` prints them. A flag has no value.\n"
      "Under `mpirun`, `duplicates` and `study` take one rank, `plot`, `verify` and `manual` are started "
      "without it,\nand the others run over any number of ranks. What they read from the environment is at "
      "the [end](#environment).\n";
  for (const CommandPage& command : commands) all += section(command);
  all += "\n## Environment\n\n| variable | what it says |\n|---|---|\n";
  for (const auto& [name, meaning] : environment()) all += "| " + code(name) + " | " + markdown(meaning) + " |\n";
  std::string keys =
      "# Decks, key by key\n" + std::string(origin) +
      "\nA deck is the input of `heddle tdse`: a TOML file, or the name of a shipped one. Every key with its "
      "default, as\n`heddle tdse --keys` prints them; quantities are in atomic units. The [guide to wave "
      "functions](guide-tdse.md) shows decks at\nwork.\n";
  std::string table;
  for (const DeckKey& key : deck_keys()) {
    const std::size_t point = key.name.find('.');
    if (key.name.substr(0, point) != table) {
      table = key.name.substr(0, point);
      keys += "\n## " + table + "\n\n";
      if (table == "pulse") {
        keys +=
            "As many tables `[[pulse]]` as there are pulses. `--set pulse.1.intensity=1e14` sets a key of the first: "
            "they "
            "are\ncounted from 1.\n\n";
      }
      keys += "| key | default | what it means |\n|---|---|---|\n";
    }
    keys += "| " + code(key.name.substr(point + 1)) + " | " + code(key.value) + " | " + markdown(key.meaning) + " |\n";
  }
  return {{"commands.md", all}, {"deck-keys.md", keys}};
}

}  // namespace heddle::driver
