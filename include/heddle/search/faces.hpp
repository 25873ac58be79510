// External faces: the sides of cells that no other cell shares.
#pragma once

#include <heddle/core/mesh.hpp>
#include <heddle/search/algorithm.hpp>

#include <memory>

namespace heddle::search {

/// What is done with cells that Mesh::ghosts marks as copies of another rank's or piece's cells.
enum class GhostCells {
  hide,  ///< Their faces are not in the result, and faces of other cells that touch them count as internal.
  drop,  ///< They are ignored.
  keep,  ///< They are treated as all other cells are.
};

/// How external faces are found.
struct ExternalFacesOptions {
  SearchOptions search = {};             ///< How equal sides are found.
  GhostCells ghosts = GhostCells::hide;  ///< What is done with ghost cells.
};

/// What a search for external faces found, and how.
struct ExternalFacesReport {
  SearchReport search;  ///< How the search was done.
  Index cells = 0;      ///< Number of cells that have faces: those of three dimensions that were not dropped.
  Index faces = 0;      ///< Number of sides of these cells.
  Index external = 0;   ///< Number of sides that no other side equals.
  /// Number of sides that at least two others equal.
  Index nonmanifold_sides = 0;
  /// Number of different faces among the nonmanifold sides.
  Index nonmanifold_faces = 0;
  Index degenerate_sides = 0;  ///< Number of sides with fewer than three different points, which have no area.
};

/// The external faces of a mesh, and those of its faces that are sides of cells more than twice.
template <PointId Id> struct ExternalFaces {
  /// The external faces, ordered by cell, then side.
  FaceList<Id> external;
  /// The sides that at least two others equal, ordered by cell, then side.
  FaceList<Id> nonmanifold;
  /// For each nonmanifold side, the number of its face: equal sides have one number. Faces are numbered by first
  /// occurrence.
  Kokkos::View<Index*, MemorySpace> nonmanifold_face;
  ExternalFacesReport report;  ///< What was found, and how.
};

/// Finds the external faces of a mesh: those sides of cells whose set of points no other side of any cell has.
///
/// Sides are compared by all their points, in whatever order. A quadrilateral with one point twice is the triangle of
/// the three; a side of fewer than three points has no area: it is counted, and is neither external nor internal. Two
/// sides of one cell can equal each other, as those of a hexahedron that is folded flat.
///
/// Faces are ordered by cell, then side, and have their points in VTK's order for that side: the face looks outwards
/// where the cell's own points are in VTK's order. Bits: reproducible; the result is the same for any algorithm, hash
/// function, backend and number of threads.
///
/// `mesh` may be in host memory on a GPU backend. With `partition`, cells then cross the bus in blocks of 64 MiB, once
/// for counting and once for each pass, and the device never holds them all; the other algorithms make a copy on the
/// device.
///
/// Throws Error(argument), naming the cell, for a negative point, an unknown kind of cell, or offsets that don't fit.
/// Blocks until done. Cost of `partition`: 16 bytes for each side, or 24 where the numbers of points span more than 32
/// bits (sides of tetrahedra) or about 2^28 points (quadrilaterals); 2 bytes for each cell. Traffic is twice the
/// connectivity and twice these bytes. On CPUs, where cells that follow each other mostly have near numbers of points,
/// `partition` has a list for each point instead of buckets by hash, of the sides whose smallest point it is: 12 bytes
/// for each side, and 4 for each point and thread, which is no more and stays in the cache.
///
/// Source of the problem and of the other algorithms: Lessley, Moreland, Larsen, Childs, "Techniques for data-parallel
/// searching for duplicate elements", LDAV 2017.
template <PointId Id, class Space>
[[nodiscard]] ExternalFaces<Id> external_faces(const ExecutionSpace& space, const Mesh<Id, Space>& mesh,
                                               const ExternalFacesOptions& options = {});

/// external_faces() for repeated use: what the search and its lists take of memory is kept from one execute() to the
/// next. One that needs no more than those before it, as with as many cells that have as many external faces, allocates
/// and frees nothing (`hash_fight`, whose rounds depend on which thread comes last, may). On GPUs that saves a good
/// part of the time, since memory is given back slowly.
///
/// Memory: what external_faces() holds, with the arrays of all phases side by side, and the lists: memory().
template <PointId Id> class ExternalFacesPlan {
 public:
  /// Makes a plan for searches on `space`. Takes no memory yet.
  explicit ExternalFacesPlan(const ExecutionSpace& space, const ExternalFacesOptions& options = {});
  ~ExternalFacesPlan();
  ExternalFacesPlan(ExternalFacesPlan&&) noexcept;
  ExternalFacesPlan& operator=(ExternalFacesPlan&&) noexcept;

  /// What external_faces() gives for this mesh, in the plan's memory: a reference that holds until the next execute().
  /// Views that the caller has copied from it by then stay as they are, and the plan takes new memory in their place.
  /// Throws as external_faces() does; the plan can be used again. Blocks until done.
  template <class Space> const ExternalFaces<Id>& execute(const Mesh<Id, Space>& mesh);
  /// Bytes that the plan keeps, those of the last lists included.
  [[nodiscard]] Index memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Finds the external faces of a mesh in host memory that may have polyhedra beside other cells: the same, with sides
/// of any number of points. Throws Error(argument) where the faces are none of the mesh's polyhedra. Cost: a search by
/// keys of nine words for each eight points of a side, and the sides with their points in host memory.
[[nodiscard]] ExternalFaces<Index> external_faces(const ExecutionSpace& space,
                                                  const Mesh<Index, Kokkos::HostSpace>& mesh,
                                                  const PolyhedronFaces& polyhedra,
                                                  const ExternalFacesOptions& options = {});

/// Finds the external faces of a rectangular grid by formula, without a search. Cost: O(faces of the result). A grid
/// with an extent of 0 has no faces.
template <PointId Id = Index>
[[nodiscard]] ExternalFaces<Id> external_faces(const ExecutionSpace& space, const StructuredGrid& grid);

}  // namespace heddle::search
