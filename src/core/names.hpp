// Enumerations and their names, from tables of pairs.
#pragma once

#include <heddle/core/error.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::impl {

template <class Enum, std::size_t Count> using Names = std::array<std::pair<Enum, std::string_view>, Count>;

/// The name of a value; empty where the table has none.
template <class Enum, std::size_t Count> std::string_view name_in(const Names<Enum, Count>& names, Enum value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "";
}

/// The value of a name. Throws Error(argument), `refusal` and all the names, where the table has none.
template <class Enum, std::size_t Count>
Enum value_in(const Names<Enum, Count>& names, std::string_view text, const std::string& refusal) {
  std::string all;
  for (const auto& [value, name] : names) {
    if (text == name) return value;
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  throw Error(ErrorKind::argument, refusal + all);
}

/// name_in that throws Error(argument), "not a `what`", where the table has none.
template <class Enum, std::size_t Count>
std::string_view name_of(const Names<Enum, Count>& names, Enum value, const char* what) {
  const std::string_view name = name_in(names, value);
  require(!name.empty(), "not a ", what);
  return name;
}

/// value_in whose refusal is "`what` '`text`': expected one of ".
template <class Enum, std::size_t Count>
Enum value_of(const Names<Enum, Count>& names, std::string_view text, const char* what) {
  return value_in(names, text, message_of(what, " '", text, "': expected one of "));
}

}  // namespace heddle::impl
