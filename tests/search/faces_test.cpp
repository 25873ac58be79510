// External faces beside a search by std::map, and of grids by formula.
#include "search/oracle.hpp"
#include <heddle/search/grid.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace heddle::search::faces_test {
namespace {

const std::vector<CellKind> solids = {CellKind::tetrahedron, CellKind::voxel, CellKind::hexahedron, CellKind::wedge,
                                      CellKind::pyramid};

// Cells of random points, few enough that sides meet, and that points repeat within cells.
Cells random_cells(int count, int points, const std::vector<CellKind>& kinds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Cells cells;
  for (int c = 0; c < count; ++c) {
    Cell cell{kinds[random() % kinds.size()], {}};
    for (int k = 0; k < corners_of(cell.kind); ++k) cell.points.push_back(static_cast<Index>(random() % points));
    cells.push_back(cell);
  }
  return cells;
}
Cells whole_numbers(Cells cells, Index factor, Index offset) {
  for (Cell& cell : cells) {
    for (Index& point : cell.points) point = factor * point + offset;
  }
  return cells;
}
template <PointId Id>
void expect_all_searches(const Mesh<Id>& mesh, const Expected& expected, ExternalFacesOptions options = {}) {
  for (const SearchOptions& search : all_searches()) {
    SCOPED_TRACE(name_of(search));
    options.search = search;
    expect_faces(external_faces(ExecutionSpace(), mesh, options), expected);
  }
}

// Returns the corners of a cell of size 1.
std::vector<std::array<double, 3>> corners_at(CellKind kind) {
  switch (kind) {
    case CellKind::tetrahedron:
      return {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    case CellKind::voxel:
      return {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    case CellKind::hexahedron:
      return {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    case CellKind::wedge:  // VTK's first triangle is seen from outside.
      return {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 0, 1}};
    default:
      return {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1}};
  }
}

TEST(ExternalFacesOf, OneCellAreItsSidesSeenFromOutside) {
  for (const CellKind kind : solids) {
    SCOPED_TRACE(to_string(kind));
    Cells cells(1);
    cells[0].kind = kind;
    for (int k = 0; k < corners_of(kind); ++k) cells[0].points.push_back(10 + 3 * k);
    const Expected expected = expected_faces(cells);
    EXPECT_EQ(expected.external.size(), sides_in_vtk(kind).size());
    expect_all_searches(mixed_mesh(cells), expected);
    expect_all_searches(uniform_mesh(cells), expected);
    const auto at = corners_at(kind);
    std::array<double, 3> middle{};
    for (const auto& corner : at) {
      for (std::size_t d = 0; d < 3; ++d) middle[d] += corner[d] / static_cast<double>(at.size());
    }
    for (const Face& face : listed(external_faces(ExecutionSpace(), mixed_mesh(cells)).external)) {
      const auto from = [&](int k, std::size_t d) {
        const auto corner = static_cast<std::size_t>((face.points[static_cast<std::size_t>(k)] - 10) / 3);
        return at[corner][d] - at[static_cast<std::size_t>((face.points[0] - 10) / 3)][d];
      };
      double outwards = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        const std::size_t e = (d + 1) % 3;
        const std::size_t f = (d + 2) % 3;
        const double normal = from(1, e) * from(2, f) - from(1, f) * from(2, e);
        outwards += normal * (at[static_cast<std::size_t>((face.points[0] - 10) / 3)][d] - middle[d]);
      }
      EXPECT_GT(outwards, 0) << ::testing::PrintToString(face);
    }
  }
}

TEST(ExternalFacesOf, RandomCellsAreWhatAMapFinds) {
  for (const int points : {5, 9, 40}) {
    for (const CellKind kind : solids) {
      SCOPED_TRACE(std::string(to_string(kind)) + ", " + std::to_string(points) + " points");
      const Cells cells = random_cells(400, points, {kind}, static_cast<std::uint64_t>(points));
      const Expected expected = expected_faces(cells);
      EXPECT_GT(expected.flat, 0);
      expect_all_searches(uniform_mesh<std::int32_t>(cells), expected);
      expect_all_searches(mixed_mesh(cells), expected);
    }
    SCOPED_TRACE("mixed");
    std::vector<CellKind> kinds = solids;
    kinds.insert(kinds.end(), {CellKind::vertex, CellKind::line, CellKind::triangle, CellKind::quad});
    const Cells cells = random_cells(1500, points, kinds, 17);
    const Expected expected = expected_faces(cells);
    EXPECT_GT(expected.nonmanifold.size(), 0U);
    expect_all_searches(mixed_mesh<std::int32_t>(cells), expected);
  }
}

TEST(ExternalFacesOf, LargeNumbersOfPoints) {
  const Cells cells = random_cells(3000, 60, {CellKind::tetrahedron, CellKind::hexahedron}, 3);
  const Cells tetrahedra = random_cells(3000, 60, {CellKind::tetrahedron}, 4);
  // Point numbers from 2^31; with gaps, so that keys take two words; and the largest possible, so that keys are hashed.
  for (const auto& [factor, offset] :
       {std::pair<Index, Index>{1, Index{1} << 31}, {Index{1} << 31, 5}, {(Index{1} << 57) + 12345, 1}}) {
    SCOPED_TRACE(factor);
    for (const Cells& some : {cells, tetrahedra}) {
      const Cells large = whole_numbers(some, factor, offset);
      expect_all_searches(mixed_mesh(large), expected_faces(large));
    }
    const Cells large = whole_numbers(tetrahedra, factor, offset);
    expect_all_searches(uniform_mesh(large), expected_faces(large));
  }
}

TEST(ExternalFacesOf, NumbersThatSpanOverSixtyTwoBits) {
  // Numbers whose lower 62 bits are those of another; a cell with a point twice, too.
  constexpr Index far = Index{1} << 62;
  const Cells cells = {{CellKind::tetrahedron, {0, 1, 2, far}},
                       {CellKind::tetrahedron, {2, 1, 0, 2 * (far - 1) + 1}},
                       {CellKind::tetrahedron, {far, 0, far + 1, far}}};
  EXPECT_EQ(external_faces(ExecutionSpace(), uniform_mesh({cells[0]})).report.external, 4);
  expect_all_searches(uniform_mesh(cells), expected_faces(cells));
  const Cells random = whole_numbers(random_cells(3000, 500, {CellKind::tetrahedron}, 6), Index{1} << 54, 1);
  expect_all_searches(uniform_mesh(random), expected_faces(random));
}

TEST(ExternalFacesOf, NoCellsAtAll) {
  expect_all_searches(uniform_mesh({}), Expected());
  expect_all_searches(mixed_mesh({}), Expected());
  expect_all_searches(Mesh<std::int32_t>(), Expected());
  const Cells flat = {{CellKind::triangle, {0, 1, 2}}, {CellKind::vertex, {3}}};
  expect_all_searches(mixed_mesh(flat), Expected());
}

TEST(ExternalFacesOf, ThreeCellsOnAFace) {
  const Cells cells = {{CellKind::tetrahedron, {0, 1, 2, 3}},
                       {CellKind::tetrahedron, {0, 2, 1, 4}},
                       {CellKind::tetrahedron, {2, 1, 0, 5}}};
  const auto found = external_faces(ExecutionSpace(), uniform_mesh<std::int32_t>(cells));
  EXPECT_EQ(found.report.external, 9);
  EXPECT_EQ(found.report.nonmanifold_faces, 1);
  EXPECT_EQ(listed(found.nonmanifold), (std::vector<Face>{{0, 3, {0, 2, 1}}, {1, 3, {0, 1, 2}}, {2, 3, {2, 0, 1}}}));
  expect_all_searches(uniform_mesh<std::int32_t>(cells), expected_faces(cells));
}

TEST(ExternalFacesOf, AStarWhoseCellsAllShareAPoint) {
  // A fan around the point 0, closed, and so many cells that one point's sides fill any bucket by themselves.
  constexpr Index spokes = 20000;
  Cells cells;
  for (Index k = 0; k < spokes; ++k) {
    cells.push_back({CellKind::tetrahedron, {0, 1 + k, 1 + (k + 1) % spokes, spokes + 1}});
  }
  expect_all_searches(uniform_mesh<std::int32_t>(cells), expected_faces(cells));
}

TEST(ExternalFacesOf, FacesThatOnlyOnePointTellsApart) {
  // Quadrilaterals that share their three smallest points.
  Cells cells;
  for (Index k = 0; k < 50; ++k) {
    cells.push_back({CellKind::hexahedron, {0, 1, 2, 10 + k, 1000 + 4 * k, 1001 + 4 * k, 1002 + 4 * k, 1003 + 4 * k}});
  }
  const Expected expected = expected_faces(cells);
  EXPECT_EQ(expected.external.size(), 300U);
  expect_all_searches(uniform_mesh(cells), expected);
}

TEST(ExternalFacesOf, AHexahedronFoldedToAWedge) {
  // Its points 3 and 7 are 2 and 6: two sides are triangles, which the wedge beside it shares, and one has no area.
  const Cells cells = {{CellKind::hexahedron, {0, 1, 2, 2, 4, 5, 6, 6}}, {CellKind::wedge, {0, 1, 2, 10, 11, 12}}};
  const auto found = external_faces(ExecutionSpace(), mixed_mesh(cells));
  EXPECT_EQ(found.report.degenerate_sides, 1);
  EXPECT_EQ(found.report.external, 8);
  expect_all_searches(mixed_mesh(cells), expected_faces(cells));
}

TEST(ExternalFacesOf, GhostsAreHiddenOrDroppedOrKept) {
  const Cells cells = random_cells(600, 12, solids, 8);
  std::vector<std::uint8_t> marks(cells.size());
  std::set<Index> ghosts;
  for (std::size_t c = 0; c < cells.size(); c += 1 + c % 5) {
    marks[c] = 1;
    ghosts.insert(static_cast<Index>(c));
  }
  Mesh<Index> mesh = mixed_mesh(cells);
  mesh.ghosts = device_view(marks);
  expect_all_searches(mesh, expected_faces(cells, {}, ghosts), {.search = {}, .ghosts = GhostCells::hide});
  expect_all_searches(mesh, expected_faces(cells, ghosts), {.search = {}, .ghosts = GhostCells::drop});
  expect_all_searches(mesh, expected_faces(cells), {.search = {}, .ghosts = GhostCells::keep});
}

TEST(ExternalFacesOf, GridsOfTetrahedra) {
  for (const int per_cube : {5, 6}) {
    for (const Index n : {1, 2, 3, 12}) {
      for (const bool randomised : {false, true}) {
        const auto mesh = tetrahedra_of<std::int32_t>(ExecutionSpace(), {n, n, n}, {per_cube, randomised, 5});
        for (const SearchOptions& search : all_searches()) {
          SCOPED_TRACE(name_of(search));
          const auto found = external_faces(ExecutionSpace(), mesh, {.search = search});
          EXPECT_EQ(found.report.cells, per_cube * n * n * n);
          EXPECT_EQ(found.report.external, 12 * n * n);
          EXPECT_EQ(found.report.nonmanifold_sides, 0);
          EXPECT_EQ(found.report.degenerate_sides, 0);
        }
      }
    }
  }
}

// Returns faces as coordinates of their points, independent of numbers and cells.
std::multiset<std::vector<std::array<double, 3>>> places_of(const StructuredGrid& grid,
                                                            const TetrahedraOptions& options) {
  const auto points =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), points_of(ExecutionSpace(), grid, options));
  const auto mesh = tetrahedra_of<std::int64_t>(ExecutionSpace(), grid, options);
  std::multiset<std::vector<std::array<double, 3>>> places;
  for (const Face& face : listed(external_faces(ExecutionSpace(), mesh).external)) {
    std::vector<std::array<double, 3>> corners;
    for (const Index point : face.points) corners.push_back({points(point, 0), points(point, 1), points(point, 2)});
    // From the first corner on, in the same sense.
    std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end()), corners.end());
    places.insert(corners);
  }
  return places;
}
TEST(ExternalFacesOf, GridsAreTheSameWhateverTheNumbers) {
  const StructuredGrid grid{5, 7, 4};
  for (const int per_cube : {5, 6}) {
    const auto regular = places_of(grid, {.per_cube = per_cube});
    EXPECT_EQ(regular.size(), 4U * (5 * 7 + 7 * 4 + 4 * 5));
    for (const std::uint64_t seed : {1, 2, 3}) {
      EXPECT_EQ(places_of(grid, {.per_cube = per_cube, .randomised = true, .seed = seed}), regular);
    }
  }
}
TEST(Grids, AreNumberedByPermutations) {
  const StructuredGrid grid{3, 2, 5};
  const TetrahedraOptions shuffled{.randomised = true, .seed = 9};
  const auto plain = host_vector(tetrahedra_of<std::int32_t>(ExecutionSpace(), grid).points);
  const auto random = host_vector(tetrahedra_of<std::int32_t>(ExecutionSpace(), grid, shuffled).points);
  EXPECT_NE(plain, random);
  EXPECT_EQ(random, host_vector(tetrahedra_of<std::int32_t>(ExecutionSpace(), grid, shuffled).points));
  // Each point is in as many cells as without permutation, and volumes that add up to the grid's.
  const auto counted = [](const std::vector<std::int32_t>& points) {
    std::map<std::int32_t, int> cells;
    for (const std::int32_t point : points) ++cells[point];
    std::multiset<int> counts;
    for (const auto& [point, count] : cells) counts.insert(count);
    return counts;
  };
  EXPECT_EQ(counted(plain), counted(random));
  const auto at = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), points_of(ExecutionSpace(), grid, shuffled));
  double volume = 0;
  for (std::size_t c = 0; c < random.size(); c += 4) {
    std::array<std::array<double, 3>, 3> edge{};
    for (std::size_t e = 0; e < 3; ++e) {
      for (std::size_t d = 0; d < 3; ++d) edge[e][d] = at(random[c + 1 + e], d) - at(random[c], d);
    }
    double six_volumes = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      six_volumes +=
          edge[0][d] * (edge[1][(d + 1) % 3] * edge[2][(d + 2) % 3] - edge[1][(d + 2) % 3] * edge[2][(d + 1) % 3]);
    }
    EXPECT_GT(six_volumes, 0);
    volume += six_volumes / 6;
  }
  EXPECT_NEAR(volume, 30, 1e-12);
}
TEST(ExternalFacesOf, AGridByFormulaAreThoseOfItsHexahedra) {
  for (const StructuredGrid& grid : {StructuredGrid{0, 0, 0}, StructuredGrid{3, 0, 2}, StructuredGrid{1, 1, 1},
                                     StructuredGrid{1, 4, 3}, StructuredGrid{5, 1, 1}, StructuredGrid{6, 3, 4}}) {
    const auto searched = external_faces(ExecutionSpace(), hexahedra_of<Index>(ExecutionSpace(), grid));
    const auto found = external_faces(ExecutionSpace(), grid);
    EXPECT_EQ(listed(found.external), listed(searched.external));
    EXPECT_EQ(found.report.external, searched.report.external);
    EXPECT_EQ(found.report.faces, searched.report.faces);
    EXPECT_TRUE(listed(found.nonmanifold).empty());
  }
}

