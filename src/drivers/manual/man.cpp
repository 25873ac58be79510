// Man pages, in the macros of man(7).
#include "drivers/manual/pages.hpp"
#include "drivers/tdse/deck/deck.hpp"
#include <heddle/core/version.hpp>

#include <algorithm>
#include <cctype>

namespace heddle::driver {
namespace {

// Escape text so that no line begins a request, and hyphens can be searched for and copied.
std::string roff(const std::string& text) {
  const std::string plain = escaped(text, {{'\\', "\\e"}, {'-', "\\-"}, {'~', "\\(ti"}, {'^', "\\(ha"}});
  return plain.starts_with('.') || plain.starts_with('\'') ? "\\&" + plain : plain;
}
std::string bold(const std::string& text) {
  return "\\fB" + roff(text) + "\\fR";
}
std::string italic(const std::string& text) {
  return "\\fI" + roff(text) + "\\fR";
}

std::string page_name(const std::string& command) {
  return command.empty() ? "heddle" : "heddle-" + escaped(command, {{' ', "-"}});
}

std::string heading(const std::string& command, const std::string& about) {
  const std::string name = page_name(command);
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return ".TH " + roff(upper) + " 1 \"\" \"heddle " + std::string(version()) + "\" \"Heddle\"\n.SH NAME\n" +
         roff(name) + " \\- " + roff(about) + "\n";
}

std::string example(const std::string& lines) {
  std::string text = ".SH EXAMPLE\n.nf\n";
  std::size_t begin = 0;
  while (begin < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    text += roff(lines.substr(begin, end - begin)) + '\n';
    begin = end + 1;
  }
  return text + ".fi\n";
}

constexpr const char* exit_codes =
    ".SH EXIT STATUS\n0: done and checked; 1: a check or the computation failed; 2: bad usage or input.\n";

std::string entry(const std::string& name, const std::string& text) {
  return ".TP\n" + bold(name) + "\n" + roff(text) + "\n";
}

std::string option_entry(const OptionPage& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.words.typed_names()) names.push_back(bold(name));
  std::string text = ".TP\n" + joined(names, ", ");
  if (!option.words.is_flag()) text += ' ' + italic(option.words.type_name);
  text += '\n' + roff(option.words.help);
  if (option.words.is_flag() && option.standard == "true") text += " (on by default)";
  if (!option.words.is_flag() && !option.standard.empty()) text += roff(" (default: " + option.standard + ")");
  return text + '\n';
}

std::string synopsis(const CommandPage& command) {
  std::string text = ".SH SYNOPSIS\n" + bold("heddle " + command.name);
  if (command.is_group) return text + ' ' + italic("EXPERIMENT") + " [" + italic("OPTION") + "]...\n";
  text += " [" + italic("OPTION") + "]...";
  for (const OptionPage& option : command.options) {
    if (option.words.has_place()) text += " [" + italic(option.words.type_name) + (option.words.is_list ? "]..." : "]");
  }
  return text + '\n';
}

std::string keys_of_decks() {
  std::string text = ".SH KEYS OF A DECK\nA deck is a TOML file. Quantities are in atomic units.\n";
  for (const DeckKey& key : deck_keys()) {
    text += ".TP\n" + bold(key.name) + (key.value.empty() ? "" : " = " + italic(key.value)) + '\n' + roff(key.meaning) +
            '\n';
  }
  return text;
}

std::string page_of(const CommandPage& command) {
  std::string text = heading(command.name, command.about) + synopsis(command);
  if (!command.options.empty()) {
    text += ".SH OPTIONS\n";
    for (const OptionPage& option : command.options) text += option_entry(option);
    text += entry("--help, -h", "Print the help of this command");
  }
  if (command.name == "tdse") text += keys_of_decks();
  if (!command.example.empty()) text += example(command.example);
  return text + exit_codes + ".SH SEE ALSO\n.BR heddle (1)\n";
}

std::string overview(const std::vector<CommandPage>& commands) {
  std::string text =
      heading("", "dense linear algebra, exact sums, Schroedinger's equation and meshes, on CPUs and GPUs");
  text +=
      ".SH SYNOPSIS\n\\fBheddle\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.br\n"
      "\\fBmpirun \\-n\\fR \\fIRANKS\\fR \\fBheddle\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH COMMANDS\n";
  for (const CommandPage& command : commands) text += entry("heddle " + command.name, command.about);
  text += ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : environment()) text += entry(name, meaning);
  text += ".SH FILES\n" + entry("$XDG_CACHE_HOME/heddle, ~/.cache/heddle", "The measured rates of this machine.");
  return text + exit_codes;
}

}  // namespace

std::vector<ManualFile> man_pages(const std::vector<CommandPage>& commands) {
  std::vector<ManualFile> files = {{"heddle.1", overview(commands)}};
  for (const CommandPage& command : commands) files.push_back({page_name(command.name) + ".1", page_of(command)});
  return files;
}

}  // namespace heddle::driver
