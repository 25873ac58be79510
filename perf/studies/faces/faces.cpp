// The experiment of the external faces: algorithms and hash functions by size and numbering of a mesh.
#include "studies/faces/faces.hpp"

#include "drivers/search/faces_list.hpp"
#include "drivers/search/faces_mesh.hpp"
#include "drivers/search/search_settings.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include "studies/faces/cache_misses.hpp"
#include "studies/faces/faces_plan.hpp"
#include "studies/faces/faces_table.hpp"
#include "studies/table.hpp"

#include <algorithm>
#include <concepts>
#include <map>
#include <optional>
#include <random>
#include <tuple>

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

struct Options : StudyFiles {
  std::vector<Index> sizes;
  std::vector<std::string> methods = {"sort-by-id",       "sort+xor",       "sort+fnv1a",       "sort+morton",
                                      "sort+mixer",       "hash-fight+xor", "hash-fight+fnv1a", "hash-fight+morton",
                                      "hash-fight+mixer", "partition"};
  std::vector<search::Sorting> sorts = {search::Sorting::radix};
  std::vector<std::string> numberings = {"regular", "randomised"};
  std::vector<int> threads;
  int per_cube = 5;
  Index memory = 0;
  int repeat = 10;
  double limit = 10;

  Options() : StudyFiles{{}, "study_faces.csv", {}} {}
};

const OptionTable<Options>& all_options() {
  using search::Sorting;
  static const OptionTable<Options> table = before_study_files<Options>({
      {"--sizes",
       &Options::sizes,
       Integer{.type_name = "N,N,..."},
       "Cubes along each axis of the meshes; without it 20,30,40,50,60, on a GPU 40,80,120,160,200",
       {.was = "--cubes"}},
      {"--methods", &Options::methods, Text{"NAME,..."},
       "partition, sort-by-id, sort+HASH and hash-fight+HASH, where HASH is xor, fnv1a, morton or mixer"},
      {"--sort", &Options::sorts, choice<Sorting>("NAME,...", {Sorting::radix, Sorting::merge}),
       "How sort and sort-by-id sort: radix, merge (by comparisons), or both"},
      {"--numberings", &Options::numberings, choice({"regular", "randomised"}, "NAME,..."),
       "Of points and cells: regular, randomised"},
      {"--threads",
       &Options::threads,
       Integer{.least = 1, .type_name = "N,N,..."},
       "Numbers of CPU threads, each of which runs all",
       {.otherwise = "all threads there are"}},
      {"--per-cube", &Options::per_cube, per_cube_kind(), "Tetrahedra in each cube"},
      {"--memory", &Options::memory, Bytes{},
       "Bytes that a search may take (of partition, its records), in several passes where it must; K, M, G, T are "
       "powers of 1024; 0: what is free beside the meshes"},
      {"--repeat", &Options::repeat, Integer{.least = 1}, "Runs of each", {.was = "--trials"}},
      {"--limit", &Options::limit, Number{.least = 0, .type_name = "SECONDS"},
       "Seconds: a method that took longer is left out at larger sizes"},
  });
  return table;
}

// Numbers of 32 bits, as in the paper: twice as fast as 64.
using Id = std::int32_t;

std::string backend_of() {
  std::string name = ExecutionSpace::name();
  for (char& letter : name) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  return name;
}

// An execution space instance on some CPU threads, or on the whole device.
struct Workers {
  int threads;  // 0: a GPU.
  ExecutionSpace space;
};
// Return an instance on `threads` threads, if the backend supports that.
template <class Space> std::optional<Space> instance_of(int threads) {
  if constexpr (std::constructible_from<Space, int>) {
    return Space(threads);
  } else {
    static_cast<void>(threads);
    return {};
  }
}
std::vector<Workers> workers_of(const ExecutionSpace& space, const std::vector<int>& counts) {
  if (!on_host) {
    require(counts.empty(), "--threads: this build runs on a GPU, which has no such number");
    return {{0, space}};
  }
  const int all = space.concurrency();
  if (counts.empty()) return {{all, space}};
  std::vector<Workers> workers;
  for (const int threads : counts) {
    require(threads <= all, "--threads: ", threads, ": expected 1 to ", all, ", which OMP_NUM_THREADS sets");
    const auto fewer = threads == all ? std::optional(space) : instance_of<ExecutionSpace>(threads);
    require(fewer.has_value(), "--threads: ", threads, ": this backend has ", all, " alone");
    workers.push_back({threads, *fewer});
  }
  return workers;
}

