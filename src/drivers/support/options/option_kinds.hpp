// The kinds of options: how the words of a command line become a value, and how a value is shown.
//
// A kind has
//   type_name          what stands for a value in the help,
//   expected()         what it takes, for a refusal: "a number >= 1"; or refusal(text), which gives the whole of it,
//   read(text, value)  whether `text` is such a value, which is then in `value`,
//   show(value)        the text of a value; empty where the value stands for none, as -1 does for a size.
// A command may have kinds of its own.
#pragma once

#include <nlohmann/json.hpp>

#include <charconv>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::driver {

/// "a, b or c".
[[nodiscard]] std::string alternatives(const std::vector<std::string>& words);
/// Shortest text that reads back to the same number.
[[nodiscard]] std::string shortest(double value);
/// The whole of `text` as a finite number, or nothing.
[[nodiscard]] std::optional<double> finite_number(std::string_view text);

/// A whole number in scientific form, as "1e3" or "1.5E6", in plain digits; other text, and what is not whole, as it
/// stands.
[[nodiscard]] std::string plain_digits(const std::string& text);

/// Given or not; `--name,!--no-name` also says no.
struct Flag {
  std::string type_name;

  static std::string expected() { return "true or false"; }
  static bool read(const std::string& text, bool& value) {
    value = text == "true";
    return true;
  }
  static std::string show(bool value) { return value ? "true" : "false"; }
};

/// A flag that sets its member to one value of several.
template <class Value> struct Sets {
  Value to;
  std::string type_name = {};

  static std::string expected() { return "nothing"; }
  bool read(const std::string& /*text*/, Value& value) const {
    value = to;
    return true;
  }
  static std::string show(const Value& /*value*/) { return {}; }
};

/// A whole number, decimal, as 1e3 or as 0x1f. A member outside the bounds stands for none.
struct Integer {
  long long least = std::numeric_limits<long long>::min();
  long long most = std::numeric_limits<long long>::max();
  std::string type_name = "N";

  [[nodiscard]] std::string expected() const;
  template <std::integral T> bool read(const std::string& given, T& value) const {
    const std::string text = plain_digits(given);
    const bool hexadecimal = text.starts_with("0x");
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + (hexadecimal ? 2 : 0), end, value, hexadecimal ? 16 : 10);
    return error == std::errc() && stop == end && within(value);
  }
  template <std::integral T> [[nodiscard]] std::string show(T value) const {
    return within(value) ? std::to_string(value) : std::string();
  }

 private:
  template <std::integral T> [[nodiscard]] bool within(T value) const {
    return std::cmp_greater_equal(value, least) && std::cmp_less_equal(value, most);
  }
};

/// A finite number. A member below `least` stands for none.
struct Number {
  double least = std::numeric_limits<double>::lowest();
  std::string type_name = "X";

  [[nodiscard]] std::string expected() const;
  bool read(const std::string& text, double& value) const;
  [[nodiscard]] std::string show(double value) const { return value >= least ? shortest(value) : std::string(); }
};

/// Text as it stands: a file's name, a placement. Empty text stands for none, and may be refused.
struct Text {
  std::string type_name = "FILE";
  bool may_be_empty = true;

  static std::string refusal(const std::string& /*text*/) { return "needs a file name"; }
  bool read(const std::string& text, std::string& value) const {
    value = text;
    return may_be_empty || !text.empty();
  }
  static std::string show(const std::string& value) { return value; }
};

