// External faces: the sides of cells that no other cell shares.
#pragma once

#include <heddle/core/mesh.hpp>
#include <heddle/search/algorithm.hpp>

#include <iosfwd>
#include <memory>

namespace heddle::search {

/// Treatment of cells that Mesh::ghosts marks as copies of another rank's or piece's cells.
enum class GhostCells {
  hide,  ///< Their faces are not in the result, and faces of other cells that touch them count as internal.
  drop,  ///< They are ignored.
  keep,  ///< They are treated as all other cells are.
};

/// Options of external_faces().
struct ExternalFacesOptions {
  SearchOptions search = {};             ///< How equal sides are found.
  GhostCells ghosts = GhostCells::hide;  ///< Treatment of ghost cells.
};

/// Report of a search for external faces.
struct ExternalFacesReport {
  SearchReport search;  ///< How the search was done.
  Index cells = 0;      ///< Number of cells that have faces: cells of three dimensions that were not dropped.
  Index faces = 0;      ///< Number of sides of these cells.
  Index external = 0;   ///< Number of sides that no other side equals.
  /// Number of sides that at least two others equal.
  Index nonmanifold_sides = 0;
  /// Number of different faces among the nonmanifold sides.
  Index nonmanifold_faces = 0;
  Index degenerate_sides = 0;  ///< Number of sides with fewer than three different points, which have no area.
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const ExternalFacesReport& report);

/// The external faces of a mesh, and the faces that are sides of cells more than twice.
template <PointId Id> struct ExternalFaces {
  /// The external faces, ordered by cell, then side.
  FaceList<Id> external;
  /// The sides that at least two others equal, ordered by cell, then side.
  FaceList<Id> nonmanifold;
  /// For each nonmanifold side, the number of its face: equal sides have one number. Faces are numbered by first
  /// occurrence.
  Kokkos::View<Index*, MemorySpace> nonmanifold_face;
  ExternalFacesReport report;  ///< Report of the search.
};

/// Find the external faces of a mesh: the sides of cells whose set of points no other side of any cell has. A side with
/// fewer than three different points is counted, and is neither external nor internal.
/// - Shapes: `mesh` may be in host memory: on GPUs `partition` brings it in blocks, other algorithms whole. Faces are
///   ordered by cell, then side, with VTK's order of points: outwards if the cell's own points are in VTK's order.
/// - Errors: throws Error(argument), naming the cell, for a negative point, an unknown kind, or offsets that don't fit.
/// - Bits: reproducible; the same for any algorithm, hash function, backend and number of threads. Blocks until done.
/// - Cost of `partition`: memory of 16 or 24 bytes a side and 2 a cell; traffic of twice that and twice the
///   connectivity.
/// - Source: B. Lessley, K. Moreland, M. Larsen, H. Childs, LDAV 2017, for the problem and the other algorithms;
///   docs/notes/search.md, section "Memory, and several passes".
template <PointId Id, class Space>
[[nodiscard]] ExternalFaces<Id> external_faces(const ExecutionSpace& space, const Mesh<Id, Space>& mesh,
                                               const ExternalFacesOptions& options = {});

/// external_faces() for repeated use: the memory of the search and its lists is kept from one execute() to the next. A
/// call that needs no more than earlier ones, as with equal numbers of cells and external faces, allocates and frees
/// nothing (`hash_fight` may, since its rounds depend on which thread writes last). On GPUs this saves a good part of
/// the time, since freeing memory is slow.
///
/// Memory: that of external_faces(), with the arrays of all phases at once, and of the lists; see memory().
template <PointId Id> class ExternalFacesPlan {
 public:
  /// Makes a plan for searches on `space`. Takes no memory yet.
  explicit ExternalFacesPlan(const ExecutionSpace& space, const ExternalFacesOptions& options = {});
  ~ExternalFacesPlan();
  ExternalFacesPlan(ExternalFacesPlan&&) noexcept;
  ExternalFacesPlan& operator=(ExternalFacesPlan&&) noexcept;

  /// Run external_faces() on this mesh, in the plan's memory. The returned reference is valid until the next execute().
  /// Views that the caller has copied from it by then keep their contents; the plan allocates new memory instead.
  /// Throws as external_faces() does; the plan can then be used again. Blocks until done.
  template <class Space> const ExternalFaces<Id>& execute(const Mesh<Id, Space>& mesh);
  /// Bytes that the plan keeps, including those of the last lists.
  [[nodiscard]] Index memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Find the external faces of a mesh in host memory that may have polyhedra beside other cells; sides have any number
/// of points. Throws Error(argument) if `polyhedra` does not fit the mesh. Cost: a search by keys of nine words for
/// each eight points of a side, and the sides with their points in host memory.
[[nodiscard]] ExternalFaces<Index> external_faces(const ExecutionSpace& space,
                                                  const Mesh<Index, Kokkos::HostSpace>& mesh,
                                                  const PolyhedronFaces& polyhedra,
                                                  const ExternalFacesOptions& options = {});

/// Finds the external faces of a rectangular grid by formula, without a search. Cost: O(faces of the result). A grid
/// with an extent of 0 has no faces.
template <PointId Id = Index>
[[nodiscard]] ExternalFaces<Id> external_faces(const ExecutionSpace& space, const StructuredGrid& grid);

}  // namespace heddle::search