// Return the number of positions at which two lists of triangles differ.
Index differing(const ExecutionSpace& space, const FaceList<Id>& one, const FaceList<Id>& other) {
  if (one.size() != other.size() || one.points.extent(0) != other.points.extent(0)) {
    return std::max<Index>(1, std::max(one.size(), other.size()));
  }
  Index count = 0;
  Kokkos::parallel_reduce(
      "heddle::driver::differing", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, one.size()),
      KOKKOS_LAMBDA(Index face, Index & wrong) {
        bool same = one.cell(face) == other.cell(face) && one.side(face) == other.side(face) &&
                    one.offsets(face) == other.offsets(face) && one.offsets(face + 1) == other.offsets(face + 1);
        for (Index k = one.offsets(face); same && k < one.offsets(face + 1); ++k)
          same = one.points(k) == other.points(k);
        wrong += same ? 0 : 1;
      },
      count);
  return count;
}

// One mesh, and the result of the first search of it.
struct Case {
  std::string numbering;
  Mesh<Id> mesh;
  FaceList<Id> faces;
  std::string digest;
};

// One search of several that are done in random order.
struct Run {
  std::size_t which;  // Index of the case.
  std::size_t method;
  std::size_t workers;
};

struct Outcome {
  std::vector<FacesRow> rows;
  Index wrong_counts = 0;
  Index differing = 0;
  std::vector<std::string> left_out;
};

class Study {
 public:
  Study(const Context& context, const Options& options)
      : context_(context),
        options_(options),
        methods_(faces_methods(options.methods, options.sorts)),
        workers_(workers_of(context.comm().space(), options.threads)) {
    for (FacesMethod& method : methods_) {
      method.options.memory = options.memory;
      labels_.push_back(method.label());
    }
    const double available = available_memory();
    for (const Index cubes : options.sizes) {
      plans_[cubes] =
          plan_faces(cubes, options.per_cube, static_cast<int>(options.numberings.size()), methods_, available);
      note_passes(cubes);
    }
  }

