// VTK's files that are wrong: each is refused with file, place and reason, and nothing is printed.
#include "mesh_support.hpp"

namespace heddle::mesh_vtk_refused_test {
namespace {

const std::string taken =
    "; taken are vertices, lines, triangles, quads, pixels, polygons, tetrahedra, voxels, hexahedra, wedges, pyramids, "
    "those of second order, and polyhedra";

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
  xml.types = "5 6";
  refuse("bad.vtu", xml.text(), ": cell 1 is a triangle strip (VTK type 6)" + taken);
  xml.types = "5 24";
  refuse("bad.vtu", xml.text(), ": cell 1, a quadratic tetrahedron (VTK type 24), has 3 nodes, where 10 are expected");
  xml.types = "42 5";
  refuse("bad.vtu", xml.text(),
         ": can't be read: Cannot read cell faceoffsets from Cells in piece 0 because the \"faceoffsets\" array could "
         "not be found");
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
  refuse("bad.vtu", "solid\n", ": can't be read: it does not begin with an XML element");
  refuse("bad.vtu", "<!-- nothing -->\n", ": can't be read: it is no XML: No document element found, line 1");
  const Xml xml;
  std::string text = xml.text();
  text.replace(text.find("<Cells>"), 7, "<Bells>");
  EXPECT_EQ(refusal("bad.vtu", text).find(": can't be read: it is no XML: Start-end tags mismatch, line 8"), 0U);
  text = xml.text();
  for (auto at = text.find("UnstructuredGrid"); at != std::string::npos; at = text.find("UnstructuredGrid")) {
    text.replace(at, 16, "PolyData");
  }
  refuse("bad.vtu", text, ": can't be read: Cannot find UnstructuredGrid element in file");
}

TEST_F(VtkRefused, XmlThatOnlyLooksLikeVtks) {
  const Xml xml;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = xml.text();
    return text.replace(text.find(from), from.size(), to);
  };
  const auto cells = [&](const std::string& text) {
    return MeshFile::read(folder_.write("good.vtu", text)).mesh().cells();
  };
  // A byte order mark, comments, instructions, a document type, unknown elements and references in names.
  EXPECT_EQ(cells("\xef\xbb\xbf<?xml version='1.0'?>\n<!DOCTYPE VTKFile>\n<!-- <AppendedDatum> -->\n" + xml.text()), 2);
  EXPECT_EQ(cells(with("<Points>", "<More><Other a='1'/>text</More><Points>")), 2);
  Xml named;
  named.array = "<DataArray type='Float32' Name='a&amp;b &#60;c' format='ascii'>1 2 3 4</DataArray>";
  EXPECT_EQ(MeshFile::read(folder_.write("good.vtu", named.text())).point_arrays().front().name, "a&b <c");
  // Very deep elements, which a recursive reader has no stack for.
  std::string deep;
  for (int i = 0; i < 200000; ++i) deep += "<a>";
  EXPECT_EQ(refusal("bad.vtu", with("<Points>", deep + "<Points>")).find(": can't be read: it is no XML: "), 0U);
  for (int i = 0; i < 200000; ++i) deep += "</a>";
  EXPECT_EQ(cells(with("<Points>", deep + "<Points>")), 2);
  // Numbers by references are not numbers, nor are those behind a byte of zero.
  EXPECT_EQ(refusal("bad.vtu", with("0 1 2 1 3 2", "0 1 2 1 &#51; 2")).find(": can't be read: "), 0U);
  EXPECT_EQ(refusal("bad.vtu", with("0 1 2 1 3 2", std::string("0 1 2 1 3\0 2", 12))).find(": can't be read: "), 0U);
  EXPECT_EQ(refusal("bad.vtu", with("NumberOfCells='2'", "NumberOfCells='2")).find(": can't be read: it is no XML: "),
            0U);
  // Appended data where no element of a file begins.
  EXPECT_EQ(refusal("bad.vtu", with("<Points>", "<AppendedData encoding='raw'>_<Points>")).find(": can't be read: "),
            0U);
  EXPECT_EQ(refusal("bad.vtu", with("<Points>", "<AppendedData encoding='raw>_<Points>")).find(": can't be read: "),
            0U);
  const std::string narrow = xml.text();
  const std::u16string wide(narrow.begin(), narrow.end());
  const std::string utf16 = "\xff\xfe" + std::string(reinterpret_cast<const char*>(wide.data()), 2 * wide.size());
  refuse("bad.vtu", utf16, ": can't be read: it does not begin with an XML element");
}

