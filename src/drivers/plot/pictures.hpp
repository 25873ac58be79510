// Pictures that Python scripts of this command draw.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::driver {

/// A script of share/heddle, and what it takes, for people.
struct Picture {
  const char* script;
  const char* modules;
  const char* packages;
};

/// Draws `input` as the PNG, or film, `output`, which appears complete or not at all; `more` are words for the script.
/// Throws Error(input) where the script, Python, a module or ffmpeg is missing or too old, Error(computation) where it
/// failed.
void draw(const Picture& picture, const std::filesystem::path& input, const std::filesystem::path& output,
          const std::vector<std::string>& more = {});

}  // namespace heddle::driver
