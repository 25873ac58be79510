// The options of a command, declared once: of a table come the parser, the help, the inputs of the report and, from the
// initial values of the members, the defaults.
#pragma once

#include "drivers/support/options/option_kinds.hpp"

#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// CLI11 is all in headers: what includes it pays for it.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heddle::driver {

/// Properties of an option besides names, member, kind and help.
struct OptionDetails {
  /// A former name of the option, as "--n". It works as the others do, is in no help, and gives a warning.
  std::string was = {};
  /// Key among the inputs of a report; by default the first long name, in snake case.
  std::string key = {};
  /// True if the option enters the report; values that stand for none never enter.
  bool enters = true;
  /// Text in the help in place of a default value.
  std::string otherwise = {};
  /// The name of an option without, or with, which this one is refused.
  std::string needs = {};
  std::string excludes = {};
  bool required = false;
  /// For a list: each value takes its own option or place, and may hold commas.
  bool one_each = false;
  /// Hidden from help: the command passes it to itself.
  bool hidden = false;
};

/// The part of a row that has nothing to do with the struct.
struct OptionWords {
  std::string names;  ///< As CLI11 takes them: "--input,-i", "--check,!--no-check", "--input,-i,file".
  std::string help;
  std::string type_name;
  std::vector<std::string> choices = {};  ///< The values, of an option that takes some words alone.
  bool is_list = false;
  bool always = true;  ///< There is no condition on whether it enters a report.
  OptionDetails details = {};

  [[nodiscard]] bool has_place() const;                        ///< Positional, too.
  [[nodiscard]] std::vector<std::string> typed_names() const;  ///< As they are typed: "-i", "--input", "--no-check".
  [[nodiscard]] bool is_flag() const { return type_name.empty(); }
  [[nodiscard]] std::string key() const;
};

/// A row for one object: reads words into it, giving a refusal or nothing.
using WordsReader = std::function<std::string(const std::vector<std::string>&)>;

/// An option that a command has, and what its table says of it.
struct DeclaredOption {
  const CLI::App* command = nullptr;
  const CLI::Option* option = nullptr;
  OptionWords words;
  std::string shown;             ///< Its default, for people.
  nlohmann::ordered_json value;  ///< The same for a report; null: none.
};

/// Adds an option to a command. `shown` and `value` are its default's.
[[nodiscard]] DeclaredOption declare_option(CLI::App& command, OptionWords words, const WordsReader& read,
                                            std::string shown, nlohmann::ordered_json value);
/// Once a command has all options of a table.
void relate_options(CLI::App& command, const std::vector<DeclaredOption>& declared);
/// The table's entry of an option, for tests: names, old names, type, choices, help, default, and its value in a
/// report.
[[nodiscard]] nlohmann::ordered_json description_of(const DeclaredOption& declared);

/// A warning for each old name among the words that `command` was given.
[[nodiscard]] std::vector<std::string> warnings_of_old_names(const CLI::App& command,
                                                             const std::vector<DeclaredOption>& declared,
                                                             const std::vector<std::string>& words);

/// The member of a member: in_member(&Options::solver, &JacobiOptions::sweeps).
template <class First, class... Rest> [[nodiscard]] auto in_member(First first, Rest... rest) {
  return [ first, rest... ](auto& options) -> auto& {
    if constexpr (sizeof...(rest) == 0) {
      return options.*first;
    } else {
      return in_member(rest...)(options.*first);
    }
  };
}

/// The whole, for OptionTable::include(): of a part of a long table, or of a base's.
inline constexpr auto itself = [](auto& options) -> auto& {
  return options;
};

