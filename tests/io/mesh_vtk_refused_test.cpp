// VTK's files that are wrong: each is refused with file, place and reason, and nothing is printed.
#include "mesh_support.hpp"

namespace heddle {
namespace {

const std::string linear =
    "; linear cells alone are taken: vertex, line, triangle, quad, tetrahedron, voxel, hexahedron, wedge and pyramid";

class VtkRefused : public ::testing::Test {
 protected:
  std::string refusal(const std::string& name, const std::string& text) {
    const auto path = folder_.write(name, text);
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    std::string reason = test::refusal(path);
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    return reason;
  }
  void refuse(const std::string& name, const std::string& text, const std::string& message) {
    EXPECT_EQ(refusal(name, text), message);
  }
  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

// A file of two triangles, with other text in places.
struct Xml {
  std::string points = "0 0 0 1 0 0 0 1 0 1 1 0";
  std::string connectivity = "0 1 2 1 3 2";
  std::string offsets = "3 6";
  std::string types = "5 5";
  std::string array;
  std::string number_of_points = "4";
  std::string name_of_types = "types";

  [[nodiscard]] std::string text() const {
    return "<VTKFile type='UnstructuredGrid' version='1.0' byte_order='LittleEndian' header_type='UInt64'>\n"
           "<UnstructuredGrid>\n<Piece NumberOfPoints='" +
           number_of_points +
           "' NumberOfCells='2'>\n"
           "<PointData>" +
           array +
           "</PointData>\n"
           "<Points><DataArray type='Float64' NumberOfComponents='3' format='ascii'>" +
           points +
           "</DataArray></Points>\n"
           "<Cells><DataArray type='Int64' Name='connectivity' format='ascii'>" +
           connectivity +
           "</DataArray>\n"
           "<DataArray type='Int64' Name='offsets' format='ascii'>" +
           offsets +
           "</DataArray>\n"
           "<DataArray type='UInt8' Name='" +
           name_of_types + "' format='ascii'>" + types +
           "</DataArray></Cells>\n"
           "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  }
};

TEST_F(VtkRefused, CellsOfXml) {
  Xml xml;
  EXPECT_EQ(MeshFile::read(folder_.write("good.vtu", xml.text())).mesh().cells(), 2);
  xml.connectivity = "0 1 2 1 4 2";
  refuse("bad.vtu", xml.text(), ": cell 1 has the corner 4, where there are 4 points, numbered from 0");
  xml.connectivity = "-1 1 2 1 3 2";
  refuse("bad.vtu", xml.text(), ": cell 0 has the corner -1, where there are 4 points, numbered from 0");
  xml = {};
  xml.types = "5 9";
  refuse("bad.vtu", xml.text(), ": cell 1, a quad, has 3 corners, where 4 are expected");
  xml.types = "5 7";
  refuse("bad.vtu", xml.text(), ": cell 1 is a polygon (VTK type 7)" + linear);
  xml.types = "42 5";
  refuse("bad.vtu", xml.text(), ": cell 0 is a polyhedron (VTK type 42)" + linear);
  EXPECT_EQ(test::refusal(test::mesh_data("quadratic.vtu")),
            ": cell 1 is a quadratic tetrahedron (VTK type 24)" + linear);
}

TEST_F(VtkRefused, ArraysOfXml) {
  const std::string begin = ": can't be read: Cannot read ";
  Xml xml;
  xml.points = "0 0 0 1 0 0 0 1 0 1 1";
  refuse("bad.vtu", xml.text(),
         begin + "points array from Points in piece 0. The data array in the element may be too short");
  xml = {};
  xml.number_of_points = "5";
  refuse("bad.vtu", xml.text(),
         begin + "points array from Points in piece 0. The data array in the element may be too short");
  xml = {};
  xml.connectivity = "0 1 2 1 3";
  refuse("bad.vtu", xml.text(),
         begin + "cell connectivity from Cells in piece 0 because the \"connectivity\" array is not long enough");
  xml.connectivity = "0 1 2 1 three 2";
  refuse("bad.vtu", xml.text(),
         begin + "cell connectivity from Cells in piece 0 because the \"connectivity\" array is not long enough");
  xml = {};
  xml.offsets = "6 3";
  refuse("bad.vtu", xml.text(),
         begin +
             "cell connectivity from Cells in piece 0 because the \"offsets\" array is not monotonically increasing "
             "or starts with a value other than 0");
  xml = {};
  xml.types = "5";
  refuse("bad.vtu", xml.text(),
         begin + "cell types from Cells in piece 0 because the \"types\" array is not long enough");
  xml = {};
  xml.name_of_types = "kinds";
  refuse("bad.vtu", xml.text(),
         begin + "cell types from Cells in piece 0 because the \"types\" array could not be found");
  xml = {};
  xml.array = "<DataArray type='Float32' Name='t' format='ascii'>1 2 3</DataArray>";
  refuse("bad.vtu", xml.text(),
         begin + "point data array \"t\" from PointData in piece 0. The data array in the element may be too short");
  xml.array = "<DataArray type='Float32' Name='t' NumberOfComponents='-1' format='ascii'>1 2 3 4</DataArray>";
  EXPECT_EQ(refusal("bad.vtu", xml.text()).find(": can't be read: it announces what there is no room for ("), 0U);
}

TEST_F(VtkRefused, WhatIsNoXml) {
  refuse("bad.vtu", "solid\n",
         ": can't be read: Error parsing XML in stream at line 1, column 0, byte index 0: syntax error");
  const Xml xml;
  std::string text = xml.text();
  text.replace(text.find("<Cells>"), 7, "<Bells>");
  EXPECT_EQ(refusal("bad.vtu", text).find(": can't be read: Error parsing XML in stream at line 8, column "), 0U);
  text = xml.text();
  for (auto at = text.find("UnstructuredGrid"); at != std::string::npos; at = text.find("UnstructuredGrid")) {
    text.replace(at, 16, "PolyData");
  }
  refuse("bad.vtu", text, ": can't be read: Cannot find UnstructuredGrid element in file");
}

// Wherever a real file is cut, it is refused: no form crashes, prints, or gives a mesh.
TEST_F(VtkRefused, XmlCutShort) {
  for (const char* const form : {"ascii", "binary", "appended", "raw", "zlib", "lz4", "lzma"}) {
    const std::string whole = test::text_of(test::mesh_data(std::string("kinds-") + form + ".vtu"));
    for (std::size_t length = 150; length < whole.size() - 12; length += 317) {
      EXPECT_EQ(refusal("cut.vtu", whole.substr(0, length)),
                ": is cut short: it ends at byte " + std::to_string(length) + " without </VTKFile>");
      // The same with its end put back.
      const std::string reason = refusal("cut.vtu", whole.substr(0, length) + "</VTKFile>");
      EXPECT_EQ(reason.find(": can't be read: "), 0U) << form << " cut to " << length << reason;
    }
  }
}

const std::string legacy =
    "# vtk DataFile Version 3.0\ntwo triangles\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0\n0 1 0 1 "
    "1 "
    "0\n";                                                         // Lines 1 to 7.
const std::string legacy_cells = "CELLS 2 8\n3 0 1 2\n3 1 3 2\n";  // Lines 8 to 10.
const std::string legacy_types = "CELL_TYPES 2\n5 5\n";            // Lines 11 and 12.

TEST_F(VtkRefused, LegacyHeaders) {
  refuse("bad.vtk", "solid\n", ", line 1: expected '# vtk DataFile Version ...', found 'solid'");
  refuse("bad.vtk", "# vtk DataFile Version three\n", ", line 1: expected a version, found 'three'");
  refuse("bad.vtk", "# vtk DataFile Version 3.0\ntitle\n",
         ", line 2: expected ASCII or BINARY, found the end of the file");
  refuse("bad.vtk", "# vtk DataFile Version 3.0\ntitle\nTEXT\n", ", line 3: expected ASCII or BINARY, found 'text'");
  refuse("bad.vtk", "# vtk DataFile Version 3.0\ntitle\nASCII\nPOINTS 0 float\n",
         ", line 4: expected DATASET, found 'points'");
  refuse("bad.vtk", "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\n",
         ", line 4: expected UNSTRUCTURED_GRID, found 'POLYDATA'");
}

TEST_F(VtkRefused, LegacyCells) {
  EXPECT_EQ(MeshFile::read(folder_.write("good.vtk", legacy + legacy_cells + legacy_types)).mesh().cells(), 2);
  refuse("bad.vtk", legacy, ", line 7: expected CELLS, found the end of the file");
  refuse("bad.vtk", legacy + legacy_cells, ", line 10: expected CELL_TYPES, found the end of the file");
  refuse("bad.vtk", legacy + legacy_types, ", line 8: there are 2 types, where there are 0 cells");
  refuse("bad.vtk", legacy + "CELLS 2 8\n3 0 1 2\n3 1 4 2\n",
         ", line 10: cell 1 has the corner 4, where there are 4 points, numbered from 0");
  refuse("bad.vtk", legacy + "CELLS 2 8\n3 0 1 2\n3 1 x 2\n", ", line 10: expected a cell's corner, found 'x'");
  refuse("bad.vtk", legacy + "CELLS 2 8\n3 0 1 2\n4 1 3 2\n",
         ", line 10: cell 1 has 4 corners, where 4 of the 8 numbers of all cells are left");
  refuse("bad.vtk", legacy + "CELLS 2 9\n3 0 1 2\n3 1 3 2\n" + legacy_types,
         ", line 10: the cells have 8 numbers, where 9 are announced");
  refuse("bad.vtk", legacy + "CELLS 2 8\n3 0 1 2\n3 1", ", line 10: the file ends where a cell's corner is expected");
  refuse("bad.vtk", legacy + "CELLS 99999 8\n",
         ", line 8: the number of cells is 99999, more than the file's 126 bytes can hold");
  refuse("bad.vtk", legacy + "CELLS -1 8\n", ", line 8: the number of cells is -1, where 0 or more is expected");
  refuse("bad.vtk", legacy + legacy_cells + "CELL_TYPES 2\n5 22\n",
         ", line 12: cell 1 is a quadratic triangle (VTK type 22)" + linear);
  refuse("bad.vtk", legacy + legacy_cells + "CELL_TYPES 2\n5\n",
         ", line 12: the file ends where the type of a cell is expected");
  refuse("bad.vtk", legacy + legacy_cells + "CELL_TYPES 2\n5 9\n",
         ": cell 1, a quad, has 3 corners, where 4 are expected");
  EXPECT_EQ(test::refusal(test::mesh_data("quadratic.vtk")),
            ", line 21: cell 1 is a quadratic tetrahedron (VTK type 24)" + linear);
}

TEST_F(VtkRefused, LegacyPoints) {
  const std::string head = "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n";
  refuse("bad.vtk", head + "POINTS 2 float\n0 0 0\n0 zero 0\n", ", line 7: expected a coordinate, found 'zero'");
  refuse("bad.vtk", head + "POINTS 2 float\n0 0 0\n0 0 nan\n", ", line 7: a coordinate 'nan' is not finite");
  refuse("bad.vtk", head + "POINTS 2 float\n0 0 0\n", ", line 6: the file ends where a coordinate is expected");
  refuse("bad.vtk", head + "POINTS 1 float\n0 0 0 0\n", ", line 6: expected the end of the line, found '0'");
  refuse("bad.vtk", head + "POINTS 1 number\n0 0 0\n",
         ", line 5: expected the type of the points, as double, found 'number'");
}

TEST_F(VtkRefused, LegacyOffsets) {
  const std::string head =
      "# vtk DataFile Version 5.1\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\n";
  const std::string types = "CELL_TYPES 1\n5\n";
  const std::string connectivity = "CONNECTIVITY vtktypeint64\n0 1 2\n";
  EXPECT_EQ(
      MeshFile::read(folder_.write("good.vtk", head + "CELLS 2 3\nOFFSETS vtktypeint64\n0 3\n" + connectivity + types))
          .mesh()
          .cells(),
      1);
  refuse("bad.vtk", head + "CELLS 2 3\nCONNECTIVITY vtktypeint64\n",
         ", line 8: expected OFFSETS, found 'connectivity'");
  refuse("bad.vtk", head + "CELLS 2 3\nOFFSETS char\n",
         ", line 8: expected the type of the OFFSETS, as vtktypeint64, found 'char'");
  refuse("bad.vtk", head + "CELLS 2 3\nOFFSETS vtktypeint64\n0 4\n",
         ", line 9: offset 1 is 4, where 0 to 3 is expected");
  refuse("bad.vtk", head + "CELLS 2 3\nOFFSETS vtktypeint64\n0 3\nCONNECTIVITY vtktypeint64\n0 1 3\n",
         ", line 11: corner 2 of all is 3, where there are 3 points, numbered from 0");
}

TEST_F(VtkRefused, LegacyArrays) {
  const std::string mesh = legacy + legacy_cells + legacy_types;
  const std::string whole = mesh + "POINT_DATA 4\nSCALARS t float 1\nLOOKUP_TABLE default\n1 2 3 4\n";
  EXPECT_EQ(test::values<float>(MeshFile::read(folder_.write("good.vtk", whole)).point_arrays(), "t"),
            (std::vector<float>{1, 2, 3, 4}));
  const std::string cut = whole.substr(0, whole.size() - 3);
  refuse("bad.vtk", cut,
         ": can't be read: Error reading ascii data. Possible mismatch of datasize with declaration, before byte " +
             std::to_string(cut.size()));
  refuse("bad.vtk", mesh + "POINT_DATA 3\n",
         ": can't be read: Number of points don't match, before byte " + std::to_string(mesh.size() + 12));
}

TEST_F(VtkRefused, LegacyCutShort) {
  for (const char* const form : {"ascii-4.2", "binary-4.2", "ascii-5.1", "binary-5.1"}) {
    const std::string whole = test::text_of(test::mesh_data(std::string("kinds-") + form + ".vtk"));
    // From CELL_DATA on, the format does not say what is still to come.
    const auto end = whole.find("CELL_DATA");
    for (std::size_t length = 1; length < end - 5; length += 29) {
      EXPECT_FALSE(refusal("cut.vtk", whole.substr(0, length)).empty()) << form << " cut to " << length;
    }
  }
}

}  // namespace
}  // namespace heddle
