// VTK's XML files of unstructured grids (.vtu): https://docs.vtk.org, "VTK XML formats". VTK's own reader believes what
// a file says of its sizes, and crashes, or makes up numbers, where that is wrong; here all of it is held against the
// file before there is room for anything.
#pragma once

#include "io/mesh/mesh_parts.hpp"

namespace heddle::impl {

/// Reads one; MeshFile::read says what is taken and what is refused.
[[nodiscard]] MeshParts read_vtu(const std::filesystem::path& path);

}  // namespace heddle::impl
