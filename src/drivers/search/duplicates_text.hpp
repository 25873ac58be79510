// Reading of integer keys, one a line, and writing of groups for `heddle duplicates`.
#pragma once

#include <heddle/core/scalar.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace heddle::driver {

/// Keys with the same number of words, one after the other.
struct KeyTable {
  /// Values for comparison: equal if and only if the integers are.
  std::vector<Index> values;
  Index words = 1;
  /// Marks words that stand for 2^64 more, integers of 2^63 and above; empty if there are none.
  std::vector<bool> beyond;
  /// The words of the text if `values` are numbers; otherwise empty.
  std::vector<Index> text;

  [[nodiscard]] Index keys() const { return static_cast<Index>(values.size()) / words; }
  [[nodiscard]] std::span<const Index> key(Index which) const {
    return std::span(values).subspan(static_cast<std::size_t>(which * words), static_cast<std::size_t>(words));
  }
};

/// Read one key a line; comments from a # on are skipped. A key has 1 to 64 integers from -2^63 to 2^64 - 1, as many on
/// each line, separated by white space or commas. Integers are compared, so that -1 and 2^64 - 1 differ: if the file
/// has both negative integers and some of 2^63 and above, values are their numbers in order of first occurrence. Throw
/// Error(input) naming the file, the line and the error. Memory: the file, and 8 bytes a word; some 100 bytes more for
/// each different word if words are numbered.
[[nodiscard]] KeyTable read_keys(const std::filesystem::path& path);

/// Groups of equal keys, on the host.
struct KeyGroups {
  std::vector<Index> group, first, count;
};

/// Write group, first, count, and the key's words if `keys` is given, a group a line. Throw Error(output).
void write_groups(const std::filesystem::path& path, const KeyGroups& groups, const KeyTable* keys);
/// Write the group of each key, one a line.
void write_group_of_each(const std::filesystem::path& path, const KeyGroups& groups);

}  // namespace heddle::driver
