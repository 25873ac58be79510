// The version of Heddle.
#pragma once

#include <span>
#include <string_view>

namespace heddle {

/// The version as "major.minor.patch".
[[nodiscard]] std::string_view version();

/// The commit the library was built from, with "-dirty" appended where the tree had changes; "unknown" outside git.
[[nodiscard]] std::string_view git_hash();

/// An optional library that was missing when Heddle was built.
struct AbsentLibrary {
  std::string_view name;
  std::string_view adds;     ///< Features that it would add, to follow "would add".
  std::string_view package;  ///< Debian's package.
};

/// The optional libraries that this build lacks.
[[nodiscard]] std::span<const AbsentLibrary> absent_libraries();

}  // namespace heddle
