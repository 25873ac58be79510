// heddle expm: the exponential of one matrix, from a file or generated.
#include "drivers/commands.hpp"
#include "drivers/expm/terms.hpp"
#include "drivers/support/matrices/certificates.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/rates.hpp"
#include "drivers/support/repeats.hpp"
#include <heddle/expm/expm.hpp>
#include <heddle/io/matrix_file.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace heddle::driver {
namespace {

struct Options : MatrixSource {
  std::string output;
  double norm = 1.0;
  ExpmMethod method = ExpmMethod::automatic;
  int degree = 10;
  double tolerance = 0.0;
  ExpmStructure structure = ExpmStructure::automatic;
  bool symmetric = false;
  bool times_minus_i = false;
  bool balance = false;
  bool residual = false;
  bool certificate = false;
  std::optional<double> certificate_tolerance;
  bool terms = false;
  std::string terms_file;
  std::string plot;
  int complex_products = 3;
  long long tile = 0;
  Arithmetic arithmetic = Arithmetic::native;
  std::string place = "rows";
  int repeat = 1;
};

OptionTable<Options> matrix_options() {
  const auto random = [](const Options& options) { return options.input.empty(); };
  return {
      {"--output,-o", &Options::output, Text{}, "File to write exp(A) to"},
      {"--norm", &Options::norm, Number{.least = 0}, "1-norm of the random matrix", {}, random},
      {"--symmetric",
       &Options::symmetric,
       Flag{},
       "Make the random matrix symmetric, a complex one Hermitian",
       {},
       random},
      {"--times-minus-i", &Options::times_minus_i, Flag{}, "exp(-i A) instead: unitary where A is Hermitian"},
      {"--place", &Options::place, Text{"WHERE"},
       "Placement of A and exp(A): rows, columns, rank:R or cyclic:RxC[:PxQ]"},
  };
}

OptionTable<Options> method_options() {
  return {
      {"--method", &Options::method,
       choice<ExpmMethod>("NAME", {ExpmMethod::automatic, ExpmMethod::taylor, ExpmMethod::paterson_stockmeyer,
                                   ExpmMethod::few_products, ExpmMethod::pade, ExpmMethod::chebyshev}),
       "auto; taylor: the series of a given degree; paterson-stockmeyer, few-products, pade: scaling and squaring; "
       "chebyshev: cos and sin of skew-Hermitian A's"},
      {"--degree",
       &Options::degree,
       Integer{.least = 1, .most = most_taylor_degree},
       "Degree of --method taylor",
       {},
       [](const Options& options) { return options.method == ExpmMethod::taylor; }},
      {"--tolerance", &Options::tolerance, Number{.least = 0},
       "Relative backward error of all methods but taylor; 0: unit round-off"},
      {"--structure", &Options::structure,
       choice<ExpmStructure>("NAME", {ExpmStructure::automatic, ExpmStructure::general, ExpmStructure::hermitian,
                                      ExpmStructure::skew_hermitian}),
       "What A is: auto looks; general, hermitian and skew-hermitian are taken at their word"},
      {"--balance", &Options::balance, Flag{}, "Balance A by a diagonal of powers of two, where that makes it smaller"},
      {"--certificate", &Options::certificate, Flag{},
       "Also prove an upper bound of |E - exp(A)| / |exp(A)| (1-norm), rounding errors and all, by exact products of "
       "many more digits; fail where it is above its tolerance. Takes some 10 to 100 times as long as exp(A)"},
      {"--certificate-tolerance",
       &Options::certificate_tolerance,
       Number{.least = 0},
       "What the certificate has to keep (default: 1e3 n u max(1, |A|), at most 1e-6, or 1e-2 for float)",
       {.needs = "--certificate"}},
      {"--residual", &Options::residual, Flag{},
       "Also compute |exp(A) - exp(A/2)^2| / |exp(A)| (1-norm) and fail above 10 max(1, |A|) (tolerance + n u)"},
      {"--terms", &Options::terms, Flag{},
       "With --method taylor: the norm of every term of the series, and how the trace of its sum settles"},
      {"--terms-file", &Options::terms_file, Text{"CSV"}, "Table of the terms to write", {.needs = "--terms"}},
      {"--plot", &Options::plot, Text{"PNG"}, "Picture of the terms to draw", {.needs = "--terms"}},
      {"--complex-products", &Options::complex_products, choice<int>("3|4", {3, 4}),
       "Real products for one complex product"},
      {"--tile", &Options::tile, Tile{}, tile_help},
      {"--arithmetic", &Options::arithmetic, arithmetic_kind(),
       "Of its products: native (the BLAS), or emulated by 8-bit integers, with the same bits at any tile and on any "
       "backend"},
      {"--repeat", &Options::repeat, Integer{.least = 1},
       "Exponentials to time, " + after_warm_up() + "; the fastest is reported"},
  };
}

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = after_matrix_source(matrix_options()).include(itself, method_options());
  return table;
}

