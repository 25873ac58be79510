#include "drivers/study/faces.hpp"

#include "drivers/search/faces_list.hpp"
#include "drivers/search/faces_mesh.hpp"
#include "drivers/search/search_settings.hpp"
#include "drivers/study/faces_table.hpp"
#include "drivers/support/outputs.hpp"
#include "drivers/support/text.hpp"
#include <heddle/core/pending_file.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

struct Options {
  std::vector<Index> sizes;
  std::vector<std::string> methods = {"sort-by-id",       "sort+xor",       "sort+fnv1a",       "sort+morton",
                                      "sort+mixer",       "hash-fight+xor", "hash-fight+fnv1a", "hash-fight+morton",
                                      "hash-fight+mixer", "partition"};
  std::vector<std::string> numberings = {"regular", "randomised"};
  int per_cube = 5;
  int repeat = 10;
  double limit = 10;
  std::string join;
  std::string output = "study_faces.csv";
  std::string plot;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = {
      {"--sizes",
       &Options::sizes,
       Integer{.type_name = "N,N,..."},
       "Cubes along each axis of the meshes; without it 20,30,40,50,60, on a GPU 40,80,120,160,200",
       {.was = "--cubes"}},
      {"--methods", &Options::methods, Text{"NAME,..."},
       "partition, sort-by-id, sort+HASH and hash-fight+HASH, where HASH is xor, fnv1a, morton or mixer"},
      {"--numberings", &Options::numberings, choice({"regular", "randomised"}, "NAME,..."),
       "Of points and cells: regular, randomised"},
      {"--per-cube", &Options::per_cube, per_cube_kind(), "Tetrahedra in each cube"},
      {"--repeat", &Options::repeat, Integer{.least = 1}, "Runs of each", {.was = "--trials"}},
      {"--limit", &Options::limit, Number{.least = 0, .type_name = "SECONDS"},
       "Seconds: a method that took longer is left out at larger sizes"},
      {"--join", &Options::join, Text{"CSV"}, "Table of another run, as a GPU's: its rows are appended to this one's"},
      {"--output,-o", &Options::output, Text{"CSV"}, "Table to write: a row a run"},
      {"--plot", &Options::plot, Text{"PNG"}, "Picture to draw of it (heddle plot draws it too)"},
  };
  return table;
}

// Numbers of 32 bits: twice as fast as 64, and what the paper has.
using Id = std::int32_t;

template <class Space> std::string device_of(const Space& space) {
  std::string name;
  if constexpr (requires { space.cuda_device_prop().name; }) {
    name = space.cuda_device_prop().name;
  } else if constexpr (requires { space.hip_device_prop().name; }) {
    name = space.hip_device_prop().name;
  } else {
    const int threads = space.concurrency();
    name = format("%d CPU thread%s", threads, threads == 1 ? "" : "s");
  }
  std::replace(name.begin(), name.end(), ',', ' ');
  return name;
}
std::string backend_of() {
  std::string name = ExecutionSpace::name();
  for (char& letter : name) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  return name;
}

struct Method {
  std::string name;
  search::ExternalFacesOptions options;
};
Method method_from(const std::string& name) {
  const auto plus = name.find('+');
  Method method{name, {}};
  search::SearchOptions& options = method.options.search;
  options.algorithm = search::algorithm_from(name.substr(0, plus));
  const bool hashes =
      options.algorithm == search::Algorithm::hash_fight || options.algorithm == search::Algorithm::sort;
  require(hashes == (plus != std::string::npos) && options.algorithm != search::Algorithm::automatic, "--methods: '",
          name, "': expected partition, sort-by-id, sort+HASH or hash-fight+HASH");
  if (hashes) options.hash = search::hash_function_from(name.substr(plus + 1));
  require(!hashes || options.hash != search::HashFunction::automatic, "--methods: '", name,
          "': name the hash function");
  options.time_phases = true;
  return method;
}

// Places where two lists of triangles are not the same.
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

// One mesh, and what the first search of it found.
struct Case {
  std::string numbering;
  Mesh<Id> mesh;
  FaceList<Id> faces;
  std::string digest;
};

