// Gmsh's mesh files (.msh): https://gmsh.info/doc/texinfo/gmsh.html, "File formats".
#pragma once

#include "io/mesh/mesh_parts.hpp"

namespace heddle::impl {

/// Reads one; MeshFile::read says what is taken and what is refused.
[[nodiscard]] MeshParts read_gmsh(const std::filesystem::path& path);

}  // namespace heddle::impl
