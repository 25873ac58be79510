// Pictures that Python scripts of this command draw.
#pragma once

#include <filesystem>

namespace heddle::driver {

/// A script of share/heddle, and what it takes, for people.
struct Picture {
  const char* script;
  const char* modules;
  const char* packages;
};

/// Draws `input` as the PNG `output`, which appears complete or not at all. Throws Error(input) where the script,
/// Python or a module is missing, Error(computation) where it failed.
void draw(const Picture& picture, const std::filesystem::path& input, const std::filesystem::path& output);

}  // namespace heddle::driver
