// Gmsh's files: the same mesh in every form that Gmsh writes, and what its format allows beyond.
#include "mesh_support.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::mesh_gmsh_test {
namespace {

using test::mesh_data;

using Vector = std::array<double, 3>;

Vector point(const MeshFile& file, Index id) {
  return {file.points()(id, 0), file.points()(id, 1), file.points()(id, 2)};
}

double triple_product(const Vector& a, const Vector& b, const Vector& c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

// Sides as VTK numbers them, outwards: https://vtk.org, "VTK File Formats" and the classes of its cells.
std::vector<std::vector<int>> sides_of(CellKind kind) {
  switch (kind) {
    case CellKind::tetrahedron:
      return {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {0, 2, 1}};
    case CellKind::hexahedron:
      return {{0, 4, 7, 3}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 7, 6, 2}, {0, 3, 2, 1}, {4, 5, 6, 7}};
    case CellKind::wedge:
      return {{0, 1, 2}, {3, 5, 4}, {0, 3, 4, 1}, {1, 4, 5, 2}, {2, 5, 3, 0}};
    case CellKind::pyramid:
      return {{0, 3, 2, 1}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
    default:
      return {};
  }
}

// By the divergence theorem, positive where the sides look outwards: each side as a fan of triangles.
double volume(const MeshFile& file, Index cell) {
  const auto corners = test::corners(file.mesh(), cell);
  double sum = 0;
  for (const auto& side : sides_of(test::kind_of(file.mesh(), cell))) {
    for (std::size_t i = 2; i < side.size(); ++i) {
      const auto at = [&](std::size_t k) { return point(file, corners[static_cast<std::size_t>(side[k])]); };
      sum += triple_product(at(0), at(i - 1), at(i)) / 6;
    }
  }
  return sum;
}

std::map<int, double> volumes_of_groups(const MeshFile& file) {
  const auto groups = test::values<std::int32_t>(file.cell_arrays(), "PhysicalGroup");
  std::map<int, double> volumes;
  for (Index cell = 0; cell < file.mesh().cells(); ++cell) {
    const double one = volume(file, cell);
    const bool solid = !sides_of(test::kind_of(file.mesh(), cell)).empty();
    EXPECT_EQ(one > 0, solid) << "cell " << cell;
    volumes[groups[static_cast<std::size_t>(cell)]] += one;
  }
  return volumes;
}

std::map<CellKind, int> count_kinds(const MeshFile& file) {
  std::map<CellKind, int> counts;
  for (Index cell = 0; cell < file.mesh().cells(); ++cell) ++counts[test::kind_of(file.mesh(), cell)];
  return counts;
}

// Kind, group and corners of each cell.
std::vector<std::vector<Index>> sorted_cells(const MeshFile& file) {
  const auto groups = test::values<std::int32_t>(file.cell_arrays(), "PhysicalGroup");
  std::vector<std::vector<Index>> cells;
  for (Index cell = 0; cell < file.mesh().cells(); ++cell) {
    std::vector<Index> numbers = test::corners(file.mesh(), cell);
    numbers.push_back(static_cast<Index>(test::kind_of(file.mesh(), cell)));
    numbers.push_back(groups[static_cast<std::size_t>(cell)]);
    cells.push_back(numbers);
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

TEST(GmshMesh, TetrahedraInEveryForm) {
  const MeshFile file = MeshFile::read(mesh_data("gmsh/block-2.2.msh"));
  EXPECT_FALSE(file.mesh().mixed());
  EXPECT_EQ(file.mesh().kind, CellKind::tetrahedron);
  EXPECT_EQ(file.mesh().cells(), 685);
  EXPECT_EQ(file.points().extent(0), 234U);
  EXPECT_EQ(file.mesh().ghosts.extent(0), 0U);
  std::vector<Index> tags(234);
  std::iota(tags.begin(), tags.end(), 1);
  EXPECT_EQ(test::values<Index>(file.point_arrays(), "GmshNodeTag"), tags);
  const auto volumes = volumes_of_groups(file);
  ASSERT_EQ(volumes.size(), 2U);
  EXPECT_NEAR(volumes.at(3), 1, 1e-14);
  // The hole's chords take less than its circle.
  EXPECT_GT(volumes.at(7), 2 - M_PI / 16);
  EXPECT_LT(volumes.at(7), 2 - 0.8 * M_PI / 16);

  test::expect_same(file, MeshFile::read(mesh_data("gmsh/block-4.0.msh")));
  test::expect_same(file, MeshFile::read(mesh_data("gmsh/block-4.1.msh")));
  const MeshFile binary = MeshFile::read(mesh_data("gmsh/block-4.1-binary.msh"));
  test::expect_same(binary, MeshFile::read(mesh_data("gmsh/block-2.2-binary.msh")));
  // Gmsh's text has 16 digits, one less than doubles need.
  test::expect_same_mesh(file, binary, 1e-15);
  test::expect_same_arrays(file.cell_arrays(), binary.cell_arrays());
}

TEST(GmshMesh, AllKindsInEveryForm) {
  const MeshFile file = MeshFile::read(mesh_data("gmsh/mixed-4.1.msh"));
  EXPECT_TRUE(file.mesh().mixed());
  const std::map<CellKind, int> expected = {{CellKind::triangle, 26},    {CellKind::quad, 9},
                                            {CellKind::tetrahedron, 18}, {CellKind::hexahedron, 18},
                                            {CellKind::wedge, 52},       {CellKind::pyramid, 45}};
  EXPECT_EQ(count_kinds(file), expected);
  const auto volumes = volumes_of_groups(file);
  ASSERT_EQ(volumes.size(), 4U);
  EXPECT_EQ(volumes.at(9), 0);
  EXPECT_NEAR(volumes.at(1), 1, 1e-14);
  EXPECT_NEAR(volumes.at(2), 1, 1e-14);
  EXPECT_NEAR(volumes.at(3), 0.5, 1e-14);

  test::expect_same(file, MeshFile::read(mesh_data("gmsh/mixed-4.0.msh")));
  const MeshFile binary = MeshFile::read(mesh_data("gmsh/mixed-4.1-binary.msh"));
  test::expect_same_mesh(file, binary, 1e-15);
  test::expect_same_arrays(file.cell_arrays(), binary.cell_arrays());
  // Files of version 2 have elements by type.
  const MeshFile by_type = MeshFile::read(mesh_data("gmsh/mixed-2.2.msh"));
  EXPECT_NE(test::kind_of(by_type.mesh(), 0), test::kind_of(file.mesh(), 0));
  EXPECT_EQ(sorted_cells(by_type), sorted_cells(file));
  const MeshFile binary_by_type = MeshFile::read(mesh_data("gmsh/mixed-2.2-binary.msh"));
  test::expect_same_mesh(by_type, binary_by_type, 1e-15);
  test::expect_same_arrays(by_type.cell_arrays(), binary_by_type.cell_arrays());
}

TEST(GmshMesh, ParametricCoordinatesAreNoPoints) {
  test::expect_same(MeshFile::read(mesh_data("gmsh/mixed-4.1.msh")),
                    MeshFile::read(mesh_data("gmsh/mixed-parametric-4.1.msh")));
}

TEST(GmshMesh, PartitionsKeepTheirGroups) {
  const MeshFile file = MeshFile::read(mesh_data("gmsh/mixed-parts-4.1.msh"));
  EXPECT_EQ(file.points().extent(0), 121U);
  const auto volumes = volumes_of_groups(file);
  ASSERT_EQ(volumes.size(), 4U);
  EXPECT_NEAR(volumes.at(1), 1, 1e-14);
  EXPECT_NEAR(volumes.at(2), 1, 1e-14);
  EXPECT_NEAR(volumes.at(3), 0.5, 1e-14);
  const MeshFile binary = MeshFile::read(mesh_data("gmsh/mixed-parts-4.1-binary.msh"));
  test::expect_same_mesh(file, binary, 1e-15);
  test::expect_same_arrays(file.cell_arrays(), binary.cell_arrays());
}

class GmshText : public ::testing::Test {
 protected:
  MeshFile read(const std::string& text) { return MeshFile::read(folder_.write("mesh.msh", text)); }
  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(GmshText, TagsOfAnyOrderAndSize) {
  const MeshFile file = read(
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n9000000000000 0 0 0\n7 1 0 0\n3 0 1 0\n1000000 0 0 1\n1 .5 1e0 "
      "-2\n$EndNodes\n$Elements\n3\n10 4 2 0 1 9000000000000 7 3 1000000\n4 15 0 1\n5 1 1 0 7 1\n$EndElements\n");
  EXPECT_EQ(test::values<Index>(file.point_arrays(), "GmshNodeTag"),
            (std::vector<Index>{9000000000000, 7, 3, 1000000, 1}));
  EXPECT_TRUE(file.cell_arrays().empty());  // No groups.
  ASSERT_EQ(file.mesh().cells(), 3);
  EXPECT_EQ(test::corners(file.mesh(), 0), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(test::corners(file.mesh(), 1), (std::vector<Index>{4}));
  EXPECT_EQ(test::corners(file.mesh(), 2), (std::vector<Index>{1, 4}));
  EXPECT_EQ(point(file, 4), (Vector{0.5, 1, -2}));
}

// Each node with the entity that it is on: points on curves have a coordinate there, those on surfaces two.
TEST_F(GmshText, ParametricNodesOfVersion2) {
  const std::string elements = "$Elements\n1\n1 4 2 0 1 10 2 3 4\n$EndElements\n";
  const auto expect = [&](const MeshFile& file) {
    ASSERT_EQ(file.mesh().cells(), 1);
    EXPECT_EQ(test::corners(file.mesh(), 0), (std::vector<Index>{0, 1, 2, 3}));
    EXPECT_EQ(point(file, 1), (Vector{1, 0, 0.125}));
    EXPECT_EQ(point(file, 3), (Vector{0, 0, 15}));
  };
  expect(
      read("\xEF\xBB\xBF$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$ParametricNodes\n4\n10 0 0 0 0 1\n2 1 0 .125 1 1 0.5\n"
           "3 0 1 0 2 1 0.5 0.25\n4 0 0 1.5D+1 3 1\n$EndParametricNodes\n" +
           elements));
  std::string binary = "$MeshFormat\n2.2 1 8\n";
  const auto put = [&](auto value) { binary.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  put(std::int32_t{1});
  binary += "\n$EndMeshFormat\n$ParametricNodes\n4\n";
  const std::array<std::array<double, 3>, 4> places = {{{0, 0, 0}, {1, 0, 0.125}, {0, 1, 0}, {0, 0, 15}}};
  const std::array<std::int32_t, 4> tags = {10, 2, 3, 4};
  for (std::int32_t node = 0; node < 4; ++node) {
    put(tags[static_cast<std::size_t>(node)]);
    for (const double x : places[static_cast<std::size_t>(node)]) put(x);
    put(node);
    put(std::int32_t{1});
    for (int k = 0; k < node && node < 3; ++k) put(0.5);
  }
  binary += "\n$EndParametricNodes\n$Elements\n1\n";
  for (const std::int32_t number : {4, 1, 2, 1, 0, 1, 10, 2, 3, 4}) put(number);
  binary += "\n$EndElements\n";
  expect(read(binary));
  for (const char* const place : {"1 1", "2 1 0.5", "0 1 0.5", "4 1", "1"}) {
    const auto path = folder_.write("bad.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$ParametricNodes\n1\n1 0 0 0 " +
                                                   std::string(place) + "\n$EndParametricNodes\n");
    EXPECT_EQ(test::error_of([&] { static_cast<void>(MeshFile::read(path)); }).kind(), ErrorKind::input) << place;
  }
}

TEST_F(GmshText, OtherSectionsBlankLinesAndCarriageReturns) {
  const MeshFile file = read(
      "\n$MeshFormat\r\n2 0 8\r\n$EndMeshFormat\r\n$Comments\nanything $Nodes\n$EndComments\n$Nodes\n\n2\n1 0 0 0\n\n  "
      "2 1 0 "
      "0  \n$EndNodes \n$NodeData\n1\n\"a view\"\n$EndNodeData\n$Elements\n1\n1 1 2 8 4 1 "
      "2\n$EndElements\n\n$New\n$EndNew");
  EXPECT_EQ(file.mesh().cells(), 1);
  EXPECT_EQ(file.mesh().kind, CellKind::line);
  EXPECT_EQ(test::values<std::int32_t>(file.cell_arrays(), "PhysicalGroup"), std::vector<std::int32_t>{8});
}

TEST_F(GmshText, NothingInIt) {
  const MeshFile file =
      read("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n0 0 0 0\n$EndNodes\n$Elements\n0 0 0 0\n$EndElements\n");
  EXPECT_EQ(file.mesh().cells(), 0);
  EXPECT_FALSE(file.mesh().mixed());
  EXPECT_EQ(file.points().extent(0), 0U);
}

// More than one chunk of everything, and more than the buffer in one binary block.
TEST_F(GmshText, LargerThanAnyBuffer) {
  constexpr int nodes = 200000;
  std::string bytes = "$MeshFormat\n2.2 1 8\n";
  const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  put(std::int32_t{1});
  bytes += "\n$EndMeshFormat\n$Nodes\n" + std::to_string(nodes) + "\n";
  for (int node = 0; node < nodes; ++node) {
    put(std::int32_t{nodes - node});
    for (const double x : {1.0 * node, 0.5, -0.25 * node}) put(x);
  }
  bytes += "\n$EndNodes\n$Elements\n" + std::to_string(nodes - 1) + "\n";
  for (const std::int32_t value : {1, nodes - 1, 1}) put(value);
  for (int element = 1; element < nodes; ++element) {
    for (const std::int32_t value : {element, element % 5, element, element + 1}) put(value);
  }
  const MeshFile file = read(bytes + "\n$EndElements\n");
  ASSERT_EQ(file.mesh().cells(), nodes - 1);
  ASSERT_EQ(file.points().extent(0), static_cast<std::size_t>(nodes));
  const auto groups = test::values<std::int32_t>(file.cell_arrays(), "PhysicalGroup");
  for (int i = 0; i < nodes - 1; ++i) {
    ASSERT_EQ(file.mesh().points(2 * i), nodes - (i + 1));
    ASSERT_EQ(file.mesh().points(2 * i + 1), nodes - (i + 2));
    ASSERT_EQ(groups[static_cast<std::size_t>(i)], (i + 1) % 5);
    ASSERT_EQ(point(file, i), (Vector{1.0 * i, 0.5, -0.25 * i}));
  }
}

}  // namespace
}  // namespace heddle::mesh_gmsh_test