template <class T>
Kokkos::View<const T*, Kokkos::HostSpace> host_view(const Kokkos::View<const T*, MemorySpace>& view) {
  const Kokkos::View<T*, Kokkos::HostSpace> copy("heddle::test", view.extent(0));
  Kokkos::deep_copy(copy, view);
  return copy;
}

template <PointId Id> Mesh<Id, Kokkos::HostSpace> in_host_memory(const Mesh<Id>& mesh) {
  return {mesh.kind, host_view(mesh.points), host_view(mesh.kinds), host_view(mesh.offsets), host_view(mesh.ghosts)};
}

// On GPU backends meshes are transferred in blocks of 64 MiB: these have two to three.
TEST(ExternalFacesOf, MeshesInHostMemory) {
  const auto grid = tetrahedra_of<Index>(ExecutionSpace(), {90, 90, 90}, {.randomised = true});
  const auto expected = listed(external_faces(ExecutionSpace(), grid).external);
  EXPECT_EQ(expected.size(), 12u * 90 * 90);
  EXPECT_EQ(listed(external_faces(ExecutionSpace(), in_host_memory(grid)).external), expected);
  const ExternalFacesOptions few{.search = {.memory = 50000000}};
  const auto passes = external_faces(ExecutionSpace(), in_host_memory(grid), few);
  EXPECT_GT(passes.report.search.passes, 1);
  EXPECT_EQ(listed(passes.external), expected);

  auto mixed = mixed_mesh(random_cells(1500000, 400000, solids, 31));
  std::vector<std::uint8_t> ghosts(1500000);
  for (std::size_t c = 0; c < ghosts.size(); c += 3) ghosts[c] = 1;
  mixed.ghosts = device_view(ghosts);
  for (const GhostCells rule : {GhostCells::hide, GhostCells::drop, GhostCells::keep}) {
    SCOPED_TRACE(static_cast<int>(rule));
    const auto there = external_faces(ExecutionSpace(), mixed, {.ghosts = rule});
    const auto here = external_faces(ExecutionSpace(), in_host_memory(mixed), {.ghosts = rule});
    EXPECT_GT(there.external.size(), 1000000);
    EXPECT_EQ(listed(here.external), listed(there.external));
    EXPECT_EQ(listed(here.nonmanifold), listed(there.nonmanifold));
  }
}

