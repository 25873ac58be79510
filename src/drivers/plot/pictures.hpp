// Pictures drawn by Heddle's Python scripts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::driver {

/// A script of share/heddle with the modules and packages that it needs, for messages.
struct Picture {
  const char* script;
  const char* modules;
  const char* packages;
};

/// Draw `input` as the PNG or film `output`, which appears complete or not at all; `more` are arguments of the script.
/// Throw Error(input) if the script, Python, a module or ffmpeg is missing or too old, Error(computation) if the script
/// fails.
void draw(const Picture& picture, const std::filesystem::path& input, const std::filesystem::path& output,
          const std::vector<std::string>& more = {});

}  // namespace heddle::driver
