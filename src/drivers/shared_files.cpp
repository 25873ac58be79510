// Finds shipped decks and the plotting script beside the command.
#include "drivers/shared_files.hpp"

namespace heddle::driver {

std::optional<std::filesystem::path> find_shared(const std::filesystem::path& name) {
  // The place of the build is no part of the answer: on another machine anybody could put scripts there.
  std::error_code error;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  const auto file = (command.parent_path() / HEDDLE_SHARE_FROM_COMMAND / name).lexically_normal();
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
  return file;
}

}  // namespace heddle::driver