// The cubes of a grid, and a cell with corners at both ends of the grid, so that its point numbers span more than
// others'.
template <class Cubes> auto with_a_far_cell(const Cubes& cubes, Index points) {
  const auto length = static_cast<Index>(cubes.points.extent(0));
  Cubes mesh;
  mesh.kind = cubes.kind;
  const Kokkos::View<std::int32_t*, MemorySpace> all("points", static_cast<std::size_t>(length + 8));
  Kokkos::deep_copy(Kokkos::subview(all, std::pair<Index, Index>(0, length)), cubes.points);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all);
  for (int k = 0; k < 8; ++k) host(length + k) = static_cast<std::int32_t>(k % 2 == 0 ? k : points - k);
  Kokkos::deep_copy(all, host);
  mesh.points = all;
  return mesh;
}

TEST(ExternalFacesOf, ALargeGridInOrder) {
  for (const Index n : {40, 136}) {  // More points than 21 bits number, the second.
    const auto cubes = hexahedra_of<std::int32_t>(ExecutionSpace(), {n, n, n}, {});
    const Index points = (n + 1) * (n + 1) * (n + 1);
    EXPECT_EQ(external_faces(ExecutionSpace(), cubes).external.size(), 6 * n * n);
    const auto far = with_a_far_cell(cubes, points);
    const auto found = external_faces(ExecutionSpace(), far);
    EXPECT_EQ(found.external.size(), 6 * n * n + 6);
    EXPECT_EQ(listed(found.external).back().cell, n * n * n);
    EXPECT_EQ(found.nonmanifold.size(), 0);
    if (n > 40) continue;
    const auto by_hash = external_faces(ExecutionSpace(), far, {.search = {.algorithm = Algorithm::hash_fight}});
    EXPECT_EQ(listed(by_hash.external), listed(found.external));
  }
}