// Wherever a real file is cut, it is refused: no form crashes, prints, or gives a mesh.
TEST_F(VtkRefused, XmlCutShort) {
  for (const char* const form : {"ascii", "binary", "appended", "raw", "zlib", "lz4", "lzma"}) {
    const std::string whole = test::text_of(test::mesh_data(std::string("vtk/kinds-") + form + ".vtu"));
    for (std::size_t length = 150; length < whole.size() - 12; length += 317) {
      EXPECT_EQ(refusal("cut.vtu", whole.substr(0, length)),
                ": is cut short: it ends at byte " + std::to_string(length) + " without </VTKFile>");
      // The same with its end put back.
      const std::string reason = refusal("cut.vtu", whole.substr(0, length) + "</VTKFile>");
      EXPECT_EQ(reason.find(": can't be read: "), 0U) << form << " cut to " << length << reason;
    }
  }
}

std::string without(std::string text, std::size_t begin, std::size_t length) {
  return text.erase(begin, length);
}

// Bytes that are missing shift all that is appended behind them, headers too: whatever then stands where sizes are
// expected, the file is refused, or what moved is not looked at.
TEST_F(VtkRefused, AppendedDataThatMoved) {
  for (const char* const form : {"appended", "raw", "zlib", "lz4", "lzma"}) {
    const std::string whole = test::text_of(test::mesh_data(std::string("vtk/kinds-") + form + ".vtu"));
    const std::size_t first = whole.find('_', whole.find("<AppendedData")) + 1;
    const std::size_t last = whole.find("</AppendedData>");
    std::size_t refused = 0;
    for (const std::size_t length : {1, 3, 4, 8, 44, 100}) {
      for (std::size_t begin = first; begin + length < last; begin += 61) {
        const auto path = folder_.write("moved.vtu", without(whole, begin, length));
        try {
          EXPECT_EQ(MeshFile::read(path).mesh().cells(), 9);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
          ++refused;
        }
      }
    }
    EXPECT_GT(refused, 30U) << form;
  }
}

// Every byte of the headers of packed arrays, changed: block counts, block sizes, sizes of the last and when packed.
TEST_F(VtkRefused, HeadersOfPackedData) {
  const std::string whole = test::text_of(test::mesh_data("vtk/kinds-raw.vtu"));
  const std::string compressed = [&] {
    const auto path = folder_ / "packed.vtu";
    write_mesh(path, MeshFile::read(test::mesh_data("vtk/kinds-raw.vtu")), MeshEncoding::compressed);
    return test::text_of(path);
  }();
  for (const std::string& text : {whole, compressed}) {
    const std::size_t first = text.find('_', text.find("<AppendedData")) + 1;
    std::size_t refused = 0;
    for (std::size_t at = first; at + 30 < text.size(); at += 3) {
      for (const char bits : {'\x01', '\x80', '\xff'}) {
        std::string changed = text;
        changed[at] = static_cast<char>(changed[at] ^ bits);
        const auto path = folder_.write("changed.vtu", changed);
        try {
          static_cast<void>(MeshFile::read(path));
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
          ++refused;
        }
      }
    }
    EXPECT_GT(refused, 100U);
  }
}

