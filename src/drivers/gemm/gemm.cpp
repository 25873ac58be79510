// heddle gemm: one distributed product, from files or from generated matrices, timed, predicted and checked.
#include "drivers/commands.hpp"
#include "drivers/gemm/options.hpp"
#include "drivers/gemm/trace.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/matrices/product_check.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/rates.hpp"
#include "drivers/support/repeats.hpp"
#include <heddle/core/version.hpp>
#include <heddle/gemm/gemm.hpp>
#include <heddle/io/matrix_file.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <thread>

namespace heddle::driver {
namespace {

using Options = GemmSettings;

// The system's load of the last minute; 0 where it has none.
double load_before() {
  double load = 0.0;
  return getloadavg(&load, 1) == 1 ? load : 0.0;
}

// The results of one tile over its repeats: the fastest one's report and timeline, and the worst check.
struct Measured {
  GemmReport report;
  Timeline timeline;
  double check = 0;
  double slowest = 0;  // Seconds of the slowest repeat.
};

template <Scalar T> struct Problem {
  Operation op_a = Operation::none;
  Operation op_b = Operation::none;
  T alpha{};
  T beta{};
  DistributedMatrix<T> A, B, C, C0;  // C0: C's elements before each product, if beta is not 0.
};

// By default, place the matrices in the bands of op(A) and op(B) that the product takes, which need no packing.
void complete_placements(Options& options) {
  if (options.place_a.empty()) {
    options.place_a = options.op_a == Operation::none ? "rows" : "columns";
  }
  if (options.place_b.empty()) {
    options.place_b = options.op_b == Operation::none ? "columns" : "rows";
  }
}

template <Scalar T> Problem<T> make_problem(const Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  Problem<T> problem;
  problem.op_a = options.op_a;
  problem.op_b = options.op_b;
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
          {"grid", Grid::show(report.grid)},
          {"layers", report.layers},
          {"predicted_seconds", predicted},
          {"seconds", report.seconds},
          {"measured_over_predicted", report.seconds / predicted},
          {"gflops", report.gflops},
          {"bands_per_pass", report.bands_per_pass},
          {"bytes_received", report.bytes_received},
          {"bytes_between_nodes", report.bytes_between_nodes},
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
    const std::string trouble = blas::trouble_with<T>(options_.math);
    require(trouble.empty(), trouble);
    auto report = context_.report("gemm");
    auto start = std::chrono::steady_clock::now();
    problem_ = make_problem<T>(context_, options_);
    report.times()["read"] = seconds_since(start);
    enter_inputs(report);
    start = std::chrono::steady_clock::now();
    if (options_.check || options_.may_emulate()) {
      not_finite_ = operand_not_finite(problem_.alpha, problem_.A, problem_.B, problem_.beta, problem_.C0);
    }
    if (options_.check && not_finite_.empty()) {
      check_.emplace(problem_.op_a, problem_.alpha, problem_.A, problem_.op_b, problem_.B, problem_.beta,
                     problem_.C0.rows() > 0 ? problem_.C0 : problem_.C);
    }
    check_seconds_ = seconds_since(start);
    if (options_.arithmetic != Arithmetic::emulated) library_options_.rates = known_rates<T>(context_, options_.math);

    start = std::chrono::steady_clock::now();
    const Measured chosen = options_.sweep ? sweep(report) : single(report);
    report.times()["products"] = seconds_since(start);
    if (check_) report.times()["check"] = check_seconds_;
    if (!options_.trace.empty()) keep_trace(chosen, report);
    enter_check(chosen.check, report);
    report.results()["arithmetic"] = to_string(chosen.report.arithmetic);
    if (chosen.report.arithmetic == Arithmetic::emulated || chosen.report.emulation.fallback) {
      enter_emulation(chosen.report.emulation, report);
    } else if (options_.arithmetic == Arithmetic::automatic) {
      context_.say("the BLAS, which the tile model says is faster than emulated products");
    }
    if (options_.hash) enter_hash(report);
    if (!options_.output.empty()) {
      start = std::chrono::steady_clock::now();
      write_result(options_.output, problem_.C);
      report.times()["write"] = seconds_since(start);
      context_.say("C written to " + options_.output);
    }
    return context_.finish(report);
  }

 private:
  void enter_inputs(Report& report) const {
    auto& inputs = report.inputs();
    gemm_options().enter(options_, inputs);
    inputs["rows"] = problem_.C.rows();
    inputs["columns"] = problem_.C.columns();
    inputs["inner"] = problem_.op_a == Operation::none ? problem_.A.columns() : problem_.A.rows();
    context_.say(format("gemm: C (%lld x %lld) = alpha %s(A) %s(B) + beta C, inner dimension %lld, %s, %d rank%s",
                        inputs["rows"].get<long long>(), inputs["columns"].get<long long>(),
                        option_name(options_.op_a).c_str(), option_name(options_.op_b).c_str(),
                        inputs["inner"].get<long long>(), options_.scalar.c_str(), context_.comm().size(),
                        context_.comm().size() == 1 ? "" : "s"));
  }

