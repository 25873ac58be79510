// The experiment of the transpose: block sizes for each variant, beside a copy.
#pragma once

#include "drivers/commands.hpp"
#include "drivers/plot/pictures.hpp"

#include <filesystem>

namespace heddle::driver {

/// Adds `transpose` to `heddle study`.
void add_study_transpose(CLI::App& study, Selection& selection);

/// Whether a file begins as the tables of `heddle study` do.
[[nodiscard]] bool looks_like_study(const std::filesystem::path& path);

inline constexpr Picture study_picture = {"plot/study_transpose.py", "matplotlib or numpy",
                                          "python3-matplotlib, python3-numpy"};

}  // namespace heddle::driver
