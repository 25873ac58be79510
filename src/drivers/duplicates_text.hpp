// The text files of `heddle duplicates`: integer keys, one a line, and what is written of them.
#pragma once

#include <heddle/core/scalar.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace heddle::driver {

/// Keys of the same number of words, one after the other.
struct KeyTable {
  std::vector<Index> values;
  Index words = 1;

  [[nodiscard]] Index keys() const { return static_cast<Index>(values.size()) / words; }
  [[nodiscard]] std::span<const Index> key(Index which) const {
    return std::span(values).subspan(static_cast<std::size_t>(which * words), static_cast<std::size_t>(words));
  }
};

/// Reads one key a line: 1 to 64 integers of 64 bits, as many on each line, separated by white space or commas. Throws
/// Error(input) naming the file, the line and what is wrong there. Memory: the file, and 8 bytes a word.
[[nodiscard]] KeyTable read_keys(const std::filesystem::path& path);

/// Groups of equal keys, on the host.
struct KeyGroups {
  std::vector<Index> group, first, count;
};

/// Writes group, first, count, and the key's words where `keys` is there, a group a line. Throws Error(output).
void write_groups(const std::filesystem::path& path, const KeyGroups& groups, const KeyTable* keys);
/// Writes the group of each key, one a line.
void write_group_of_each(const std::filesystem::path& path, const KeyGroups& groups);

}  // namespace heddle::driver
