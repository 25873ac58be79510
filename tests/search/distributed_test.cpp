// External faces over ranks beside those of one rank.
#include "search/oracle.hpp"
#include <heddle/search/distributed.hpp>
#include <heddle/search/grid.hpp>

#include <gtest/gtest.h>

#include <random>

namespace heddle::search::distributed_test {
namespace {

const std::vector<CellKind> solids = {CellKind::tetrahedron, CellKind::voxel, CellKind::hexahedron, CellKind::wedge,
                                      CellKind::pyramid};

Communicator world() {
  return Communicator(MPI_COMM_WORLD);
}
// Range of all cells that a rank has.
std::pair<Index, Index> share(const Communicator& comm, Index cells) {
  return {cells * comm.rank() / comm.size(), cells * (comm.rank() + 1) / comm.size()};
}
Cells share(const Communicator& comm, const Cells& cells) {
  const auto [begin, end] = share(comm, static_cast<Index>(cells.size()));
  return {cells.begin() + begin, cells.begin() + end};
}
Cells random_cells(int count, int points, const std::vector<CellKind>& kinds, Index factor, Index offset) {
  std::mt19937_64 random(static_cast<std::uint64_t>(points));
  Cells cells;
  for (int c = 0; c < count; ++c) {
    Cell cell{kinds[random() % kinds.size()], {}};
    // Points near one another, so that ranks have points of their own.
    for (int k = 0; k < corners_of(cell.kind); ++k) {
      cell.points.push_back(
          factor * static_cast<Index>(c / 40 + static_cast<int>(random() % static_cast<std::uint64_t>(points))) +
          offset);
    }
    cells.push_back(cell);
  }
  return cells;
}

// Returns the lists of all ranks in rank order, on every rank.
std::vector<Face> together(const Communicator& comm, const std::vector<Face>& mine) {
  std::vector<Index> flat;
  for (const Face& face : mine) {
    flat.insert(flat.end(), {face.cell, face.side, static_cast<Index>(face.points.size())});
    flat.insert(flat.end(), face.points.begin(), face.points.end());
  }
  std::vector<Face> all;
  for (const std::vector<Index>& theirs : comm.exchange(std::vector(static_cast<std::size_t>(comm.size()), flat))) {
    for (std::size_t at = 0; at < theirs.size(); at += 3 + static_cast<std::size_t>(theirs[at + 2])) {
      const auto points = theirs.begin() + static_cast<std::ptrdiff_t>(at) + 3;
      all.push_back({theirs[at], static_cast<int>(theirs[at + 1]), {points, points + theirs[at + 2]}});
    }
  }
  return all;
}
template <PointId Id>
void expect_together(const Communicator& comm, const ExternalFaces<Id>& found, const Expected& expected) {
  EXPECT_EQ(together(comm, listed(found.external)), expected.external);
  EXPECT_EQ(together(comm, listed(found.nonmanifold)), expected.nonmanifold);
  std::vector<Index> numbers;
  for (const auto& theirs :
       comm.exchange(std::vector(static_cast<std::size_t>(comm.size()), host_vector(found.nonmanifold_face)))) {
    numbers.insert(numbers.end(), theirs.begin(), theirs.end());
  }
  EXPECT_EQ(numbers, expected.nonmanifold_face);
  EXPECT_EQ(found.report.cells, expected.cells);
  EXPECT_EQ(found.report.faces, expected.sides);
  EXPECT_EQ(found.report.degenerate_sides, expected.flat);
  EXPECT_EQ(found.report.external, static_cast<Index>(expected.external.size()));
  EXPECT_EQ(found.report.nonmanifold_sides, static_cast<Index>(expected.nonmanifold.size()));
  EXPECT_EQ(found.report.nonmanifold_faces, static_cast<Index>(std::set<Index>(numbers.begin(), numbers.end()).size()));
}

TEST(FacesOverRanks, OfRandomCellsAreThoseOfOneRank) {
  const Communicator comm = world();
  for (const int points : {6, 30, 500}) {
    for (const auto& [factor, offset] : {std::pair<Index, Index>{1, 0}, {Index{1} << 40, 7}, {Index{1} << 52, 1}}) {
      SCOPED_TRACE(std::to_string(points) + " points, times " + std::to_string(factor));
      const Cells cells = random_cells(2000, points, solids, factor, offset);
      const Expected expected = expected_faces(cells);
      for (const Algorithm algorithm : {Algorithm::partition, Algorithm::hash_fight, Algorithm::sort_by_id}) {
        expect_together(
            comm, external_faces(comm, mixed_mesh(share(comm, cells)), {.search = {.algorithm = algorithm}}), expected);
      }
      const Cells tetrahedra = random_cells(3000, points, {CellKind::tetrahedron}, factor, offset);
      expect_together(comm, external_faces(comm, uniform_mesh(share(comm, tetrahedra))), expected_faces(tetrahedra));
    }
  }
}

TEST(FacesOverRanks, OfAGridAreThoseOfOneRank) {
  const Communicator comm = world();
  for (const bool randomised : {false, true}) {
    const auto whole = tetrahedra_of<std::int32_t>(ExecutionSpace(), {9, 8, 7}, {.randomised = randomised});
    const auto [begin, end] = share(comm, whole.cells());
    Mesh<std::int32_t> part = whole;
    part.points = Kokkos::subview(whole.points, std::pair<Index, Index>(4 * begin, 4 * end));
    const auto found = external_faces(comm, part);
    EXPECT_EQ(found.report.external, 4 * (72 + 56 + 63));
    EXPECT_EQ(together(comm, listed(found.external)), listed(external_faces(ExecutionSpace(), whole).external));
  }
}

TEST(FacesOverRanks, FourCellsOnAFaceTwoOnEachOfTwoRanks) {
  // Each rank by itself would count the face as internal.
  const Communicator comm = world();
  Cells cells;
  for (Index k = 0; k < 4; ++k) cells.push_back({CellKind::tetrahedron, {0, 1, 2, 3 + k}});
  const auto found = external_faces(comm, uniform_mesh(share(comm, cells)));
  EXPECT_EQ(found.report.nonmanifold_sides, 4);
  EXPECT_EQ(found.report.nonmanifold_faces, 1);
  expect_together(comm, found, expected_faces(cells));
}

TEST(FacesOverRanks, NumbersThatSpanOverSixtyTwoBits) {
  const Communicator comm = world();
  // One face of all ranks, and others of one rank each.
  constexpr Index far = Index{1} << 62;
  Cells cells;
  for (Index r = 0; r < comm.size(); ++r) cells.push_back({CellKind::tetrahedron, {0, far + 1, 5 + r, far + 2}});
  expect_together(comm, external_faces(comm, uniform_mesh(share(comm, cells))), expected_faces(cells));
  const Cells random = random_cells(3000, 500, {CellKind::tetrahedron}, Index{1} << 53, 1);
  expect_together(comm, external_faces(comm, uniform_mesh(share(comm, random))), expected_faces(random));
}

TEST(FacesOverRanks, ReportsWhatAllOfThemDid) {
  const Communicator comm = world();
  // No points are shared, and higher ranks have more cells: each rank's search is what it would do alone.
  ExternalFacesOptions options;
  options.search = {.algorithm = Algorithm::sort, .hash = HashFunction::exclusive_or, .time_phases = true};
  const auto reports = [&](const ExternalFacesOptions& how) {
    const Cells cells = random_cells(10000 * (1 + comm.rank()), 50, {CellKind::tetrahedron}, 1, 10000 * comm.rank());
    const SearchReport alone = external_faces(ExecutionSpace(), uniform_mesh(cells), how).report.search;
    return std::pair(alone, external_faces(comm, uniform_mesh(cells), how).report.search);
  };
  const auto [sorted_alone, sorted] = reports(options);
  EXPECT_GT(sorted_alone.collisions, 0);
  EXPECT_EQ(sorted.collisions, comm.all_reduce(sorted_alone.collisions, Reduction::sum));
  EXPECT_EQ(sorted.memory, comm.all_reduce(sorted_alone.memory, Reduction::maximum));
  std::vector<std::string> names;
  for (const Phase& phase : sorted.phases) {
    names.push_back(phase.name);
    EXPECT_EQ(phase.seconds, comm.all_reduce(phase.seconds, Reduction::maximum)) << phase.name;
    EXPECT_EQ(phase.seconds, -comm.all_reduce(-phase.seconds, Reduction::maximum)) << phase.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"inspect", "shared points", "prepare", "hash", "sort", "find",
                                             "shared sides", "list"}));
  // One pass for each bucket; ranks with more cells have more buckets.
  const auto [parted_alone, parted] = reports({.search = {.algorithm = Algorithm::partition, .memory = 4000}});
  EXPECT_EQ(parted.passes, comm.all_reduce(parted_alone.passes, Reduction::maximum));
  const auto [fought_alone, fought] = reports({.search = {.algorithm = Algorithm::hash_fight}});
  EXPECT_EQ(fought.iterations, comm.all_reduce(fought.iterations, Reduction::maximum));
  EXPECT_GE(fought.iterations, 1);
}