/// One of some values, each by its name.
template <class Value> struct Choice {
  std::string type_name;
  std::vector<std::pair<Value, std::string>> names;
  /// Other names that are taken, and not shown.
  std::vector<std::pair<Value, std::string>> also = {};

  [[nodiscard]] std::string expected() const {
    std::vector<std::string> words;
    words.reserve(names.size());
    for (const auto& [value, name] : names) words.push_back(name);
    return alternatives(words);
  }
  bool read(const std::string& text, Value& value) const {
    for (const auto* list : {&names, &also}) {
      for (const auto& [known, name] : *list) {
        if (name != text) continue;
        value = known;
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] std::string show(const Value& value) const {
    for (const auto& [known, name] : names) {
      if (known == value) return name;
    }
    return {};
  }
};

/// Return the name of a value in options; an enumeration's own name, but "auto" for "automatic".
template <class Value> [[nodiscard]] std::string option_name(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    const std::string name(to_string(value));
    return name == "automatic" ? "auto" : name;
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return std::to_string(value);
  } else {
    return value;
  }
}

/// One of these values by its option_name(); "automatic" is taken for "auto", too.
template <class Value> [[nodiscard]] Choice<Value> choice(std::string type_name, const std::vector<Value>& values) {
  Choice<Value> kind;
  kind.type_name = std::move(type_name);
  for (const Value& value : values) {
    kind.names.emplace_back(value, option_name(value));
    if (kind.names.back().second == "auto") kind.also.emplace_back(value, "automatic");
  }
  return kind;
}
[[nodiscard]] inline Choice<std::string> choice(const std::vector<std::string>& names, std::string type_name = "NAME") {
  return choice<std::string>(std::move(type_name), names);
}

/// The size of a tile, of which 0 is "auto".
struct Tile {
  std::string type_name = "auto|N";

  static std::string expected() { return "auto or a number >= 1"; }
  static bool read(const std::string& text, long long& value);
  static std::string show(long long value) { return value == 0 ? "auto" : std::to_string(value); }
};

/// Whether a member holds many values, or one or none.
template <class T> inline constexpr bool is_list = false;
template <class T> inline constexpr bool is_list<std::vector<T>> = true;
template <class T> inline constexpr bool is_maybe = false;
template <class T> inline constexpr bool is_maybe<std::optional<T>> = true;

/// The words that a kind takes, where it takes no others.
template <class Kind> [[nodiscard]] std::vector<std::string> choices_of(const Kind& kind) {
  std::vector<std::string> words;
  if constexpr (requires { kind.names; }) {
    for (const auto& [value, name] : kind.names) words.push_back(name);
  }
  return words;
}

/// Why a text is not of a kind.
template <class Kind> [[nodiscard]] std::string refusal_of(const Kind& kind, const std::string& text) {
  if constexpr (requires { kind.refusal(text); }) {
    return kind.refusal(text);
  } else {
    return "'" + text + "': expected " + kind.expected();
  }
}
template <class Kind, class Value>
[[nodiscard]] std::string read_word(const Kind& kind, const std::string& word, Value& value) {
  return kind.read(word, value) ? std::string() : refusal_of(kind, word);
}

/// Reads the words of one option into its member; gives a refusal, "'x': expected ...", or nothing.
template <class Kind, class Member>
[[nodiscard]] std::string read_words(const Kind& kind, const std::vector<std::string>& words, Member& member) {
  if constexpr (is_list<Member>) {
    member.clear();
    for (const std::string& word : words) {
      typename Member::value_type value{};
      if (const std::string refusal = read_word(kind, word, value); !refusal.empty()) return refusal;
      member.push_back(std::move(value));
    }
    return {};
  } else if constexpr (is_maybe<Member>) {
    return read_word(kind, words.front(), member.emplace());
  } else {
    return read_word(kind, words.front(), member);
  }
}

/// The text of a member's value, in a list with commas; empty for none.
template <class Kind, class Member> [[nodiscard]] std::string shown(const Kind& kind, const Member& member) {
  if constexpr (is_list<Member>) {
    std::string text;
    for (const auto& value : member) {
      if (!text.empty()) text += ',';
      text += kind.show(value);
    }
    return text;
  } else if constexpr (is_maybe<Member>) {
    return member ? kind.show(*member) : std::string();
  } else {
    return kind.show(member);
  }
}

/// The same for a report: numbers as numbers, null for none.
template <class Kind, class Member>
[[nodiscard]] nlohmann::ordered_json reported(const Kind& kind, const Member& member) {
  if constexpr (is_list<Member>) {
    if (member.empty()) return nullptr;
    auto list = nlohmann::ordered_json::array();
    for (const auto& value : member) list.push_back(reported(kind, value));
    return list;
  } else if constexpr (is_maybe<Member>) {
    return member ? reported(kind, *member) : nlohmann::ordered_json();
  } else {
    std::string text = kind.show(member);
    if (text.empty()) return nullptr;
    if constexpr (std::is_arithmetic_v<Member>) {
      if (text != "auto") return member;
    }
    return text;
  }
}

}  // namespace heddle::driver
