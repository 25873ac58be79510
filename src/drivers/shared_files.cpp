// Finds shipped decks and the plotting script beside the command.
#include "drivers/shared_files.hpp"

#include <heddle/core/error.hpp>

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

std::filesystem::path shared_file(const std::filesystem::path& name) {
  const auto found = find_shared(name);
  if (!found) {
    throw Error(ErrorKind::input, message_of(name.string(), " is missing from share/heddle of this installation"));
  }
  return *found;
}

}  // namespace heddle::driver
