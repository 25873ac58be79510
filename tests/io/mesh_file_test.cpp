// Meshes made by programs, and what is common to all files of meshes.
#include "mesh_support.hpp"
#include "support/errors.hpp"

#include <limits>

namespace heddle::mesh_file_test {
namespace {

using test::array;
using test::HostMesh;
using test::list;
using test::points;

const auto corners_of_a_cube = [] {
  return points({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}});
};

HostMesh uniform(CellKind kind, const std::vector<Index>& corners) {
  HostMesh mesh;
  mesh.kind = kind;
  mesh.points = list(corners);
  return mesh;
}

void refuse(const HostMesh& mesh, const std::string& message, const std::vector<MeshArray>& point_arrays = {},
            const std::vector<MeshArray>& cell_arrays = {}) {
  const Error error = test::error_of([&] { MeshFile(mesh, corners_of_a_cube(), point_arrays, cell_arrays); });
  EXPECT_EQ(error.kind(), ErrorKind::argument);
  EXPECT_EQ(std::string(error.what()), "this mesh can't be: " + message);
}

TEST(MeshFile, HoldsWhatItIsMadeOf) {
  const HostMesh mesh = uniform(CellKind::hexahedron, {0, 1, 2, 3, 4, 5, 6, 7});
  const MeshFile file(mesh, corners_of_a_cube(), {array<float>("t", {1, 2, 3, 4, 5, 6, 7, 8})},
                      {array<double>("v", {1, 2, 3}, 3)});
  EXPECT_EQ(file.mesh().points.data(), mesh.points.data());
  EXPECT_EQ(file.points().extent(0), 8U);
  EXPECT_EQ(file.point_arrays()[0].size(), 8);
  EXPECT_EQ(file.point_arrays()[0].components(), 1);
  EXPECT_EQ(file.cell_arrays()[0].size(), 1);
  EXPECT_EQ(file.cell_arrays()[0].components(), 3);
  const MeshFile empty(HostMesh{}, points({}));
  EXPECT_EQ(empty.mesh().cells(), 0);
}

TEST(MeshFile, UniformMeshesThatCantBe) {
  refuse(uniform(CellKind::tetrahedron, {0, 1, 2}), "3 corners are no whole number of cells of kind tetrahedron");
  refuse(uniform(static_cast<CellKind>(24), {0, 1, 2}), "its kind of cells is 24, which is none");
  refuse(uniform(CellKind::line, {0, 1, 2, 8}), "cell 1 has the corner 8, where there are 8 points, numbered from 0");
  refuse(uniform(CellKind::line, {0, -1}), "cell 0 has the corner -1, where there are 8 points, numbered from 0");
  HostMesh marked = uniform(CellKind::line, {0, 1});
  marked.ghosts = list<std::uint8_t>({0, 1});
  refuse(marked, "it has 2 ghost marks for 1 cells");
}

TEST(MeshFile, MixedMeshesThatCantBe) {
  using enum CellKind;
  HostMesh mesh = test::mixed_mesh({line, triangle, tetrahedron}, {{0, 1}, {1, 2, 3}, {4, 5, 6, 7}});
  EXPECT_NO_THROW(MeshFile(mesh, corners_of_a_cube()));
  const auto offsets = [&](const std::vector<Index>& values) {
    HostMesh changed = mesh;
    changed.offsets = list(values);
    return changed;
  };
  refuse(offsets({0, 2, 5}), "has 3 offsets for 3 cells, where one more than cells is expected");
  refuse(offsets({1, 2, 5, 9}), "the offset of cell 0 is 1, where 0 is expected");
  refuse(offsets({0, 3, 5, 9}), "cell 0, a line, has 3 corners, where 2 are expected");
  refuse(offsets({0, 2, 1, 9}), "cell 1, a triangle, has -1 corners, where 3 are expected");
  refuse(offsets({0, 2, 5, 10}), "the corners of cell 2 end at 10, where there are 9 in all");
  refuse(offsets({0, 2, std::numeric_limits<Index>::min(), 9}),
         "the corners of cell 1 end at -9223372036854775808, where there are 9 in all");
  HostMesh longer = mesh;
  longer.points = list<Index>({0, 1, 1, 2, 3, 4, 5, 6, 7, 7});
  refuse(longer, "the cells have 9 corners, where there are 10 in all");
  refuse(test::mixed_mesh({line, triangle, tetrahedron}, {{0, 1}, {1, 2, 3}, {4, 5, 6, 8}}),
         "cell 2 has the corner 8, where there are 8 points, numbered from 0");
  refuse(test::mixed_mesh({line, triangle}, {{0, 1}, {100, 2, 3}}),
         "cell 1 has the corner 100, where there are 8 points, numbered from 0");
  refuse(test::mixed_mesh({line, static_cast<CellKind>(42)}, {{0, 1}, {1, 2, 3, 4}}),
         "cell 1 is a polyhedron, of which no faces are given");
  refuse(
      test::mixed_mesh({static_cast<CellKind>(200)}, {{0, 1}}),
      "cell 0 is of VTK type 200; taken are vertices, lines, triangles, quads, pixels, polygons, tetrahedra, voxels, "
      "hexahedra, wedges, pyramids, those of second order, and polyhedra");
}

TEST(MeshFile, ArraysThatDontFit) {
  const HostMesh mesh = uniform(CellKind::line, {0, 1});
  refuse(mesh, "the point array 't' has 2 tuples, where there are 8 points", {array<float>("t", {1, 2})});
  refuse(mesh, "the cell array 'v' has 2 tuples, where there are 1 cells", {}, {array<Index>("v", {1, 2})});
  refuse(mesh, "the cell array 'w' has no components", {}, {{"w", ArrayValues<float>(nullptr, 1, 0)}});
}

TEST(MeshFile, NamesOfEncodings) {
  for (const char* const name : {"ascii", "binary", "compressed"}) {
    EXPECT_EQ(to_string(mesh_encoding_from(name)), name);
  }
  test::expect_refusal(ErrorKind::argument, "encoding 'zip': expected ascii, binary or compressed",
                       [&] { static_cast<void>(mesh_encoding_from("zip")); });
  test::expect_refusal(ErrorKind::argument, "not a value of heddle::MeshEncoding",
                       [&] { static_cast<void>(to_string(static_cast<MeshEncoding>(9))); });
}

class MeshFilesRefused : public ::testing::Test {
 protected:
  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
  std::vector<std::string> endings_ = {".msh", ".vtk", ".stl", ".ply", ".vtu", ".vtp", ".vti", ".pvtu"};
};

TEST_F(MeshFilesRefused, Endings) {
  for (const char* const name : {"mesh", "mesh.obj", "mesh.txt", "mesh.VTU", ".vtu"}) {
    const Error error = test::error_of([&] { static_cast<void>(MeshFile::read(name)); });
    EXPECT_EQ(error.kind(), ErrorKind::argument);
    EXPECT_EQ(std::string(error.what()),
              std::string(name) +
                  ": a mesh file must end in .vtu, .vtp, .vti, .pvtu or .vtk (VTK), .msh (Gmsh), .stl or .ply");
  }
  const MeshFile mesh(HostMesh{}, points({}));
  Error error = test::error_of([&] { write_surface("out.vtk", mesh, {}); });
  EXPECT_EQ(error.kind(), ErrorKind::argument);
  EXPECT_EQ(std::string(error.what()), "out.vtk: a surface must end in .vtp or .vtu (VTK), .stl, .ply or .msh (Gmsh)");
  error = test::error_of([&] { write_mesh("out.vtp", mesh); });
  EXPECT_EQ(error.kind(), ErrorKind::argument);
  EXPECT_EQ(std::string(error.what()), "out.vtp: a mesh is written as .vtu (VTK), and must end so");
}

TEST_F(MeshFilesRefused, FilesThatCantBeRead) {
  for (const std::string& ending : endings_) {
    EXPECT_EQ(test::refusal(folder_ / ("missing" + ending)), ": can't be opened: No such file or directory");
    EXPECT_EQ(test::refusal(folder_.write("empty" + ending, "")), ": is empty, where a mesh file is expected");
    std::filesystem::create_directory(folder_ / ("folder" + ending));
    EXPECT_EQ(test::refusal(folder_ / ("folder" + ending)), ": is a folder, not a file");
  }
}

}  // namespace
}  // namespace heddle::mesh_file_test
