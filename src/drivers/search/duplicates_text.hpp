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
  /// As they are compared: equal where the integers are.
  std::vector<Index> values;
  Index words = 1;
  /// Which words stand for 2^64 more, integers of 2^63 and above; empty if none does.
  std::vector<bool> beyond;
  /// The words of the text, where values are others; else empty.
  std::vector<Index> text;

  [[nodiscard]] Index keys() const { return static_cast<Index>(values.size()) / words; }
  [[nodiscard]] std::span<const Index> key(Index which) const {
    return std::span(values).subspan(static_cast<std::size_t>(which * words), static_cast<std::size_t>(words));
  }
};

/// Reads one key a line, comments from a # on passed over: 1 to 64 integers from -2^63 to 2^64 - 1, as many on each
/// line, separated by white space or commas. Integers are what is compared, so that -1 and 2^64 - 1 differ: in a file
/// with negative ones and such of 2^63 and above, values are their numbers in order of first occurrence. Throws
/// Error(input) naming the file, the line and what is wrong there. Memory: the file, and 8 bytes a word; some 100 more
/// for each different word where they are numbered.
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