  void enter_check(double found, Report& report) const {
    if (!not_finite_.empty()) {
      report.results()["holds_nan_or_infinity"] = not_finite_;
      if (options_.check) context_.say("check product: not made, " + not_finite_ + " holds NaN or infinity");
    }
    if (!check_) return;
    report.check_at_most("product", found, check_->bound());
    if (std::isnan(found)) {
      context_.say("C holds NaN or infinity, though no operand does: an element overflowed, or the product is wrong");
    }
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
    if (!not_finite_.empty()) {
      context_.say(format("%d moduli: no bound of the error, since ", taken.moduli) + not_finite_ +
                   " holds NaN or infinity");
      return;
    }
    results["error_bound"] = taken.error_bound;
    context_.say(format("%d moduli: error at most %.3g |a| |b|, a the row of op(A) and b the column of op(B)",
                        taken.moduli, taken.error_bound));
  }

  // Enter the hash of the product's bits.
  void enter_hash(Report& report) const {
    const auto start = std::chrono::steady_clock::now();
    const std::string digest = hash_of(problem_.C);
    report.results()["sha256"] = digest;
    report.times()["hash"] = seconds_since(start);
    context_.say("sha256 " + digest);
  }

  // Return the origin of the tile.
  [[nodiscard]] const char* origin(const char* by_model) const {
    return options_.tile > 0 ? "given" : options_.choice == TileChoice::published ? "published" : by_model;
  }

  GemmPlan<T> plan(Index tile, int layers) const {
    GemmOptions options = library_options_;
    options.tile = tile;
    options.choice = options_.choice;
    options.layers = layers;
    options.grid = options_.grid;
    options.arithmetic = options_.arithmetic;
    options.math = options_.math;
    options.emulation.scheme = options_.scheme;
    options.emulation.moduli = options_.moduli;
    options.emulation.look = options_.look;
    options.emulation.fallback = options_.fallback;
    options.record_timeline = !options_.trace.empty();
    return GemmPlan<T>(context_.comm(), problem_.op_a, problem_.A.placement(), problem_.op_b, problem_.B.placement(),
                       problem_.C.placement(), options);
  }

  Measured measure(GemmPlan<T>& plan, const std::function<void()>& step) const {
    Measured measured;
    const double mode_error = blas::added_error<T>(options_.math);
    bool is_first = true;
    const auto execute = [&] {
      if (problem_.beta != T(0)) copy(problem_.C0, problem_.C);
      return plan.execute(problem_.alpha, problem_.A, problem_.B, problem_.beta, problem_.C);
    };
    repeat_warm(options_.repeat, execute, [&](const GemmReport& report) {
      if (is_first || report.seconds < measured.report.seconds) {
        measured.report = report;
        measured.timeline = plan.timeline();
      }
      is_first = false;
      measured.slowest = std::max(measured.slowest, report.seconds);
      if (check_) {
        // Without moduli the product fell back to native arithmetic, whose error is round-off.
        const auto start = std::chrono::steady_clock::now();
        const double value =
            check_->value(problem_.C, report.emulation.moduli > 0 ? report.emulation.error_bound : mode_error);
        measured.check = larger(measured.check, value);
        check_seconds_ += seconds_since(start);
      }
      step();
    });
    return measured;
  }

  // Enter the hidden share, and write the trace with the inputs and the results.
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
    GemmPlan<T> planned = plan(static_cast<Index>(options_.tile), options_.layers);
    int done = 0;
    Measured measured = measure(planned, [&] { progress.update(++done, options_.repeat); });
    progress.finish();
    report.results() = json_of(measured.report);
    const GemmReport& result = measured.report;
    const std::string predicted =
        result.predicted_seconds ? format("predicted %.4g s, ", *result.predicted_seconds) : std::string();
    std::string grid = context_.comm().size() > 1 ? ", grid " + Grid::show(result.grid) : "";
    if (result.layers > 1) grid += format(", %d layers", result.layers);
    const std::string chosen = options_.tile == 0 ? format(" (%s)", origin("chosen")) : "";
    context_.say(format("tile %lld%s%s: %smeasured %.4g s, %.4g GFLOP/s%s", static_cast<long long>(result.tile),
                        chosen.c_str(), grid.c_str(), predicted.c_str(), result.seconds, result.gflops,
                        options_.repeat > 1 ? " (fastest of the repeats)" : ""));
    const std::string note =
        busy_note(load_, static_cast<int>(std::thread::hardware_concurrency()), result.seconds, measured.slowest);
    if (!note.empty()) {
      context_.say("the machine is busy: " + note);
      report.results()["busy"] = note;
    }
    return measured;
  }

