// Files that come with the command: shipped decks and the plotting script.
#pragma once

#include <filesystem>
#include <optional>

namespace heddle::driver {

/// Return the path of `name` ("decks/drift.toml") in the folder share/heddle beside this command's own folder, found by
/// where the command is; empty if that has no such file. A command in a build's folder finds links to the sources
/// there.
[[nodiscard]] std::optional<std::filesystem::path> find_shared(const std::filesystem::path& name);

/// The same; throws Error(input) if there is no such file.
[[nodiscard]] std::filesystem::path shared_file(const std::filesystem::path& name);

}  // namespace heddle::driver
