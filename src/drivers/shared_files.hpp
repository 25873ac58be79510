// Files that come with the command: shipped decks and the plotting script.
#pragma once

#include <filesystem>
#include <optional>

namespace heddle::driver {

/// Return the path of `name` ("decks/drift.toml") in share/heddle of this command's installation, or in the source tree
/// that it was built from; empty if neither has it.
[[nodiscard]] std::optional<std::filesystem::path> find_shared(const std::filesystem::path& name);

}  // namespace heddle::driver
