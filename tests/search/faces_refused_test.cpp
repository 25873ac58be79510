// Input that external_faces() refuses.
#include "search/duplicates/partition.hpp"
#include "search/oracle.hpp"
#include "support/errors.hpp"
#include <heddle/search/duplicates.hpp>
#include <heddle/search/grid.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle::search::faces_refused_test {
namespace {

template <PointId Id> std::string refusal(const Mesh<Id>& mesh, const ExternalFacesOptions& options = {}) {
  try {
    static_cast<void>(external_faces(ExecutionSpace(), mesh, options));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::argument);
    return error.what();
  }
  return "nothing";
}
const Cells two_cells = {{CellKind::wedge, {0, 1, 2, 3, 4, 5}}, {CellKind::pyramid, {1, 2, 3, 4, 9}}};

TEST(ExternalFacesRefuse, ANegativePoint) {
  Cells cells = two_cells;
  cells[1].points[2] = -3;
  EXPECT_EQ(refusal(mixed_mesh(cells)), "external_faces: cell 1, a pyramid, has the point -3; expected 0 or more");
  Mesh<std::int32_t> mesh;
  mesh.points = device_view(std::vector<std::int32_t>{0, 1, 2, 3, 0, 1, 2, -2147483647});
  EXPECT_EQ(refusal(mesh), "external_faces: cell 1, a tetrahedron, has the point -2147483647; expected 0 or more");
}
TEST(ExternalFacesRefuse, AKindThatIsNone) {
  Cells cells = two_cells;
  cells[0].kind = static_cast<CellKind>(24);
  EXPECT_EQ(refusal(mixed_mesh(cells)), "external_faces: cell 0 is of kind 24, which is none of CellKind");
  Mesh<Index> mesh = uniform_mesh(Cells{});
  mesh.kind = static_cast<CellKind>(42);
  EXPECT_EQ(refusal(mesh), "external_faces: cells of kind 42, which is none of CellKind");
}
TEST(ExternalFacesRefuse, OffsetsThatDoNotFit) {
  Mesh<Index> mesh = mixed_mesh(two_cells);
  mesh.offsets = device_view(std::vector<Index>{0, 5, 11});
  EXPECT_EQ(refusal(mesh),
            "external_faces: cell 0, a wedge, has points 0 to 5 of 11 by its offsets; expected 6 of them");
  mesh.offsets = device_view(std::vector<Index>{0, 6, 12});
  EXPECT_EQ(refusal(mesh),
            "external_faces: cell 1, a pyramid, has points 6 to 12 of 11 by its offsets; expected 5 of them");
  mesh.offsets = device_view(std::vector<Index>{7, 13, 18});
  EXPECT_EQ(refusal(mesh),
            "external_faces: cell 0, a wedge, has points 7 to 13 of 11 by its offsets; expected 6 of them");
  mesh.offsets = device_view(std::vector<Index>{0, 6});
  EXPECT_EQ(refusal(mesh), "external_faces: 2 offsets for 2 kinds of cells; expected one more");
}
TEST(ExternalFacesRefuse, ArraysOfOtherLengths) {
  Mesh<Index> mesh = mixed_mesh(two_cells);
  mesh.ghosts = device_view(std::vector<std::uint8_t>{0});
  EXPECT_EQ(refusal(mesh), "external_faces: 1 ghost marks for 2 cells");
  Mesh<std::int32_t> uniform;
  uniform.points = device_view(std::vector<std::int32_t>{0, 1, 2, 3, 4});
  EXPECT_EQ(refusal(uniform), "external_faces: 5 points of cells of kind tetrahedron: expected a multiple of 4");
}
TEST(SearchRefuses, MemoryForFarTooManyPasses) {
  const std::vector<Index> counts(5000, 10);
  EXPECT_EQ(impl::passes_of<impl::Packing::one>(counts, 0).size(), 1U);
  EXPECT_EQ(impl::passes_of<impl::Packing::one>(counts, 16 * 10 * 50).size(), 100U);
  try {
    static_cast<void>(impl::passes_of<impl::Packing::one>(counts, 100));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "search: 100 bytes would take 5000 passes, over 4096; more memory, please");
  }
}
TEST(SearchRefuses, NegativeMemory) {
  const Kokkos::View<Index*, MemorySpace> keys("heddle::test::keys", 10);
  for (const Algorithm algorithm : {Algorithm::partition, Algorithm::sort}) {
    test::expect_refusal(ErrorKind::argument, "search: memory is -1 bytes; expected 0 or more", [&] {
      static_cast<void>(find_duplicates(ExecutionSpace(), keys, {.algorithm = algorithm, .memory = -1}));
    });
    test::expect_refusal(ErrorKind::argument, "search_memory: 9223372036854775807 keys; expected at most",
                         [&] { static_cast<void>(search_memory(algorithm, std::numeric_limits<Index>::max(), 64)); });
  }
}
TEST(ExternalFacesRefuse, PolyhedraWithoutOffsets) {
  Mesh<Index, Kokkos::HostSpace> mesh;
  mesh.kind = CellKind::polyhedron;
  mesh.points = Kokkos::View<Index*, Kokkos::HostSpace>("heddle::test::points", 4);
  EXPECT_EQ(mesh.cells(), 0);
  test::expect_refusal(ErrorKind::argument, "external_faces: ", [&] {
    static_cast<void>(external_faces(ExecutionSpace(), mesh, PolyhedronFaces{}));
  });
}
TEST(GridsRefuse, NumbersThatDoNotFit) {
  try {
    static_cast<void>(tetrahedra_of<std::int32_t>(ExecutionSpace(), {2000, 2000, 2000}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "grid of 8012006001 points: their numbers need 64 bits");
  }
  // Counts that overflow 64 bits and whose lower bits look small.
  constexpr Index many = Index{1} << 40;
  test::expect_refusal(ErrorKind::argument, "grid of 2147483648 x 1073741824 x 1 cubes: expected at most", [&] {
    static_cast<void>(tetrahedra_of<Index>(ExecutionSpace(), {Index{1} << 31, Index{1} << 30, 1}));
  });
  test::expect_refusal(ErrorKind::argument, "grid of 1099511627776 x 0 x 1099511627776 cubes: expected at", [&] {
    static_cast<void>(external_faces(ExecutionSpace(), {many, 0, many}));
  });
  try {
    static_cast<void>(external_faces(ExecutionSpace(), {many, many, many}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "grid of 1099511627776 x 1099511627776 x 1099511627776 cubes: expected at most 384307168202282325 "
                 "points");
  }
  test::expect_refusal(ErrorKind::argument, "grid of 1 x -1 x 1 cubes: expected 0 or more each", [&] {
    static_cast<void>(hexahedra_of<Index>(ExecutionSpace(), {1, -1, 1}));
  });
  test::expect_refusal(ErrorKind::argument, "tetrahedra_of: 7 tetrahedra a cube; expected 5 or 6", [&] {
    static_cast<void>(tetrahedra_of<Index>(ExecutionSpace(), {1, 1, 1}, {.per_cube = 7}));
  });
}

}  // namespace
}  // namespace heddle::search::faces_refused_test
