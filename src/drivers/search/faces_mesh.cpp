#include "drivers/search/faces_mesh.hpp"

#include "drivers/support/options.hpp"

namespace heddle::driver {

StructuredGrid GeneratedMesh::grid() const {
  // Eight corners for each of six cells a cube, in 64 bits.
  constexpr Index most = 65536;
  require(cubes.size() == 1 || cubes.size() == 3, "--cubes: expected N or NX,NY,NZ, got ", cubes.size(), " numbers");
  for (const Index count : cubes) {
    require(count >= 0 && count <= most, "--cubes: ", count, ": expected 0 to ", most);
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

void add_generated_mesh(CLI::App& command, GeneratedMesh& mesh) {
  CLI::Option* const generate =
      command
          .add_option("--generate", mesh.kind, "Make a mesh: tetrahedra, or hexahedra, of a rectangular grid of cubes")
          ->type_name("KIND")
          ->check(one_of({"tetrahedra", "hexahedra"}));
  command.add_option("--cubes", mesh.cubes, "Cubes along each axis")->type_name("N|NX,NY,NZ")->delimiter(',');
  command.add_option("--per-cube", mesh.options.per_cube, "Tetrahedra in each: 5 (mirrored) or 6 (about a diagonal)")
      ->type_name("5|6")
      ->check(one_of({"5", "6"}))
      ->capture_default_str()
      ->needs(generate);
  command.add_flag("--randomised", mesh.options.randomised, "Number points and cells at random")->needs(generate);
  command.add_option("--seed", mesh.options.seed, "Of the random numbers")
      ->type_name("N")
      ->capture_default_str()
      ->needs(generate);
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

CellCounts counts_of(const MeshFile::HostMesh& mesh) {
  CellCounts counts;
  const Index cells = mesh.cells();
  const auto take = [&](CellKind kind, Index count) {
    const bool flat = corners_of(kind) < 4 || kind == CellKind::quad;
    if (flat) counts.flat += count;
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
