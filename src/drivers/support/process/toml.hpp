// TOML as plain values: toml++ is seen by toml.cpp alone, which holds no Kokkos (see CMakeLists.txt).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace heddle::driver {

struct TomlEntry;
using TomlTable = std::vector<TomlEntry>;
/// Its entries have no keys.
struct TomlArray {
  std::vector<TomlEntry> items;
};

/// A value that a deck can hold; monostate: a date or a time.
struct TomlValue {
  std::variant<std::monostate, std::int64_t, double, bool, std::string, TomlTable, TomlArray> value;
  std::string kind;  ///< "a whole number", "text", ...: for messages.
};

struct TomlEntry {
  std::string key;
  std::size_t line = 0;
  TomlValue value;
};

/// The exception of parse_toml().
struct TomlError {
  std::size_t line = 0;
  std::string description;
};

/// Throws TomlError for malformed text.
[[nodiscard]] TomlTable parse_toml(const std::string& text, const std::string& name);

}  // namespace heddle::driver
