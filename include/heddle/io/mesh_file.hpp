// Unstructured meshes and surfaces in files: VTK's, Gmsh's, .stl and .ply are read; meshes are written as .vtu, and
// surfaces as .vtp, .vtu, .stl, .ply and .msh.
#pragma once

#include <heddle/core/mesh.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle {

/// The values of an array in host memory: element (i, j) is component j of what point or cell i has. A list v of n
/// numbers is ArrayValues<T>(v.data(), n, 1).
template <class T> using ArrayValues = Kokkos::View<const T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// A named array of numbers on points or on cells, which travels with a mesh from file to file.
struct MeshArray {
  using Values =
      std::variant<ArrayValues<std::int8_t>, ArrayValues<std::uint8_t>, ArrayValues<std::int16_t>,
                   ArrayValues<std::uint16_t>, ArrayValues<std::int32_t>, ArrayValues<std::uint32_t>,
                   ArrayValues<std::int64_t>, ArrayValues<std::uint64_t>, ArrayValues<float>, ArrayValues<double>>;
  std::string name;  ///< Name of the array in files.
  Values values;     ///< The numbers, of any of ten types.

  /// Number of points or cells that the array has values for.
  [[nodiscard]] Index size() const;
  /// Number of components of each value.
  [[nodiscard]] Index components() const;
};

/// The nodes of cells of second order, in host memory: all that a file says of its cells, where it has any of those.
/// The numbers of types and the order of nodes are VTK's: the corners, a node on each edge, then nodes in the middle.
struct CellNodes {
  Kokkos::View<const std::uint8_t*, Kokkos::HostSpace> types;  ///< VTK's number for the type of each cell.
  Kokkos::View<const Index*, Kokkos::HostSpace>
      offsets;  ///< Cell c has points(offsets(c)) to points(offsets(c + 1) - 1).
  Kokkos::View<const Index*, Kokkos::HostSpace> points;  ///< Numbers of the points of all cells, cell after cell.

  /// Whether all cells are linear.
  [[nodiscard]] bool empty() const { return offsets.extent(0) == 0; }
};

/// A mesh with the coordinates of its points and the arrays on points and cells, in host memory: the contents of a file
/// that was read or is to be written. Nothing here is collective: a rank that reads a file reads it for itself.
///
/// Memory: 24 bytes for each point, 8 bytes for each corner (32 for a tetrahedron, 64 for a hexahedron), 9 more for
/// each cell where kinds are mixed, and the arrays as they are in the file. Copies share all of it.
class MeshFile {
 public:
  using HostMesh = Mesh<Index, Kokkos::HostSpace>;
  /// The coordinates x, y and z of each point.
  using Points = Kokkos::View<const double* [3], Kokkos::LayoutRight, Kokkos::HostSpace>;

  /// Makes the contents of a file from a mesh that a program made, by one pass over the cells. Throws Error(argument),
  /// naming the cell or array, for an unknown kind of cell, offsets that don't fit the kinds, a corner that is none of
  /// the points, an array that is not one tuple for each point or cell, a polyhedron without faces or with more than
  /// most_polyhedron_faces, and nodes that are not those of the same cells.
  MeshFile(HostMesh mesh, Points points, std::vector<MeshArray> point_arrays = {},
           std::vector<MeshArray> cell_arrays = {}, PolyhedronFaces polyhedra = {}, CellNodes nodes = {});

  /// Reads a mesh from a file. The ending chooses the format: .vtu, .pvtu, .vtp, .vti or .vtk (VTK), .msh (Gmsh), .stl
  /// or .ply. docs/site/guide-search.md, section "Mesh files", says what is taken and kept of each.
  ///
  /// \code
  ///   const heddle::MeshFile file = heddle::MeshFile::read("part.msh");
  ///   const auto surface = heddle::search::external_faces(space, file.mesh());
  /// \endcode
  ///
  /// - Shapes: cells keep the file's order; points are numbered from 0 in the file's order. Cells are of CellKind's
  ///   kinds, pixels as quads. Cells of second order have their corners in mesh() and all nodes in nodes(); the faces
  ///   of polyhedra, at most most_polyhedron_faces each, are in polyhedra(). The mesh is uniform where all cells have
  ///   one kind with one number of corners. Named arrays of numbers are kept; the cell array vtkGhostType gives
  ///   Mesh::ghosts by its bit 1.
  /// - Errors: throws Error(argument) for another ending; Error(input), naming the file, the place (line, byte, cell or
  ///   piece) and the reason, for a file that cannot be opened or is cut short, and for contents that are malformed, do
  ///   not fit the counts announced, or are not taken. A damaged or hostile file takes no more memory than the file can
  ///   hold: 8192 times its size if packed, and 2^24 points for an image or grid without arrays.
  /// - Blocking: not collective; blocks until done.
  /// - Cost: memory besides the result is that of the cells once more (.vtk, .ply, .vtp, .pvtu, .vtu of several
  ///   pieces), of the file up to its appended data and one array at a time (VTK's XML), 24 to 32 bytes a point and 29
  ///   a cell (.msh), or 32 bytes a corner (.stl).
  [[nodiscard]] static MeshFile read(const std::filesystem::path& path);

