// Enumerators and their names.
#pragma once

#include <heddle/core/error.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::impl {

template <class Enum, std::size_t Count> using Names = std::array<std::pair<Enum, std::string_view>, Count>;

template <class Enum, std::size_t Count>
std::string_view name_of(const Names<Enum, Count>& names, Enum value, const char* what) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  throw Error(ErrorKind::argument, message_of("not a ", what));
}

template <class Enum, std::size_t Count>
Enum value_of(const Names<Enum, Count>& names, std::string_view text, const char* what) {
  std::string expected;
  for (const auto& [known, name] : names) {
    if (name == text) return known;
    expected += (expected.empty() ? "" : ", ") + std::string(name);
  }
  throw Error(ErrorKind::argument, message_of(what, " '", text, "': expected one of ", expected));
}

}  // namespace heddle::impl
