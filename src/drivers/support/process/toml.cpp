// TOML as plain values: only this file includes toml++, and it includes no Kokkos (see CMakeLists.txt).
#include "drivers/support/process/toml.hpp"

#include <toml++/toml.h>

namespace heddle::driver {
namespace {

TomlTable table_of(const toml::table& table);
TomlArray array_of(const toml::array& array);

TomlValue value_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::integer:
      return {**node.as_integer(), "a whole number"};
    case toml::node_type::floating_point:
      return {**node.as_floating_point(), "a number"};
    case toml::node_type::boolean:
      return {**node.as_boolean(), "true or false"};
    case toml::node_type::string:
      return {**node.as_string(), "text"};
    case toml::node_type::array:
      return {array_of(*node.as_array()), "an array"};
    case toml::node_type::table:
      return {table_of(*node.as_table()), "a table"};
    default:
      return {{}, "a date or time"};
  }
}

TomlTable table_of(const toml::table& table) {
  TomlTable entries;
  for (const auto& [key, node] : table) {
    entries.push_back({std::string(key.str()), node.source().begin.line, value_of(node)});
  }
  return entries;
}

TomlArray array_of(const toml::array& array) {
  TomlArray result;
  for (const auto& node : array) result.items.push_back({{}, node.source().begin.line, value_of(node)});
  return result;
}

}  // namespace

TomlTable parse_toml(const std::string& text, const std::string& name) {
  try {
    return table_of(toml::parse(text, name));
  } catch (const toml::parse_error& error) {
    throw TomlError{error.source().begin.line, std::string(error.description())};
  }
}

}  // namespace heddle::driver
