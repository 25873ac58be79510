// Plans of searches: results, allocations, and results that the caller keeps.
#include "search/oracle.hpp"
#include "support/labels.hpp"
#include <heddle/search/duplicates.hpp>
#include <heddle/search/grid.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace heddle::search::plan_test {
namespace {

// Allocations that Kokkos Tools reports. Kokkos' own scratch memory counts only on CPUs: on GPUs it has several pools
// for teams, each of which grows at first use.
std::vector<std::string> taken;
std::vector<std::string> given_back;

bool counts(const std::string& label) {
  return test::on_host || label.rfind("Kokkos::", 0) != 0;
}

template <class Work> void watch(const Work& work) {
  namespace tools = Kokkos::Tools::Experimental;
  taken.clear();
  given_back.clear();
  tools::set_allocate_data_callback([](Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t) {
    if (counts(label)) taken.emplace_back(label);
  });
  tools::set_deallocate_data_callback(
      [](Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t) {
        if (counts(label)) given_back.emplace_back(label);
      });
  work();
  tools::set_allocate_data_callback(nullptr);
  tools::set_deallocate_data_callback(nullptr);
}
// Rounds of Hash-Fight, and so its memory, depend on which thread writes last.
void expect_no_memory_moved(const SearchOptions& search = {}) {
  if (search.algorithm == Algorithm::hash_fight) return;
  EXPECT_TRUE(taken.empty()) << ::testing::PrintToString(taken);
  EXPECT_TRUE(given_back.empty()) << ::testing::PrintToString(given_back);
}

// A grid of tetrahedra, and some cells again, twice or three times, so that there are sides of more than two cells.
template <PointId Id> Mesh<Id> doubled_tetrahedra(Index edge, Index more, bool randomised) {
  const auto once = tetrahedra_of<Id>(ExecutionSpace(), {edge, edge, edge}, {.randomised = randomised});
  const auto size = static_cast<std::size_t>(once.points.extent(0));
  const auto again = static_cast<std::size_t>(4 * more);
  const Kokkos::View<Id*, MemorySpace> points("heddle::test::points", size + 2 * again);
  using Run = std::pair<std::size_t, std::size_t>;
  Kokkos::deep_copy(Kokkos::subview(points, Run(0, size)), once.points);
  Kokkos::deep_copy(Kokkos::subview(points, Run(size, size + again)), Kokkos::subview(once.points, Run(0, again)));
  Kokkos::deep_copy(Kokkos::subview(points, Run(size + again, size + 2 * again)),
                    Kokkos::subview(once.points, Run(again / 2 / 4 * 4, again / 2 / 4 * 4 + again)));
  Mesh<Id> mesh = once;
  mesh.points = points;
  return mesh;
}

template <PointId Id> void expect_same(const ExternalFaces<Id>& found, const ExternalFaces<Id>& expected) {
  EXPECT_EQ(listed(found.external), listed(expected.external));
  EXPECT_EQ(listed(found.nonmanifold), listed(expected.nonmanifold));
  EXPECT_EQ(host_vector(found.external.offsets), host_vector(expected.external.offsets));
  EXPECT_EQ(host_vector(found.nonmanifold_face), host_vector(expected.nonmanifold_face));
  EXPECT_EQ(found.report.cells, expected.report.cells);
  EXPECT_EQ(found.report.faces, expected.report.faces);
  EXPECT_EQ(found.report.external, expected.report.external);
  EXPECT_EQ(found.report.nonmanifold_sides, expected.report.nonmanifold_sides);
  EXPECT_EQ(found.report.nonmanifold_faces, expected.report.nonmanifold_faces);
  EXPECT_EQ(found.report.degenerate_sides, expected.report.degenerate_sides);
  EXPECT_EQ(found.report.search.algorithm, expected.report.search.algorithm);
  EXPECT_EQ(found.report.search.passes, expected.report.search.passes);
  EXPECT_EQ(found.report.search.memory, expected.report.search.memory);
}

template <PointId Id> void expect_plans_of_faces() {
  const ExecutionSpace space;
  const auto small = doubled_tetrahedra<Id>(3, 0, false);
  const auto large = doubled_tetrahedra<Id>(7, 200, false);
  const auto shuffled = doubled_tetrahedra<Id>(7, 200, true);
  for (SearchOptions search : all_searches()) {
    for (const Index memory : {Index{0}, Index{200000}}) {
      search.memory = memory;
      SCOPED_TRACE(name_of(search) + ", memory " + std::to_string(memory));
      ExternalFacesPlan<Id> plan(space, {.search = search});
      EXPECT_EQ(plan.memory(), 0);
      for (const auto* mesh : {&small, &large, &small, &shuffled, &large}) {
        expect_same(plan.execute(*mesh), external_faces(space, *mesh, {.search = search}));
      }
      const auto expected = external_faces(space, large, {.search = search});
      const ExternalFaces<Id>* found = nullptr;
      const Index before = plan.memory();
      EXPECT_GT(before, expected.report.search.memory / 2);
      watch([&] {
        found = &plan.execute(large);
        found = &plan.execute(large);
      });
      expect_no_memory_moved(search);
      if (search.algorithm != Algorithm::hash_fight) {
        EXPECT_EQ(plan.memory(), before);
      }
      expect_same(*found, expected);
      EXPECT_GT(found->report.nonmanifold_faces, 0);
    }
  }
}

TEST(ExternalFacesPlanOf, Numbers32BitsFindsTheSameFacesInKeptMemory) {
  expect_plans_of_faces<std::int32_t>();
}
TEST(ExternalFacesPlanOf, Numbers64BitsFindsTheSameFacesInKeptMemory) {
  expect_plans_of_faces<std::int64_t>();
}

TEST(ExternalFacesPlanOf, MixedCellsAndGhostsToo) {
  const ExecutionSpace space;
  Cells cells;
  for (int k = 0; k < 60; ++k) {
    cells.push_back({CellKind::wedge, {3 * k, 3 * k + 1, 3 * k + 2, 3 * k + 3, 3 * k + 4, 3 * k + 5}});
    cells.push_back({CellKind::triangle, {3 * k, 3 * k + 1, 3 * k + 2}});
    cells.push_back({CellKind::tetrahedron, {k, k, k + 1, k + 2}});
  }
  auto mesh = mixed_mesh(cells);
  const Kokkos::View<std::uint8_t*, MemorySpace> ghosts("heddle::test::ghosts", cells.size());
  const auto host = Kokkos::create_mirror_view(ghosts);
  for (std::size_t k = 0; k < cells.size(); k += 7) host(k) = 1;
  Kokkos::deep_copy(ghosts, host);
  mesh.ghosts = ghosts;
  for (const GhostCells how : {GhostCells::hide, GhostCells::drop, GhostCells::keep}) {
    for (const SearchOptions& search : all_searches()) {
      SCOPED_TRACE(name_of(search));
      const ExternalFacesOptions options{.search = search, .ghosts = how};
      ExternalFacesPlan<Index> plan(space, options);
      const auto expected = external_faces(space, mesh, options);
      expect_same(plan.execute(mesh), expected);
      const ExternalFaces<Index>* found = nullptr;
      watch([&] { found = &plan.execute(mesh); });
      expect_no_memory_moved(search);
      expect_same(*found, expected);
    }
  }
}

TEST(ExternalFacesPlanOf, WhatTheCallerHoldsStaysAsItIs) {
  const ExecutionSpace space;
  const auto one = doubled_tetrahedra<std::int32_t>(5, 50, false);
  const auto other = doubled_tetrahedra<std::int32_t>(5, 50, true);
  ExternalFacesPlan<std::int32_t> plan(space);
  const auto& lent = plan.execute(one);
  const ExternalFaces<std::int32_t> held = lent;
  const auto expected = external_faces(space, one);
  expect_same(plan.execute(other), external_faces(space, other));
  expect_same(held, expected);
  // Holding a single list keeps its array.
  const auto points = plan.execute(one).external.points;
  static_cast<void>(plan.execute(other));
  EXPECT_EQ(host_vector(points), host_vector(expected.external.points));
  // After the plan, too.
  ExternalFaces<std::int32_t> survivor;
  {
    ExternalFacesPlan<std::int32_t> brief(space);
    survivor = brief.execute(one);
    ExternalFacesPlan<std::int32_t> moved = std::move(brief);
    expect_same(moved.execute(other), external_faces(space, other));
  }
  expect_same(survivor, expected);
}

TEST(ExternalFacesPlanOf, CanBeUsedAfterARefusal) {
  const ExecutionSpace space;
  const auto good = doubled_tetrahedra<std::int32_t>(4, 20, false);
  Mesh<std::int32_t> bad = good;
  const Kokkos::View<std::int32_t*, MemorySpace> points("heddle::test::points", good.points.extent(0));
  Kokkos::deep_copy(points, good.points);
  Kokkos::deep_copy(Kokkos::subview(points, 4), -5);
  bad.points = points;
  ExternalFacesPlan<std::int32_t> plan(space);
  const auto expected = external_faces(space, good);
  expect_same(plan.execute(good), expected);
  EXPECT_THROW(static_cast<void>(plan.execute(bad)), Error);
  const ExternalFaces<std::int32_t>* found = nullptr;
  watch([&] { found = &plan.execute(good); });
  expect_no_memory_moved();
  expect_same(*found, expected);
  // No cells at all.
  Mesh<std::int32_t> empty = good;
  empty.points = {};
  EXPECT_EQ(plan.execute(empty).report.external, 0);
  expect_same(plan.execute(good), expected);
}

TEST(DuplicatesPlanOf, FindsTheSameGroupsInKeptMemory) {
  const ExecutionSpace space;
  std::vector<Index> few(3000);
  std::vector<Index> many(40000);
  for (std::size_t k = 0; k < few.size(); ++k) few[k] = static_cast<Index>(k * k % 997) - 400;
  // A key that repeats more often than longest_run, and most that do not.
  for (std::size_t k = 0; k < many.size(); ++k) many[k] = k % 5 == 0 ? 7 : static_cast<Index>(k * 2654435761U % 60000);
  for (SearchOptions search : all_searches()) {
    for (const Index memory : {Index{0}, Index{150000}}) {
      search.memory = memory;
      SCOPED_TRACE(name_of(search) + ", memory " + std::to_string(memory));
      DuplicatesPlan plan(space, search);
      const auto expect_groups = [&](const Duplicates& found, const std::vector<Index>& keys) {
        const Duplicates expected = find_duplicates(space, device_view(keys), search);
        EXPECT_EQ(host_vector(found.group), host_vector(expected.group));
        EXPECT_EQ(host_vector(found.first), host_vector(expected.first));
        EXPECT_EQ(host_vector(found.count), host_vector(expected.count));
        EXPECT_EQ(found.report.memory, expected.report.memory);
      };
      for (const auto* keys : {&few, &many, &few, &many}) expect_groups(plan.execute(device_view(*keys)), *keys);
      const auto keys = device_view(many);
      const Duplicates* found = nullptr;
      watch([&] { found = &plan.execute(keys); });
      expect_no_memory_moved(search);
      expect_groups(*found, many);
      const Duplicates held = *found;
      expect_groups(plan.execute(device_view(few)), few);
      expect_groups(held, many);
    }
  }
}

}  // namespace
}  // namespace heddle::search::plan_test
