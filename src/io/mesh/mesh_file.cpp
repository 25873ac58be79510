// Mesh files of any format, chosen by the file's name.
#include "core/names.hpp"
#include "io/matrix/panels.hpp"
#include "io/mesh/gmsh/gmsh_mesh.hpp"
#include "io/mesh/mesh_parts.hpp"
#include "io/mesh/ply_mesh.hpp"
#include "io/mesh/stl_mesh.hpp"
#include "io/mesh/vtk/legacy_mesh.hpp"
#include "io/mesh/vtk/vtu_mesh.hpp"
#include <heddle/io/mesh_file.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace heddle {

namespace {

constexpr impl::Names<MeshEncoding, 3> encodings = {{
    {MeshEncoding::ascii, "ascii"},
    {MeshEncoding::binary, "binary"},
    {MeshEncoding::compressed, "compressed"},
}};

// Endings of the formats that are read.
struct Format {
  std::string_view ending;
  impl::MeshParts (*read)(const std::filesystem::path& path) = nullptr;
};
constexpr std::array formats = {Format{".vtk", impl::read_legacy}, Format{".msh", impl::read_gmsh},
                                Format{".stl", impl::read_stl},    Format{".ply", impl::read_ply},
                                Format{".vtu", impl::read_vtu},    Format{".vtp", impl::read_vtp},
                                Format{".vti", impl::read_vti},    Format{".pvtu", impl::read_pvtu}};

const Format* format_of(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  const auto* const found =
      std::find_if(formats.begin(), formats.end(), [&](const Format& format) { return format.ending == ending; });
  return found == formats.end() ? nullptr : found;
}

// Check the lengths of arrays, which no reader does, and take over the marks of ghosts.
void finish_arrays(const std::filesystem::path& path, impl::MeshParts& parts) {
  const Index cells = parts.mesh.cells();
  const auto require_right = [&](const std::string& wrong) {
    if (!wrong.empty()) throw Error(ErrorKind::input, message_of(path.string(), ": ", wrong));
  };
  require_right(impl::wrong_arrays(parts.point_arrays, static_cast<Index>(parts.points.extent(0)), "point"));
  require_right(impl::wrong_arrays(parts.cell_arrays, cells, "cell"));
  for (const MeshArray& array : parts.cell_arrays) {
    const auto* const types = std::get_if<ArrayValues<std::uint8_t>>(&array.values);
    if (array.name != "vtkGhostType" || types == nullptr) continue;
    const auto ghosts = impl::host_list<std::uint8_t>("heddle::io::ghosts", cells);
    for (std::size_t cell = 0; cell < ghosts.extent(0); ++cell) ghosts(cell) = (*types)(cell, 0) & 1U;
    parts.mesh.ghosts = ghosts;
  }
}

}  // namespace

MeshFile::MeshFile(HostMesh mesh, Points points, std::vector<MeshArray> point_arrays,
                   std::vector<MeshArray> cell_arrays, PolyhedronFaces polyhedra, CellNodes nodes)
    : mesh_(std::move(mesh)),
      polyhedra_(std::move(polyhedra)),
      nodes_(std::move(nodes)),
      points_(std::move(points)),
      point_arrays_(std::move(point_arrays)),
      cell_arrays_(std::move(cell_arrays)) {
  const auto require_right = [](const std::string& wrong) { require(wrong.empty(), "this mesh can't be: ", wrong); };
  const auto corners = static_cast<Index>(mesh_.points.extent(0));
  const auto points_there = static_cast<Index>(points_.extent(0));
  if (mesh_.mixed()) {
    require_right(impl::wrong_kinds(mesh_.kinds, mesh_.offsets, corners, impl::KindsOf::mesh));
  } else {
    const int each = corners_of(mesh_.kind);
    require(each != 0, "this mesh can't be: its kind of cells is ", static_cast<int>(mesh_.kind), ", which is none");
    require(corners % each == 0, "this mesh can't be: ", corners, " corners are no whole number of cells of kind ",
            to_string(mesh_.kind));
  }
  require_right(impl::wrong_corners(mesh_, points_there));
  require_right(impl::wrong_polyhedra(mesh_, polyhedra_, points_there));
  require_right(impl::wrong_nodes(mesh_, nodes_, points_there));
  const auto ghosts = static_cast<Index>(mesh_.ghosts.extent(0));
  require(ghosts == 0 || ghosts == mesh_.cells(), "this mesh can't be: it has ", ghosts, " ghost marks for ",
          mesh_.cells(), " cells");
  require_right(impl::wrong_arrays(point_arrays_, points_there, "point"));
  require_right(impl::wrong_arrays(cell_arrays_, mesh_.cells(), "cell"));
}

MeshFile MeshFile::read(const std::filesystem::path& path) {
  require_mesh_ending(path);
  const Format& format = *format_of(path);
  impl::require_readable(path);
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) == 0) {
    throw Error(ErrorKind::input, message_of(path.string(), ": is empty, where a mesh file is expected"));
  }
  impl::MeshParts parts = format.read(path);
  finish_arrays(path, parts);
  MeshFile file;
  file.mesh_ = std::move(parts.mesh);
  file.polyhedra_ = std::move(parts.polyhedra);
  file.nodes_ = std::move(parts.nodes);
  file.points_ = std::move(parts.points);
  file.point_arrays_ = std::move(parts.point_arrays);
  file.cell_arrays_ = std::move(parts.cell_arrays);
  return file;
}

void require_mesh_ending(const std::filesystem::path& path) {
  require(format_of(path) != nullptr, path.string(),
          ": a mesh file must end in .vtu, .vtp, .vti, .pvtu or .vtk (VTK), .msh (Gmsh), .stl or .ply");
}

void require_surface_ending(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  const bool known = ending == ".vtp" || ending == ".vtu" || ending == ".stl" || ending == ".ply" || ending == ".msh";
  require(known, path.string(), ": a surface must end in .vtp or .vtu (VTK), .stl, .ply or .msh (Gmsh)");
}

std::string_view to_string(MeshEncoding encoding) {
  return impl::name_of(encodings, encoding, "value of heddle::MeshEncoding");
}

MeshEncoding mesh_encoding_from(std::string_view text) {
  for (const auto& [encoding, name] : encodings) {
    if (text == name) return encoding;
  }
  throw Error(ErrorKind::argument, message_of("encoding '", text, "': expected ascii, binary or compressed"));
}

}  // namespace heddle
