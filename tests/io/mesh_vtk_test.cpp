// VTK's files: read in every form, and what is written is read back.
#include "mesh_support.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>

namespace heddle::mesh_vtk_test {
namespace {

using test::all_encodings;
using test::array;
using test::list;
using test::mesh_data;

using HostFaces = FaceList<Index, Kokkos::HostSpace>;

// The mesh that tests/io/data/vtk/kinds.py writes.
MeshFile all_kinds() {
  using enum CellKind;
  auto mesh = test::mixed_mesh({vertex, line, triangle, quad, tetrahedron, voxel, hexahedron, wedge, pyramid},
                               {{7},
                                {0, 7},
                                {0, 1, 3},
                                {0, 1, 3, 2},
                                {0, 1, 2, 4},
                                {0, 1, 2, 3, 4, 5, 6, 7},
                                {0, 1, 3, 2, 4, 5, 7, 6},
                                {0, 2, 1, 4, 6, 5},
                                {0, 1, 3, 2, 6}});
  mesh.ghosts = list<std::uint8_t>({0, 0, 0, 0, 1, 0, 0, 1, 0});
  std::vector<float> velocity;
  std::vector<std::uint16_t> rank;
  for (int i = 0; i < 8; ++i) {
    velocity.insert(velocity.end(), {static_cast<float>(i), static_cast<float>(0.1 * i), static_cast<float>(-i)});
    rank.push_back(static_cast<std::uint16_t>(i * i));
  }
  std::vector<double> pressure;
  std::vector<std::int64_t> number;
  std::vector<std::int8_t> sign;
  for (int i = 0; i < 9; ++i) {
    pressure.push_back(1.0 / (i + 1));
    number.push_back((std::int64_t{1} << 40) + i);
    sign.push_back(static_cast<std::int8_t>(-i));
  }
  return {mesh,
          test::points({{0.1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1. / 3}}),
          {array("velocity", velocity, 3), array("rank", rank)},
          {array("pressure", pressure), array("number", number), array("sign", sign),
           array<std::uint8_t>("vtkGhostType", {0, 0, 0, 0, 1, 0, 32, 33, 0})}};
}

TEST(VtkMesh, XmlInEveryForm) {
  for (const char* const form : {"ascii", "binary", "appended", "raw", "big-endian", "zlib", "lz4", "lzma"}) {
    SCOPED_TRACE(form);
    ::testing::internal::CaptureStderr();
    const MeshFile file = MeshFile::read(mesh_data(std::string("vtk/kinds-") + form + ".vtu"));
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    test::expect_same_arrays(file.point_arrays(), all_kinds().point_arrays());
    test::expect_same_arrays(file.cell_arrays(), all_kinds().cell_arrays());
    // As text, VTK gives doubles 11 digits.
    test::expect_same_mesh(file, all_kinds(), std::string(form) == "ascii" ? 1e-11 : 0);
  }
}

TEST(VtkMesh, LegacyInEveryForm) {
  for (const char* const form : {"ascii-4.2", "binary-4.2", "ascii-5.1", "binary-5.1"}) {
    SCOPED_TRACE(form);
    const MeshFile file = MeshFile::read(mesh_data(std::string("vtk/kinds-") + form + ".vtk"));
    test::expect_same_mesh(file, all_kinds(), std::string(form).substr(0, 5) == "ascii" ? 1e-11 : 0);
  }
}

TEST(VtkMesh, WhatGmshWrites) {
  const MeshFile ours = MeshFile::read(mesh_data("gmsh/block-2.2.msh"));
  const MeshFile theirs = MeshFile::read(mesh_data("vtk/block.vtk"));
  EXPECT_FALSE(theirs.mesh().mixed());
  test::expect_same_mesh(ours, theirs);
  const auto groups = test::values<std::int32_t>(ours.cell_arrays(), "PhysicalGroup");
  const auto entities = test::values<std::int32_t>(theirs.cell_arrays(), "CellEntityIds");
  for (std::size_t cell = 0; cell < groups.size(); ++cell) EXPECT_EQ(groups[cell], entities[cell] == 3 ? 3 : 7);
}

class VtkFiles : public ::testing::Test {
 protected:
  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(VtkFiles, PiecesFollowEachOther) {
  const std::string piece =
      "<Piece NumberOfPoints='3' NumberOfCells='1'><Points><DataArray type='Float32' NumberOfComponents='3' "
      "format='ascii'>0 0 0 1 0 0 0 1 0</DataArray></Points><Cells><DataArray type='Int32' Name='connectivity' "
      "format='ascii'>0 1 2</DataArray><DataArray type='Int32' Name='offsets' format='ascii'>3</DataArray><DataArray "
      "type='UInt8' Name='types' format='ascii'>5</DataArray></Cells></Piece>";
  const MeshFile file = MeshFile::read(folder_.write(
      "pieces.vtu", "<VTKFile type='UnstructuredGrid' version='0.1' byte_order='LittleEndian'><UnstructuredGrid>" +
                        piece + piece + "</UnstructuredGrid></VTKFile>"));
  ASSERT_EQ(file.mesh().cells(), 2);
  EXPECT_FALSE(file.mesh().mixed());
  EXPECT_EQ(test::corners(file.mesh(), 1), (std::vector<Index>{3, 4, 5}));
  EXPECT_EQ(file.points()(4, 0), 1);
}

// Every keyword that arrays may have, as text; what VTK calls the second of its kind is kept too.
TEST_F(VtkFiles, LegacyArraysOfEveryKind) {
  const MeshFile mesh = MeshFile::read(folder_.write(
      "kinds.vtk",
      "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD of 1\nwhole 2 2 int\n1 2 3 4\n"
      "POINTS 2 int\n0 0 0 1 0\n0\nCELLS 1 3\n2 0 1\nCELL_TYPES 1\n3\n"
      "POINT_DATA 2\nSCALARS a float\nLOOKUP_TABLE default\n1 nan\n"
      "SCALARS b%20b double 2\nLOOKUP_TABLE mine\n1 2\n3 4\nLOOKUP_TABLE mine 1\n0 0.5 1 1\n"
      "VECTORS v short\n1 2 3 4 5 6\nNORMALS n float\n1 2 3 4 5 6\nTENSORS s float\n1 2 3 4 5 6 7 8 9\n"
      "1 2 3 4 5 6 7 8 9\nTENSORS6 s6 float\n1 2 3 4 5 6\n1 2 3 4 5 6\nTEXTURE_COORDINATES x 2 float\n1 2 3 4\n"
      "COLOR_SCALARS c 3\n0 0.5 1\n1 0 0\nGLOBAL_IDS g vtkIdType\n-3 4\nFIELD f 3\nNULL_ARRAY\nbits 1 2 bit\n1 0\n"
      "words 1 2 string\none\ntwo words\n"
      "METADATA\nINFORMATION 0\n\nCELL_DATA 1\nFIELD f 1\nvtkGhostLevels 1 1 unsigned_char\n2\n"));
  const auto& arrays = mesh.point_arrays();
  EXPECT_EQ(arrays.size(), 9U);
  EXPECT_TRUE(std::isnan(test::values<float>(arrays, "a").at(1)));
  EXPECT_EQ(test::values<double>(arrays, "b b"), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(test::values<std::int16_t>(arrays, "v"), (std::vector<std::int16_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(test::find(arrays, "n")->components(), 3);
  EXPECT_EQ(test::find(arrays, "s")->components(), 9);
  EXPECT_EQ(test::find(arrays, "s6")->components(), 6);
  EXPECT_EQ(test::find(arrays, "x")->components(), 2);
  EXPECT_EQ(test::values<std::uint8_t>(arrays, "c"), (std::vector<std::uint8_t>{0, 128, 255, 255, 0, 0}));
  EXPECT_EQ(test::values<std::int64_t>(arrays, "g"), (std::vector<std::int64_t>{-3, 4}));
  EXPECT_EQ(test::values<std::uint8_t>(mesh.cell_arrays(), "vtkGhostType"), (std::vector<std::uint8_t>{1}));
  EXPECT_EQ(mesh.mesh().ghosts(0), 1);
  EXPECT_EQ(mesh.points()(1, 0), 1);
}

TEST_F(VtkFiles, MeshesComeBackAsTheyWere) {
  for (const MeshFile& mesh :
       {all_kinds(), MeshFile::read(mesh_data("gmsh/block-4.1-binary.msh")),
        MeshFile::read(mesh_data("gmsh/mixed-4.1-binary.msh")), MeshFile(test::HostMesh{}, test::points({}))}) {
    for (const MeshEncoding encoding : all_encodings) {
      SCOPED_TRACE(to_string(encoding));
      const auto path = folder_ / "mesh.vtu";
      write_mesh(path, mesh, encoding);
      test::expect_same(mesh, MeshFile::read(path));
    }
  }
  EXPECT_EQ(folder_.files(), 1);
}

TEST_F(VtkFiles, MarksBecomeAnArray) {
  test::HostMesh mesh;
  mesh.kind = CellKind::line;
  mesh.points = list<Index>({0, 1, 1, 2});
  mesh.ghosts = list<std::uint8_t>({0, 7});
  const auto path = folder_ / "marked.vtu";
  write_mesh(path, {mesh, test::points({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}})});
  const MeshFile file = MeshFile::read(path);
  EXPECT_EQ(test::values<std::uint8_t>(file.cell_arrays(), "vtkGhostType"), (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(file.mesh().ghosts(1), 1);
}

TEST_F(VtkFiles, EncodingsAreWhatTheySay) {
  const MeshFile mesh = all_kinds();
  const auto text = [&](MeshEncoding encoding) {
    write_mesh(folder_ / "mesh.vtu", mesh, encoding);
    return test::text_of(folder_ / "mesh.vtu");
  };
  const auto has = [](const std::string& all, const char* part) { return all.find(part) != std::string::npos; };
  const std::string ascii = text(MeshEncoding::ascii);
  EXPECT_TRUE(has(ascii, "format=\"ascii\"") && !has(ascii, "AppendedData") && has(ascii, "1099511627784"));
  const std::string binary = text(MeshEncoding::binary);
  EXPECT_TRUE(has(binary, "<AppendedData encoding=\"raw\">") && !has(binary, "compressor"));
  const std::string compressed = text(MeshEncoding::compressed);
  EXPECT_TRUE(has(compressed, "<AppendedData encoding=\"raw\">") && has(compressed, "vtkZLibDataCompressor"));
}

// The top and a side of the cube that is cell 6, and the base of the tetrahedron that is cell 4.
HostFaces some_faces() {
  HostFaces faces;
  faces.cell = list<Index>({6, 4, 6});
  faces.side = list<std::uint8_t>({5, 3, 1});
  faces.offsets = list<Index>({0, 4, 7, 11});
  faces.points = list<Index>({4, 5, 7, 6, 4, 2, 1, 1, 3, 7, 5});
  return faces;
}

TEST_F(VtkFiles, SurfacesKeepWhatTheyComeFrom) {
  for (const MeshEncoding encoding : all_encodings) {
    SCOPED_TRACE(to_string(encoding));
    const auto path = folder_ / "surface.vtu";
    write_surface(path, all_kinds(), some_faces(),
                  {.encoding = encoding, .arrays = {array<std::int32_t>("group", {3, 1, 2})}});
    const MeshFile file = MeshFile::read(path);
    ASSERT_EQ(file.mesh().cells(), 3);
    EXPECT_EQ(test::kind_of(file.mesh(), 0), CellKind::quad);
    EXPECT_EQ(test::kind_of(file.mesh(), 1), CellKind::triangle);
    EXPECT_EQ(test::kind_of(file.mesh(), 2), CellKind::quad);
    const auto original = test::values<Index>(file.point_arrays(), "OriginalPointIds");
    EXPECT_EQ(original, (std::vector<Index>{1, 2, 3, 4, 5, 6, 7}));
    const MeshFile from = all_kinds();
    for (std::size_t point = 0; point < original.size(); ++point) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(file.points()(point, axis), from.points()(original[point], axis));
      }
    }
    EXPECT_EQ(test::corners(file.mesh(), 0), (std::vector<Index>{3, 4, 6, 5}));
    EXPECT_EQ(test::corners(file.mesh(), 1), (std::vector<Index>{3, 1, 0}));
    EXPECT_EQ(test::corners(file.mesh(), 2), (std::vector<Index>{0, 2, 6, 4}));
    EXPECT_EQ(file.mesh().ghosts(1), 1);
    EXPECT_EQ(file.point_arrays().size(), 3U);
    EXPECT_EQ(test::values<std::uint16_t>(file.point_arrays(), "rank"),
              (std::vector<std::uint16_t>{1, 4, 9, 16, 25, 36, 49}));
    const auto velocity = test::values<float>(file.point_arrays(), "velocity");
    EXPECT_EQ(std::vector<float>(velocity.end() - 3, velocity.end()), (std::vector<float>{7, 0.1F * 7, -7}));
    EXPECT_EQ(file.cell_arrays().size(), 7U);
    EXPECT_EQ(test::values<double>(file.cell_arrays(), "pressure"), (std::vector<double>{1. / 7, 1. / 5, 1. / 7}));
    EXPECT_EQ(test::values<Index>(file.cell_arrays(), "OriginalCellIds"), (std::vector<Index>{6, 4, 6}));
    EXPECT_EQ(test::values<std::uint8_t>(file.cell_arrays(), "OriginalCellSides"),
              (std::vector<std::uint8_t>{5, 3, 1}));
    EXPECT_EQ(test::values<std::int32_t>(file.cell_arrays(), "group"), (std::vector<std::int32_t>{3, 1, 2}));

    // A surface's surface: the names of arrays that are there give way to its own.
    HostFaces one;
    one.cell = list<Index>({1});
    one.side = list<std::uint8_t>({0});
    one.offsets = list<Index>({0, 3});
    one.points = list<Index>({3, 1, 0});
    write_surface(path, file, one);
    const MeshFile again = MeshFile::read(path);
    EXPECT_EQ(again.point_arrays().size(), 3U);
    EXPECT_EQ(test::values<Index>(again.point_arrays(), "OriginalPointIds"), (std::vector<Index>{0, 1, 3}));
    EXPECT_EQ(test::values<std::int32_t>(again.cell_arrays(), "group"), std::vector<std::int32_t>{1});
  }
}

// The numbers of the DataArray of that name.
std::vector<double> numbers_in(const std::string& text, const std::string& name) {
  const auto begin = text.find('>', text.find("Name=\"" + name + "\"")) + 1;
  std::istringstream stream(text.substr(begin, text.find('<', begin) - begin));
  return {std::istream_iterator<double>(stream), std::istream_iterator<double>()};
}

TEST_F(VtkFiles, SurfacesAsPolygons) {
  const auto path = folder_ / "surface.vtp";
  write_surface(path, all_kinds(), some_faces(), {.encoding = MeshEncoding::ascii, .arrays = {}});
  const std::string text = test::text_of(path);
  EXPECT_NE(text.find("<VTKFile type=\"PolyData\""), std::string::npos);
  const std::string polygons = text.substr(text.find("<Polys>"));
  EXPECT_EQ(numbers_in(polygons, "connectivity"), (std::vector<double>{3, 4, 6, 5, 3, 1, 0, 0, 2, 6, 4}));
  EXPECT_EQ(numbers_in(polygons, "offsets"), (std::vector<double>{4, 7, 11}));
  EXPECT_EQ(numbers_in(text, "OriginalCellIds"), (std::vector<double>{6, 4, 6}));
  EXPECT_EQ(numbers_in(text, "OriginalPointIds"), (std::vector<double>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(numbers_in(text, "pressure"), (std::vector<double>{1. / 7, 1. / 5, 1. / 7}));
  EXPECT_EQ(numbers_in(text, "Points"),
            (std::vector<double>{1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1. / 3}));
  EXPECT_EQ(folder_.files(), 1);
}

TEST_F(VtkFiles, SurfacesOfNothing) {
  for (const char* const name : {"none.vtu", "none.vtp"}) {
    write_surface(folder_ / name, all_kinds(), {});
    EXPECT_NE(test::text_of(folder_ / name).find("</VTKFile>"), std::string::npos);
  }
  const MeshFile file = MeshFile::read(folder_ / "none.vtu");
  EXPECT_EQ(file.mesh().cells(), 0);
  EXPECT_EQ(file.points().extent(0), 0U);
}

TEST_F(VtkFiles, FacesThatDontFit) {
  const auto refuse = [&](const auto& change, const std::string& message) {
    HostFaces faces = some_faces();
    SurfaceOptions options;
    change(faces, options);
    const Error error = test::error_of([&] { write_surface(folder_ / "bad.vtp", all_kinds(), faces, options); });
    EXPECT_EQ(error.kind(), ErrorKind::argument);
    EXPECT_EQ(std::string(error.what()), message);
  };
  refuse([](auto& faces, auto&) { faces.cell(1) = 9; }, "face 1 is of cell 9, where there are 9 cells");
  refuse([](auto& faces, auto&) { faces.points(5) = 8; },
         "face 1 has the point 8, where there are 8 points, numbered from 0");
  refuse([](auto& faces, auto&) { faces.offsets(1) = 5; }, "face 1 has 2 points, where three or more are expected");
  refuse([](auto& faces, auto&) { faces.offsets(3) = 12; },
         "face 2 has the points from 7 to 12, where there are 11 in all");
  refuse([](auto& faces, auto&) { faces.offsets = list<Index>({0, 4, 7}); }, "expected 4 offsets of faces, got 3");
  refuse([](auto& faces, auto&) { faces.side = list<std::uint8_t>({0}); }, "expected as many sides as faces, 3, got 1");
  refuse(
      [](auto&, auto& options) {
        options.arrays = {array<float>("x", {1, 2})};
      },
      "the face array 'x' has 2 tuples, where there are 3 faces");
  EXPECT_EQ(folder_.files(), 0);
}

TEST_F(VtkFiles, WhatCantBeWritten) {
  const auto path = folder_ / "none/surface.vtp";
  Error error = test::error_of([&] { write_surface(path, all_kinds(), some_faces()); });
  EXPECT_EQ(error.kind(), ErrorKind::output);
  EXPECT_EQ(std::string(error.what()), path.string() + ": can't be written: No such file or directory");

  // A disk that is full, as far as one process can have one.
  const auto full = folder_ / "full.vtu";
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit little = before;
  little.rlim_cur = 2000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  ::testing::internal::CaptureStderr();
  error =
      test::error_of([&] { write_mesh(full, MeshFile::read(mesh_data("gmsh/block-2.2.msh")), MeshEncoding::binary); });
  const std::string printed = ::testing::internal::GetCapturedStderr();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error.kind(), ErrorKind::storage);
  EXPECT_EQ(std::string(error.what()).find(full.string() + ": can't be written: "), 0U) << error.what();
  EXPECT_EQ(printed, "");
  EXPECT_EQ(folder_.files(), 0);
}

}  // namespace
}  // namespace heddle::mesh_vtk_test