  // Run every tile, the model's choice among them, all in as many layers as that choice.
  Measured sweep(Report& report) const {
    const auto [choice, layers] = [&] {
      const GemmPlan<T> chosen = plan(static_cast<Index>(options_.tile), options_.layers);
      return std::pair(chosen.tile(), chosen.layers());
    }();
    std::set<Index> tiles = sweep_tiles(options_, std::max(problem_.C.rows(), problem_.C.columns()));
    tiles.insert(choice);
    Progress progress = context_.progress("sweep");
    const auto total = static_cast<long long>(tiles.size()) * options_.repeat;
    long long done = 0;
    std::vector<Measured> all;
    double worst_check = 0;
    for (const Index tile : tiles) {
      GemmPlan<T> planned = plan(tile, layers);
      all.push_back(measure(planned, [&] { progress.update(++done, total); }));
      worst_check = larger(worst_check, all.back().check);
    }
    progress.finish();
    const auto best = std::min_element(all.begin(), all.end(), [](const Measured& one, const Measured& other) {
      return one.report.seconds < other.report.seconds;
    });
    const auto chosen = all.begin() + std::distance(tiles.begin(), tiles.find(choice));
    context_.say("    tile   predicted s    measured s     GFLOP/s");
    auto table = nlohmann::ordered_json::array();
    for (const Measured& one : all) {
      context_.say(line_of(one.report) + (&one == &*chosen ? format("  <- %s", origin("chosen")) : "") +
                   (&one == &*best ? "  <- best" : ""));
      table.push_back(json_of(one.report));
    }
    const double ratio = best->report.seconds > 0 ? chosen->report.seconds / best->report.seconds : 1.0;
    context_.say(format("the %s tile %lld takes %.3f times as long as the best one found, %lld", origin("model's"),
                        static_cast<long long>(choice), ratio, static_cast<long long>(best->report.tile)));
    report.results() = json_of(chosen->report);
    report.results()["best_tile"] = best->report.tile;
    report.results()["best_seconds"] = best->report.seconds;
    report.results()["chosen_over_best"] = ratio;
    report.results()["sweep"] = table;
    return {chosen->report, chosen->timeline, worst_check, chosen->slowest};
  }

  Context& context_;
  const Options& options_;
  Problem<T> problem_;
  std::string not_finite_;  // The operand that holds NaN or infinity; empty: none, or not checked.
  std::optional<ProductCheck<T>> check_;
  double load_ = load_before();
  mutable double check_seconds_ = 0.0;  // Checks after products count in the products' seconds too.
  GemmOptions library_options_;
};

int run(Context& context, Options options) {
  const bool from_files = options.from_files();
  if (from_files) {
    require(!options.a.empty() && !options.b.empty(),
            "--a and --b belong together: ", options.a.empty() ? "--a" : "--b", " is missing");
    require(options.size < 0 && options.rows < 0 && options.columns < 0 && options.inner < 0,
            "matrices come from files or from sizes: --a, --b exclude --size, --rows, --columns, --inner");
  } else {
    require(options.size >= 0 || (options.rows >= 0 && options.columns >= 0 && options.inner >= 0),
            "give the matrices with --a and --b, or make some with --size or --rows, --columns and --inner");
  }
  const bool emulated = options.arithmetic == Arithmetic::emulated;
  require(options.moduli == 0 || emulated, "--moduli is for --arithmetic emulated");
  require(options.math == MathMode::automatic || !options.may_emulate(), "--math is for --arithmetic native");
  require(options.scheme == EmulationScheme::residues || emulated, "--scheme is for --arithmetic emulated");
  require(options.look || options.may_emulate(), "--no-look is for --arithmetic emulated and auto");
  require(options.fallback == Fallback::exact || emulated, "--fallback is for --arithmetic emulated");
  require_tile_choice(options.choice, options.tile, options.arithmetic);
  complete_placements(options);
  const bool update = number_from("--beta", options.beta) != 0.0;
  require(update || options.c_in.empty(), "--c-in is read only where --beta is not 0");
  require(!update || !options.c_in.empty() || !from_files, "--beta ", options.beta, " needs C's old value in --c-in");
  require_outputs(context, {{"--a", options.a}, {"--b", options.b}, {"--c-in", options.c_in}},
                  {{"--output", options.output}}, {"--trace", options.trace});
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
  add_command(
      app, selection,
      {"gemm", "Matrix product C = alpha op(A) op(B) + beta C over all ranks",
       "  mpirun -n 2 heddle gemm --size 2048 --json gemm.json --trace trace.json\n"
       "  mpirun -n 4 heddle gemm --a A.mtx --b B.h5 --op-b T --output C.mtx --place-a rank:2 --place-b rank:1"},
      gemm_options(), run);
}

}  // namespace heddle::driver