  /// Notes on methods that take several passes for lack of device memory.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  [[nodiscard]] Outcome run() {
    Outcome outcome;
    Progress progress = context_.progress("study");
    warm_up();
    const CacheMisses misses;
    context_.say(misses.reason().empty() ? "cache misses: counted" : "cache misses: not counted: " + misses.reason());
    double total = 0;
    for (const Index cubes : options_.sizes) total += cost_of(cubes);
    double done = 0;
    for (const Index cubes : options_.sizes) {
      if (methods_.empty()) break;
      std::vector<Case> cases;
      for (const std::string& numbering : options_.numberings) {
        cases.push_back({numbering, mesh_of(cubes, numbering), {}, {}});
      }
      const std::vector<Run> runs = runs_of(cases.size());
      const double each = cost_of(cubes) / static_cast<double>(options_.repeat) / static_cast<double>(runs.size());
      for (int trial = 0; trial < options_.repeat; ++trial) {
        for (const Run& one : shuffled(runs)) {
          progress.update(done / total,
                          format("%lld cubes, %s, %s", static_cast<long long>(cubes),
                                 cases[one.which].numbering.c_str(), methods_[one.method].label().c_str()));
          outcome.rows.push_back(measure(cases[one.which], one, cubes, trial, misses, outcome));
          done += each;
        }
      }
      leave_out(cubes, outcome);
      // The remaining work covers the methods that remain.
      total = done;
      for (const Index later : options_.sizes) total += later > cubes ? cost_of(later) : 0;
    }
    progress.finish();
    sort_rows(outcome.rows);
    return outcome;
  }

 private:
  void note_passes(Index cubes) {
    const FacesPlan& plan = plans_[cubes];
    for (std::size_t k = 0; k < methods_.size(); ++k) {
      if (plan.bounds[k] == methods_[k].options.memory) continue;
      notes_.push_back(format("%lld cubes, %s: in passes of at most %.3g GiB, which are free beside %.3g GiB of meshes",
                              static_cast<long long>(cubes), methods_[k].label().c_str(),
                              static_cast<double>(plan.bounds[k]) / 0x1p30, static_cast<double>(plan.fixed) / 0x1p30));
    }
  }
  // Sort rows in the order of the options, whatever the order of the runs.
  void sort_rows(std::vector<FacesRow>& rows) const {
    const auto place = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) - names.begin();
    };
    const auto key = [&](const FacesRow& row) {
      return std::tuple(row.cubes, place(options_.numberings, row.numbering), place(labels_, row.label()), row.threads,
                        row.trial);
    };
    std::sort(rows.begin(), rows.end(),
              [&](const FacesRow& one, const FacesRow& other) { return key(one) < key(other); });
  }
  // Return the runs of one trial: all methods, numberings and threads.
  [[nodiscard]] std::vector<Run> runs_of(std::size_t cases) const {
    std::vector<Run> runs;
    for (std::size_t which = 0; which < cases; ++which) {
      for (std::size_t method = 0; method < methods_.size(); ++method) {
        for (std::size_t workers = 0; workers < workers_.size(); ++workers) runs.push_back({which, method, workers});
      }
    }
    return runs;
  }
  // Shuffle them anew for each trial, so that a slow minute of the machine affects all alike.
  [[nodiscard]] std::vector<Run> shuffled(std::vector<Run> runs) {
    std::shuffle(runs.begin(), runs.end(), random_);
    return runs;
  }
  // Estimate the cost by cells and runs.
  [[nodiscard]] double cost_of(Index cubes) const {
    return static_cast<double>(cubes * cubes * cubes) *
           static_cast<double>(options_.numberings.size() * methods_.size() * workers_.size()) * options_.repeat;
  }
  [[nodiscard]] Mesh<Id> mesh_of(Index cubes, const std::string& numbering) const {
    return search::tetrahedra_of<Id>(context_.comm().space(), {cubes, cubes, cubes},
                                     {.per_cube = options_.per_cube, .randomised = numbering == "randomised"});
  }
  void warm_up() const {
    const Mesh<Id> mesh = mesh_of(4, "regular");
    for (const Workers& workers : workers_) {
      for (const FacesMethod& method : methods_) {
        search::SearchOptions options = method.options;
        options.memory = 0;
        static_cast<void>(search::external_faces(workers.space, mesh, {.search = options}));
      }
    }
  }
  [[nodiscard]] FacesRow measure(Case& one, const Run& run, Index cubes, int trial, const CacheMisses& misses,
                                 Outcome& outcome) const {
    const FacesMethod& method = methods_[run.method];
    const Workers& workers = workers_[run.workers];
    search::SearchOptions options = method.options;
    options.memory = plans_.at(cubes).bounds[run.method];
    workers.space.fence("heddle::driver::study");
    misses.start();
    const auto start = std::chrono::steady_clock::now();
    const auto found = search::external_faces(workers.space, one.mesh, {.search = options});
    const double seconds = seconds_since(start);
    const std::optional<Index> missed = misses.stop();
    if (one.digest.empty()) {
      one.faces = found.external;
      one.digest = digest_of(gathered(context_.comm(), found.external));
    } else {
      outcome.differing += differing(workers.space, found.external, one.faces);
    }
    outcome.wrong_counts += found.report.external == 12 * cubes * cubes ? 0 : 1;
    const search::SearchReport& report = found.report.search;
    return {.backend = backend_of(),
            .device = cell_of(device_of(context_)),
            .threads = workers.threads,
            .method = method.name,
            .sorting = method.sorting,
            .numbering = one.numbering,
            .cubes = cubes,
            .cells = found.report.cells,
            .faces = found.report.faces,
            .external = found.report.external,
            .trial = trial,
            .seconds = seconds,
            .collisions = report.collisions,
            .iterations = report.iterations,
            .passes = report.passes,
            .memory = report.memory,
            .cache_misses = missed,
            .digest = one.digest,
            .phases = report.phases};
  }
  // Drop methods that took too long at this size from larger ones.
  void leave_out(Index cubes, Outcome& outcome) {
    if (cubes == options_.sizes.back()) return;
    std::vector<FacesMethod> kept;
    for (std::size_t k = 0; k < methods_.size(); ++k) {
      const FacesMethod& method = methods_[k];
      double longest = 0;
      for (const FacesRow& row : outcome.rows) {
        if (row.cubes == cubes && row.label() == method.label()) longest = std::max(longest, row.seconds);
      }
      if (longest <= options_.limit) {
        kept.push_back(method);
        continue;
      }
      outcome.left_out.push_back(format("%s: left out above %lld cubes, where it took %.3g s (--limit)",
                                        method.label().c_str(), static_cast<long long>(cubes), longest));
      for (auto& [size, plan] : plans_) plan.bounds.erase(plan.bounds.begin() + static_cast<Index>(kept.size()));
    }
    methods_ = std::move(kept);
  }

  const Context& context_;
  const Options& options_;
  std::vector<FacesMethod> methods_;
  std::vector<std::string> labels_;  // Labels of all methods.
  std::vector<Workers> workers_;
  std::map<Index, FacesPlan> plans_;  // Plans by number of cubes; their bounds are in the order of methods_.
  std::vector<std::string> notes_;
  std::mt19937_64 random_{1};
};

