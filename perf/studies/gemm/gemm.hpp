// The experiment of the distributed product: rates by size, tile, placement and scalar type, beside the tile model.
#pragma once

#include "drivers/commands.hpp"
#include "drivers/plot/pictures.hpp"

#include <filesystem>

namespace heddle::driver {

/// Adds `gemm` to `heddle study`.
void add_study_gemm(CLI::App& study, Selection& selection);

/// Whether a file begins as the tables of `heddle study gemm` do.
[[nodiscard]] bool looks_like_study_gemm(const std::filesystem::path& path);

inline constexpr Picture study_gemm_picture = {"plot/study_gemm.py", "matplotlib", "python3-matplotlib"};

}  // namespace heddle::driver
