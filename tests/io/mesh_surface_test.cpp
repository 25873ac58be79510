// Surfaces written and read without VTK: .stl, .ply, .msh and .vtp; cells of second order, and polyhedra.
#include "io/mesh_support.hpp"
#include "support/errors.hpp"
#include <heddle/io/mesh_file.hpp>

#include <algorithm>
#include <bit>
#include <tuple>

namespace heddle::mesh_surface_test {
namespace {

using HostFaces = FaceList<Index, Kokkos::HostSpace>;
using test::all_encodings;
using test::array;
using test::list;

HostFaces faces_of(const std::vector<Index>& cell, const std::vector<std::uint8_t>& side,
                   const std::vector<std::vector<Index>>& polygons) {
  HostFaces faces;
  std::vector<Index> offsets = {0};
  std::vector<Index> points;
  for (const auto& polygon : polygons) {
    points.insert(points.end(), polygon.begin(), polygon.end());
    offsets.push_back(static_cast<Index>(points.size()));
  }
  faces.cell = list(cell);
  faces.side = list(side);
  faces.offsets = list(offsets);
  faces.points = list(points);
  return faces;
}

// A number as bytes, the most significant first.
template <class Number> std::string big_endian(Number value) {
  auto bytes = std::bit_cast<std::array<char, sizeof(Number)>>(value);
  if (std::endian::native == std::endian::little) std::reverse(bytes.begin(), bytes.end());
  return {bytes.data(), bytes.size()};
}

class MeshSurfaces : public ::testing::Test {
 protected:
  // A hexahedron, a triangle, and a pentagon of their points.
  static MeshFile cube() {
    return {test::mixed_mesh({CellKind::hexahedron, CellKind::triangle, CellKind::polygon},
                             {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 5, 6}, {4, 5, 8, 6, 7}}),
            test::points(
                {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}, {2, 0.5, 1}}),
            {array<double>("t", {0, 1, 2, 3, 4, 5, 6, 7, 1. / 3})},
            {array<std::int32_t>("PhysicalGroup", {7, 0, 9}), array<float>("v w", {1, 2, 3, 4, 5, 6}, 2)}};
  }
  // Two sides of the hexahedron, and the other cells.
  static HostFaces some_faces() {
    return with_surface_cells(cube(), faces_of({0, 0}, {4, 5}, {{0, 3, 2, 1}, {4, 5, 6, 7}}));
  }
  MeshFile read(const std::string& name, const std::string& bytes) {
    return MeshFile::read(folder_.write(name, bytes));
  }
  void refuse(const std::string& name, const std::string& bytes, const std::string& message) {
    EXPECT_EQ(test::refusal(folder_.write(name, bytes)), message);
  }
  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(MeshSurfaces, CellsOfTwoDimensionsStandAmongFaces) {
  const HostFaces faces = some_faces();
  ASSERT_EQ(faces.size(), 4);
  EXPECT_EQ(faces.cell(2), 1);
  EXPECT_EQ(faces.side(2), whole_cell);
  EXPECT_EQ(faces.offsets(4), 16);
  EXPECT_EQ(faces.points(15), 7);
  test::HostMesh marked = cube().mesh();
  marked.ghosts = list<std::uint8_t>({0, 1, 0});
  const MeshFile file(marked, cube().points());
  EXPECT_EQ(with_surface_cells(file, {}, true).size(), 2);
  EXPECT_EQ(with_surface_cells(file, {}, false).size(), 1);
}

TEST_F(MeshSurfaces, PolygonFilesComeBack) {
  for (const MeshEncoding encoding : all_encodings) {
    const auto path = folder_ / "a surface.ply";
    write_surface(path, cube(), some_faces(), {.encoding = encoding, .arrays = {}});
    const MeshFile file = MeshFile::read(path);
    ASSERT_EQ(file.mesh().cells(), 4);
    EXPECT_EQ(test::kind_of(file.mesh(), 3), CellKind::polygon);
    EXPECT_EQ(file.mesh().offsets(4) - file.mesh().offsets(3), 5);
    EXPECT_EQ(test::corners(file.mesh(), 2), (std::vector<Index>{8, 5, 6}));
    EXPECT_EQ(file.points()(8, 1), 0.5);
    EXPECT_EQ(test::values<double>(file.point_arrays(), "t").back(), 1. / 3);
    EXPECT_EQ(test::values<std::int32_t>(file.cell_arrays(), "OriginalCellIds"),
              (std::vector<std::int32_t>{0, 0, 1, 2}));
    EXPECT_EQ(test::values<std::uint8_t>(file.cell_arrays(), "OriginalCellSides"),
              (std::vector<std::uint8_t>{4, 5, 255, 255}));
    EXPECT_EQ(test::values<float>(file.cell_arrays(), "v_w_1"), (std::vector<float>{2, 2, 4, 6}));
  }
}

TEST_F(MeshSurfaces, GmshFilesComeBack) {
  for (const MeshEncoding encoding : all_encodings) {
    const auto path = folder_ / "surface.msh";
    write_surface(path, cube(), some_faces(), {.encoding = encoding, .arrays = {}});
    const MeshFile file = MeshFile::read(path);
    // The pentagon is three triangles.
    ASSERT_EQ(file.mesh().cells(), 6);
    EXPECT_EQ(test::corners(file.mesh(), 1), (std::vector<Index>{4, 5, 6, 7}));
    EXPECT_EQ(test::values<std::int32_t>(file.cell_arrays(), "PhysicalGroup"),
              (std::vector<std::int32_t>{7, 7, 0, 9, 9, 9}));
    EXPECT_EQ(test::values<double>(file.cell_arrays(), "OriginalCellIds"), (std::vector<double>{0, 0, 1, 2, 2, 2}));
    EXPECT_EQ(test::values<double>(file.point_arrays(), "t").back(), 1. / 3);
  }
}

TEST_F(MeshSurfaces, TrianglesOfStereolithographyLookOutwards) {
  for (const MeshEncoding encoding : all_encodings) {
    const auto path = folder_ / "surface.stl";
    write_surface(path, cube(), some_faces(), {.encoding = encoding, .arrays = {}});
    const MeshFile file = MeshFile::read(path);
    EXPECT_EQ(file.mesh().cells(), 2 + 2 + 1 + 3);
    EXPECT_EQ(file.points().extent(0), 9U);
    for (const Index cell : {0, 1, 2, 3}) {
      const auto corner = test::corners(file.mesh(), cell);
      const auto at = [&](std::size_t k, int axis) { return file.points()(corner[k], axis); };
      const double z = (at(1, 0) - at(0, 0)) * (at(2, 1) - at(0, 1)) - (at(1, 1) - at(0, 1)) * (at(2, 0) - at(0, 0));
      EXPECT_EQ(z, cell < 2 ? -1 : 1);
    }
  }
  const MeshFile large(
      cube().mesh(),
      test::points(
          {{0, 0, 0}, {1e300, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}, {2, 0.5, 1}}));
  test::expect_refusal(ErrorKind::output, "e+300 is beyond the 32-bit numbers of .stl files",
                       [&] { write_surface(folder_ / "large.stl", large, some_faces()); });
  EXPECT_FALSE(std::filesystem::exists(folder_ / "large.stl"));
}

TEST_F(MeshSurfaces, FilesOfVtkNeedNoVtk) {
  write_surface(folder_ / "s.vtp", cube(), some_faces(), {.encoding = MeshEncoding::ascii, .arrays = {}});
  const std::string text = test::text_of(folder_ / "s.vtp");
  EXPECT_NE(text.find("NumberOfPolys=\"4\""), std::string::npos);
  EXPECT_NE(text.find("4 8 11 16"), std::string::npos);
  write_mesh(folder_ / "m.vtu", cube(), MeshEncoding::binary);
  EXPECT_NE(test::text_of(folder_ / "m.vtu").find("NumberOfCells=\"3\""), std::string::npos);
}

TEST_F(MeshSurfaces, StereolithographyRefused) {
  refuse("a.stl", "facet\n",
         ": is no .stl file: it does not begin with solid, and has 6 bytes, where 84 are expected of "
         "a binary file of 0 triangles");
  refuse("a.stl", "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\n",
         ", line 5: expected z, found the end of the line");
  refuse("a.stl", "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 nan\n",
         ", line 5: z 'nan' is not finite");
  refuse("a.stl", "solid s\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\n",
         ", line 7: expected endloop, found 'vertex'");
  refuse("a.stl", "solid s\n", ", line 1: the file ends without endsolid");
  EXPECT_EQ(read("none.stl", "solid\nendsolid\n").mesh().cells(), 0);
  const std::string facet =
      "facet normal 0 0 0\nouter loop\nvertex 0 0 0\n vertex 1D0 0 0\nvertex 0 1.d+00 0\nendloop\nendfacet\n";
  for (const char* const before : {" ", "\t", "\n", "\r\n \r\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF \n"}) {
    const MeshFile mesh = read("led.stl", std::string(before) + "solid cube\n" + facet + " endsolid\n");
    EXPECT_EQ(mesh.mesh().cells(), 1) << before;
    EXPECT_EQ(mesh.points()(1, 0), 1) << before;
  }
}

TEST_F(MeshSurfaces, PolygonFilesOfBothByteOrders) {
  const std::string header =
      " 1.0\nobj_info o\nelement vertex 3\nproperty float x\nproperty double y\nproperty int16 z\nproperty uchar red\n"
      "element edge 1\nproperty int a\nelement face 1\nproperty list uchar uint vertex_index\nproperty float "
      "v\nend_header\n";
  const MeshFile text = read("t.ply", "ply\nformat ascii" + header + "0 0 0 1\n1 0 0 2\n0 1.5 -1\n3\n9\n3 0 1 2 nan\n");
  std::string bytes = "ply\nformat binary_big_endian" + header;
  for (const auto& [x, y, z, red] : {std::tuple(0.F, 0., 0, '\1'), {1.F, 0., 0, '\2'}, {0.F, 1.5, -1, '\3'}}) {
    bytes += big_endian(x) + big_endian(y) + big_endian(static_cast<std::int16_t>(z)) + red;
  }
  bytes += big_endian(std::int32_t{9}) + '\3';
  for (const std::uint32_t corner : {0U, 1U, 2U}) bytes += big_endian(corner);
  const MeshFile big = read("b.ply", bytes + big_endian(2.5F));
  for (const MeshFile& file : {text, big}) {
    EXPECT_EQ(file.mesh().kind, CellKind::triangle);
    EXPECT_EQ(test::corners(file.mesh(), 0), (std::vector<Index>{0, 1, 2}));
    EXPECT_EQ(file.points()(2, 1), 1.5);
    EXPECT_EQ(file.points()(2, 2), -1);
    EXPECT_EQ(test::values<std::uint8_t>(file.point_arrays(), "red"), (std::vector<std::uint8_t>{1, 2, 3}));
  }
  EXPECT_EQ(test::values<float>(big.cell_arrays(), "v"), std::vector<float>{2.5F});
  refuse("c.ply", bytes, ", byte " + std::to_string(bytes.size()) + ": the file ends where v is expected");
}

TEST_F(MeshSurfaces, PolygonFilesRefused) {
  const std::string vertices =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string faces = "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0 1 0 0 0 1 0\n";
  refuse("a.ply", "plx\n", ", line 1: expected ply, with which .ply files begin");
  refuse("a.ply", vertices, ", line 6: the file ends where end_header is expected");
  refuse("a.ply", vertices + "end_header\n0 0 0 1 0 0 0 1 0\n", ": has no element face, where a surface is expected");
  refuse("a.ply", vertices + faces + "2 0 1\n", ", line 11: face 0 has 2 vertices, where 3 or more are expected");
  refuse("a.ply", vertices + faces + "3 0 1 3\n",
         ": cell 0 has the corner 3, where there are 3 points, numbered from 0");
  refuse("a.ply", vertices + faces + "3 0 1 -1\n",
         ", line 11: face 0 has the vertex -1, where a number from 0 on is expected");
  refuse("a.ply", vertices + faces + "200 0 1 1\n",
         ", line 11: a list of 200 numbers, where the file has " + std::to_string(vertices.size() + faces.size() + 10) +
             " bytes");
  refuse("a.ply", "ply\nformat ascii 1.0\nelement vertex 999999999\nproperty float x\nend_header\n",
         ": 999999999 elements 'vertex' are announced, more than the file's 74 bytes can hold");
}

TEST_F(MeshSurfaces, GmshFilesOfAnotherByteOrder) {
  std::string bytes = "$MeshFormat\n2.2 1 8\n" + big_endian(std::int32_t{1}) + "\n$EndMeshFormat\n$Nodes\n3\n";
  for (const std::int32_t tag : {1, 2, 3}) {
    bytes += big_endian(tag) + big_endian(0.5 * tag) + big_endian(tag == 2 ? 1. : 0.) + big_endian(-3.25);
  }
  bytes += "\n$EndNodes\n$Elements\n1\n";
  for (const std::int32_t number : {2, 1, 2, 1, 5, 1, 1, 2, 3}) bytes += big_endian(number);
  bytes += "\n$EndElements\n$NodeData\n1\n\"t\"\n1\n0\n3\n0\n1\n1\n" + big_endian(std::int32_t{2}) + big_endian(7.5) +
           "\n$EndNodeData\n";
  if (std::endian::native == std::endian::big) GTEST_SKIP() << "this machine's own order is read by other tests";
  const MeshFile file = read("big.msh", bytes);
  EXPECT_EQ(test::corners(file.mesh(), 0), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(file.points()(2, 0), 1.5);
  EXPECT_EQ(file.points()(1, 2), -3.25);
  EXPECT_EQ(test::values<std::int32_t>(file.cell_arrays(), "PhysicalGroup"), std::vector<std::int32_t>{5});
  const auto t = test::values<double>(file.point_arrays(), "t");
  EXPECT_TRUE(std::isnan(t[0]) && t[1] == 7.5 && std::isnan(t[2]));
}

TEST_F(MeshSurfaces, CellsOfSecondOrder) {
  const MeshFile file = MeshFile::read(test::mesh_data("gmsh/mixed-second-order.msh"));
  ASSERT_FALSE(file.nodes().empty());
  Index tetrahedron = 0;
  while (file.nodes().types(tetrahedron) != 24) ++tetrahedron;
  const auto corners = test::corners(file.mesh(), tetrahedron);
  const Index* const nodes = file.nodes().points.data() + file.nodes().offsets(tetrahedron);
  EXPECT_EQ(corners, std::vector<Index>(nodes, nodes + 4));
  const HostFaces face = faces_of({tetrahedron}, {0}, {{corners[0], corners[1], corners[3]}});
  // Corners 0, 1 and 3, and the nodes on the edges 01, 13 and 03.
  const std::vector<Index> expected = {nodes[0], nodes[1], nodes[3], nodes[4], nodes[8], nodes[7]};
  for (const bool curved : {false, true}) {
    write_surface(folder_ / "s.msh", file, face, {.curved = curved, .arrays = {}});
    const MeshFile surface = MeshFile::read(folder_ / "s.msh");
    ASSERT_EQ(surface.mesh().cells(), 1);
    EXPECT_EQ(surface.nodes().empty(), !curved);
    const auto original = test::values<double>(surface.point_arrays(), "OriginalPointIds");
    const auto& of = curved ? surface.nodes().points : surface.mesh().points;
    ASSERT_EQ(of.extent(0), curved ? 6U : 3U);
    for (std::size_t k = 0; k < of.extent(0); ++k) EXPECT_EQ(original[static_cast<std::size_t>(of(k))], expected[k]);
    write_surface(folder_ / "s.ply", file, face, {.curved = curved, .arrays = {}});
    EXPECT_EQ(MeshFile::read(folder_ / "s.ply").mesh().cells(), curved ? 4 : 1);
  }
}

TEST_F(MeshSurfaces, PolyhedraOfLegacyFiles) {
  const std::string header =
      "# vtk DataFile Version 4.2\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n";
  const std::string cells = "CELLS 1 18\n17 4 3 0 2 1 3 0 1 3 3 1 2 3 3 0 3 2\nCELL_TYPES 1\n42\n";
  const MeshFile file = read("p.vtk", header + cells);
  EXPECT_EQ(file.mesh().kinds(0), CellKind::polyhedron);
  EXPECT_EQ(file.mesh().offsets(1), 4);
  ASSERT_FALSE(file.polyhedra().empty());
  EXPECT_EQ(file.polyhedra().cells(1), 4);
  EXPECT_EQ(file.polyhedra().offsets(4), 12);
  EXPECT_EQ(file.polyhedra().points(11), 2);
  refuse("q.vtk", header + "CELLS 1 18\n17 4 3 0 2 1 3 0 1 3 3 1 2 4 3 0 3 2\nCELL_TYPES 1\n42\n",
         ": cell 0 has the corner 4, where there are 4 points, numbered from 0");
  refuse(
      "r.vtk", header + "CELLS 1 18\n17 4 3 0 2 1 3 0 1 3 3 1 2 3 4 0 3 2\nCELL_TYPES 1\n42\n",
      ": cell 0, a polyhedron, is no list of faces: 17 numbers that begin with the number of faces, and each of these "
      "with the number of its points, are expected");
}

}  // namespace
}  // namespace heddle::mesh_surface_test