/// One option of a struct.
template <class Options> class OptionRow {
 public:
  /// `member`: a pointer to it, or in_member(). Its type and `kind` decide what is read: a std::vector takes several
  /// values, a std::optional has none by default. The option enters a report only where `where` is true.
  template <class Member, class Kind>
  // NOLINTNEXTLINE(performance-unnecessary-value-param): they are moved.
  OptionRow(std::string names, Member member, Kind kind, std::string help, OptionDetails details = {},
            std::function<bool(const Options&)> where = {})
      : words_{.names = std::move(names),
               .help = std::move(help),
               .type_name = kind.type_name,
               .choices = choices_of(kind),
               .is_list = is_list<std::remove_cvref_t<std::invoke_result_t<Member, Options&>>>,
               .always = !where,
               .details = std::move(details)},
        where_(std::move(where)) {
    read_ = [member, kind](Options& options, const std::vector<std::string>& words) {
      return read_words(kind, words, std::invoke(member, options));
    };
    shown_ = [member, kind](const Options& options) { return shown(kind, std::invoke(member, options)); };
    value_ = [member, kind](const Options& options) { return reported(kind, std::invoke(member, options)); };
  }

  /// The row of a struct that has `Options` as a member; the option enters a report only where `where` is true, too.
  template <class Outer, class Member>
  [[nodiscard]] OptionRow<Outer> inside(Member member, const std::function<bool(const Outer&)>& where) const {
    OptionRow<Outer> row;
    row.words_ = words_;
    row.words_.always = words_.always && !where;
    row.where_ = [member, where, own = where_](const Outer& outer) {
      return (!where || where(outer)) && (!own || own(std::invoke(member, outer)));
    };
    row.read_ = [member, own = read_](Outer& outer, const std::vector<std::string>& words) {
      return own(std::invoke(member, outer), words);
    };
    row.shown_ = [member, own = shown_](const Outer& outer) { return own(std::invoke(member, outer)); };
    row.value_ = [member, own = value_](const Outer& outer) { return own(std::invoke(member, outer)); };
    return row;
  }

  /// `options` has its initial values, and has to live as long as the command.
  [[nodiscard]] DeclaredOption declare(CLI::App& command, Options& options) const {
    const auto read = [own = read_, &options](const std::vector<std::string>& words) { return own(options, words); };
    return declare_option(command, words_, read, shown_(options), value_(options));
  }
  void enter(const Options& options, nlohmann::ordered_json& inputs) const {
    if (!words_.details.enters || (where_ && !where_(options))) return;
    if (auto value = value_(options); !value.is_null()) inputs[words_.key()] = std::move(value);
  }

 private:
  template <class Other> friend class OptionRow;
  OptionRow() = default;

  OptionWords words_;
  std::function<bool(const Options&)> where_;
  std::function<std::string(Options&, const std::vector<std::string>&)> read_;
  std::function<std::string(const Options&)> shown_;
  std::function<nlohmann::ordered_json(const Options&)> value_;
};

/// All options of a struct.
template <class Options> class OptionTable {
 public:
  OptionTable() = default;
  OptionTable(std::initializer_list<OptionRow<Options>> rows) : rows_(rows) {}

  /// Adds the rows of a member's table; they enter a report where `where` is true.
  template <class Member, class Inner>
  OptionTable& include(Member member, const OptionTable<Inner>& table,
                       const std::function<bool(const Options&)>& where = {}) {
    for (const auto& row : table.rows()) rows_.push_back(row.template inside<Options>(member, where));
    return *this;
  }

  /// Adds the options to a command; `options` has its initial values, and has to live as long as the command.
  void declare(CLI::App& command, Options& options, std::vector<DeclaredOption>& declared) const {
    std::vector<DeclaredOption> own;
    own.reserve(rows_.size());
    for (const auto& row : rows_) own.push_back(row.declare(command, options));
    relate_options(command, own);
    declared.insert(declared.end(), own.begin(), own.end());
  }
  /// Enters the options among the inputs of a report.
  void enter(const Options& options, nlohmann::ordered_json& inputs) const {
    for (const auto& row : rows_) row.enter(options, inputs);
  }

  [[nodiscard]] const std::vector<OptionRow<Options>>& rows() const { return rows_; }

 private:
  std::vector<OptionRow<Options>> rows_;
};

}  // namespace heddle::driver