struct Outcome {
  std::vector<FacesRow> rows;
  Index wrong_counts = 0;
  Index differing = 0;
  std::vector<std::string> left_out;
};

class Study {
 public:
  Study(const Context& context, const Options& options) : context_(context), options_(options) {
    for (const std::string& name : options.methods) methods_.push_back(method_from(name));
  }

  [[nodiscard]] Outcome run() {
    Outcome outcome;
    Progress progress = context_.progress("study");
    warm_up();
    double total = 0;
    for (const Index cubes : options_.sizes) total += cost_of(cubes);
    double done = 0;
    for (const Index cubes : options_.sizes) {
      if (methods_.empty()) break;
      std::vector<Case> cases;
      for (const std::string& numbering : options_.numberings)
        cases.push_back({numbering, mesh_of(cubes, numbering), {}, {}});
      const double each = cost_of(cubes) / static_cast<double>(options_.repeat) /
                          static_cast<double>(std::max<std::size_t>(1, cases.size() * methods_.size()));
      for (int trial = 0; trial < options_.repeat; ++trial) {
        // All methods and numberings, in another order each time: a slow minute of the machine hits all alike.
        std::vector<std::pair<std::size_t, std::size_t>> order;
        for (std::size_t which = 0; which < cases.size(); ++which) {
          for (std::size_t method = 0; method < methods_.size(); ++method) order.emplace_back(which, method);
        }
        std::shuffle(order.begin(), order.end(), random_);
        for (const auto& [which, method] : order) {
          progress.update(done / total, format("%lld cubes, %s, %s", static_cast<long long>(cubes),
                                               cases[which].numbering.c_str(), methods_[method].name.c_str()));
          outcome.rows.push_back(measure(cases[which], methods_[method], cubes, trial, outcome));
          done += each;
        }
      }
      leave_out(cubes, outcome);
      // What is left is for the methods that are.
      total = done;
      for (const Index later : options_.sizes) total += later > cubes ? cost_of(later) : 0;
    }
    progress.finish();
    sort_rows(outcome.rows);
    return outcome;
  }

 private:
  // As the options name them, whatever the order of the runs.
  void sort_rows(std::vector<FacesRow>& rows) const {
    const auto place = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) - names.begin();
    };
    const auto key = [&](const FacesRow& row) {
      return std::tuple(row.cubes, place(options_.numberings, row.numbering), place(options_.methods, row.method),
                        row.trial);
    };
    std::sort(rows.begin(), rows.end(),
              [&](const FacesRow& one, const FacesRow& other) { return key(one) < key(other); });
  }
  // By cells and runs.
  [[nodiscard]] double cost_of(Index cubes) const {
    return static_cast<double>(cubes * cubes * cubes) *
           static_cast<double>(options_.numberings.size() * methods_.size()) * options_.repeat;
  }
  [[nodiscard]] Mesh<Id> mesh_of(Index cubes, const std::string& numbering) const {
    return search::tetrahedra_of<Id>(context_.comm().space(), {cubes, cubes, cubes},
                                     {.per_cube = options_.per_cube, .randomised = numbering == "randomised"});
  }
  void warm_up() const {
    for (const Method& method : methods_) {
      static_cast<void>(search::external_faces(context_.comm().space(), mesh_of(4, "regular"), method.options));
    }
  }
  [[nodiscard]] FacesRow measure(Case& one, const Method& method, Index cubes, int trial, Outcome& outcome) const {
    const ExecutionSpace& space = context_.comm().space();
    space.fence("heddle::driver::study");
    const auto start = std::chrono::steady_clock::now();
    const auto found = search::external_faces(space, one.mesh, method.options);
    const double seconds = seconds_since(start);
    if (one.digest.empty()) {
      one.faces = found.external;
      one.digest = digest_of(gathered(context_.comm(), found.external));
    } else {
      outcome.differing += differing(space, found.external, one.faces);
    }
    outcome.wrong_counts += found.report.external == 12 * cubes * cubes ? 0 : 1;
    const search::SearchReport& report = found.report.search;
    return {.backend = backend_of(),
            .device = device_of(space),
            .method = method.name,
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
            .digest = one.digest,
            .phases = report.phases};
  }
  // Methods that took too long at this size are not run at larger ones.
  void leave_out(Index cubes, Outcome& outcome) {
    if (cubes == options_.sizes.back()) return;
    std::erase_if(methods_, [&](const Method& method) {
      double longest = 0;
      for (const FacesRow& row : outcome.rows) {
        if (row.cubes == cubes && row.method == method.name) longest = std::max(longest, row.seconds);
      }
      if (longest <= options_.limit) return false;
      outcome.left_out.push_back(format("%s: left out above %lld cubes, where it took %.3g s (--limit)",
                                        method.name.c_str(), static_cast<long long>(cubes), longest));
      return true;
    });
  }

  const Context& context_;
  const Options& options_;
  std::vector<Method> methods_;
  std::mt19937_64 random_{1};
};