TEST(FacesOverRanks, RanksMayHaveNoCellsOrOtherKinds) {
  const Communicator comm = world();
  Cells cells = random_cells(100, 9, {CellKind::hexahedron}, 1, 0);
  const Cells mine = comm.rank() == comm.size() - 1 ? cells : Cells();
  expect_together(comm, external_faces(comm, uniform_mesh(mine)), expected_faces(cells));
  // Tetrahedra on the first rank, hexahedra on the others.
  Cells all = random_cells(100, 9, {CellKind::tetrahedron}, 1, 0);
  Cells own = all;
  for (int r = 1; r < comm.size(); ++r) {
    all.insert(all.end(), cells.begin(), cells.end());
    if (r == comm.rank()) own = cells;
  }
  expect_together(comm, external_faces(comm, uniform_mesh(own)), expected_faces(all));
}

TEST(FacesOverRanks, GhostsAreDropped) {
  const Communicator comm = world();
  const Cells cells = random_cells(900, 60, solids, 1, 0);
  const auto [begin, end] = share(comm, static_cast<Index>(cells.size()));
  // A layer of the neighbours' cells follows a rank's own, and counts in the numbering of cells.
  Cells own = share(comm, cells);
  std::vector<std::uint8_t> marks(own.size(), 0);
  Index before = 0;
  Index copies = 0;
  for (Index c = 0; c < static_cast<Index>(cells.size()); ++c) {
    if (c >= begin && c < end) continue;
    if (c < begin - 30 || c >= end + 30) continue;
    own.push_back(cells[static_cast<std::size_t>(c)]);
    marks.push_back(1);
    ++copies;
  }
  std::vector<Index> all_copies(static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const Index>(&copies, 1), std::span<Index>(all_copies));
  for (int r = 0; r < comm.rank(); ++r) before += all_copies[static_cast<std::size_t>(r)];
  Mesh<Index> mesh = mixed_mesh(own);
  mesh.ghosts = device_view(marks);
  const auto found = external_faces(comm, mesh);
  const Expected expected = expected_faces(cells);
  EXPECT_EQ(found.report.external, static_cast<Index>(expected.external.size()));
  std::vector<Face> mine = listed(found.external);
  for (Face& face : mine) face.cell -= before;
  EXPECT_EQ(together(comm, mine), expected.external);
}

TEST(FacesOverRanks, ABadCellOfOneRankIsRefusedOnAll) {
  const Communicator comm = world();
  Cells cells = {{CellKind::tetrahedron, {0, 1, 2, 3}}, {CellKind::tetrahedron, {1, 2, 3, 4}}};
  if (comm.rank() == comm.size() - 1) cells[1].points[3] = -5;
  try {
    static_cast<void>(external_faces(comm, uniform_mesh(cells)));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "external_faces: cell 1 of rank " + std::to_string(comm.size() - 1) +
                                ", a tetrahedron, has the point -5; expected 0 or more");
  }
}

}  // namespace
}  // namespace heddle::search::distributed_test
