#include "io/mesh/mesh_parts.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/io/mesh_file.hpp>

#include <algorithm>
#include <utility>

namespace heddle {

namespace {

using HostFaces = FaceList<Index, Kokkos::HostSpace>;

void write(const std::filesystem::path& path, [[maybe_unused]] const impl::MeshParts& parts,
           [[maybe_unused]] MeshEncoding encoding) {
#ifdef HEDDLE_VTK
  impl::VtkOutput output;
  output.points = static_cast<Index>(parts.points.extent(0));
  output.coordinates = parts.points.data();
  output.cells = parts.mesh.cells();
  output.corners = static_cast<Index>(parts.mesh.points.extent(0));
  output.kinds = reinterpret_cast<const std::uint8_t*>(parts.mesh.kinds.data());
  output.offsets = parts.mesh.offsets.data();
  output.connectivity = parts.mesh.points.data();
  std::transform(parts.point_arrays.begin(), parts.point_arrays.end(), std::back_inserter(output.point_arrays),
                 impl::vtk_array);
  std::transform(parts.cell_arrays.begin(), parts.cell_arrays.end(), std::back_inserter(output.cell_arrays),
                 impl::vtk_array);
  output.polygons = path.extension() == ".vtp";
  output.text = encoding == MeshEncoding::ascii;
  output.compressed = encoding == MeshEncoding::compressed;
  PendingFile pending(path);
  impl::write_vtk(pending.path(), path, output);
  pending.commit();
#else
  throw Error(ErrorKind::output, message_of(path.string(), ": can't be written: this build of Heddle has no VTK; ",
                                            "install libvtk9-dev (Debian) or vtk (Spack) and build again"));
#endif
}

template <class View> MeshArray list_array(const std::string& name, const View& list) {
  using Value = typename View::const_value_type;
  return {name, ArrayValues<std::remove_const_t<Value>>(list.data(), list.extent(0), 1)};
}

void require_faces(const MeshFile& from, const HostFaces& faces) {
  const Index cells = from.mesh().cells();
  const auto points = static_cast<Index>(from.points().extent(0));
  const auto corners = static_cast<Index>(faces.points.extent(0));
  const auto count = static_cast<std::size_t>(faces.size());
  require(faces.side.extent(0) == count, "expected as many sides as faces, ", count, ", got ", faces.side.extent(0));
  // An empty list may do without its one offset.
  require(faces.offsets.extent(0) == count + 1 || (count == 0 && faces.offsets.extent(0) == 0), "expected ", count + 1,
          " offsets of faces, got ", faces.offsets.extent(0));
  for (std::size_t face = 0; face < count; ++face) {
    require(faces.cell(face) >= 0 && faces.cell(face) < cells, "face ", face, " is of cell ", faces.cell(face),
            ", where there are ", cells, " cells");
    const Index begin = faces.offsets(face);
    const Index end = faces.offsets(face + 1);
    require(begin >= 0 && end >= begin && end <= corners, "face ", face, " has the points from ", begin, " to ", end,
            ", where there are ", corners, " in all");
    require(end - begin == 3 || end - begin == 4, "face ", face, " has ", end - begin,
            " points, where three or four are expected");
    for (Index corner = begin; corner < end; ++corner) {
      require(faces.points(corner) >= 0 && faces.points(corner) < points, "face ", face, " has the point ",
              faces.points(corner), ", where there are ", points, " points, numbered from 0");
    }
  }
}

}  // namespace

void write_surface(const std::filesystem::path& path, const MeshFile& from, const HostFaces& faces,
                   const SurfaceOptions& options) {
  require_surface_ending(path);
  require_faces(from, faces);
  const std::string wrong = impl::wrong_arrays(options.arrays, faces.size(), "face");
  require(wrong.empty(), wrong);

  // New numbers of points, in the order of their old ones.
  const auto points = static_cast<Index>(from.points().extent(0));
  const auto number = impl::host_list<Index>("heddle::io::numbers", points);
  std::fill_n(number.data(), points, Index{-1});
  const Index count = faces.size();
  const Index first = count > 0 ? faces.offsets(0) : 0;
  const Index corners = count > 0 ? faces.offsets(count) - first : 0;
  for (Index corner = 0; corner < corners; ++corner) number(faces.points(first + corner)) = 0;
  Index used = 0;
  for (Index point = 0; point < points; ++point) {
    if (number(point) >= 0) number(point) = used++;
  }
  const auto original = impl::host_list<Index>("heddle::io::used_points", used);
  for (Index point = 0; point < points; ++point) {
    if (number(point) >= 0) original(number(point)) = point;
  }

  impl::MeshParts surface;
  const auto coordinates = impl::host_points(used);
  for (Index point = 0; point < used; ++point) {
    for (int axis = 0; axis < 3; ++axis) coordinates(point, axis) = from.points()(original(point), axis);
  }
  surface.points = coordinates;
  const auto kinds = impl::host_list<CellKind>("heddle::io::kinds", count);
  const auto offsets = impl::host_list<Index>("heddle::io::offsets", count + 1);
  const auto connectivity = impl::host_list<Index>("heddle::io::corners", corners);
  offsets(0) = 0;
  for (Index face = 0; face < count; ++face) {
    offsets(face + 1) = faces.offsets(face + 1) - first;
    kinds(face) = offsets(face + 1) - offsets(face) == 3 ? CellKind::triangle : CellKind::quad;
  }
  for (Index corner = 0; corner < corners; ++corner) connectivity(corner) = number(faces.points(first + corner));
  surface.mesh.kinds = kinds;
  surface.mesh.offsets = offsets;
  surface.mesh.points = connectivity;

  for (const MeshArray& array : from.point_arrays()) surface.point_arrays.push_back(impl::gathered(array, original));
  impl::put_array(surface.point_arrays, list_array("OriginalPointIds", original));
  for (const MeshArray& array : from.cell_arrays()) surface.cell_arrays.push_back(impl::gathered(array, faces.cell));
  impl::put_array(surface.cell_arrays, list_array("OriginalCellIds", faces.cell));
  impl::put_array(surface.cell_arrays, list_array("OriginalCellSides", faces.side));
  for (const MeshArray& array : options.arrays) impl::put_array(surface.cell_arrays, array);
  write(path, surface, options.encoding);
}

void write_mesh(const std::filesystem::path& path, const MeshFile& mesh, MeshEncoding encoding) {
  require(path.extension() == ".vtu", path.string(), ": a mesh is written as .vtu (VTK), and must end so");
  impl::MeshParts parts{mesh.mesh(), mesh.points(), mesh.point_arrays(), mesh.cell_arrays()};
  const Index cells = parts.mesh.cells();
  if (!parts.mesh.mixed()) {
    const auto kinds = impl::host_list<CellKind>("heddle::io::kinds", cells);
    const auto offsets = impl::host_list<Index>("heddle::io::offsets", cells + 1);
    const Index each = corners_of(parts.mesh.kind);
    std::fill_n(kinds.data(), cells, parts.mesh.kind);
    for (Index cell = 0; cell <= cells; ++cell) offsets(cell) = each * cell;
    parts.mesh.kinds = kinds;
    parts.mesh.offsets = offsets;
  }
  const bool marked = std::any_of(parts.cell_arrays.begin(), parts.cell_arrays.end(),
                                  [](const MeshArray& array) { return array.name == "vtkGhostType"; });
  if (parts.mesh.ghosts.extent(0) > 0 && !marked) {
    const auto ghosts = impl::host_list<std::uint8_t>("heddle::io::ghosts", cells);
    for (Index cell = 0; cell < cells; ++cell) ghosts(cell) = parts.mesh.ghosts(cell) != 0;
    parts.mesh.ghosts = ghosts;
    parts.cell_arrays.push_back(list_array("vtkGhostType", ghosts));
  }
  write(path, parts, encoding);
}

}  // namespace heddle
