// Datasets of .vtk files other than unstructured grids: what is read of them, and what is refused with file, place and
// reason. Beside VTK's own files they are in tests/search/vtk_agreement_test.cpp.
#include "mesh_support.hpp"

namespace heddle::mesh_legacy_datasets_test {
namespace {

class LegacyDatasets : public ::testing::Test {
 protected:
  void refuse(const std::string& name, const std::string& text, const std::string& message) {
    EXPECT_EQ(test::refusal(folder_.write(name, text)), message);
  }
  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(LegacyDatasets, PolygonsInTheOrderOfTheirData) {
  const std::string head = "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\n";
  const std::string points = "POINTS 4 float\n0 0 0 1 0 0 0 1 0 1 1 0\n";
  // In whichever order the lists come, cells are in that of their data.
  const MeshFile good = MeshFile::read(folder_.write(
      "good.vtk", head + points +
                      "POLYGONS 1 5\n4 0 1 3 2\nLINES 1 3\n2 0 3\nVERTICES 1 2\n1 2\nCELL_DATA 3\nSCALARS t int\n"
                      "LOOKUP_TABLE default\n1 2 3\n"));
  ASSERT_EQ(good.mesh().cells(), 3);
  EXPECT_EQ(test::corners(good.mesh(), 0), (std::vector<Index>{2}));
  EXPECT_EQ(test::corners(good.mesh(), 1), (std::vector<Index>{0, 3}));
  EXPECT_EQ(test::corners(good.mesh(), 2), (std::vector<Index>{0, 1, 3, 2}));
  refuse("bad.vtk", head, ", line 4: expected POINTS, found the end of the file");
  refuse("bad.vtk", head + points + "POLYGONS 1 4\n3 0 1 4\n",
         ", line 8: cell 0 has the corner 4, where there are 4 points, numbered from 0");
  refuse("bad.vtk", head + points + "POLYGONS 1 3\n2 0 1\n",
         ": cell 0, of polygons, has 2 points, where 3 or more are expected");
  refuse("bad.vtk", head + points + "VERTICES 1 2\n1 0\nLINES 1 4\n3 0 1 2\n",
         ": cell 1, of lines, has 3 points, where 2 are expected");
  refuse("bad.vtk", head + points + "TRIANGLE_STRIPS 1 5\n4 0 1 2 3\n",
         ", line 8: has triangle strips, which are not taken");
  const std::string head_5 = "# vtk DataFile Version 5.1\ntitle\nASCII\nDATASET POLYDATA\n";
  refuse("bad.vtk", head_5 + points + "POLYGONS 2 4\nOFFSETS vtktypeint64\n1 4\nCONNECTIVITY vtktypeint64\n0 1 2 3\n",
         ": the offsets of polygons are 1 to 4, where 0 to 4 are expected");
  refuse("bad.vtk", head + points + "LINES 0 0\nLINES 0 0\n", ", line 8: a second LINES");
  refuse("bad.vtk", head + points + "CELLS 1 4\n3 0 1 2\n",
         ", line 7: expected POINT_DATA or CELL_DATA, found 'cells'");
}

TEST_F(LegacyDatasets, GridsWithTheirDimensions) {
  const auto head = [](const std::string& kind) {
    return "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET " + kind + "\n";
  };
  const std::string image = head("STRUCTURED_POINTS");
  EXPECT_EQ(MeshFile::read(folder_.write("good.vtk", image + "ORIGIN 0 0 0\nASPECT_RATIO 1 1 2\nDIMENSIONS 3 2 2\n"))
                .mesh()
                .cells(),
            2);
  EXPECT_EQ(MeshFile::read(folder_.write("none.vtk", image + "DIMENSIONS 0 0 0\n")).mesh().cells(), 0);
  refuse("bad.vtk", image + "ORIGIN 0 0 0\n", ", line 5: expected DIMENSIONS, found the end of the file");
  refuse("bad.vtk", image + "DIMENSIONS 3 2\n", ", line 5: expected a dimension, found the end of the line");
  refuse("bad.vtk", image + "DIMENSIONS 3 -2 1\n",
         ", line 5: a dimension is -2, where 0 to 1048576 points are expected");
  refuse("bad.vtk", image + "DIMENSIONS 3 2 1048577\n",
         ", line 5: a dimension is 1048577, where 0 to 1048576 points are expected");
  refuse("bad.vtk", image + "DIMENSIONS 1 1 1\nSPACING 1 inf 1\n", ", line 6: a spacing 'inf' is not finite");
  refuse("bad.vtk", image + "DIMENSIONS 1 1 1\nDIMENSIONS 1 1 1\n", ", line 6: a second DIMENSIONS");
  refuse("bad.vtk", image + "DIMENSIONS 1048576 1048576 1048576\n",
         ": a grid of 1152921504606846976 points without any array, where at most 16777216 are taken");
  refuse("bad.vtk", image + "DIMENSIONS 1048576 1048576 1048576\nPOINT_DATA 5\n",
         ", line 6: there are arrays of 5 tuples, where there are 1152921504606846976 points");
  refuse("bad.vtk", image + "DIMENSIONS 2 2 1\nPOINTS 4 float\n",
         ", line 6: expected POINT_DATA or CELL_DATA, found 'points'");
  const std::string grid = head("STRUCTURED_GRID");
  refuse("bad.vtk", grid + "DIMENSIONS 2 1 1\n", ", line 5: expected POINTS, found the end of the file");
  refuse("bad.vtk", grid + "DIMENSIONS 2 1 1\nPOINTS 3 float\n0 0 0 1 1 1 2 2 2\n",
         ", line 7: there are 3 points, where the dimensions say 2");
  const std::string axes =
      head("RECTILINEAR_GRID") + "DIMENSIONS 2 1 1\nX_COORDINATES 2 float\n0 1\nY_COORDINATES 1 double\n5D-1\n";
  EXPECT_EQ(MeshFile::read(folder_.write("good.vtk", axes + "Z_COORDINATES 1 int\n3\n")).points()(1, 1), 0.5);
  refuse("bad.vtk", axes, ", line 9: there are 0 z coordinates, where the dimensions say 1");
  refuse("bad.vtk", axes + "X_COORDINATES 1 int\n3\n", ", line 10: a second list of coordinates along this axis");
  refuse("bad.vtk", axes + "Z_COORDINATES 1 float\nnan\n", ", line 11: a coordinate 'nan' is not finite");
}

}  // namespace
}  // namespace heddle::mesh_legacy_datasets_test
