// Polygon files (.ply): Greg Turk, "The PLY Polygon File Format", 1994.
#pragma once

#include "io/mesh/mesh_parts.hpp"

namespace heddle::impl {

/// Reads one; MeshFile::read says what is taken and what is refused.
[[nodiscard]] MeshParts read_ply(const std::filesystem::path& path);

}  // namespace heddle::impl
