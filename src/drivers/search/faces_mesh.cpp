// Generated meshes of `heddle faces` and `heddle study faces`, and counts of a mesh's cells.
#include "drivers/search/faces_mesh.hpp"

namespace heddle::driver {

StructuredGrid GeneratedMesh::grid() const {
  // Eight corners for each of six cells a cube then fit in 64 bits.
  constexpr Index most = 65536;
  require(cubes.size() == 1 || cubes.size() == 3, "--size: expected N or NX,NY,NZ, got ", cubes.size(), " numbers");
  for (const Index count : cubes) {
    require(count >= 0 && count <= most, "--size: ", count, ": expected 0 to ", most);
  }
  return cubes.size() == 1 ? StructuredGrid{cubes[0], cubes[0], cubes[0]}
                           : StructuredGrid{cubes[0], cubes[1], cubes[2]};
}

Index GeneratedMesh::external_faces() const {
  const auto [x, y, z] = grid();
  if (x * y * z == 0) return 0;
  const Index squares = 2 * (x * y + y * z + z * x);
  return kind == "hexahedra" ? squares : 2 * squares;
}

Choice<int> per_cube_kind() {
  return choice<int>("5|6", {5, 6});
}

const OptionTable<GeneratedMesh>& generated_mesh_options() {
  using search::TetrahedraOptions;
  const auto made = [](const GeneratedMesh& mesh) { return !mesh.kind.empty(); };
  static const OptionTable<GeneratedMesh> table = {
      {"--generate", &GeneratedMesh::kind, choice({"tetrahedra", "hexahedra"}, "KIND"),
       "Make a mesh: tetrahedra, or hexahedra, of a rectangular grid of cubes"},
      {"--size",
       &GeneratedMesh::cubes,
       Integer{.type_name = "N|NX,NY,NZ"},
       "Cubes along each axis",
       {.was = "--cubes"}},
      {"--per-cube",
       in_member(&GeneratedMesh::options, &TetrahedraOptions::per_cube),
       per_cube_kind(),
       "Tetrahedra in each: 5 (mirrored) or 6 (about a diagonal)",
       {.needs = "--generate"},
       [](const GeneratedMesh& mesh) { return mesh.kind == "tetrahedra"; }},
      {"--randomised",
       in_member(&GeneratedMesh::options, &TetrahedraOptions::randomised),
       Flag{},
       "Number points and cells at random",
       {.needs = "--generate"},
       made},
      {"--seed",
       in_member(&GeneratedMesh::options, &TetrahedraOptions::seed),
       Integer{},
       "Of the random numbers",
       {.needs = "--generate"},
       made},
  };
  return table;
}

MeshFile file_of(const ExecutionSpace& space, const GeneratedMesh& mesh) {
  const Mesh<Index> made = connectivity_of<Index>(space, mesh);
  const auto coordinates = search::points_of(space, mesh.grid(), mesh.options);
  space.fence("heddle::driver::file_of");
  MeshFile::HostMesh host;
  host.kind = made.kind;
  host.points = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), made.points);
  return {host, Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), coordinates)};
}

CellCounts counts_of(const MeshFile& file) {
  const MeshFile::HostMesh& mesh = file.mesh();
  CellCounts counts;
  counts.second_order = !file.nodes().empty();
  const Index cells = mesh.cells();
  const auto take = [&](CellKind kind, Index count) {
    const bool flat = dimensions_of(kind) < 3;
    if (flat) counts.flat += count;
    if (dimensions_of(kind) == 2) counts.surface += count;
    counts.simplices = counts.simplices && (flat || count == 0 || kind == CellKind::tetrahedron);
  };
  if (mesh.mixed()) {
    for (Index cell = 0; cell < cells; ++cell) take(mesh.kinds(cell), 1);
  } else {
    take(mesh.kind, cells);
  }
  for (std::size_t cell = 0; cell < mesh.ghosts.extent(0); ++cell) counts.ghosts += mesh.ghosts(cell) != 0 ? 1 : 0;
  return counts;
}

}  // namespace heddle::driver
