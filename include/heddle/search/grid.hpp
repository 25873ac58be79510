// Meshes for studies of searches: rectangular grids cut into tetrahedra, with regular or random numbers of points and
// cells.
#pragma once

#include <heddle/core/mesh.hpp>

#include <cstdint>

namespace heddle::search {

/// Cutting of a grid's cubes into tetrahedra, and their numbering.
struct TetrahedraOptions {
  /// Number of tetrahedra of each cube. 5: one in the middle and four at corners, mirrored from cube to cube, as in the
  /// meshes of Lessley et al. 6: all around one diagonal (Kuhn).
  int per_cube = 5;
  /// Whether points and cells are numbered at random, by a permutation that `seed` chooses.
  bool randomised = false;
  /// Seed of the random permutations.
  std::uint64_t seed = 1;
};

/// Cuts the cubes of a grid into tetrahedra whose faces meet, cube after cube or in random order. They are oriented
/// outwards. Does not block. Throws Error(argument) unless Id can hold the number of points, and 64 bits can hold 24
/// times as many. Bits: the same on any backend.
template <PointId Id>
[[nodiscard]] Mesh<Id> tetrahedra_of(const ExecutionSpace& space, const StructuredGrid& grid,
                                     const TetrahedraOptions& options = {});

/// The cubes of a grid as hexahedra, numbered as tetrahedra_of() numbers its cells; `options.per_cube` has no effect.
template <PointId Id>
[[nodiscard]] Mesh<Id> hexahedra_of(const ExecutionSpace& space, const StructuredGrid& grid,
                                    const TetrahedraOptions& options = {});

/// The coordinates of the points of these meshes: point (i, j, k) of the grid is at (i, j, k).
[[nodiscard]] Kokkos::View<double* [3], Kokkos::LayoutRight, MemorySpace> points_of(
    const ExecutionSpace& space, const StructuredGrid& grid, const TetrahedraOptions& options = {});

}  // namespace heddle::search
