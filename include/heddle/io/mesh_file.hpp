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

  /// Reads a file, whose ending chooses the format. Cells keep the file's order; points are numbered in the file's
  /// order, from 0. The mesh is in the uniform form where all cells are of one kind with one number of corners. Taken
  /// are cells of CellKind's kinds; pixels, as quads; and cells of second order, whose corners are in mesh() and all of
  /// whose nodes in nodes(). The faces of polyhedra are in polyhedra(), at most most_polyhedron_faces for each.
  ///
  /// .vtu: unstructured grids in VTK's XML, of one piece or several. Numbers may be text or bytes, in place or
  /// appended, raw or in base 64, plain or packed by zlib, LZ4 or LZMA; of several time steps, the first is read.
  /// .pvtu: grids whose pieces are .vtu files that it names; arrays that all have alike are kept. .vtp: polygons, lines
  /// of two points and single vertices. .vti: images, whose cells are voxels, quads or lines. .vtk: VTK's legacy
  /// formats up to 5.1, text and binary: unstructured grids; polygonal data, as of .vtp, without strips; structured
  /// points and rectilinear grids, whose cells are voxels, quads or lines; and structured grids, of hexahedra, quads or
  /// lines. All named arrays of numbers are kept, strings and bits are not. A cell array vtkGhostType gives
  /// Mesh::ghosts, by its bit 1, "duplicate cell".
  ///
  /// .msh: Gmsh's formats 2.0 to 2.2 and 4.1, in ASCII and in binary of either byte order, and 4.0 in ASCII, with one
  /// record on a line as Gmsh writes them. Numbers of nodes need neither be dense nor ordered; they become the point
  /// array GmshNodeTag. Physical groups, where there are any, become the cell array PhysicalGroup: 0 for elements in
  /// none, the first for those in several. In files of version 2, Gmsh writes an element in several groups once for
  /// each of them, and each copy is a cell. $NodeData and $ElementData behind the elements become arrays of double, not
  /// a number where nothing is given; of several time steps, the first is read. Elements of fewer than three dimensions
  /// are cells like all others. Prisms get their corners in VTK's order, 0 2 1 3 5 4; pyramids of 14 nodes lose the one
  /// in the base. Other sections are skipped but for $Entities, $PartitionedEntities, $Nodes (in files of
  /// version 2 also $ParametricNodes, whose places on entities are not kept) and $Elements.
  ///
  /// .stl: triangles in ASCII and binary; corners at the same place become one point. Normals and attributes are not
  /// kept. .ply: polygons, in ASCII and in binary of either byte order; other properties of vertices and faces that are
  /// no lists become arrays, and other elements are passed over.
  ///
  /// Numbers that are text may be written as Fortran does, with D for the exponent; white space and a byte order mark
  /// of UTF-8 may come before a text, but for white space before .vtk and .ply files.
  ///
  /// Throws Error(input), which names the file, the place (a line; a byte; a cell; a piece) and the reason, for
  /// files that can't be opened or are cut short; malformed numbers; announced counts that the file does not hold;
  /// cells whose corners are no points; node tags given twice or not at all; cells of other kinds, such as those of
  /// third order and strips; coordinates that are not finite, in .msh, .stl, .ply and text of .vtk; arrays that not all
  /// pieces of a .vtu have alike. Throws Error(argument) for another ending. Nothing in a file is believed before it is
  /// checked: a damaged file, or one made with intent, is refused, and memory is allocated for no more than the file
  /// can hold; packed data can hold up to 8192 times their size, and an image or grid without arrays and listed points
  /// up to 2^24 points.
  ///
  /// Blocks until done. Memory besides the result: for VTK's XML, the file up to its appended data, then one array at a
  /// time where it is not of the type that it becomes, and the cells twice where there are several pieces (all of them,
  /// in a .pvtu); for .vtk, .ply and .vtp, the cells twice; for .msh, 24 to 32 bytes for each
  /// point and 29 for each cell; for .stl, 32 bytes for each corner.
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

/// Writes faces of the cells of `from`, polygons in the order given. The ending chooses the format: .vtp (VTK,
/// polygons), .vtu (VTK, cells), .stl (triangles; polygons are cut), .ply (polygons) or .msh (Gmsh 2.2: triangles and
/// quadrilaterals; other polygons are cut into triangles). The points of the file are those that faces use, in
/// increasing order; in .stl, each triangle has its own.
///
/// Faces of wedges look outwards in whichever order most of the mesh's wedges have their corners: VTK 9.4 has the first
/// three as seen from outside, VTK 9.7 as seen from inside.
///
/// The arrays of the file are those of `from` on the points and on the cells that the faces belong to; OriginalPointIds
/// of the points; OriginalCellIds and OriginalCellSides of the faces; and those of the options, which replace others of
/// the same name. An .stl file has no arrays; a .ply file has each component as a property, and whole numbers beyond 32
/// bits as double; a .msh file has them as node and element data in double, and PhysicalGroup as the elements' group.
///
/// Not collective: one rank writes. The file is written under another name beside its place and renamed when it is
/// complete. Throws Error(output), which names the file and the reason, also for numbers that the format has no room
/// for; Error(argument) for another ending, for faces with fewer than three points, of no cell or with a point that is
/// none, and for arrays of another length. Blocks until done. Memory: 8 bytes for each point of `from`, and the
/// surface.
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
