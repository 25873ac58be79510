// Stereolithography files (.stl), ASCII and binary: 3D Systems' Stereolithography Interface Specification, 1989.
#pragma once

#include "io/mesh/mesh_parts.hpp"

namespace heddle::impl {

/// Reads one; MeshFile::read says what is taken and what is refused.
[[nodiscard]] MeshParts read_stl(const std::filesystem::path& path);

}  // namespace heddle::impl