TEST_F(VtkRefused, SizesOfXml) {
  Xml xml;
  xml.number_of_points = "-4";
  refuse("bad.vtu", xml.text(), ": can't be read: NumberOfPoints is '-4', where a number is expected, 0 or more");
  xml.number_of_points = "four";
  refuse("bad.vtu", xml.text(), ": can't be read: NumberOfPoints is 'four', where a number is expected, 0 or more");
  xml.number_of_points = "4611686018427387904";
  const std::string begin = ": can't be read: Cannot read points array from Points in piece 0. ";
  refuse("bad.vtu", xml.text(), begin + "The data array in the element may be too short");
  xml = {};
  xml.array =
      "<DataArray type='Float32' Name='t' NumberOfComponents='4611686018427387904' format='ascii'>1</DataArray>";
  refuse("bad.vtu", xml.text(),
         ": can't be read: it announces what there is no room for (the point array 't' has '4611686018427387904' "
         "components)");
  xml.array = "<DataArray type='Float32' Name='t' NumberOfComponents='2147483647' format='ascii'>1</DataArray>";
  refuse("bad.vtu", xml.text(),
         ": can't be read: Cannot read point data array \"t\" from PointData in piece 0. The data array in the element "
         "may be too short");
  xml.array = "<DataArray type='Float33' Name='t' format='ascii'>1 2 3 4</DataArray>";
  refuse("bad.vtu", xml.text(),
         ": can't be read: the point array 't' has the type 'Float33', which is none of numbers, as Float64");
  // Strings and bits are not kept, nor looked at.
  xml.array =
      "<Array type='String' Name='t' NumberOfTuples='-1' format='ascii'>1</Array>"
      "<DataArray type='Bit' Name='b' format='appended' offset='99'/>";
  EXPECT_TRUE(MeshFile::read(folder_.write("good.vtu", xml.text())).point_arrays().empty());
}

// A corner of one piece is none of another's points, and all pieces have the same arrays.
TEST_F(VtkRefused, PiecesThatDiffer) {
  const auto text = [](const std::string& corner, const std::string& array) {
    const auto piece = [](const std::string& last, const std::string& more) {
      return "<Piece NumberOfPoints='3' NumberOfCells='1'><CellData>" + more +
             "</CellData><Points><DataArray type='Float32' NumberOfComponents='3' format='ascii'>0 0 0 1 0 0 0 1 0"
             "</DataArray></Points><Cells><DataArray type='Int32' Name='connectivity' format='ascii'>0 1 " +
             last +
             "</DataArray><DataArray type='Int32' Name='offsets' format='ascii'>3</DataArray><DataArray type='UInt8' "
             "Name='types' format='ascii'>5</DataArray></Cells></Piece>";
    };
    return "<VTKFile type='UnstructuredGrid' version='1.0'><UnstructuredGrid>" +
           piece(corner, "<DataArray type='Int16' Name='t' format='ascii'>7</DataArray>") + piece("2", array) +
           "</UnstructuredGrid></VTKFile>\n";
  };
  const std::string same = "<DataArray type='Int16' Name='t' format='ascii'>8</DataArray>";
  const MeshFile good = MeshFile::read(folder_.write("good.vtu", text("2", same)));
  EXPECT_EQ(test::values<std::int16_t>(good.cell_arrays(), "t"), (std::vector<std::int16_t>{7, 8}));
  refuse("bad.vtu", text("3", same),
         ": cell 0 has the corner 3, where there are 3 points, numbered from 0 (in piece 0)");
  refuse("bad.vtu", text("2", ""), ": can't be read: piece 1 has no array of the name of the cell array 't'");
  refuse("bad.vtu", text("2", "<DataArray type='Int32' Name='t' format='ascii'>8</DataArray>"),
         ": can't be read: the cell array 't' has another type or other components in piece 1");
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
  refuse(
      "bad.vtk", "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET FIELD\n",
      ", line 4: expected UNSTRUCTURED_GRID, POLYDATA, STRUCTURED_POINTS, STRUCTURED_GRID or RECTILINEAR_GRID, found "
      "'FIELD'");
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
  refuse("bad.vtk", legacy + legacy_cells + "CELL_TYPES 2\n5 35\n",
         ", line 12: cell 1 is a cubic line (VTK type 35)" + taken);
  refuse(
      "bad.vtk", legacy + legacy_cells + "CELL_TYPES 2\n5 42\n",
      ": cell 1, a polyhedron, is no list of faces: 3 numbers that begin with the number of faces, and each of these "
      "with the number of its points, are expected");
  refuse("bad.vtk", legacy + legacy_cells + "CELL_TYPES 2\n5\n",
         ", line 12: the file ends where the type of a cell is expected");
  refuse("bad.vtk", legacy + legacy_cells + "CELL_TYPES 2\n5 9\n",
         ": cell 1, a quad, has 3 corners, where 4 are expected");
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
  refuse("bad.vtk", whole.substr(0, whole.size() - 3),
         ", line 16: the file ends where a number of an array is expected");
  refuse("bad.vtk", mesh + "POINT_DATA 3\n", ", line 13: there are arrays of 3 tuples, where there are 4 points");
  refuse("bad.vtk", mesh + "CELL_DATA 4\n", ", line 13: there are arrays of 4 tuples, where there are 2 cells");
  refuse("bad.vtk", mesh + "VECTORS v float\n", ", line 13: expected POINT_DATA or CELL_DATA, found 'vectors'");
  refuse("bad.vtk", mesh + "POINT_DATA 4\nARROWS v float\n", ", line 14: expected arrays, found 'arrows'");
  refuse("bad.vtk", mesh + "POINT_DATA 4\nSCALARS t float 1\n1 2 3 4\n", ", line 15: expected LOOKUP_TABLE, found '1'");
  refuse("bad.vtk", mesh + "POINT_DATA 4\nSCALARS t variant 1\nLOOKUP_TABLE default\n1 2 3 4\n",
         ", line 15: expected the type of the array 't', as double, found 'variant'");
  refuse("bad.vtk", mesh + "POINT_DATA 4\nSCALARS t short\nLOOKUP_TABLE default\n1 2 3 40000\n",
         ", line 16: a number of an array '40000' is out of range");
  refuse("bad.vtk", mesh + "CELL_DATA 2\nFIELD f 2\na 1 2 int\n1 2\n",
         ", line 16: the file ends where an array is expected");
  refuse("bad.vtk", mesh + "CELL_DATA 2\nFIELD f 1\na 1 1 int\n1\n",
         ": the cell array 'a' has 1 tuples, where there are 2 cells");
}