// Return the number of meshes whose rows, including those of other devices, have different results.
Index different_digests(const std::vector<FacesRow>& rows) {
  std::map<std::tuple<Index, Index, std::string>, std::string> first;
  Index count = 0;
  for (const FacesRow& row : rows) {
    const auto [found, fresh] = first.try_emplace({row.cubes, row.cells, row.numbering}, row.digest);
    count += fresh || found->second == row.digest ? 0 : 1;
  }
  return count;
}

void complete(Options& options) {
  require(!options.methods.empty() && !options.numberings.empty() && !options.sorts.empty(),
          "--methods, --numberings, --sort: expected one at least");
  if (options.sizes.empty()) {
    options.sizes = on_host ? std::vector<Index>{20, 30, 40, 50, 60} : std::vector<Index>{40, 80, 120, 160, 200};
  }
  const auto once = [](auto& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  };
  once(options.sizes);
  once(options.threads);
  for (const Index cubes : options.sizes) {
    require(cubes >= 1 && cubes <= 1024, "--sizes: ", cubes, ": expected 1 to 1024");
  }
}

int run(Context& context, Options options) {
  complete(options);
  require_study(context, "faces", options);
  auto report = context.report("study");
  report.inputs()["study"] = "faces";
  all_options().enter(options, report.inputs());
  std::vector<FacesRow> joined;
  for (const std::string& path : options.join) {
    for (FacesRow& row : read_faces_rows(path)) joined.push_back(std::move(row));
  }

  Study study(context, options);
  for (const std::string& note : study.notes()) context.say(note);
  Outcome outcome = study.run();
  const std::vector<FacesMedian> medians = medians_of(outcome.rows);
  say_faces_tables(context, medians);
  for (const std::string& line : outcome.left_out) context.say(line);
  auto& list = report.results()["medians"] = nlohmann::ordered_json::array();
  for (const FacesMedian& median : medians) list.push_back(as_json(median));
  report.results()["left_out"] = outcome.left_out;
  report.results()["passes_for_lack_of_memory"] = study.notes();
  outcome.rows.insert(outcome.rows.end(), joined.begin(), joined.end());
  report.check_at_most("runs_with_another_count", static_cast<double>(outcome.wrong_counts), 0.0);
  report.check_at_most("differing_faces", static_cast<double>(outcome.differing), 0.0);
  report.check_at_most("different_digests", static_cast<double>(different_digests(outcome.rows)), 0.0);
  write_faces_rows(options.output, outcome.rows);
  finish_study(context, report, options, study_faces_picture);
  return context.finish(report);
}

}  // namespace

void add_study_faces(CLI::App& study, Selection& selection) {
  add_command(study, selection,
              {"faces", "External faces of tetrahedra: algorithms and hash functions by size and numbering of the mesh",
               "  heddle study faces --plot faces.png\n"
               "  heddle study faces --sort radix,merge --threads 1,2 --sizes 40 --plot sorts.png\n"
               "  heddle study faces --sizes 20,40,60,80,100 --limit 60 --join gpu.csv --plot both.png"},
              all_options(), run);
}

}  // namespace heddle::driver
