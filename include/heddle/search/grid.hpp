// Meshes for studies of searches: rectangular grids cut into tetrahedra, with regular or random numbers.
#pragma once

#include <heddle/core/mesh.hpp>

#include <cstdint>

namespace heddle::search {

struct TetrahedraOptions {
  /// 5: one in the middle and four at corners, mirrored from cube to cube, as the meshes of Lessley et al. have it. 6:
  /// all around one diagonal (Kuhn).
  int per_cube = 5;
  /// Points and cells are numbered at random, by a permutation that `seed` chooses.
  bool randomised = false;
  std::uint64_t seed = 1;
};

/// The tetrahedra of a grid, whose faces meet: cube after cube, or in random order. Oriented outwards. Bits: the same
/// on any backend. Id must hold the number of points, and 64 bits 24 times as many; throws Error(argument) otherwise.
/// Does not block.
template <PointId Id>
[[nodiscard]] Mesh<Id> tetrahedra_of(const ExecutionSpace& space, const StructuredGrid& grid,
                                     const TetrahedraOptions& options = {});

/// The cubes themselves, as hexahedra; `options.per_cube` has no meaning.
template <PointId Id>
[[nodiscard]] Mesh<Id> hexahedra_of(const ExecutionSpace& space, const StructuredGrid& grid,
                                    const TetrahedraOptions& options = {});

/// Where their points are: point (i, j, k) of the grid at (i, j, k).
[[nodiscard]] Kokkos::View<double* [3], Kokkos::LayoutRight, MemorySpace> points_of(
    const ExecutionSpace& space, const StructuredGrid& grid, const TetrahedraOptions& options = {});

}  // namespace heddle::search