// Sizes that no file of theirs can hold, of which none may be made room for.
TEST_F(VtkRefused, LegacySizes) {
  const std::string mesh = legacy + legacy_cells + legacy_types;
  const auto announced = [&](const std::string& text, const std::string& size) {
    return ", line 15: the array 't' has " + size + " numbers, more than the file's " + std::to_string(text.size()) +
           " bytes can hold";
  };
  std::string text = mesh + "CELL_DATA 2\nSCALARS t double 4611686018427387904\nLOOKUP_TABLE default\n1 2\n";
  refuse("bad.vtk", text, announced(text, "2 x 4611686018427387904"));
  text = mesh + "CELL_DATA 2\nFIELD f 1\nt 150 100 int\n1 2\n";
  refuse("bad.vtk", text, announced(text, "100 x 150"));
  text = mesh + "CELL_DATA 2\nFIELD f 1\nt 150 100 string\n1 2\n";
  refuse("bad.vtk", text, announced(text, "100 x 150"));
  text = mesh + "FIELD f 2147483647\n";
  refuse("bad.vtk", text,
         ", line 13: the number of arrays is 2147483647, more than the file's " + std::to_string(text.size()) +
             " bytes can hold");
}

TEST_F(VtkRefused, LegacyCutShort) {
  for (const char* const form : {"ascii-4.2", "binary-4.2", "ascii-5.1", "binary-5.1"}) {
    const std::string whole = test::text_of(test::mesh_data(std::string("vtk/kinds-") + form + ".vtk"));
    // From CELL_DATA on, the format does not say what is still to come.
    const auto end = whole.find("CELL_DATA");
    for (std::size_t length = 1; length < end - 5; length += 29) {
      EXPECT_FALSE(refusal("cut.vtk", whole.substr(0, length)).empty()) << form << " cut to " << length;
    }
  }
}

}  // namespace
}  // namespace heddle::mesh_vtk_refused_test