// Meshes of which rows, those of other devices among them, have different results.
Index different_digests(const std::vector<FacesRow>& rows) {
  std::map<std::tuple<Index, Index, std::string>, std::string> first;
  Index count = 0;
  for (const FacesRow& row : rows) {
    const auto [found, fresh] = first.try_emplace({row.cubes, row.cells, row.numbering}, row.digest);
    count += fresh || found->second == row.digest ? 0 : 1;
  }
  return count;
}

void require_options(const Context& context, Options& options) {
  require(context.comm().size() == 1, "study faces: one rank, please; it measures one device");
  require(!options.methods.empty() && !options.numberings.empty(), "--methods, --numberings: expected one at least");
  if (options.sizes.empty()) {
    options.sizes = on_host ? std::vector<Index>{20, 30, 40, 50, 60} : std::vector<Index>{40, 80, 120, 160, 200};
  }
  std::sort(options.sizes.begin(), options.sizes.end());
  options.sizes.erase(std::unique(options.sizes.begin(), options.sizes.end()), options.sizes.end());
  for (const Index cubes : options.sizes)
    require(cubes >= 1 && cubes <= 1024, "--sizes: ", cubes, ": expected 1 to 1024");
  require_distinct_outputs(
      {{"--json", context.options().json_file()}, {"--output", options.output}, {"--plot", options.plot}});
  { const PendingFile probe(options.output); }
  if (!options.plot.empty()) {
    const PendingFile probe(options.plot);
  }
}

int run(Context& context, Options options) {
  require_options(context, options);
  auto report = context.report("study");
  auto& inputs = report.inputs();
  inputs["study"] = "faces";
  all_options().enter(options, inputs);
  const std::vector<FacesRow> joined = options.join.empty() ? std::vector<FacesRow>{} : read_faces_rows(options.join);

  Outcome outcome = Study(context, options).run();
  const std::vector<FacesMedian> medians = medians_of(outcome.rows);
  say_faces_tables(context, medians);
  for (const std::string& line : outcome.left_out) context.say(line);
  auto& list = report.results()["medians"] = nlohmann::ordered_json::array();
  for (const FacesMedian& median : medians) list.push_back(as_json(median));
  report.results()["left_out"] = outcome.left_out;
  outcome.rows.insert(outcome.rows.end(), joined.begin(), joined.end());
  report.check_at_most("runs_with_another_count", static_cast<double>(outcome.wrong_counts), 0.0);
  report.check_at_most("differing_faces", static_cast<double>(outcome.differing), 0.0);
  report.check_at_most("different_digests", static_cast<double>(different_digests(outcome.rows)), 0.0);
  write_faces_rows(options.output, outcome.rows);
  context.say("table written to " + options.output);
  if (!options.plot.empty()) {
    draw(study_faces_picture, options.output, options.plot);
    report.results()["plot"] = options.plot;
    context.say("picture written to " + options.plot);
  }
  return context.finish(report);
}

}  // namespace

void add_study_faces(CLI::App& study, Selection& selection) {
  add_command(study, selection,
              {"faces", "External faces of tetrahedra: algorithms and hash functions by size and numbering of the mesh",
               "  heddle study faces --plot faces.png\n"
               "  heddle study faces --sizes 20,40,60,80,100 --limit 60 --join gpu.csv --plot both.png"},
              all_options(), run);
}

}  // namespace heddle::driver
