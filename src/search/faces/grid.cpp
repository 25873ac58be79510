// Meshes of rectangular grids with regular or random numbers, and their external faces by formula.
#include "core/cell_sides.hpp"
#include "search/duplicates/packed.hpp"
#include "search/sort/sort.hpp"
#include <heddle/search/faces.hpp>
#include <heddle/search/grid.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <limits>

namespace heddle::search {
namespace impl {
namespace {

using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;

/// A permutation of 0 to size - 1 by formula: four rounds of a Feistel network on the smallest even number of bits that
/// holds them, repeated while the result is out of range (cycle walking: Black and Rogaway, CT-RSA 2002). The identity
/// if not `shuffled`.
struct Permutation {
  Word size = 0;
  int half_bits = 0;
  Word seed = 0;
  bool shuffled = false;

  Permutation(Index elements, const TetrahedraOptions& options, Word which)
      : size(static_cast<Word>(elements)),
        half_bits((bits_of(static_cast<Word>(elements)) + 1) / 2),
        seed(mixed_bits(options.seed + which)),
        shuffled(options.randomised) {}
  KOKKOS_INLINE_FUNCTION Index operator()(Index index) const {
    if (!shuffled) return index;
    auto x = static_cast<Word>(index);
    const Word mask = (Word{1} << half_bits) - 1;
    do {
      Word left = x >> half_bits;
      Word right = x & mask;
      for (Word round = 1; round <= 4; ++round) {
        const Word next = left ^ (mixed_bits(right + seed * round) & mask);
        left = right;
        right = next;
      }
      x = left << half_bits | right;
    } while (x >= size);
    return static_cast<Index>(x);
  }
};

// Corners of a cube by number: bit 0 is x, bit 1 is y, bit 2 is z; four hexadecimal digits are a tetrahedron's corners.
KOKKOS_INLINE_FUNCTION constexpr unsigned tetrahedron_of(int per_cube, bool odd, int number) {
  constexpr unsigned five[2][5] = {{0x0124, 0x3217, 0x5147, 0x6427, 0x1247}, {0x1305, 0x2036, 0x4065, 0x7563, 0x0653}};
  constexpr unsigned six[6] = {0x0137, 0x0327, 0x0267, 0x0647, 0x0457, 0x0517};
  return per_cube == 6 ? six[number] : five[odd ? 1 : 0][number];
}

template <PointId Id> void require_numbers(const StructuredGrid& grid) {
  require(grid.x >= 0 && grid.y >= 0 && grid.z >= 0, "grid of ", grid.x, " x ", grid.y, " x ", grid.z,
          " cubes: expected 0 or more each");
  // Six tetrahedra of four corners a cube must be countable in 64 bits.
  constexpr Index most = std::numeric_limits<Index>::max() / 24;
  Index points = 1;
  for (const Index cubes : {grid.x, grid.y, grid.z}) {
    require(cubes < most / points, "grid of ", grid.x, " x ", grid.y, " x ", grid.z, " cubes: expected at most ", most,
            " points");
    points *= cubes + 1;
  }
  require(points - 1 <= static_cast<Index>(std::numeric_limits<Id>::max()), "grid of ", points,
          " points: their numbers need 64 bits");
}

struct Cube {
  Index i, j, k;
};
KOKKOS_INLINE_FUNCTION Cube cube_of(const StructuredGrid& grid, Index cube) {
  return {cube % grid.x, cube / grid.x % grid.y, cube / (grid.x * grid.y)};
}
KOKKOS_INLINE_FUNCTION Index point_of(const StructuredGrid& grid, const Cube& cube, unsigned corner) {
  const Index i = cube.i + (corner & 1);
  const Index j = cube.j + (corner >> 1 & 1);
  const Index k = cube.k + (corner >> 2 & 1);
  return i + (grid.x + 1) * (j + (grid.y + 1) * k);
}
/// Returns the cube's corner that is corner k of a hexahedron.
KOKKOS_INLINE_FUNCTION unsigned cube_corner(int k) {
  return static_cast<unsigned>(k ^ (k >> 1 & 1));
}

}  // namespace
}  // namespace impl

template <PointId Id>
Mesh<Id> tetrahedra_of(const ExecutionSpace& space, const StructuredGrid& grid, const TetrahedraOptions& options) {
  impl::require_numbers<Id>(grid);
  const int each = options.per_cube;
  require(each == 5 || each == 6, "tetrahedra_of: ", each, " tetrahedra a cube; expected 5 or 6");
  const Index cells = each * grid.cells();
  const Kokkos::View<Id*, MemorySpace> points(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::search::tetrahedra"), 4 * cells);
  const impl::Permutation cell_at(cells, options, 1);
  const impl::Permutation number_of(grid.points(), options, 2);
  Kokkos::parallel_for(
      "heddle::search::tetrahedra", impl::Range(space, 0, cells), KOKKOS_LAMBDA(Index at) {
        const Index cell = cell_at(at);
        const impl::Cube cube = impl::cube_of(grid, cell / each);
        const unsigned corners =
            impl::tetrahedron_of(each, ((cube.i + cube.j + cube.k) & 1) != 0, static_cast<int>(cell % each));
        for (int k = 0; k < 4; ++k) {
          points(4 * at + k) = static_cast<Id>(number_of(impl::point_of(grid, cube, corners >> (4 * (3 - k)) & 7)));
        }
      });
  Mesh<Id> mesh;
  mesh.kind = CellKind::tetrahedron;
  mesh.points = points;
  return mesh;
}

template <PointId Id>
Mesh<Id> hexahedra_of(const ExecutionSpace& space, const StructuredGrid& grid, const TetrahedraOptions& options) {
  impl::require_numbers<Id>(grid);
  const Index cells = grid.cells();
  const Kokkos::View<Id*, MemorySpace> points(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::search::hexahedra"), 8 * cells);
  const impl::Permutation cell_at(cells, options, 1);
  const impl::Permutation number_of(grid.points(), options, 2);
  Kokkos::parallel_for(
      "heddle::search::hexahedra", impl::Range(space, 0, cells), KOKKOS_LAMBDA(Index at) {
        const impl::Cube cube = impl::cube_of(grid, cell_at(at));
        for (int k = 0; k < 8; ++k) {
          points(8 * at + k) = static_cast<Id>(number_of(impl::point_of(grid, cube, impl::cube_corner(k))));
        }
      });
  Mesh<Id> mesh;
  mesh.kind = CellKind::hexahedron;
  mesh.points = points;
  return mesh;
}

Kokkos::View<double* [3], Kokkos::LayoutRight, MemorySpace> points_of(const ExecutionSpace& space,
                                                                      const StructuredGrid& grid,
                                                                      const TetrahedraOptions& options) {
  impl::require_numbers<Index>(grid);
  const Kokkos::View<double* [3], Kokkos::LayoutRight, MemorySpace> coordinates(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::search::coordinates"), grid.points());
  const impl::Permutation number_of(grid.points(), options, 2);
  Kokkos::parallel_for(
      "heddle::search::coordinates", impl::Range(space, 0, grid.points()), KOKKOS_LAMBDA(Index point) {
        const Index number = number_of(point);
        const Index across = (grid.x + 1) * (grid.y + 1);
        const Index row = point % across / (grid.x + 1);
        const Index layer = point / across;
        coordinates(number, 0) = static_cast<double>(point % (grid.x + 1));
        coordinates(number, 1) = static_cast<double>(row);
        coordinates(number, 2) = static_cast<double>(layer);
      });
  return coordinates;
}

template <PointId Id>
ExternalFaces<Id> external_faces(const ExecutionSpace& space, const StructuredGrid& grid) {
  const Kokkos::Profiling::ScopedRegion region("heddle::search::external_faces");
  impl::require_numbers<Id>(grid);
  const bool empty = grid.cells() == 0;
  // Squares on one side of each of the three pairs; numbers run over the first side, then the opposite one.
  const Index across_x = empty ? 0 : grid.y * grid.z;
  const Index across_y = empty ? 0 : grid.x * grid.z;
  const Index across_z = empty ? 0 : grid.x * grid.y;
  const Index faces = 2 * (across_x + across_y + across_z);
  const auto uninitialised = [&](const std::string& label) {
    return Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label);
  };
  ExternalFaces<Id> result;
  FaceList<Id>& list = result.external;
  list.cell = Kokkos::View<Index*, MemorySpace>(uninitialised("heddle::search::cell"), faces);
  list.side = Kokkos::View<std::uint8_t*, MemorySpace>(uninitialised("heddle::search::side"), faces);
  list.offsets = Kokkos::View<Index*, MemorySpace>(uninitialised("heddle::search::offsets"), faces + 1);
  list.points = Kokkos::View<Id*, MemorySpace>(uninitialised("heddle::search::points"), 4 * faces);
  // Sorted by cell and side, as 6 cell + side.
  Kokkos::View<impl::Word*, MemorySpace> sides(uninitialised("heddle::search::sides"), faces);
  Kokkos::View<std::uint32_t*, MemorySpace> unused(uninitialised("heddle::search::unused"), faces);
  Kokkos::parallel_for(
      "heddle::search::grid_sides", impl::Range(space, 0, faces), KOKKOS_LAMBDA(Index face) {
        const Index here[3] = {across_x, across_y, across_z};
        int axis = 0;
        Index at = face;
        while (at >= 2 * here[axis]) at -= 2 * here[axis++];
        const Index far = at >= here[axis] ? 1 : 0;
        at -= far * here[axis];
        impl::Cube cube{};
        if (axis == 0) {
          cube = {far * (grid.x - 1), at % grid.y, at / grid.y};
        } else if (axis == 1) {
          cube = {at % grid.x, far * (grid.y - 1), at / grid.x};
        } else {
          cube = {at % grid.x, at / grid.x, far * (grid.z - 1)};
        }
        const Index cell = cube.i + grid.x * (cube.j + grid.y * cube.k);
        sides(face) = static_cast<impl::Word>(6 * cell + 2 * axis + far);
      });
  impl::Workspace workspace(space, false);
  impl::sort_pairs(workspace, sides, unused, impl::bits_of(static_cast<impl::Word>(6 * grid.cells())));
  const auto sorted = sides;
  const auto cell_of = list.cell;
  const auto side_of = list.side;
  const auto offsets = list.offsets;
  const auto points = list.points;
  Kokkos::parallel_for(
      "heddle::search::grid_faces", impl::Range(space, 0, faces + 1), KOKKOS_LAMBDA(Index face) {
        offsets(face) = 4 * face;
        if (face == faces) return;
        const auto cell = static_cast<Index>(sorted(face) / 6);
        const int side = static_cast<int>(sorted(face) % 6);
        cell_of(face) = cell;
        side_of(face) = static_cast<std::uint8_t>(side);
        const unsigned corners = heddle::impl::side_corners(CellKind::hexahedron, side);
        for (int k = 0; k < 4; ++k) {
          points(4 * face + k) = static_cast<Id>(
              impl::point_of(grid, impl::cube_of(grid, cell), impl::cube_corner(heddle::impl::corner(corners, k))));
        }
      });
  FaceList<Id>& none = result.nonmanifold;
  none.offsets = Kokkos::View<Index*, MemorySpace>(Kokkos::view_alloc(space, "heddle::search::offsets"), 1);
  result.report.cells = grid.cells();
  result.report.faces = 6 * grid.cells();
  result.report.external = faces;
  space.fence("heddle::search::external_faces");
  return result;
}

#define HEDDLE_INSTANCE(ID)                                                                                    \
  template Mesh<ID> tetrahedra_of<ID>(const ExecutionSpace&, const StructuredGrid&, const TetrahedraOptions&); \
  template Mesh<ID> hexahedra_of<ID>(const ExecutionSpace&, const StructuredGrid&, const TetrahedraOptions&);  \
  template ExternalFaces<ID> external_faces<ID>(const ExecutionSpace&, const StructuredGrid&);
HEDDLE_INSTANCE(std::int32_t)
HEDDLE_INSTANCE(std::int64_t)
#undef HEDDLE_INSTANCE

}  // namespace heddle::search
