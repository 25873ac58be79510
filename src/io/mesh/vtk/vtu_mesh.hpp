// VTK's XML files: https://docs.vtk.org, "VTK XML formats". VTK's own reader believes what a file says of its sizes,
// and crashes, or makes up numbers, where that is wrong; here all of it is held against the file before there is room
// for anything. MeshFile::read says what is taken and what is refused.
#pragma once

#include "io/mesh/mesh_parts.hpp"

namespace heddle::impl {

/// Unstructured grids.
[[nodiscard]] MeshParts read_vtu(const std::filesystem::path& path);
/// Polygons, lines and vertices.
[[nodiscard]] MeshParts read_vtp(const std::filesystem::path& path);
/// Images, whose cells are voxels, quads or lines.
[[nodiscard]] MeshParts read_vti(const std::filesystem::path& path);
/// Unstructured grids whose pieces are .vtu files, named in this one.
[[nodiscard]] MeshParts read_pvtu(const std::filesystem::path& path);

}  // namespace heddle::impl
