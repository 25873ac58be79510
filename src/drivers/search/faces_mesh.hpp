// Meshes of `heddle faces` and `heddle study faces`: generated ones, shares of ranks, and counts of cells.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/support/options/option_table.hpp"
#include <heddle/io/mesh_file.hpp>
#include <heddle/search/faces.hpp>
#include <heddle/search/grid.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace heddle::driver {

/// A rectangular grid of cubes, whole or cut into tetrahedra.
struct GeneratedMesh {
  std::string kind;          ///< "tetrahedra", "hexahedra"; empty: none.
  std::vector<Index> cubes;  ///< Along all axes, or along each.
  search::TetrahedraOptions options;

  /// Return the grid. Throw Error(argument) unless `cubes` are one or three numbers that memory could hold.
  [[nodiscard]] StructuredGrid grid() const;
  [[nodiscard]] bool fits_32_bits() const { return grid().points() - 1 <= std::numeric_limits<std::int32_t>::max(); }
  /// Return the number of external faces by formula.
  [[nodiscard]] Index external_faces() const;
};

/// Return the options --generate, --size, --per-cube, --randomised and --seed.
[[nodiscard]] const OptionTable<GeneratedMesh>& generated_mesh_options();
/// Return the values of --per-cube, for both commands.
[[nodiscard]] Choice<int> per_cube_kind();

template <PointId Id> [[nodiscard]] Mesh<Id> connectivity_of(const ExecutionSpace& space, const GeneratedMesh& mesh) {
  return mesh.kind == "hexahedra" ? search::hexahedra_of<Id>(space, mesh.grid(), mesh.options)
                                  : search::tetrahedra_of<Id>(space, mesh.grid(), mesh.options);
}
/// Return the whole mesh, with coordinates, in host memory.
[[nodiscard]] MeshFile file_of(const ExecutionSpace& space, const GeneratedMesh& mesh);

/// Return this rank's share of a mesh that every rank has: a run of cells, one longer on the first ranks if they don't
/// divide evenly. It shares the arrays of the whole.
template <PointId Id, class Space> Mesh<Id, Space> share_of(const Mesh<Id, Space>& mesh, const Communicator& comm) {
  const auto part = [](const auto& view, Index begin, Index end) {
    return Kokkos::subview(view, std::pair<Index, Index>(begin, end));
  };
  const Index cells = mesh.cells();
  const Index each = cells / comm.size();
  const Index longer = cells % comm.size();
  const Index begin = comm.rank() * each + std::min<Index>(comm.rank(), longer);
  const Index end = begin + each + (comm.rank() < longer ? 1 : 0);
  Mesh<Id, Space> share = mesh;
  if (mesh.mixed()) {
    share.kinds = part(mesh.kinds, begin, end);
    share.offsets = part(mesh.offsets, begin, end + 1);
  } else {
    share.points = part(mesh.points, begin * corners_of(mesh.kind), end * corners_of(mesh.kind));
  }
  if (mesh.ghosts.extent(0) > 0) share.ghosts = part(mesh.ghosts, begin, end);
  return share;
}

/// Counts and kinds of the cells of a mesh in host memory.
struct CellCounts {
  Index flat = 0;     ///< Cells of fewer than three dimensions.
  Index surface = 0;  ///< Cells of two dimensions, included in `flat`.
  bool second_order = false;
  Index ghosts = 0;       ///< Cells marked as copies.
  bool simplices = true;  ///< All cells of three dimensions are tetrahedra.
};
[[nodiscard]] CellCounts counts_of(const MeshFile& file);

}  // namespace heddle::driver
