// Surfaces as files have them, and their writers.
#pragma once

#include "io/mesh/mesh_parts.hpp"

namespace heddle::impl {

/// A surface: its cells are of kinds by VTK's numbers, in the mixed form, and curved ones have all their nodes.
/// The arrays are those that write_surface() promises.
struct Surface {
  MeshPoints points;
  HostKinds kinds;
  HostIndices offsets, corners;
  std::vector<MeshArray> point_arrays;
  std::vector<MeshArray> cell_arrays;

  [[nodiscard]] Index size() const { return static_cast<Index>(kinds.extent(0)); }
};

/// How a format has the faces of cells of second order.
enum class CurvedFaces { corners, triangles, cells };

/// The surface that faces of the cells of `from` make; `arrays` have a tuple for each face.
[[nodiscard]] Surface surface_of(const MeshFile& from, const FaceList<Index, Kokkos::HostSpace>& faces,
                                 CurvedFaces curved, const std::vector<MeshArray>& arrays);

/// Throws Error(argument) where the faces are none of the mesh's.
void require_faces(const MeshFile& from, const FaceList<Index, Kokkos::HostSpace>& faces);

void write_stl(const std::filesystem::path& path, const Surface& surface, MeshEncoding encoding);
void write_ply(const std::filesystem::path& path, const Surface& surface, MeshEncoding encoding);
void write_gmsh(const std::filesystem::path& path, const Surface& surface, MeshEncoding encoding);

/// f(a, b, c) for the triangles that a polygon of these corners is cut into: places among them.
template <class F> void each_triangle(const Surface& surface, Index face, const F& f) {
  const Index begin = surface.offsets(face);
  const Index size = surface.offsets(face + 1) - begin;
  // From the corner from which a quadrilateral's diagonal is the shorter.
  Index first = 0;
  if (size == 4) {
    const auto length = [&](Index one, Index other) {
      double sum = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const double d =
            surface.points(surface.corners(begin + one), axis) - surface.points(surface.corners(begin + other), axis);
        sum += d * d;
      }
      return sum;
    };
    first = length(1, 3) < length(0, 2) ? 1 : 0;
  }
  for (Index k = 1; k + 1 < size; ++k) f(first, (first + k) % size, (first + k + 1) % size);
}

}  // namespace heddle::impl
