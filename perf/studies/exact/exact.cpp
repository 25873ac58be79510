// The experiment of exact sums: what each algorithm for them costs beside plain arithmetic.
#include "studies/exact/exact.hpp"

#include "drivers/exact/algorithms.hpp"
#include "drivers/support/context.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include "studies/exact/exact_cases.hpp"
#include "studies/exact/exact_peers.hpp"
#include "studies/table.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace heddle::driver {
namespace {

using exact::Algorithm;

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
constexpr double shortest_sample = 1e-3;
constexpr StudyTable table = {"exact", "device,scalar,range,operation,size,algorithm,seconds,over_plain,differing"};

struct Options : StudyFiles {
  std::vector<std::string> operations = exact_operations();
  std::vector<std::string> algorithms = {"auto",        "accumulator", "expansion-2", "expansion-4",
                                         "expansion-8", "twice",       "plain"};
  std::vector<std::string> peers;
  std::vector<std::string> scalars = {"double"};
  std::vector<Index> lengths = {1000, 10000, 100000, 1000000, 10000000};
  std::vector<Index> sizes;
  int range = 0;
  int repeat = 5;
  Options() { output = "study_exact.csv"; }
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> options = before_study_files<Options>({
      {"--operations", &Options::operations, choice(exact_operations(), "NAME,..."),
       "gemv-tall: of n x 256 matrices, gemv-wide: of 256 x n; lu by blocks, lu-unblocked, lu-batched: of 64 matrices, "
       "to n = 512"},
      {"--algorithms", &Options::algorithms, choice(exact_algorithms(), "NAME,..."),
       "Ways to form sums; all but twice and plain are correctly rounded. Blocked and batched LU have the "
       "automatic one alone, as have LU and (of these) trsv on GPUs"},
      {"--peers",
       &Options::peers,
       choice(exact_peers(), "NAME,..."),
       "Other libraries beside: reproblas (reproducible sums), mkl (in its mode of the same bits on any processor); on "
       "CPUs, where they are found",
       {.otherwise = "none"}},
      {"--scalars", &Options::scalars, choice({"double", "float", "complex-double", "complex-float"}, "TYPE,..."),
       "Scalar types"},
      {"--lengths", &Options::lengths, Integer{.least = 1, .type_name = "N,N,..."}, "Of vectors, for sum and dot"},
      {"--sizes", &Options::sizes, Integer{.least = 1, .type_name = "N,N,..."},
       "Orders of matrices; without it 64 to 1024, doubling, on a GPU 256 to 4096"},
      {"--range", &Options::range, Integer{.least = 0, .most = 900},
       "Powers of two that the sizes of numbers are spread over"},
      {"--repeat", &Options::repeat, Integer{.least = 1},
       "Samples of each, in turn with the others; the median is kept"},
  });
  return options;
}

struct Row {
  std::string scalar;
  std::string operation;
  Index size = 0;
  std::string algorithm;  // Name of the algorithm or library.
  double seconds = 0.0;
  std::optional<double> over_plain;  // Empty if plain sums were not timed.
  Index differing = 0;               // Numbers that differ from those of the automatic algorithm.
};

Index count_differing(const std::vector<double>& one, const std::vector<double>& other) {
  Index count = 0;
  for (std::size_t k = 0; k < one.size(); ++k) {
    count += Kokkos::bit_cast<std::uint64_t>(one[k]) == Kokkos::bit_cast<std::uint64_t>(other[k]) ? 0 : 1;
  }
  return count;
}

// The samples of one case by one algorithm or library.
struct Samples {
  std::string algorithm;
  std::function<void()> run;
  int runs = 1;  // Runs of a sample, as many as make it long enough to time.
  Index differing = 0;
  std::vector<double> seconds = {};
};

double sample(const ExactCase& tested, const std::function<void()>& run, int runs) {
  double seconds = 0.0;
  for (int k = 0; k < runs; ++k) {
    tested.prepare();
    const auto start = std::chrono::steady_clock::now();
    run();
    seconds += seconds_since(start);
  }
  return seconds / runs;
}

// Return the algorithms and libraries to time in a case, in the order of the table.
std::vector<Samples> all_samples(const ExactCase& tested, const Options& options, const std::string& operation) {
  std::vector<Samples> all;
  for (const std::string& name : options.algorithms) {
    const Algorithm algorithm = exact::algorithm_from(name);
    if (has_algorithm(operation, algorithm)) all.push_back({name, [&tested, algorithm] { tested.run(algorithm); }});
  }
  for (const std::string& peer : options.peers) {
    if (std::function<void()> run = tested.by_peer(peer)) all.push_back({peer, std::move(run)});
  }
  return all;
}

template <Scalar T>
std::vector<Row> rows_of(const Context& context, const Options& options, const std::string& scalar,
                         const std::string& operation, Index n) {
  const ExactCase tested = exact_case<T>(context.comm(), operation, n, options.range);
  tested.prepare();
  tested.run(Algorithm::automatic);
  const std::vector<double> expected = tested.found();
  std::vector<Samples> all = all_samples(tested, options, operation);
  for (Samples& samples : all) {
    sample(tested, samples.run, 1);
    samples.differing = count_differing(tested.found(), expected);
    samples.runs = static_cast<int>(std::clamp(shortest_sample / sample(tested, samples.run, 1), 1.0, 1000.0));
  }
  for (int k = 0; k < options.repeat; ++k) {
    for (Samples& samples : all) samples.seconds.push_back(sample(tested, samples.run, samples.runs));
  }
  std::vector<Row> rows;
  std::optional<double> plain;
  for (Samples& samples : all) {
    std::sort(samples.seconds.begin(), samples.seconds.end());
    rows.push_back({scalar, operation, n, samples.algorithm, samples.seconds[samples.seconds.size() / 2], std::nullopt,
                    samples.differing});
    if (samples.algorithm == to_string(Algorithm::plain)) plain = rows.back().seconds;
  }
  for (Row& row : rows) {
    if (plain) row.over_plain = row.seconds / *plain;
  }
  return rows;
}

std::string line_of(const Row& row) {
  return format("%-14s  %-12s  %9lld  %-11s  %9.3g", row.scalar.c_str(), row.operation.c_str(),
                static_cast<long long>(row.size), row.algorithm.c_str(), row.seconds) +
         (row.over_plain ? format("  %10.3g", *row.over_plain) : format("  %10s", "-")) +
         format("  %9lld", static_cast<long long>(row.differing));
}

std::vector<Row> all_rows(const Context& context, const Options& options) {
  Progress progress = context.progress("study");
  std::vector<Row> rows;
  const auto parts = static_cast<double>(options.scalars.size() * options.operations.size());
  double done = 0.0;
  for (const std::string& scalar : options.scalars) {
    for (const std::string& operation : options.operations) {
      for (const Index n : is_of_vectors(operation) ? options.lengths : options.sizes) {
        if (!is_studied(operation, n)) continue;
        progress.update(done / parts, scalar + ", " + operation + ", n = " + std::to_string(n));
        with_scalar(scalar, [&]<class T>() {
          for (Row& row : rows_of<T>(context, options, scalar, operation, n)) {
            context.say(line_of(row));
            rows.push_back(std::move(row));
          }
        });
      }
      done += 1.0;
    }
  }
  progress.finish();
  return rows;
}

nlohmann::ordered_json as_json(const Row& row) {
  nlohmann::ordered_json object = {{"scalar", row.scalar},
                                   {"operation", row.operation},
                                   {"size", row.size},
                                   {"algorithm", row.algorithm},
                                   {"seconds", row.seconds}};
  if (row.over_plain) object["over_plain"] = *row.over_plain;
  object["differing"] = row.differing;
  return object;
}

void complete(Options& options) {
  if (options.sizes.empty()) {
    for (Index n = on_host ? 64 : 256; n <= (on_host ? 1024 : 4096); n *= 2) options.sizes.push_back(n);
  }
  std::sort(options.sizes.begin(), options.sizes.end());
  std::sort(options.lengths.begin(), options.lengths.end());
}

int run(Context& context, Options options) {
  complete(options);
  for (const std::string& peer : options.peers) {
    require(on_host, "--peers ", peer, ": expected a build for CPUs");
    require(has_exact_peer(peer), "--peers ", peer, ": not found; ", how_to_install(peer));
  }
  require_study(context, "exact", options);
  const std::vector<std::string> joined = table.rows_of_all(options.join);
  auto report = context.report("study");
  report.inputs()["study"] = "exact";
  all_options().enter(options, report.inputs());

  context.say("scalar          operation             n  algorithm      seconds  over plain  differing");
  const std::vector<Row> rows = all_rows(context, options);
  std::vector<nlohmann::ordered_json> lines;
  Index differing = 0;
  for (const Row& row : rows) {
    lines.push_back(as_json(row));
    const auto& peers = options.peers;
    const bool is_ours = std::find(peers.begin(), peers.end(), row.algorithm) == peers.end();
    if (is_ours && is_exact(exact::algorithm_from(row.algorithm))) differing += row.differing;
  }
  report.results()["rows"] = lines;
  for (nlohmann::ordered_json& line : lines) {
    line["device"] = device_of(context);
    line["range"] = options.range;
  }
  table.write(options.output, lines, joined);
  report.check_at_most("numbers_that_exact_algorithms_round_differently", static_cast<double>(differing), 0.0);
  finish_study(context, report, options, study_exact_picture);
  return context.finish(report);
}

}  // namespace

bool looks_like_study_exact(const std::filesystem::path& path) {
  return table.is(path);
}

void add_study_exact(CLI::App& study, Selection& selection) {
  add_command(study, selection,
              {"exact", "Exact sums, products, triangular systems and LU by each algorithm, beside plain arithmetic",
               "  heddle study exact --operations sum,dot --lengths 1000,1000000 --plot exact.png\n"
               "  heddle study exact --range 200 --scalars float,double -o spread.csv\n"
               "differing: numbers of the result that are not those of the automatic algorithm."},
              all_options(), run);
}

}  // namespace heddle::driver
