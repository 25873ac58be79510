// heddle expm: the exponential of one matrix, from a file or generated.
#include "commands.hpp"
#include "support/clock.hpp"
#include "support/matrices.hpp"
#include "support/rates.hpp"
#include "support/scalars.hpp"
#include "support/text.hpp"
#include <heddle/expm/expm.hpp>
#include <heddle/io/matrix_file.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace heddle::driver {
namespace {

struct Options {
  std::string input, output;
  Index size = -1;
  double norm = 1.0;
  std::uint64_t seed = 1;
  std::string scalar;
  std::string method = "automatic";
  int degree = 10;
  double tolerance = 0.0;
  bool residual = false;
  int complex_products = 3;
  long long tile = 0;
  std::string place = "rows";
  int repeat = 1;
};

template <Scalar T> DistributedMatrix<T> make_input(const Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  if (!options.input.empty()) {
    auto A = read_placed<T>(comm, options.input, options.place);
    if (A.rows() != A.columns()) {
      throw Error(ErrorKind::input, message_of(options.input, ": is ", A.rows(), " x ", A.columns(),
                                               ", where a square matrix is expected"));
    }
    return A;
  }
  auto A = random_matrix<T>(comm, options.size, options.size, options.place, options.seed);
  const auto norm1 = norm(A, Norm::one);
  if (norm1 > 0) scale(T(static_cast<Real<T>>(options.norm) / norm1), A);
  return A;
}

// E = exp(A) by one plan as often as asked for: the fastest one's report, and the seconds of each.
template <Scalar T>
ExpmReport exponentials(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& E,
                        const ExpmOptions& options, int repeat, std::vector<double>& seconds) {
  int run = 0;
  ExpmOptions counted = options;
  counted.progress = [&](int done, int total) { options.progress(run * total + done, repeat * total); };
  ExpmPlan<Real<T>> plan(comm, counted);
  ExpmReport fastest;
  const auto execute_all = [&](const auto& from, const auto& to) {
    for (; run < repeat; ++run) {
      const ExpmReport report = plan.execute(from, to);
      seconds.push_back(report.seconds);
      if (run == 0 || report.seconds < fastest.seconds) fastest = report;
    }
  };
  if constexpr (is_complex<T>) {
    const SplitMatrix<Real<T>> result{DistributedMatrix<Real<T>>(comm, A.placement(), "E_real"),
                                      DistributedMatrix<Real<T>>(comm, A.placement(), "E_imaginary")};
    execute_all(split(A), result);
    join(result, E);
  } else {
    execute_all(A, E);
  }
  return fastest;
}

template <Scalar T> int run_as(Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  auto report = context.report("expm");
  auto start = std::chrono::steady_clock::now();
  const auto A = make_input<T>(context, options);
  report.times()["read"] = seconds_since(start);

  auto& inputs = report.inputs();
  if (options.input.empty()) {
    inputs["seed"] = options.seed;
    inputs["norm"] = options.norm;
  } else {
    inputs["input"] = options.input;
  }
  if (!options.output.empty()) inputs["output"] = options.output;
  inputs["rows"] = A.rows();
  inputs["scalar"] = options.scalar;
  inputs["method"] = options.method;
  if (options.method == "taylor") inputs["degree"] = options.degree;
  inputs["tolerance"] = options.tolerance;
  inputs["complex_products"] = options.complex_products;
  inputs["tile"] = options.tile == 0 ? nlohmann::ordered_json("auto") : nlohmann::ordered_json(options.tile);
  inputs["place"] = options.place;
  inputs["repeat"] = options.repeat;
  context.say(format("expm: %lld x %lld, %s, %d rank%s", static_cast<long long>(A.rows()),
                     static_cast<long long>(A.columns()), options.scalar.c_str(), comm.size(),
                     comm.size() == 1 ? "" : "s"));

  ExpmOptions expm_options;
  expm_options.method = expm_method_from(options.method);
  expm_options.degree = options.degree;
  expm_options.tolerance = options.tolerance;
  expm_options.residual = options.residual;
  expm_options.complex_products = options.complex_products;
  expm_options.gemm.tile = static_cast<Index>(options.tile);
  // Its products are those of the real parts.
  if (options.tile == 0) expm_options.gemm.rates = known_rates<Real<T>>(context);
  Progress progress = context.progress("expm");
  expm_options.progress = [&](int done, int total) { progress.update(done, total); };

  start = std::chrono::steady_clock::now();
  const DistributedMatrix<T> E(comm, A.placement(), "E");
  std::vector<double> seconds;
  const ExpmReport result = exponentials(comm, A, E, expm_options, options.repeat, seconds);
  progress.finish();
  report.times()["expm"] = seconds_since(start);

  const double gflops = result.seconds > 0 ? result.flops / result.seconds / 1e9 : 0.0;
  auto& results = report.results();
  results["method"] = to_string(result.method);
  results["degree"] = result.degree;
  results["squarings"] = result.squarings;
  results["products"] = result.products;
  results["norm1"] = result.norm1;
  if (result.method == ExpmMethod::automatic) results["alpha"] = result.alpha;
  results["tile"] = result.tile;
  results["seconds"] = result.seconds;
  results["seconds_of_each"] = seconds;
  results["gemm_seconds"] = result.gemm_seconds;
  results["gflops"] = gflops;
  const auto exponential_norm = static_cast<double>(norm(E, Norm::one));
  results["exponential_norm1"] = exponential_norm;
  context.say(format("degree %d, %d squaring%s, %d product%s, norm1 %.4g, tile %lld: %.4g s, %.4g GFLOP/s",
                     result.degree, result.squarings, result.squarings == 1 ? "" : "s", result.products,
                     result.products == 1 ? "" : "s", result.norm1, static_cast<long long>(result.tile), result.seconds,
                     gflops));
  report.check_at_most("finite", exponential_norm, static_cast<double>(std::numeric_limits<Real<T>>::max()));
  if (result.residual) {
    results["residual"] = *result.residual;
    const double unit = static_cast<double>(unit_roundoff<T>);
    const double bound =
        10 * std::max(1.0, result.norm1) * (std::max(options.tolerance, unit) + static_cast<double>(A.rows()) * unit);
    report.check_at_most("residual", *result.residual, bound);
  }
  if (!options.output.empty()) {
    start = std::chrono::steady_clock::now();
    write_matrix(options.output, E);
    report.times()["write"] = seconds_since(start);
    context.say("exp(A) written to " + options.output);
  }
  return context.finish(report);
}

int run(Context& context, Options options) {
  require_one_input(options.input, options.size);
  require(std::isfinite(options.norm) && options.norm >= 0, "--norm ", options.norm, ": expected a finite number >= 0");
  require(std::isfinite(options.tolerance) && options.tolerance >= 0, "--tolerance ", options.tolerance,
          ": expected a finite number >= 0");
  require_writable_matrix(context, options.output);
  if (options.scalar.empty()) options.scalar = scalar_of_input(context, options.input);
  return with_scalar(options.scalar, [&]<class T>() { return run_as<T>(context, options); });
}

}  // namespace

