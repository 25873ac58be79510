// Enumerations and their names, from tables of pairs.
#pragma once

#include <heddle/core/error.hpp>

#include <string>
#include <string_view>

namespace heddle::impl {

/// The name of a value; empty where the table has none.
template <class Names, class Value> std::string_view name_in(const Names& names, Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "";
}

/// The value of a name. Throws Error(argument), `refusal` and all the names, where the table has none.
template <class Names> auto value_in(const Names& names, std::string_view text, const std::string& refusal) {
  std::string all;
  for (const auto& [value, name] : names) {
    if (text == name) return value;
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  throw Error(ErrorKind::argument, refusal + all);
}

}  // namespace heddle::impl
