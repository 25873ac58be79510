// The experiments of `heddle study`. They are a program of their own, heddle-study (perf/studies), which `heddle`
// starts in its own place: it is linked to the definitions in studies_elsewhere.cpp, heddle-study and tests to those of
// perf/studies.
#pragma once

#include "drivers/commands.hpp"
#include "drivers/plot/pictures.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace heddle::driver {

/// Return true if this program has the experiments.
[[nodiscard]] bool has_studies();

/// Return the picture of a table of `heddle study`, or nothing for other files.
[[nodiscard]] std::optional<Picture> study_picture_of(const std::filesystem::path& path);

/// Replace this process by heddle-study if that has to run the command line: `heddle study`, `heddle plot` of a table
/// of it, and `heddle manual`. Return otherwise; the text says why a study can't run, and is empty for other commands.
[[nodiscard]] std::string leave_to_studies(int argc, const char* const* argv);

}  // namespace heddle::driver
