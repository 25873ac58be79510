// Duplicates and external faces of the manifest.
#include "drivers/manifest/results.hpp"
#include <heddle/search/duplicates.hpp>
#include <heddle/search/faces.hpp>
#include <heddle/search/grid.hpp>

namespace heddle::driver {
namespace {

template <search::Algorithm algorithm> std::string duplicates(const Communicator& comm) {
  const Kokkos::View<std::uint64_t*, MemorySpace> keys("keys", 5000);
  Kokkos::parallel_for(
      "heddle::driver::keys", Kokkos::RangePolicy<ExecutionSpace>(0, 5000),
      KOKKOS_LAMBDA(int k) { keys(k) = mixed_bits(golden_step + static_cast<std::uint64_t>(k)) % 3001; });
  Kokkos::fence();
  const auto found = search::find_duplicates(comm.space(), keys, {.algorithm = algorithm});
  return hash_of_views(found.group, found.first, found.count);
}

template <PointId Id> std::string faces(const Communicator& comm) {
  const auto mesh = search::tetrahedra_of<Id>(comm.space(), {9, 8, 7}, {.per_cube = 5, .randomised = true});
  const auto found = search::external_faces(comm.space(), mesh).external;
  return hash_of_views(found.cell, found.side, found.points);
}

}  // namespace

void add_searches(std::vector<ManifestResult>& results) {
  results.push_back({"duplicates hash-fight", duplicates<search::Algorithm::hash_fight>});
  results.push_back({"duplicates sort", duplicates<search::Algorithm::sort>});
  results.push_back({"faces 32-bit", faces<std::int32_t>});
  results.push_back({"faces 64-bit", faces<Index>});
}

}  // namespace heddle::driver
