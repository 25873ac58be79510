// Names and instances of everything that searches give to the device.
#include "support/labels.hpp"

#include "search/oracle.hpp"
#include <heddle/search/distributed.hpp>
#include <heddle/search/duplicates.hpp>
#include <heddle/search/grid.hpp>

#include <gtest/gtest.h>

namespace heddle::search::labels_test {
namespace {

TEST(SearchKokkos, LabelsBeginWithHeddleAndNoOtherInstanceIsTouched) {
  const auto instances = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1, 1);
  const ExecutionSpace& space = instances[0];
  const Communicator comm(MPI_COMM_WORLD, space);
  const Kokkos::View<std::int32_t*, MemorySpace> keys("heddle::keys", 1000);
  test::listen();
  {
    const StructuredGrid grid{4, 5, 6};
    const auto mesh = tetrahedra_of<std::int32_t>(space, grid, {.randomised = true});
    static_cast<void>(points_of(space, grid));
    static_cast<void>(external_faces(space, grid));
    static_cast<void>(external_faces(space, hexahedra_of<Index>(space, grid)));
    for (SearchOptions search : all_searches()) {
      search.time_phases = true;
      EXPECT_EQ(external_faces(space, mesh, {.search = search}).report.external, 4 * (20 + 30 + 24));
      EXPECT_EQ(find_duplicates(space, keys, search).groups(), 1);
      // In several passes.
      search.memory = 20000;
      EXPECT_EQ(external_faces(space, mesh, {.search = search}).report.external, 4 * (20 + 30 + 24));
    }
    // On each rank the same cells: between two, all is shared.
    EXPECT_EQ(external_faces(comm, mesh).report.nonmanifold_sides,
              comm.size() > 1 ? comm.size() * (4 * 5 * 120 - 296) : 0);
  }
  test::stop_listening();
  test::expect_labels(space);
}

}  // namespace
}  // namespace heddle::search::labels_test
