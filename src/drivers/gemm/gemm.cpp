// heddle gemm: one distributed product, from files or from generated matrices, timed, predicted and checked.
#include "drivers/commands.hpp"
#include "drivers/gemm/trace.hpp"
#include "drivers/support/clock.hpp"
#include "drivers/support/matrices.hpp"
#include "drivers/support/product_check.hpp"
#include "drivers/support/rates.hpp"
#include "drivers/support/scalars.hpp"
#include "drivers/support/sha256.hpp"
#include "drivers/support/text.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>
#include <heddle/gemm/gemm.hpp>
#include <heddle/io/matrix_file.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

namespace heddle::driver {
namespace {

struct Options {
  std::string a, b, c, c_in;
  std::string op_a = "N", op_b = "N";
  std::string alpha = "1", beta = "0";
  Index size = -1, rows = -1, columns = -1, inner = -1;
  std::uint64_t seed = 1;
  std::string scalar;
  long long tile = 0;
  std::string place_a, place_b, place_c = "rows";
  int repeat = 1;
  bool sweep = false;
  std::vector<Index> tiles;
  bool check = true;
  std::string trace;  // File for it; empty: none.
  std::string arithmetic = "native";
  int moduli = 0;
  std::string scheme = "residues";
  bool look = true;
  std::string fallback = "exact";
  bool hash = false;
};

// What a tile did, over its repeats: the fastest one's report and timeline, and the worst check.
struct Measured {
  GemmReport report;
  Timeline timeline;
  double check = 0;
};

template <Scalar T> struct Problem {
  Operation op_a = Operation::none;
  Operation op_b = Operation::none;
  T alpha{};
  T beta{};
  DistributedMatrix<T> A, B, C, C0;  // C0: what C holds before each product, where beta is not 0.
};

// Without a wish, the bands of op(A) and op(B) that the product takes: those need no packing.
void complete_placements(Options& options) {
  if (options.place_a.empty()) {
    options.place_a = operation_from(options.op_a) == Operation::none ? "rows" : "columns";
  }
  if (options.place_b.empty()) {
    options.place_b = operation_from(options.op_b) == Operation::none ? "columns" : "rows";
  }
}

template <Scalar T> Problem<T> make_problem(const Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  Problem<T> problem;
  problem.op_a = operation_from(options.op_a);
  problem.op_b = operation_from(options.op_b);
  problem.alpha = scalar_from<T>("--alpha", number_from("--alpha", options.alpha));
  problem.beta = scalar_from<T>("--beta", number_from("--beta", options.beta));
  const bool plain_a = problem.op_a == Operation::none;
  const bool plain_b = problem.op_b == Operation::none;
  if (options.a.empty()) {
    const Index rows = options.rows >= 0 ? options.rows : options.size;
    const Index columns = options.columns >= 0 ? options.columns : options.size;
    const Index inner = options.inner >= 0 ? options.inner : options.size;
    problem.A = random_matrix<T>(comm, plain_a ? rows : inner, plain_a ? inner : rows, options.place_a, options.seed);
    problem.B =
        random_matrix<T>(comm, plain_b ? inner : columns, plain_b ? columns : inner, options.place_b, options.seed + 1);
  } else {
    problem.A = read_placed<T>(comm, options.a, options.place_a);
    problem.B = read_placed<T>(comm, options.b, options.place_b);
  }
  const Index rows = plain_a ? problem.A.rows() : problem.A.columns();
  const Index columns = plain_b ? problem.B.columns() : problem.B.rows();
  const Index inner_a = plain_a ? problem.A.columns() : problem.A.rows();
  const Index inner_b = plain_b ? problem.B.rows() : problem.B.columns();
  require(inner_a == inner_b, "op(A) is ", rows, " x ", inner_a, " and op(B) is ", inner_b, " x ", columns,
          ": the inner dimensions differ");
  const Placement place_c = placement_from(options.place_c, rows, columns, comm.size());
  problem.C = DistributedMatrix<T>(comm, place_c, "C");
  if (problem.beta != T(0)) {
    problem.C0 = options.c_in.empty() ? random_matrix<T>(comm, rows, columns, options.place_c, options.seed + 2)
                                      : read_placed<T>(comm, options.c_in, options.place_c);
    require(problem.C0.rows() == rows && problem.C0.columns() == columns, options.c_in, ": is ", problem.C0.rows(),
            " x ", problem.C0.columns(), ", where C is ", rows, " x ", columns);
  }
  return problem;
}

// Tiles that a sweep tries: a few per doubling, up to the one that holds the whole of C.
std::set<Index> sweep_tiles(const Options& options, Index extent) {
  if (!options.tiles.empty()) return {options.tiles.begin(), options.tiles.end()};
  std::set<Index> tiles;
  for (Index tile = 64; tile < extent; tile *= 2) {
    tiles.insert(tile);
    if (tile >= 128 && tile * 3 / 2 < extent) tiles.insert(tile * 3 / 2);
  }
  tiles.insert(std::max<Index>(extent, 1));
  return tiles;
}

nlohmann::ordered_json json_of(const GemmReport& report) {
  const double predicted = report.predicted_seconds.value_or(std::numeric_limits<double>::quiet_NaN());
  return {{"tile", report.tile},
          {"predicted_seconds", predicted},
          {"seconds", report.seconds},
          {"measured_over_predicted", report.seconds / predicted},
          {"gflops", report.gflops},
          {"bands_per_pass", report.bands_per_pass},
          {"bytes_received", report.bytes_received},
          {"wait_seconds", report.wait_seconds}};
}

std::string line_of(const GemmReport& report) {
  return format("%8lld  %12.4g  %12.4g  %10.4g", static_cast<long long>(report.tile),
                report.predicted_seconds.value_or(std::numeric_limits<double>::quiet_NaN()), report.seconds,
                report.gflops);
}

template <Scalar T> class Run {
 public:
  Run(Context& context, const Options& options) : context_(context), options_(options) {}

  int operator()() {
    auto report = context_.report("gemm");
    auto start = std::chrono::steady_clock::now();
    problem_ = make_problem<T>(context_, options_);
    report.times()["read"] = seconds_since(start);
    enter_inputs(report);
    if (options_.check) {
      check_.emplace(problem_.op_a, problem_.alpha, problem_.A, problem_.op_b, problem_.B, problem_.beta,
                     problem_.C0.rows() > 0 ? problem_.C0 : problem_.C);
    }
    if (options_.arithmetic != "emulated") gemm_options_.rates = known_rates<T>(context_);

    start = std::chrono::steady_clock::now();
    const Measured chosen = options_.sweep ? sweep(report) : single(report);
    report.times()["products"] = seconds_since(start);
    if (!options_.trace.empty()) keep_trace(chosen, report);
    if (check_) report.check_at_most("product", chosen.check, check_->bound());
    report.results()["arithmetic"] = to_string(chosen.report.arithmetic);
    if (chosen.report.arithmetic == Arithmetic::emulated || chosen.report.emulation.fallback) {
      enter_emulation(chosen.report.emulation, report);
    } else if (options_.arithmetic == "auto") {
      context_.say("the BLAS, which the tile model says is faster than emulated products");
    }
    if (options_.hash) enter_hash(report);
    if (!options_.c.empty()) {
      start = std::chrono::steady_clock::now();
      write_matrix(options_.c, problem_.C);
      report.times()["write"] = seconds_since(start);
      context_.say("C written to " + options_.c);
    }
    return context_.finish(report);
  }

 private:
  void enter_inputs(Report& report) const {
    auto& inputs = report.inputs();
    inputs["scalar"] = options_.scalar;
    inputs["rows"] = problem_.C.rows();
    inputs["columns"] = problem_.C.columns();
    inputs["inner"] = problem_.op_a == Operation::none ? problem_.A.columns() : problem_.A.rows();
    inputs["op_a"] = to_string(problem_.op_a);
    inputs["op_b"] = to_string(problem_.op_b);
    inputs["alpha"] = options_.alpha;
    inputs["beta"] = options_.beta;
    if (options_.a.empty()) {
      inputs["seed"] = options_.seed;
    } else {
      inputs["a"] = options_.a;
      inputs["b"] = options_.b;
    }
    if (!options_.c_in.empty()) inputs["c_in"] = options_.c_in;
    if (!options_.c.empty()) inputs["c"] = options_.c;
    if (!options_.trace.empty()) inputs["trace"] = options_.trace;
    inputs["place_a"] = options_.place_a;
    inputs["place_b"] = options_.place_b;
    inputs["place_c"] = options_.place_c;
    inputs["tile"] = options_.tile == 0 ? nlohmann::ordered_json("auto") : nlohmann::ordered_json(options_.tile);
    inputs["arithmetic"] = options_.arithmetic;
    inputs["repeat"] = options_.repeat;
    context_.say(format("gemm: C (%lld x %lld) = alpha %s(A) %s(B) + beta C, inner dimension %lld, %s, %d rank%s",
                        inputs["rows"].get<long long>(), inputs["columns"].get<long long>(), options_.op_a.c_str(),
                        options_.op_b.c_str(), inputs["inner"].get<long long>(), options_.scalar.c_str(),
                        context_.comm().size(), context_.comm().size() == 1 ? "" : "s"));
  }

  void enter_emulation(const EmulationReport& taken, Report& report) const {
    auto& results = report.results();
    if (taken.spread > 0.0) results["spread"] = taken.spread;
    if (taken.fallback) {
      results["fallback"] = to_string(*taken.fallback);
      context_.say(format("exponents spread too far within rows or columns for the moduli allowed: %s products instead",
                          std::string(to_string(*taken.fallback)).c_str()));
      return;
    }
    results["moduli"] = taken.moduli;
    results["error_bound"] = taken.error_bound;
    context_.say(format("%d moduli: error at most %.3g |a| |b|, a the row of op(A) and b the column of op(B)",
                        taken.moduli, taken.error_bound));
  }

  // The name of the product's bits.
  void enter_hash(Report& report) const {
    const auto start = std::chrono::steady_clock::now();
    const HostMatrix<T> C = gather(problem_.C, 0);
    std::string digest;
    context_.comm().on_rank(0, [&] {
      Sha256 hash;
      for (std::size_t j = 0; j < C.extent(1); ++j) hash.add(&C(0, j), C.extent(0) * sizeof(T));
      digest = hash.digest();
    });
    report.results()["sha256"] = digest;
    report.times()["hash"] = seconds_since(start);
    context_.say("sha256 " + digest);
  }

  GemmPlan<T> plan(Index tile) const {
    GemmOptions options = gemm_options_;
    options.tile = tile;
    options.arithmetic = arithmetic_from(options_.arithmetic);
    options.emulation.scheme = emulation_scheme_from(options_.scheme);
    options.emulation.moduli = options_.moduli;
    options.emulation.look = options_.look;
    options.emulation.fallback = fallback_from(options_.fallback);
    options.record_timeline = !options_.trace.empty();
    return GemmPlan<T>(context_.comm(), problem_.op_a, problem_.A.placement(), problem_.op_b, problem_.B.placement(),
                       problem_.C.placement(), options);
  }

  Measured measure(GemmPlan<T>& plan, const std::function<void()>& step) const {
    Measured measured;
    for (int i = 0; i < options_.repeat; ++i) {
      if (problem_.beta != T(0)) copy(problem_.C0, problem_.C);
      const GemmReport report = plan.execute(problem_.alpha, problem_.A, problem_.B, problem_.beta, problem_.C);
      if (i == 0 || report.seconds < measured.report.seconds) {
        measured.report = report;
        measured.timeline = plan.timeline();
      }
      if (check_) {
        // Of what fell back, the error of the product that was done instead is round-off.
        const double value =
            check_->value(problem_.C, report.emulation.moduli > 0 ? report.emulation.error_bound : 0.0);
        if (!(value <= measured.check)) measured.check = value;
      }
      step();
    }
    return measured;
  }

  // Enters what was hidden, and writes the trace with the inputs and the results beside it.
  void keep_trace(const Measured& measured, Report& report) const {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Timeline> timelines = gather_timelines(context_.comm(), measured.timeline);
    auto of_ranks = nlohmann::ordered_json::array();
    for (const Timeline& timeline : timelines) of_ranks.push_back(hidden_share(timeline));
    const double overall = overall_hidden_share(timelines);
    report.results()["hidden_share"] = overall;
    report.results()["hidden_share_of_ranks"] = of_ranks;
    nlohmann::ordered_json about = {{"command", "gemm"}, {"version", version()}, {"git_hash", git_hash()}};
    about.update(report.inputs());
    about.update(json_of(measured.report));
    about.update({{"hidden_share", overall}, {"hidden_share_of_ranks", of_ranks}});
    context_.comm().on_rank(0, [&] { write_trace(options_.trace, trace_events(timelines, about)); });
    report.times()["trace"] = seconds_since(start);
    context_.say("communication hidden: " +
                 (anything_travelled(timelines) ? format("%.1f %%", 100 * overall) : "nothing travelled") +
                 " (trace in " + options_.trace + ")");
  }

  Measured single(Report& report) const {
    Progress progress = context_.progress("gemm");
    GemmPlan<T> planned = plan(static_cast<Index>(options_.tile));
    int done = 0;
    Measured measured = measure(planned, [&] { progress.update(++done, options_.repeat); });
    progress.finish();
    report.results() = json_of(measured.report);
    const GemmReport& result = measured.report;
    const std::string predicted =
        result.predicted_seconds ? format("predicted %.4g s, ", *result.predicted_seconds) : std::string();
    context_.say(format("tile %lld%s: %smeasured %.4g s, %.4g GFLOP/s%s", static_cast<long long>(result.tile),
                        options_.tile == 0 ? " (chosen)" : "", predicted.c_str(), result.seconds, result.gflops,
                        options_.repeat > 1 ? " (fastest of the repeats)" : ""));
    return measured;
  }

  // Every tile, the model's choice among them.
  Measured sweep(Report& report) const {
    const Index choice = plan(static_cast<Index>(options_.tile)).tile();
    std::set<Index> tiles = sweep_tiles(options_, std::max(problem_.C.rows(), problem_.C.columns()));
    tiles.insert(choice);
    Progress progress = context_.progress("sweep");
    const auto total = static_cast<long long>(tiles.size()) * options_.repeat;
    long long done = 0;
    std::vector<Measured> all;
    double worst_check = 0;
    for (const Index tile : tiles) {
      GemmPlan<T> planned = plan(tile);
      all.push_back(measure(planned, [&] { progress.update(++done, total); }));
      if (!(all.back().check <= worst_check)) worst_check = all.back().check;
    }
    progress.finish();
    const auto best = std::min_element(all.begin(), all.end(), [](const Measured& one, const Measured& other) {
      return one.report.seconds < other.report.seconds;
    });
    const auto chosen = all.begin() + std::distance(tiles.begin(), tiles.find(choice));
    context_.say("    tile   predicted s    measured s     GFLOP/s");
    auto table = nlohmann::ordered_json::array();
    for (const Measured& one : all) {
      context_.say(line_of(one.report) + (&one == &*chosen ? (options_.tile == 0 ? "  <- chosen" : "  <- given") : "") +
                   (&one == &*best ? "  <- best" : ""));
      table.push_back(json_of(one.report));
    }
    const double ratio = best->report.seconds > 0 ? chosen->report.seconds / best->report.seconds : 1.0;
    context_.say(format("the %s tile %lld takes %.3f times as long as the best one found, %lld",
                        options_.tile == 0 ? "model's" : "given", static_cast<long long>(choice), ratio,
                        static_cast<long long>(best->report.tile)));
    report.results() = json_of(chosen->report);
    report.results()["best_tile"] = best->report.tile;
    report.results()["best_seconds"] = best->report.seconds;
    report.results()["chosen_over_best"] = ratio;
    report.results()["sweep"] = table;
    return {chosen->report, chosen->timeline, worst_check};
  }

  Context& context_;
  const Options& options_;
  Problem<T> problem_;
  std::optional<ProductCheck<T>> check_;
  GemmOptions gemm_options_;
};

int run(Context& context, Options options) {
  const bool from_files = !options.a.empty() || !options.b.empty();
  if (from_files) {
    require(!options.a.empty() && !options.b.empty(),
            "--a and --b belong together: ", options.a.empty() ? "--a" : "--b", " is missing");
    require(options.size < 0 && options.rows < 0 && options.columns < 0 && options.inner < 0,
            "matrices come from files or from sizes: --a, --b exclude --size, --rows, --columns, --inner");
  } else {
    require(options.size >= 0 || (options.rows >= 0 && options.columns >= 0 && options.inner >= 0),
            "give the matrices with --a and --b, or make some with --size or --rows, --columns and --inner");
  }
  require(options.moduli == 0 || options.arithmetic == "emulated", "--moduli is for --arithmetic emulated");
  require(options.scheme == "residues" || options.arithmetic == "emulated", "--scheme is for --arithmetic emulated");
  require(options.look || options.arithmetic != "native", "--no-look is for --arithmetic emulated and auto");
  require(options.fallback == "exact" || options.arithmetic == "emulated", "--fallback is for --arithmetic emulated");
  complete_placements(options);
  const bool update = number_from("--beta", options.beta) != 0.0;
  require(update || options.c_in.empty(), "--c-in is read only where --beta is not 0");
  require(!update || !options.c_in.empty() || !from_files, "--beta ", options.beta, " needs C's old value in --c-in");
  require_writable_matrix(context, options.c);
  if (!options.trace.empty()) {
    context.comm().on_rank(0, [&] { const PendingFile probe(options.trace); });
  }
  if (options.scalar.empty()) {
    bool complex = number_from("--alpha", options.alpha).imag() != 0 || number_from("--beta", options.beta).imag() != 0;
    for (const std::string& path : {options.a, options.b, options.c_in}) {
      if (!path.empty()) complex = matrix_file_info(context.comm(), path).complex || complex;
    }
    options.scalar = complex ? "complex-double" : "double";
  }
  return with_scalar(options.scalar, [&]<class T>() { return Run<T>(context, options)(); });
}

}  // namespace

void add_gemm(CLI::App& app, Selection& selection) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("gemm", "Matrix product C = alpha op(A) op(B) + beta C over all ranks");
  command.add_option("--a", options->a, "File of A (.mtx Matrix Market, .h5 HDF5 or .txt)")->type_name("FILE");
  command.add_option("--b", options->b, "File of B")->type_name("FILE");
  command.add_option("--c", options->c, "File to write C to")->type_name("FILE");
  command.add_option("--c-in", options->c_in, "File of C's old value, for --beta")->type_name("FILE");
  command.add_option("--op-a", options->op_a, "op(A): N, T (transpose) or C (conjugate transpose)")
      ->type_name("N|T|C")
      ->capture_default_str();
  command.add_option("--op-b", options->op_b, "op(B)")->type_name("N|T|C")->capture_default_str();
  command.add_option("--alpha", options->alpha, "Factor of the product: re or re,im")
      ->type_name("NUMBER")
      ->capture_default_str();
  command.add_option("--beta", options->beta, "Factor of C's old value: re or re,im")
      ->type_name("NUMBER")
      ->capture_default_str();
  for (const auto& [name, value, text] :
       {std::tuple("--size", &options->size, "Make square random matrices of this size"),
        std::tuple("--rows", &options->rows, "Make random matrices: rows of C"),
        std::tuple("--columns", &options->columns, "... columns of C"),
        std::tuple("--inner", &options->inner, "... inner dimension")}) {
    command.add_option(name, *value, text)->type_name("N")->check(at_least(0));
  }
  command
      .add_option("--arithmetic", options->arithmetic,
                  "native (the BLAS), emulated (by 8-bit integers, with the same bits on every machine), or auto: the "
                  "faster one, as the tile model has it")
      ->check(CLI::IsMember({"native", "emulated", "auto"}))
      ->capture_default_str();
  command.add_flag("--hash", options->hash, "Print the SHA-256 of C, gathered on rank 0");
  command
      .add_option("--moduli", options->moduli,
                  "Of --arithmetic emulated: 7 to 31; 4 bits of each factor a modulus, of complex ones 3 to 4")
      ->type_name("N")
      ->check(CLI::Range(7, 31))
      ->default_str("as many as round-off and the exponents need");
  command
      .add_option("--scheme", options->scheme,
                  "Of --arithmetic emulated: residues, or slices: the same bits by another way, several times slower")
      ->check(CLI::IsMember({"residues", "slices"}))
      ->capture_default_str();
  command.add_flag(
      "--look,!--no-look", options->look,
      "Look at the exponents before an emulated product, for the moduli that they ask for (on by default)");
  command
      .add_option("--fallback", options->fallback,
                  "Where no number of moduli suffices: exact products, native ones, or none: emulated all the same")
      ->check(CLI::IsMember({"exact", "native", "none"}))
      ->capture_default_str();
  command.add_option("--seed", options->seed, "Seed of random matrices")->type_name("N")->capture_default_str();
  add_scalar_option(command, options->scalar);
  add_tile_option(command, options->tile);
  command
      .add_option("--place-a", options->place_a,
                  "Placement of A: rows, columns, rank:R or cyclic:RxC[:PxQ] [rows of op(A)]")
      ->type_name("WHERE");
  command.add_option("--place-b", options->place_b, "Placement of B [columns of op(B)]")->type_name("WHERE");
  command.add_option("--place-c", options->place_c, "Placement of C")->type_name("WHERE")->capture_default_str();
  command.add_option("--repeat", options->repeat, "Products to time; the fastest is reported")
      ->type_name("N")
      ->check(at_least(1))
      ->capture_default_str();
  auto* sweep = command.add_flag("--sweep", options->sweep,
                                 "Try a range of tiles and show the model's choice beside the best one found");
  command.add_option("--tiles", options->tiles, "Tiles of the sweep, instead of a built-in range")
      ->type_name("N,N,...")
      ->delimiter(',')
      ->check(at_least(1))
      ->needs(sweep);
  command.add_flag("--check,!--no-check", options->check, "Check the product against a random vector (on by default)");
  command
      .add_option("--trace", options->trace,
                  "Write a timeline of the fastest repeat (in a sweep: of the tile given or chosen) for heddle plot "
                  "and ui.perfetto.dev")
      ->type_name("FILE")
      ->check(not_empty());
  add_common_options(
      command, selection.common,
      "  mpirun -n 2 heddle gemm --size 2048 --json gemm.json --trace trace.json\n"
      "  mpirun -n 4 heddle gemm --a A.mtx --b B.h5 --op-b T --c C.mtx --place-a rank:2 --place-b rank:1");
  command.callback(
      [options, &selection] { selection.parallel = [options](Context& context) { return run(context, *options); }; });
}

}  // namespace heddle::driver
