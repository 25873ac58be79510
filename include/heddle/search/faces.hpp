// External faces: the sides of cells that no other cell shares.
#pragma once

#include <heddle/core/mesh.hpp>
#include <heddle/search/algorithm.hpp>

namespace heddle::search {

/// What becomes of cells that Mesh::ghosts marks.
enum class GhostCells {
  hide,  ///< Their faces are no result, and faces of other cells that touch them are internal.
  drop,  ///< As if they were not there.
  keep,  ///< Cells like all others.
};

struct ExternalFacesOptions {
  SearchOptions search;
  GhostCells ghosts = GhostCells::hide;
};

struct ExternalFacesReport {
  SearchReport search;
  Index cells = 0;     ///< With faces: of three dimensions, and not dropped.
  Index faces = 0;     ///< Sides of these cells.
  Index external = 0;  ///< Sides that no other side equals.
  Index nonmanifold_sides = 0;
  Index nonmanifold_faces = 0;
  Index degenerate_sides = 0;  ///< With fewer than three points.
};

template <PointId Id> struct ExternalFaces {
  /// By cell, then side.
  FaceList<Id> external;
  /// Sides that two others at least equal, by cell, then side; which of them are the same face, by first occurrence.
  FaceList<Id> nonmanifold;
  Kokkos::View<Index*, MemorySpace> nonmanifold_face;
  ExternalFacesReport report;
};

/// The external faces of a mesh: with S(c) the sides of cell c, those s of all S(c) whose set of points no other side
/// has.
///
/// Sides are compared by all their points, in whatever order. A quadrilateral with a point twice is the triangle of the
/// three; a side of fewer than three points has no area: it is counted, and neither external nor internal. Two sides of
/// one cell can equal each other, as those of a hexahedron folded flat.
///
/// Faces come by cell, then side, with the points in VTK's order for that side: outwards, where the cell's own points
/// stand in VTK's order. The result is the same for any algorithm, hash, backend and number of threads. Bits:
/// reproducible.
///
/// `mesh` may lie in host memory on a GPU backend: then cells cross the bus in blocks of 64 MiB, once for counting and
/// once for each pass, and the device never holds them all (`partition` alone; the others take a copy).
///
/// Throws Error(argument), naming the cell, for a negative point, a kind that is none, or offsets that don't fit.
/// Blocks until done. Cost by `partition`: 16 bytes a side, and 24 where points' numbers span more than any 32 bits
/// (sides of tetrahedra) or about 2^28 (quadrilaterals) of them; 2 bytes a cell. Traffic is twice the connectivity and
/// twice these bytes.
///
/// Source of the problem and of the other algorithms: Lessley, Moreland, Larsen, Childs, "Techniques for data-parallel
/// searching for duplicate elements", LDAV 2017.
template <PointId Id, class Space>
[[nodiscard]] ExternalFaces<Id> external_faces(const ExecutionSpace& space, const Mesh<Id, Space>& mesh,
                                               const ExternalFacesOptions& options = {});

/// The same for a rectangular grid, by formula: O(faces of the result), no search. A grid with an extent of 0 has none.
template <PointId Id = Index>
[[nodiscard]] ExternalFaces<Id> external_faces(const ExecutionSpace& space, const StructuredGrid& grid);

}  // namespace heddle::search
