// The experiment of the external faces: algorithms and hash functions by size and numbering of a mesh.
#pragma once

#include "drivers/commands.hpp"
#include "drivers/plot/pictures.hpp"

#include <filesystem>

namespace heddle::driver {

/// Adds `faces` to `heddle study`.
void add_study_faces(CLI::App& study, Selection& selection);

/// Whether a file begins as the tables of `heddle study faces` do.
[[nodiscard]] bool looks_like_study_faces(const std::filesystem::path& path);

inline constexpr Picture study_faces_picture = {"plot/study_faces.py", "matplotlib", "python3-matplotlib"};

}  // namespace heddle::driver
