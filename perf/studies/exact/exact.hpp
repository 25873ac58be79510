// The experiment of exact sums: what each algorithm for them costs beside plain arithmetic.
#pragma once

#include "drivers/commands.hpp"
#include "drivers/plot/pictures.hpp"

#include <filesystem>

namespace heddle::driver {

/// Adds `exact` to `heddle study`.
void add_study_exact(CLI::App& study, Selection& selection);

/// Whether a file begins as the tables of `heddle study exact` do.
[[nodiscard]] bool looks_like_study_exact(const std::filesystem::path& path);

inline constexpr Picture study_exact_picture = {"plot/study_exact.py", "matplotlib", "python3-matplotlib"};

}  // namespace heddle::driver
