// Finds shipped decks and the plotting script in the installation or the source tree.
#include "drivers/shared_files.hpp"

#include <vector>

namespace heddle::driver {

std::optional<std::filesystem::path> find_shared(const std::filesystem::path& name) {
  std::error_code error;
  std::vector<std::filesystem::path> folders;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(command.parent_path().parent_path() / HEDDLE_SHARE_FOLDER);
  folders.emplace_back(HEDDLE_SOURCE_SHARE);
  for (const auto& folder : folders) {
    if (std::filesystem::is_regular_file(folder / name, error)) return folder / name;
  }
  return std::nullopt;
}

}  // namespace heddle::driver
