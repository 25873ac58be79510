// VTK's XML files, .vtp and .vtu: https://docs.vtk.org, "VTK XML formats".
#pragma once

#include "io/mesh/surface.hpp"

namespace heddle::impl {

/// Polygons (.vtp), or cells (.vtu) where `path` ends so.
void write_xml_surface(const std::filesystem::path& path, const Surface& surface, MeshEncoding encoding);
/// Cells (.vtu): those of `parts`, in the uniform form or not, by all their nodes where there are such.
void write_xml_mesh(const std::filesystem::path& path, const MeshParts& parts, MeshEncoding encoding);

}  // namespace heddle::impl
