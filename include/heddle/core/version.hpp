// The version of Heddle.
#pragma once

#include <string_view>

namespace heddle {

/// The version as "major.minor.patch".
[[nodiscard]] std::string_view version();

/// The commit the library was built from, with "-dirty" appended where the tree had changes; "unknown" outside git.
[[nodiscard]] std::string_view git_hash();

}  // namespace heddle
