// Definitions that readers and writers of meshes share: the parts of one, and what may be wrong with them.
#pragma once

#include "io/matrix/element_types.hpp"
#include <heddle/io/mesh_file.hpp>

#include <string>
#include <vector>

namespace heddle::impl {

using HostMesh = MeshFile::HostMesh;
using MeshPoints = MeshFile::Points;
using HostKinds = Kokkos::View<const CellKind*, Kokkos::HostSpace>;
using HostIndices = Kokkos::View<const Index*, Kokkos::HostSpace>;

struct MeshParts {
  HostMesh mesh;
  PolyhedronFaces polyhedra;
  CellNodes nodes;
  MeshPoints points;
  std::vector<MeshArray> point_arrays;
  std::vector<MeshArray> cell_arrays;
};

/// A list in host memory, not initialised.
template <class T> Kokkos::View<T*, Kokkos::HostSpace> host_list(const char* label, Index size) {
  return Kokkos::View<T*, Kokkos::HostSpace>(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)), size);
}

using NewPoints = MeshPoints::non_const_type;
inline NewPoints host_points(Index size) {
  return NewPoints(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::io::points"), size);
}

// Each returns the fault, in words that follow "FILE: ", or nothing.

/// Which numbers a cell's kind may have: CellKind's, or also those of pixels and of cells of second order.
enum class KindsOf { mesh, file };
/// Whether `type` is such a number.
[[nodiscard]] bool is_kind(int type, KindsOf of);
/// Check kinds and offsets of cells that have `corners` corners together.
[[nodiscard]] std::string wrong_kinds(const HostKinds& kinds, const HostIndices& offsets, Index corners, KindsOf of);
/// Describe a cell of a type that is not supported.
[[nodiscard]] std::string wrong_kind(Index cell, int type);
/// Check the faces of polyhedra, and find polyhedra without faces.
[[nodiscard]] std::string wrong_polyhedra(const HostMesh& mesh, const PolyhedronFaces& faces, Index points);
/// Describe a corner that is not a point.
[[nodiscard]] std::string wrong_corner(Index cell, Index corner, Index points);
/// Check corners; kinds and offsets must be right.
[[nodiscard]] std::string wrong_corners(const HostMesh& mesh, Index points);
/// Check nodes, which must be those of the same cells.
[[nodiscard]] std::string wrong_nodes(const HostMesh& mesh, const CellNodes& nodes, Index points);
/// Check arrays on `size` points or cells; `what` is "point" or "cell".
[[nodiscard]] std::string wrong_arrays(const std::vector<MeshArray>& arrays, Index size, const char* what);

/// A flat cell of three or more corners.
[[nodiscard]] inline CellKind polygon_of(Index corners) {
  return corners == 3 ? CellKind::triangle : corners == 4 ? CellKind::quad : CellKind::polygon;
}

/// The cells of a file as a reader has them: kinds by VTK's numbers, and the corners or nodes of each.
struct FileCells {
  Kokkos::View<CellKind*, Kokkos::HostSpace> kinds;
  Kokkos::View<Index*, Kokkos::HostSpace> offsets, points;
};
/// Set the cells of `parts`, which has its points and the faces of polyhedra: in the uniform form if all kinds are the
/// same; pixels as quads; the corners of cells of second order, beside all nodes. Return the fault, or nothing.
[[nodiscard]] std::string set_cells(MeshParts& parts, const FileCells& cells);

/// Room for an array; `data` is where its values go.
[[nodiscard]] MeshArray new_array(const std::string& name, ElementType type, Index size, Index components, void*& data);
/// The tuples of the array that `which` names, in its order.
[[nodiscard]] MeshArray gathered(const MeshArray& array, const HostIndices& which);

/// Takes the place of an array of that name.
void put_array(std::vector<MeshArray>& arrays, MeshArray array);
/// Turn an array vtkGhostLevels of older files, with these values, into vtkGhostType, where 1 is "duplicate".
void mark_ghosts(MeshArray& array, void* values);

}  // namespace heddle::impl
