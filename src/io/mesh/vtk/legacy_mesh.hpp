// VTK's older files of unstructured grids (.vtk): "VTK File Formats", simple legacy formats, versions 1 to 5.1. VTK's
// own reader believes what a file says of its sizes, and crashes where that is wrong; here all of it is held against
// the file before there is room for anything.
#pragma once

#include "io/mesh/mesh_parts.hpp"

namespace heddle::impl {

/// Reads one; MeshFile::read says what is taken and what is refused.
[[nodiscard]] MeshParts read_legacy(const std::filesystem::path& path);

}  // namespace heddle::impl
