// What readers and writers of meshes share: the parts of one, and what may be wrong with them.
#pragma once

#include "io/matrix/element_types.hpp"
#include "io/mesh/vtk_mesh.hpp"
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

// What is wrong, in words that follow "FILE: ", or nothing.

/// Of kinds and offsets of cells that have so many corners together.
[[nodiscard]] std::string wrong_kinds(const HostKinds& kinds, const HostIndices& offsets, Index corners);
/// Of a cell whose type is none of CellKind's.
[[nodiscard]] std::string wrong_kind(Index cell, int type);
/// Of a corner that is no point.
[[nodiscard]] std::string wrong_corner(Index cell, Index corner, Index points);
/// Of corners, where kinds and offsets are right.
[[nodiscard]] std::string wrong_corners(const HostMesh& mesh, Index points);
/// Of arrays on so many `what`: "point" or "cell".
[[nodiscard]] std::string wrong_arrays(const std::vector<MeshArray>& arrays, Index size, const char* what);

/// The uniform form where all kinds are the same, else the mixed one.
[[nodiscard]] HostMesh mesh_of(const HostKinds& kinds, const HostIndices& offsets);

/// Room for an array; `data` is where its values go.
[[nodiscard]] MeshArray new_array(const std::string& name, ElementType type, Index size, Index components, void*& data);
/// The tuples of the array that `which` names, in its order.
[[nodiscard]] MeshArray gathered(const MeshArray& array, const HostIndices& which);

/// Takes the place of an array of that name.
void put_array(std::vector<MeshArray>& arrays, MeshArray array);
/// Of an array with these values: in older files, vtkGhostLevels stands for vtkGhostType, where 1 is "duplicate".
void mark_ghosts(MeshArray& array, void* values);

/// What VTK is to know of an array.
[[nodiscard]] VtkOutput::Array vtk_array(const MeshArray& array);

}  // namespace heddle::impl