// Random, and A^H = A.
template <Scalar T> struct HermitianElement {
  RandomElement<T> random;

  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    const T value = random(i < j ? i : j, i < j ? j : i);
    if constexpr (is_complex<T>) {
      return T(value.real(), i == j ? Real<T>(0) : i < j ? value.imag() : -value.imag());
    } else {
      return value;
    }
  }
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
  if (options.symmetric) fill(A, HermitianElement<T>{{options.seed}});
  const auto norm1 = norm(A, Norm::one);
  if (norm1 > 0) scale(T(static_cast<Real<T>>(options.norm) / norm1), A);
  return A;
}

// Compute E = exp(A) by one plan, repeatedly; return the fastest run's report and the seconds of each.
template <Scalar T>
ExpmReport exponentials(const Communicator& comm, const SplitMatrix<Real<T>>& A, const DistributedMatrix<T>& E,
                        const ExpmOptions& options, int repeat, std::vector<double>& seconds) {
  ExpmOptions counted = options;
  counted.progress = [&](int done, int total) {
    options.progress(static_cast<int>(seconds.size()) * total + done, repeat * total);
  };
  ExpmPlan<Real<T>> plan(comm, counted);
  ExpmReport fastest;
  const auto execute_all = [&](const auto& from, const auto& to) {
    const auto execute = [&] { return plan.execute(from, to); };
    repeat_warm(repeat, execute, [&](const ExpmReport& report) {
      const auto certificate = report.certificate;
      if (seconds.empty() || report.seconds < fastest.seconds) fastest = report;
      seconds.push_back(report.seconds);
      // The certificate of the result that is returned.
      fastest.certificate = certificate;
    });
  };
  if constexpr (is_complex<T>) {
    const SplitMatrix<Real<T>> result{DistributedMatrix<Real<T>>(comm, E.placement(), "E_real"),
                                      DistributedMatrix<Real<T>>(comm, E.placement(), "E_imaginary")};
    execute_all(A, result);
    join(result, E);
  } else {
    execute_all(*A.real, E);
  }
  return fastest;
}

// Return the largest real or imaginary part, which is in range even if sums and moduli are not.
template <Scalar T> double largest_part(const DistributedMatrix<T>& E) {
  if constexpr (is_complex<T>) {
    const SplitMatrix<Real<T>> parts = split(E);
    return larger(static_cast<double>(norm(*parts.real, Norm::maximum)),
                  static_cast<double>(norm(*parts.imaginary, Norm::maximum)));
  } else {
    return static_cast<double>(norm(E, Norm::maximum));
  }
}

// Return the parts of A, or those of -i A.
template <Scalar T> SplitMatrix<Real<T>> parts_of(const DistributedMatrix<T>& A, bool times_minus_i) {
  SplitMatrix<Real<T>> parts;
  if constexpr (is_complex<T>) {
    parts = split(A);
  } else {
    parts.real = A;
  }
  if (!times_minus_i) return parts;
  if (parts.real) scale(Real<T>(-1), *parts.real);
  return {parts.imaginary, parts.real};
}

// Translate the command's options to the library's; T is A's type.
template <Scalar T> ExpmOptions library_options(const Context& context, const Options& options) {
  ExpmOptions expm_options;
  expm_options.method = options.method;
  expm_options.degree = options.degree;
  expm_options.tolerance = options.tolerance;
  expm_options.structure = options.structure;
  expm_options.balance = options.balance;
  expm_options.residual = options.residual;
  expm_options.certificate = options.certificate;
  expm_options.terms = options.terms;
  expm_options.complex_products = options.complex_products;
  expm_options.gemm.tile = static_cast<Index>(options.tile);
  expm_options.gemm.arithmetic = options.arithmetic;
  // Its products are those of the real parts.
  if (options.tile == 0 && options.arithmetic != Arithmetic::emulated)
    expm_options.gemm.rates = known_rates<Real<T>>(context);
  return expm_options;
}

template <Scalar T>
void give_terms(const Context& context, const Options& options, const ExpmReport& result, Index rows,
                double exponential_norm, Report& report) {
  const TermsTable table = {.rows = rows,
                            .scalar = options.scalar,
                            .times_minus_i = options.times_minus_i,
                            .norm1 = result.norm1,
                            .exponential_norm1 = exponential_norm,
                            .unit_roundoff = static_cast<double>(unit_roundoff<T>),
                            .terms = result.terms};
  say_terms(context, table);
  enter_terms(report.results(), table);
  context.comm().on_rank(0, [&] { write_terms(options.terms_file, options.plot, table); });
  for (const std::string& name : {options.terms_file, options.plot}) {
    if (!name.empty()) context.say("terms written to " + name);
  }
}

