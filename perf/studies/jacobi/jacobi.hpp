// The experiment of the Jacobi eigensolver: run time, speed-up, acceleration, cost and efficiency by order.
#pragma once

#include "drivers/commands.hpp"
#include "drivers/plot/pictures.hpp"

#include <filesystem>

namespace heddle::driver {

/// Adds `jacobi` to `heddle study`.
void add_study_jacobi(CLI::App& study, Selection& selection);

/// Whether a file begins as the tables of `heddle study jacobi` do.
[[nodiscard]] bool looks_like_study_jacobi(const std::filesystem::path& path);

inline constexpr Picture study_jacobi_picture = {"plot/study_jacobi.py", "matplotlib", "python3-matplotlib"};

}  // namespace heddle::driver
