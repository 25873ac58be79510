// Writer of meshes, by the format that the file's name gives.
#include "io/mesh/surface.hpp"
#include "io/mesh/vtk/xml_writer.hpp"
#include <heddle/io/mesh_file.hpp>

#include <algorithm>
#include <vector>

namespace heddle {

using HostFaces = FaceList<Index, Kokkos::HostSpace>;

HostFaces with_surface_cells(const MeshFile& file, const HostFaces& faces, bool ghosts) {
  const MeshFile::HostMesh& mesh = file.mesh();
  const Index cells = mesh.cells();
  const auto kind_of = [&](Index cell) { return mesh.mixed() ? mesh.kinds(cell) : mesh.kind; };
  const auto begin_of = [&](Index cell) { return mesh.mixed() ? mesh.offsets(cell) : cell * corners_of(mesh.kind); };
  const auto is_kept = [&](Index cell) {
    const bool marked = mesh.ghosts.extent(0) > 0 && mesh.ghosts(cell) != 0;
    return dimensions_of(kind_of(cell)) == 2 && (ghosts || !marked);
  };
  Index more = 0;
  Index more_points = 0;
  for (Index cell = 0; cell < cells; ++cell) {
    if (!is_kept(cell)) continue;
    ++more;
    more_points += begin_of(cell + 1) - begin_of(cell);
  }
  if (more == 0) return faces;
  const Index all = faces.size() + more;
  HostFaces result = {
      impl::host_list<Index>("heddle::io::cells", all), impl::host_list<std::uint8_t>("heddle::io::sides", all),
      impl::host_list<Index>("heddle::io::offsets", all + 1),
      impl::host_list<Index>("heddle::io::corners", static_cast<Index>(faces.points.extent(0)) + more_points)};
  Index count = 0;
  result.offsets(0) = 0;
  const auto append = [&](Index cell, std::uint8_t side, const Index* points, Index size) {
    result.cell(count) = cell;
    result.side(count) = side;
    std::copy_n(points, size, result.points.data() + result.offsets(count));
    result.offsets(count + 1) = result.offsets(count) + size;
    ++count;
  };
  Index face = 0;
  for (Index cell = 0; cell <= cells; ++cell) {
    for (; face < faces.size() && faces.cell(face) < cell; ++face) {
      append(faces.cell(face), faces.side(face), faces.points.data() + faces.offsets(face),
             faces.offsets(face + 1) - faces.offsets(face));
    }
    if (cell == cells || !is_kept(cell)) continue;
    append(cell, whole_cell, mesh.points.data() + begin_of(cell), begin_of(cell + 1) - begin_of(cell));
  }
  return result;
}

void write_surface(const std::filesystem::path& path, const MeshFile& from, const HostFaces& faces,
                   const SurfaceOptions& options) {
  require_surface_ending(path);
  impl::require_faces(from, faces);
  const std::string wrong = impl::wrong_arrays(options.arrays, faces.size(), "face");
  require(wrong.empty(), wrong);
  const std::string ending = path.extension().string();
  const bool has_curved = ending == ".vtu" || ending == ".msh";
  const auto curved = !options.curved ? impl::CurvedFaces::corners
                      : has_curved    ? impl::CurvedFaces::cells
                                      : impl::CurvedFaces::triangles;
  const impl::Surface surface = impl::surface_of(from, faces, curved, options.arrays);
  if (ending == ".stl") return impl::write_stl(path, surface, options.encoding);
  if (ending == ".ply") return impl::write_ply(path, surface, options.encoding);
  if (ending == ".msh") return impl::write_gmsh(path, surface, options.encoding);
  impl::write_xml_surface(path, surface, options.encoding);
}

void write_mesh(const std::filesystem::path& path, const MeshFile& mesh, MeshEncoding encoding) {
  require(path.extension() == ".vtu", path.string(), ": a mesh is written as .vtu (VTK), and must end so");
  impl::MeshParts parts{mesh.mesh(),   mesh.polyhedra(),    mesh.nodes(),
                        mesh.points(), mesh.point_arrays(), mesh.cell_arrays()};
  const bool marked = std::any_of(parts.cell_arrays.begin(), parts.cell_arrays.end(),
                                  [](const MeshArray& array) { return array.name == "vtkGhostType"; });
  if (parts.mesh.ghosts.extent(0) > 0 && !marked) {
    void* data = nullptr;
    const Index cells = parts.mesh.cells();
    parts.cell_arrays.push_back(impl::new_array("vtkGhostType", impl::ElementType::uint8, cells, 1, data));
    for (Index cell = 0; cell < cells; ++cell) static_cast<std::uint8_t*>(data)[cell] = parts.mesh.ghosts(cell) != 0;
  }
  impl::write_xml_mesh(path, parts, encoding);
}

}  // namespace heddle