// T is A's type, which is real even if exp(-i A) is complex.
template <Scalar T, Scalar Result> int run_as(Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  auto report = context.report("expm");
  auto start = std::chrono::steady_clock::now();
  const auto A = make_input<T>(context, options);
  const SplitMatrix<Real<T>> parts = parts_of(A, options.times_minus_i);
  report.times()["read"] = seconds_since(start);

  all_options().enter(options, report.inputs());
  report.inputs()["rows"] = A.rows();
  context.say(format("expm: %lld x %lld, %s, %d rank%s", static_cast<long long>(A.rows()),
                     static_cast<long long>(A.columns()), options.scalar.c_str(), comm.size(),
                     comm.size() == 1 ? "" : "s"));

  ExpmOptions expm_options = library_options<T>(context, options);
  Progress progress = context.progress("expm");
  expm_options.progress = [&](int done, int total) { progress.update(done, total); };

  start = std::chrono::steady_clock::now();
  const DistributedMatrix<Result> E(comm, A.placement(), "E");
  std::vector<double> seconds;
  const ExpmReport result = exponentials<Result>(comm, parts, E, expm_options, options.repeat, seconds);
  progress.finish();
  report.times()["expm"] = seconds_since(start);

  const double gflops = result.seconds > 0 ? result.flops / result.seconds / 1e9 : 0.0;
  auto& results = report.results();
  results["method"] = to_string(result.method);
  results["structure"] = to_string(result.structure);
  results["degree"] = result.degree;
  results["squarings"] = result.squarings;
  if (result.quintuplings > 0) results["quintuplings"] = result.quintuplings;
  results["products"] = result.products;
  results["norm1"] = result.norm1;
  if (result.method != ExpmMethod::taylor) {
    results["alpha"] = result.alpha;
    results["shift"] = {result.shift_real, result.shift_imaginary};
    results["backward_error"] = result.backward_error;
    results["balanced"] = result.balanced;
  }
  results["tile"] = result.tile;
  results["seconds"] = result.seconds;
  results["seconds_of_each"] = seconds;
  results["gemm_seconds"] = result.gemm_seconds;
  results["gflops"] = gflops;
  const auto exponential_norm = static_cast<double>(norm(E, Norm::one));
  results["exponential_norm1"] = exponential_norm;
  const std::string fives =
      result.quintuplings > 0 ? format("%d to five times the angle, ", result.quintuplings) : std::string();
  context.say(format("%s, %s: degree %d, %s%d squaring%s, %d product%s, norm1 %.4g, tile %lld: %.4g s, %.4g GFLOP/s",
                     std::string(to_string(result.structure)).c_str(), std::string(to_string(result.method)).c_str(),
                     result.degree, fives.c_str(), result.squarings, result.squarings == 1 ? "" : "s", result.products,
                     result.products == 1 ? "" : "s", result.norm1, static_cast<long long>(result.tile), result.seconds,
                     gflops));
  if (options.terms) give_terms<T>(context, options, result, A.rows(), exponential_norm, report);
  const double largest = std::isfinite(exponential_norm) ? exponential_norm : largest_part(E);
  report.check_at_most("finite", largest, static_cast<double>(std::numeric_limits<Real<T>>::max()));
  if (result.residual) {
    results["residual"] = *result.residual;
    const double unit = static_cast<double>(unit_roundoff<T>);
    const double bound =
        10 * std::max(1.0, result.norm1) * (std::max(options.tolerance, unit) + static_cast<double>(A.rows()) * unit);
    report.check_at_most("residual", *result.residual, bound);
  }
  if (result.certificate) {
    results["certificate"] = *result.certificate;
    results["certificate_seconds"] = result.certificate_seconds;
    check_certificate(
        context, report, *result.certificate,
        options.certificate_tolerance.value_or(expm_certificate_tolerance<Real<T>>(A.rows(), result.norm1)));
  }
  if (!options.output.empty()) {
    start = std::chrono::steady_clock::now();
    write_result(options.output, E);
    report.times()["write"] = seconds_since(start);
    context.say("exp(A) written to " + options.output);
  }
  return context.finish(report);
}

int run(Context& context, Options options) {
  require_one_input(options.input, options.size);
  require_outputs(context, {{"--input", options.input}}, {{"--output", options.output}});
  require(!options.terms || options.method == ExpmMethod::taylor, "--terms is for --method taylor");
  if (options.terms) {
    context.comm().on_rank(0, [&] {
      require_inputs_kept({{"--input", options.input}},
                          {{"--terms-file", options.terms_file}, {"--plot", options.plot}});
      require_writable_terms(options.terms_file, options.plot, options.output, context.options().json_file());
    });
  }
  if (options.scalar.empty()) options.scalar = scalar_of_input(context, options.input);
  require(!options.symmetric || options.input.empty(), "--symmetric is for random matrices, made by --size");
  return with_scalar(options.scalar, [&]<class T>() {
    return options.times_minus_i ? run_as<T, Kokkos::complex<Real<T>>>(context, options)
                                 : run_as<T, T>(context, options);
  });
}

}  // namespace

void add_expm(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"expm", "Matrix exponential exp(A) over all ranks",
               "  mpirun -n 2 heddle expm --input A.mtx --output E.mtx --residual\n"
               "  heddle expm --size 512 --norm 10 --json expm.json\n"
               "  heddle expm --size 1000 --symmetric --times-minus-i --norm 30 --certificate\n"
               "  heddle expm --size 1 --norm 8 --times-minus-i --method taylor --degree 40 --terms --plot terms.png"},
              all_options(), run);
}

}  // namespace heddle::driver