  /// The cells and the numbers of their points.
  [[nodiscard]] const HostMesh& mesh() const noexcept { return mesh_; }
  /// The faces of cells that are polyhedra.
  [[nodiscard]] const PolyhedronFaces& polyhedra() const noexcept { return polyhedra_; }
  /// The nodes of all cells, where some are of second order; mesh() has the corners of these, as of linear cells.
  [[nodiscard]] const CellNodes& nodes() const noexcept { return nodes_; }
  /// The coordinates of the points.
  [[nodiscard]] const Points& points() const noexcept { return points_; }
  /// The arrays with a value for each point.
  [[nodiscard]] const std::vector<MeshArray>& point_arrays() const noexcept { return point_arrays_; }
  /// The arrays with a value for each cell.
  [[nodiscard]] const std::vector<MeshArray>& cell_arrays() const noexcept { return cell_arrays_; }

 private:
  MeshFile() = default;

  HostMesh mesh_;
  PolyhedronFaces polyhedra_;
  CellNodes nodes_;
  Points points_;
  std::vector<MeshArray> point_arrays_;
  std::vector<MeshArray> cell_arrays_;
};

/// How numbers are written: as text, as bytes, or as bytes packed by zlib. Only VTK's files are packed; other formats
/// get bytes instead.
enum class MeshEncoding { ascii, binary, compressed };

/// The name of an encoding: "ascii", "binary" or "compressed".
[[nodiscard]] std::string_view to_string(MeshEncoding encoding);
/// The encoding of a name. Throws Error(argument) for any other text.
[[nodiscard]] MeshEncoding mesh_encoding_from(std::string_view text);

/// How a surface is written.
struct SurfaceOptions {
  MeshEncoding encoding = MeshEncoding::compressed;  ///< How numbers are written.
  /// Faces of cells of second order with all their nodes, not the corners alone: as cells of second order in .vtu and
  /// .msh files, and as 4 to 8 triangles each in the others.
  bool curved = false;
  /// Further cell arrays of the surface, with one tuple for each face.
  std::vector<MeshArray> arrays;
};

/// The faces, which are ordered by cell, and among them the mesh's own cells of two dimensions, as faces of side
/// whole_cell; those that Mesh::ghosts marks only with `ghosts`. VTK's surface filters pass such cells on, too.
/// O(cells).
[[nodiscard]] FaceList<Index, Kokkos::HostSpace> with_surface_cells(const MeshFile& file,
                                                                    const FaceList<Index, Kokkos::HostSpace>& faces,
                                                                    bool ghosts = true);

/// Writes faces of cells of `from` as a surface. The ending chooses the format: .vtp, .vtu, .stl, .ply or .msh (2.2);
/// docs/site/guide-search.md, section "Mesh files", says what each holds. Points are those that faces use, in
/// increasing order; arrays those of `from`, OriginalPointIds, OriginalCellIds, OriginalCellSides, and those of the
/// options, which win.
/// - Errors: throws Error(output), naming the file and the reason, also for numbers that the format has no room for;
///   Error(argument) for another ending, faces that are none of `from`'s or have fewer than three points, and arrays of
///   another length.
/// - Blocking: not collective, one rank writes; blocks. The file appears complete or not at all.
/// - Cost: 8 bytes of memory for each point of `from`, and the surface.
void write_surface(const std::filesystem::path& path, const MeshFile& from,
                   const FaceList<Index, Kokkos::HostSpace>& faces, const SurfaceOptions& options = {});

/// Writes the whole mesh as a .vtu file, with Mesh::ghosts as the array vtkGhostType unless an array of that name is
/// there. Throws and blocks as write_surface() does. Memory: 9 bytes for each cell where the mesh is uniform. Bits:
/// reading the file back gives the same mesh.
void write_mesh(const std::filesystem::path& path, const MeshFile& mesh,
                MeshEncoding encoding = MeshEncoding::compressed);

/// Throws Error(argument) unless `path` ends in .vtu, .vtp, .vti, .pvtu, .vtk, .msh, .stl or .ply, as a file that is
/// read must; for programs that compute long before they read.
void require_mesh_ending(const std::filesystem::path& path);
/// Throws Error(argument) unless `path` ends in .vtp, .vtu, .stl, .ply or .msh, as the file of a surface must; for
/// programs that compute long before they write.
void require_surface_ending(const std::filesystem::path& path);

}  // namespace heddle
