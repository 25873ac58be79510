// The meshes of `heddle faces` and `heddle study faces`: generated or read, and shared among ranks.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/support/option_table.hpp"
#include <heddle/io/mesh_file.hpp>
#include <heddle/search/faces.hpp>
#include <heddle/search/grid.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace heddle::driver {

/// A rectangular grid of cubes, as they are or cut into tetrahedra.
struct GeneratedMesh {
  std::string kind;          ///< "tetrahedra", "hexahedra"; empty: none.
  std::vector<Index> cubes;  ///< Along all axes, or each.
  search::TetrahedraOptions options;

  /// Throws Error(argument) unless `cubes` are one or three numbers that memory could hold.
  [[nodiscard]] StructuredGrid grid() const;
  [[nodiscard]] bool fits_32_bits() const { return grid().points() - 1 <= std::numeric_limits<std::int32_t>::max(); }
  /// By formula.
  [[nodiscard]] Index external_faces() const;
};

/// --generate, --size, --per-cube, --randomised and --seed.
[[nodiscard]] const OptionTable<GeneratedMesh>& generated_mesh_options();
/// --per-cube, of both commands.
[[nodiscard]] Choice<int> per_cube_kind();

template <PointId Id> [[nodiscard]] Mesh<Id> connectivity_of(const ExecutionSpace& space, const GeneratedMesh& mesh) {
  return mesh.kind == "hexahedra" ? search::hexahedra_of<Id>(space, mesh.grid(), mesh.options)
                                  : search::tetrahedra_of<Id>(space, mesh.grid(), mesh.options);
}
/// The whole, with coordinates, in host memory.
[[nodiscard]] MeshFile file_of(const ExecutionSpace& space, const GeneratedMesh& mesh);

/// This rank's share of a mesh that every rank has: a run of cells, one longer on the first ranks where they don't
/// divide. It shares the arrays of the whole.
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

/// What a mesh in host memory consists of.
struct CellCounts {
  Index flat = 0;     ///< Of fewer than three dimensions,
  Index surface = 0;  ///< and of these, of two.
  bool second_order = false;
  Index ghosts = 0;       ///< Marked as copies.
  bool simplices = true;  ///< All of three dimensions are tetrahedra.
};
[[nodiscard]] CellCounts counts_of(const MeshFile& file);

}  // namespace heddle::driver
