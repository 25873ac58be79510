// Unstructured meshes of linear cells, as kernels see them: the cells' points, but no coordinates.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/scalar.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace heddle {

/// Kinds of linear cells; their numbers, corners and the order of these are VTK's. Kinds of fewer than three dimensions
/// have no faces. Polygons and polyhedra have any number of corners.
enum class CellKind : std::uint8_t {
  vertex = 1,
  line = 3,
  triangle = 5,
  polygon = 7,
  quad = 9,
  tetrahedron = 10,
  voxel = 11,  ///< A hexahedron whose corners count x first, then y, then z.
  hexahedron = 12,
  wedge = 13,
  pyramid = 14,
  polyhedron = 42,  ///< Its corners are in no order; PolyhedronFaces lists its faces.
};

/// Number of corners of a cell of this kind; 0 for polygons and polyhedra, and for a number that is no kind.
[[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int corners_of(CellKind kind) {
  switch (kind) {
    case CellKind::vertex:
      return 1;
    case CellKind::line:
      return 2;
    case CellKind::triangle:
      return 3;
    case CellKind::quad:
    case CellKind::tetrahedron:
      return 4;
    case CellKind::pyramid:
      return 5;
    case CellKind::wedge:
      return 6;
    case CellKind::voxel:
    case CellKind::hexahedron:
      return 8;
    case CellKind::polygon:
    case CellKind::polyhedron:
      return 0;
  }
  return 0;
}

/// Number of dimensions of a cell of this kind, 0 to 3; -1 for a number that is no kind.
[[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int dimensions_of(CellKind kind) {
  switch (kind) {
    case CellKind::vertex:
      return 0;
    case CellKind::line:
      return 1;
    case CellKind::triangle:
    case CellKind::polygon:
    case CellKind::quad:
      return 2;
    case CellKind::tetrahedron:
    case CellKind::voxel:
    case CellKind::hexahedron:
    case CellKind::wedge:
    case CellKind::pyramid:
    case CellKind::polyhedron:
      return 3;
  }
  return -1;
}

/// The name of a kind: "tetrahedron", "hexahedron", and so on; empty for a number that is no kind.
[[nodiscard]] std::string_view to_string(CellKind kind);

/// Types for the numbers of points: signed integers of 32 or 64 bits.
template <class Id>
concept PointId = std::same_as<Id, std::int32_t> || std::same_as<Id, std::int64_t>;

/// The cells of a mesh and the points at their corners. Either all cells are of one `kind`, which has one number of
/// corners, and `kinds` and `offsets` are empty; or cell c is of kinds(c), and its corners are points(offsets(c)) to
/// points(offsets(c + 1) - 1).
///
/// The numbers of points are any integers >= 0, not necessarily without gaps. Views are shared, not copied. A Mesh
/// checks nothing itself; the functions that take one do.
template <PointId Id, class Space = MemorySpace> struct Mesh {
  CellKind kind = CellKind::tetrahedron;
  Kokkos::View<const Id*, Space> points;       ///< Numbers of the points at the corners of all cells, cell after cell.
  Kokkos::View<const CellKind*, Space> kinds;  ///< The kind of each cell; empty where all are of one `kind`.
  /// Index of each cell's first corner in `points`, and the end of the last: one more than cells.
  Kokkos::View<const Index*, Space> offsets;
  /// Not 0 for cells that are copies of another rank's or piece's cells; empty: there are none.
  Kokkos::View<const std::uint8_t*, Space> ghosts;

  /// Whether each cell has a kind of its own.
  [[nodiscard]] bool mixed() const { return offsets.extent(0) > 0; }
  /// Number of cells; 0 if all are of one kind that has no number of corners, which no function takes.
  [[nodiscard]] Index cells() const {
    if (mixed()) return static_cast<Index>(kinds.extent(0));
    const int corners = corners_of(kind);
    return corners > 0 ? static_cast<Index>(points.extent(0)) / corners : 0;
  }
};

/// A rectangular grid of x by y by z cubes, numbered x first: point (i, j, k) is i + (x + 1) (j + (y + 1) k), and cube
/// (i, j, k) is i + x (j + y k). Any extent may be 0.
struct StructuredGrid {
  Index x = 0;  ///< Number of cubes along the first axis.
  Index y = 0;  ///< Number of cubes along the second axis.
  Index z = 0;  ///< Number of cubes along the third axis.

  /// Number of cubes.
  [[nodiscard]] Index cells() const { return x * y * z; }
  /// Number of points.
  [[nodiscard]] Index points() const { return (x + 1) * (y + 1) * (z + 1); }
};

/// The faces of a mesh's polyhedra, in host memory: polygons of three points or more, that of neighbours being the same
/// points in another order.
struct PolyhedronFaces {
  /// Cell c has the faces cells(c) to cells(c + 1) - 1, none where it is no polyhedron; empty: there are no polyhedra.
  Kokkos::View<const Index*, Kokkos::HostSpace> cells;
  Kokkos::View<const Index*, Kokkos::HostSpace>
      offsets;  ///< Face f has points(offsets(f)) to points(offsets(f + 1) - 1).
  Kokkos::View<const Index*, Kokkos::HostSpace> points;  ///< Numbers of the points of all faces, face after face.

  /// Whether there are no polyhedra.
  [[nodiscard]] bool empty() const { return cells.extent(0) == 0; }
};

/// The most faces that one polyhedron may have, so that the number of a side fits a byte.
inline constexpr Index most_polyhedron_faces = 255;
/// Value of FaceList::side for a cell of two dimensions that stands in the list itself.
inline constexpr std::uint8_t whole_cell = 255;

/// A list of faces of cells: polygons of three points or more, in a defined order.
template <PointId Id, class Space = MemorySpace> struct FaceList {
  Kokkos::View<Index*, Space> cell;  ///< For each face, the number of its cell.
  Kokkos::View<std::uint8_t*, Space>
      side;                             ///< For each face, which side of its cell it is, in VTK's order; or whole_cell.
  Kokkos::View<Index*, Space> offsets;  ///< Face f has points(offsets(f)) to points(offsets(f + 1) - 1).
  Kokkos::View<Id*, Space> points;      ///< Numbers of the points of all faces, face after face.

  /// Number of faces.
  [[nodiscard]] Index size() const { return static_cast<Index>(cell.extent(0)); }
};

}  // namespace heddle
