// Benchmarks of external faces of tetrahedralised grids against Hash-Fight with FNV-1a in turn, of a plan against the
// one call that allocates, and against the memory bandwidth.
#include "support/copy.hpp"
#include "support/measure.hpp"
#include <heddle/search/faces.hpp>
#include <heddle/search/grid.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace heddle::perf {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

enum class Beside { nothing, fight, once };
constexpr std::array<const char*, 3> names = {"alone", "beside_hash_fight", "planned"};

struct Case {
  Index cubes;
  int per_cube;
  bool randomised;
  Beside beside;
};

search::ExternalFaces<std::int32_t> faces(const Mesh<std::int32_t>& mesh, const search::SearchOptions& options) {
  return search::external_faces(world().space(), mesh, {.search = options, .ghosts = search::GhostCells::hide});
}

void search_faces(benchmark::State& state, const Case& what) {
  const Index n = is_dry_run() ? 6 : what.cubes;
  const ExecutionSpace& space = world().space();
  const auto mesh =
      search::tetrahedra_of<std::int32_t>(space, {n, n, n}, {.per_cube = what.per_cube, .randomised = what.randomised});
  const double cells = static_cast<double>(mesh.cells());
  // Traffic of the partition: the cells' points read twice, and one record per side written and read once.
  const double bytes = cells * (2 * 16 + 4 * (2 * 16));
  Index found = 0;
  const auto ours = [&] {
    return seconds_of([&] { found = faces(mesh, {.algorithm = search::Algorithm::partition}).report.external; });
  };
  search::ExternalFacesPlan<std::int32_t> plan(space, {.search = {.algorithm = search::Algorithm::partition}});
  const bool planned = what.beside == Beside::once;
  if (planned) {
    Index found_in_plan = 0;
    compare(state, cells,
            {"plan", [&] { return seconds_of([&] { found_in_plan = plan.execute(mesh).report.external; }); }},
            {"once", ours}, "gcells");
    state.counters["plan_gbytes"] = 1e-9 * static_cast<double>(plan.memory());
    if (found_in_plan != found) fail(state, "the plan finds other faces");
  } else if (what.beside == Beside::fight) {
    compare(state, cells, {"partition", ours},
            {"fight",
             [&] {
               return seconds_of([&] {
                 found = std::min(found, faces(mesh, {.algorithm = search::Algorithm::hash_fight,
                                                      .hash = search::HashFunction::fnv1a})
                                             .report.external);
               });
             }},
            "gcells");
  } else {
    static_cast<void>(ours());
    std::vector<double> times;
    for (auto _ : state) {
      times.push_back(ours());
      state.SetIterationTime(times.back());
    }
    state.counters["gcells"] = 1e-9 * cells / median(times);
    state.counters["gcells_best"] = 1e-9 * cells / *std::min_element(times.begin(), times.end());
    // Doubles, half of them read and half written.
    const auto numbers = static_cast<std::size_t>(bytes / 16);
    const LocalMatrix<double> from("heddle::perf::from", numbers, 1);
    const LocalMatrix<double> to("heddle::perf::to", numbers, 1);
    std::vector<double> copies(5);
    for (double& copy : copies) copy = seconds_of([&] { streaming_copy<double>(space, from, to); });
    state.counters["share_of_bandwidth"] = median(copies) / median(times);
  }
  const search::SearchOptions timed{.algorithm = search::Algorithm::partition, .time_phases = true};
  std::vector<search::Phase> phases;
  if (planned) {
    search::ExternalFacesPlan<std::int32_t> watched(space, {.search = timed});
    static_cast<void>(watched.execute(mesh));
    phases = watched.execute(mesh).report.search.phases;
  } else {
    phases = faces(mesh, timed).report.search.phases;
  }
  for (const search::Phase& phase : phases) state.counters["ms_" + phase.name] = 1e3 * phase.seconds;
  if (found != 12 * n * n) fail(state, "not 12 n^2 external faces");
}

[[maybe_unused]] const bool added = [] {
  // 24.6 million tetrahedra; on GPUs the paper's meshes of 175^3 and 300^3 points, 26 and 134 million.
  constexpr std::array<Case, 2> sizes = on_host ? std::array<Case, 2>{{{40, 6, false, {}}, {160, 6, false, {}}}}
                                                : std::array<Case, 2>{{{174, 5, false, {}}, {299, 5, false, {}}}};
  for (Case one : sizes) {
    for (const bool randomised : {false, true}) {
      for (const Beside beside : {Beside::nothing, Beside::fight, Beside::once}) {
        one.randomised = randomised;
        one.beside = beside;
        const std::string name = "faces/" + std::string(randomised ? "randomised" : "regular") + "/" +
                                 names[static_cast<std::size_t>(beside)] + "/cubes:" + std::to_string(one.cubes);
        benchmark::RegisterBenchmark(name.c_str(), [one](benchmark::State& state) { search_faces(state, one); })
            ->Iterations(on_host && beside == Beside::fight ? 2 : 5)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf
