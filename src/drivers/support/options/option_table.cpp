// Declaring, relating and describing the options of commands with CLI11.
#include "drivers/support/options/option_table.hpp"

#include "drivers/support/options/help_formatter.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace heddle::driver {
namespace {

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size() && !text.empty()) {
    const std::size_t end = std::min(text.find(mark, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Whether a text holds a word, which may have hyphens.
bool has_word(const std::string& text, const std::string& word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

// Return the help, followed by all values that the option takes if help, type and default omit one.
std::string help_with_choices(const OptionWords& words, const std::string& shown) {
  const std::string said = words.help + ' ' + words.type_name + ' ' + shown;
  const bool all = std::all_of(words.choices.begin(), words.choices.end(),
                               [&](const std::string& choice) { return has_word(said, choice); });
  return all ? words.help : words.help + " (" + alternatives(words.choices) + ")";
}

// The first long name, with its dashes.
std::string long_name(const std::string& names) {
  for (const std::string& name : split(names, ',')) {
    if (name.starts_with("--")) return name;
  }
  return names;
}

CLI::Option* add_flag(CLI::App& command, const OptionWords& words, const std::string& names, const WordsReader& read,
                      bool on) {
  const auto set = [read](std::int64_t count) { static_cast<void>(read({count > 0 ? "true" : "false"})); };
  return command.add_flag_function(names, set, words.help + (on ? " (on by default)" : ""))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* add_value(CLI::App& command, const OptionWords& words, const std::string& names, const WordsReader& read) {
  const std::string name = long_name(words.names);
  const CLI::callback_t take = [read, name](const CLI::results_t& results) {
    if (const std::string refusal = read(results); !refusal.empty()) throw CLI::ValidationError(name, refusal);
    return true;
  };
  CLI::Option* option = command.add_option(names, take, words.help)->type_name(words.type_name);
  if (words.is_list) {
    option->expected(CLI::detail::expected_max_vector_size);  // One at least.
    if (words.details.one_each) {
      option->allow_extra_args(words.has_place());
    } else {
      option->delimiter(',');
    }
  }
  return option->required(words.details.required);
}

}  // namespace

bool OptionWords::has_place() const {
  const auto all = split(names, ',');
  return std::any_of(all.begin(), all.end(), [](const std::string& name) { return name.find('-') != 0; }) && !is_flag();
}

std::vector<std::string> OptionWords::typed_names() const {
  std::vector<std::string> typed;
  for (const std::string& name : split(names, ',')) {
    const std::string bare = name.substr(name.starts_with('!') ? 1 : 0);
    if (bare.starts_with('-')) typed.push_back(bare);
  }
  return typed;
}

std::string OptionWords::key() const {
  if (!details.key.empty()) return details.key;
  const std::string name = long_name(names);
  std::string key = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

DeclaredOption declare_option(CLI::App& command, OptionWords words, const WordsReader& read, std::string shown,
                              nlohmann::ordered_json value) {
  const std::string names = words.names + (words.details.was.empty() ? "" : "," + words.details.was);
  CLI::Option* option = nullptr;
  if (words.is_flag()) {
    option = add_flag(command, words, names, read, shown == "true");
  } else {
    if (shown.empty()) shown = words.details.otherwise;
    words.help = help_with_choices(words, shown);
    option = add_value(command, words, names, read);
    if (!shown.empty()) option->default_str(shown);
  }
  if (words.details.hidden) option->group("");
  return {&command, option, std::move(words), std::move(shown), std::move(value)};
}

void relate_options(CLI::App& command, const std::vector<DeclaredOption>& declared) {
  for (const DeclaredOption& one : declared) {
    CLI::Option* const option = command.get_option(long_name(one.words.names));
    if (!one.words.details.needs.empty()) option->needs(command.get_option(one.words.details.needs));
    if (!one.words.details.excludes.empty()) option->excludes(command.get_option(one.words.details.excludes));
  }
}

nlohmann::ordered_json description_of(const DeclaredOption& declared) {
  const OptionWords& words = declared.words;
  nlohmann::ordered_json key;
  if (words.details.enters) key = words.key();
  return {{"names", split(words.names, ',')}, {"was", split(words.details.was, ',')},
          {"type", words.type_name},          {"help", words.help},
          {"default", declared.shown},        {"key", key},
          {"always", words.always},           {"hidden", words.details.hidden},
          {"choices", words.choices},         {"value", declared.value}};
}

std::vector<std::string> warnings_of_old_names(const CLI::App& command, const std::vector<DeclaredOption>& declared,
                                               const std::vector<std::string>& words) {
  std::vector<std::string> warnings;
  for (const DeclaredOption& one : declared) {
    if (one.command != &command) continue;
    for (const std::string& old : split(one.words.details.was, ',')) {
      const bool used = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return word == old || word.starts_with(old + "=");
      });
      if (used) {
        warnings.push_back("warning: " + old + " is called " + long_name(one.words.names) +
                           " now; the next release drops the old name");
      }
    }
  }
  return warnings;
}

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  std::string names = CLI::Formatter::make_option_name(option, is_positional);
  const auto found =
      std::find_if(declared_.begin(), declared_.end(), [&](const DeclaredOption& one) { return one.option == option; });
  if (found == declared_.end() || found->words.details.was.empty()) return names;
  const auto old_names = split(found->words.details.was, ',');
  std::string kept;
  for (const std::string& name : split(names, ',')) {
    if (std::find(old_names.begin(), old_names.end(), name) != old_names.end()) continue;
    kept += (kept.empty() ? "" : ",") + name;
  }
  return kept;
}

}  // namespace heddle::driver