// Every cell occurs twice: an inner face has four sides, and none is alone.
TEST(ExternalFacesOf, AGridTwice) {
  const auto once = tetrahedra_of<std::int32_t>(ExecutionSpace(), {20, 20, 20}, {});
  const auto length = static_cast<Index>(once.points.extent(0));
  const Kokkos::View<std::int32_t*, MemorySpace> all("points", static_cast<std::size_t>(2 * length));
  for (const Index first : {Index{0}, length}) {
    Kokkos::deep_copy(Kokkos::subview(all, std::pair<Index, Index>(first, first + length)), once.points);
  }
  Mesh<std::int32_t> twice;
  twice.points = all;
  const Index cells = length / 4;
  const Index outside = external_faces(ExecutionSpace(), once).external.size();
  const auto found = external_faces(ExecutionSpace(), twice);
  EXPECT_EQ(found.external.size(), 0);
  EXPECT_EQ(found.nonmanifold.size(), 8 * cells - 2 * outside);
  EXPECT_EQ(found.report.nonmanifold_faces, (4 * cells - outside) / 2);
}

TEST(ExternalFacesOf, KindsThatAreAllTheSame) {
  const Cells cells = random_cells(3000, 200, {CellKind::tetrahedron}, 5);
  const auto expected = expected_faces(cells);
  expect_faces(external_faces(ExecutionSpace(), mixed_mesh(cells)), expected);
  Cells last = cells;
  last.push_back({CellKind::pyramid, {1, 2, 3, 4, 5}});
  expect_faces(external_faces(ExecutionSpace(), mixed_mesh(last)), expected_faces(last));
}

TEST(ExternalFacesOf, AMeshInSeveralPasses) {
  const auto mesh = tetrahedra_of<std::int32_t>(ExecutionSpace(), {30, 30, 30}, {.randomised = true});
  const auto whole = external_faces(ExecutionSpace(), mesh);
  const auto parts = external_faces(ExecutionSpace(), mesh, {.search = {.memory = 1000000}});
  EXPECT_EQ(whole.report.search.passes, 1);
  EXPECT_GT(parts.report.search.passes, 2);
  // Marks take 2 bytes a cell, and counters of buckets come on top.
  EXPECT_LE(parts.report.search.memory, 1000000 + 2 * 135000 + 200000);
  EXPECT_GE(whole.report.search.memory, 12 * 4 * 135000);
  EXPECT_EQ(listed(parts.external), listed(whole.external));
  const Cells cells = random_cells(30000, 300, solids, 12);
  ExternalFacesOptions options;
  options.search.memory = 500000;
  const auto found = external_faces(ExecutionSpace(), mixed_mesh(cells), options);
  EXPECT_GT(found.report.search.passes, 1);
  expect_faces(found, expected_faces(cells));
}

}  // namespace
}  // namespace heddle::search::faces_test