void add_expm(CLI::App& app, Selection& selection) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("expm", "Matrix exponential exp(A) over all ranks");
  command.add_option("--input", options->input, "File of A (.mtx Matrix Market, .h5 HDF5 or .txt)")->type_name("FILE");
  command.add_option("--output", options->output, "File to write exp(A) to")->type_name("FILE");
  command.add_option("--size", options->size, "Make a random matrix of this size")->type_name("N")->check(at_least(0));
  command.add_option("--norm", options->norm, "1-norm of the random matrix")->type_name("X")->capture_default_str();
  command.add_option("--seed", options->seed, "Seed of the random matrix")->type_name("N")->capture_default_str();
  add_scalar_option(command, options->scalar);
  command
      .add_option("--method", options->method,
                  "automatic (scaling and squaring for a tolerance) or taylor (a fixed degree)")
      ->type_name("NAME")
      ->check(one_of({"automatic", "taylor"}))
      ->capture_default_str();
  command.add_option("--degree", options->degree, "Degree of --method taylor")
      ->type_name("K")
      ->check(at_least(1))
      ->capture_default_str();
  command
      .add_option("--tolerance", options->tolerance, "Relative backward error of --method automatic; 0: unit round-off")
      ->type_name("X")
      ->capture_default_str();
  command.add_flag(
      "--residual", options->residual,
      "Also compute |exp(A) - exp(A/2)^2| / |exp(A)| (1-norm) and fail above 10 max(1, |A|) (tolerance + n u)");
  command.add_option("--complex-products", options->complex_products, "Real products for one complex product")
      ->type_name("3|4")
      ->check(one_of({"3", "4"}))
      ->capture_default_str();
  add_tile_option(command, options->tile);
  command.add_option("--place", options->place, "Placement of A and exp(A): rows, columns, rank:R or cyclic:RxC[:PxQ]")
      ->type_name("WHERE")
      ->capture_default_str();
  command.add_option("--repeat", options->repeat, "Exponentials to time; the fastest is reported")
      ->type_name("N")
      ->check(at_least(1))
      ->capture_default_str();
  add_common_options(command, selection.common,
                     "  mpirun -n 2 heddle expm --input A.mtx --output E.mtx --residual\n"
                     "  heddle expm --size 512 --norm 10 --json expm.json");
  command.callback(
      [options, &selection] { selection.parallel = [options](Context& context) { return run(context, *options); }; });
}

}  // namespace heddle::driver
