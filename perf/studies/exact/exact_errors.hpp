// The experiment of how accurate exact operations are: errors against the condition, by each way to form sums.
#pragma once

#include "drivers/commands.hpp"
#include "drivers/plot/pictures.hpp"

#include <filesystem>

namespace heddle::driver {

/// Adds `exact-errors` to `heddle study`.
void add_study_exact_errors(CLI::App& study, Selection& selection);

/// Whether a file begins as the tables of `heddle study exact-errors` do.
[[nodiscard]] bool looks_like_study_exact_errors(const std::filesystem::path& path);

inline constexpr Picture study_exact_errors_picture = {"plot/study_exact_errors.py", "matplotlib",
                                                       "python3-matplotlib"};

}  // namespace heddle::driver
