// The surface of a mesh of tetrahedra: sides of cells that no other cell shares.
#include <heddle/heddle.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  heddle::Index external = 0;
  const heddle::Index cubes = 20;
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    const heddle::ExecutionSpace space;
    const auto mesh =
        heddle::search::tetrahedra_of<std::int32_t>(space, {cubes, cubes, cubes}, {.per_cube = 6, .randomised = true});
    const auto surface = heddle::search::external_faces(space, mesh);
    external = surface.report.external;
    std::printf("%lld cells, %lld faces, %lld of them external\n", static_cast<long long>(surface.report.cells),
                static_cast<long long>(surface.report.faces), static_cast<long long>(external));
  }
  MPI_Finalize();
  return external == 6 * cubes * cubes * 2 ? 0 : 1;  // Two triangles for each square of the six sides.
}
