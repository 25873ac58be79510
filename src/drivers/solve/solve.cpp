// heddle solve: linear systems from files or generated, over all ranks.
#include "drivers/commands.hpp"
#include "drivers/gemm/trace.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/repeats.hpp"
#include <heddle/solve/solve.hpp>
#include <heddle/transpose/distributed.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace heddle::driver {
namespace {

struct Options {
  std::string a, b, x, trace;
  Index size = -1;
  Index right = 1;
  std::uint64_t seed = 1;
  std::string scalar;
  std::string place = "rows";
  SolveMethod method = SolveMethod::lu;
  Arithmetic arithmetic = Arithmetic::native;
  Index block = 0;
  Index group = 0;
  int grid_rows = 1;
  bool equilibrate = true;
  int refinements = 1;
  bool certificate = false;
  bool correctly_rounded = false;
  bool condition = false;
  bool determinant = false;
  bool hash = false;
};

const OptionTable<Options>& all_options() {
  const auto random = [](const Options& options) { return options.a.empty(); };
  static const OptionTable<Options> table = {
      {"--a", &Options::a, Text{}, matrix_file_help},
      {"--b", &Options::b, Text{}, "File of B, likewise: the right-hand sides are its columns"},
      {"--x", &Options::x, Text{}, "File to write the solution X to; the ending chooses the format"},
      {"--size", &Options::size, Integer{.least = 0},
       "Make a random matrix of this size, for --method cholesky R + R^H + 2 n I, and random right-hand sides"},
      {"--right", &Options::right, Integer{.least = 1}, "Number of random right-hand sides", {}, random},
      {"--seed", &Options::seed, Integer{}, "Seed of random matrices", {}, random},
      {"--scalar", &Options::scalar, scalar_kind(), scalar_help},
      {"--place", &Options::place, Text{"WHERE"},
       "Placement of A, B and X: rows, columns, rank:R or cyclic:RxC[:PxQ]; in host memory with host: before it"},
      {"--method", &Options::method, choice<SolveMethod>("NAME", {SolveMethod::lu, SolveMethod::cholesky}),
       "lu, or cholesky of a Hermitian positive definite A, both of whose triangles have to be there"},
      {"--arithmetic", &Options::arithmetic, arithmetic_kind(),
       "native (products by the BLAS), emulated (by 8-bit integers: the same X on every machine), or auto: the one "
       "that is faster on this kind of machine"},
      {"--block", &Options::block, Integer{.least = 0}, "Columns of a panel; 0: chosen. Bits depend on it"},
      {"--group", &Options::group, Integer{.least = 0},
       "Panels that are applied together, a power of two; 0: chosen. Bits depend on it"},
      {"--grid-rows", &Options::grid_rows, Integer{.least = 1},
       "Rows of the grid of ranks that factors A, a divisor of their number; native bits depend on it"},
      {"--equilibrate,!--no-equilibrate", &Options::equilibrate, Flag{},
       "Scale rows and columns of very different sizes by powers of two"},
      {"--refinements", &Options::refinements, Integer{.least = 0}, "Corrections by exact residuals"},
      {"--certificate", &Options::certificate, Flag{},
       "Prove a bound of the error of X, by an approximate inverse; a check fails where none can be proven"},
      {"--correctly-rounded", &Options::correctly_rounded, Flag{},
       "Round each element of X, and the determinant, to the number nearest to the exact one; a check fails "
       "unless that is proven of all"},
      {"--condition", &Options::condition, Flag{},
       "Print A's condition number too, which is estimated and checked anyway"},
      {"--determinant", &Options::determinant, Flag{}, "Give A's determinant too"},
      {"--hash", &Options::hash, Flag{}, "Print the SHA-256 of X, gathered on rank 0"},
      {"--trace", &Options::trace, Text{.may_be_empty = false},
       "Write a timeline of the factorization's panels, exchanges and updates for ui.perfetto.dev"},
  };
  return table;
}

template <Scalar T> class Run {
 public:
  Run(Context& context, const Options& options)
      : context_(context), options_(options), report_(context.report("solve")) {
    const Communicator& comm = context.comm();
    const auto start = std::chrono::steady_clock::now();
    if (options.a.empty()) {
      A_ = random_matrix<T>(comm, options.size, options.size, options.place, options.seed);
      if (options.method == SolveMethod::cholesky) make_positive_definite();
      B_ = random_matrix<T>(comm, options.size, options.right, options.place, options.seed + 1);
    } else {
      A_ = read_placed<T>(comm, options.a, options.place);
      B_ = read_placed<T>(comm, options.b, options.place);
    }
    X_ = DistributedMatrix<T>(comm, placement_from(options.place, B_.rows(), B_.columns(), comm.size()), "X");
    report_.times()["read"] = seconds_since(start);
    all_options().enter(options, report_.inputs());
    report_.inputs()["rows"] = A_.rows();
    report_.inputs()["right_hand_sides"] = B_.columns();
  }

  int operator()() {
    const Communicator& comm = context_.comm();
    FactorOptions lu{.arithmetic = options_.arithmetic,
                     .block = options_.block,
                     .group = options_.group,
                     .grid_rows = options_.grid_rows};
    Progress progress = context_.progress("solve");
    lu.progress = [&](double share_done) { progress.update(share_done); };
    lu.record_timeline = !options_.trace.empty();
    SolveReport solved;
    const auto solve_once = [&] {
      return solve(comm, A_, B_, X_,
                   {.method = options_.method,
                    .factorization = lu,
                    .equilibrate = options_.equilibrate,
                    .refinements = options_.refinements,
                    .certificate = options_.certificate,
                    .rounding = options_.correctly_rounded ? Rounding::correct : Rounding::computed});
    };
    // Proofs take longer than the timed part, so they are computed once only.
    repeat_warm(
        1, solve_once, [&](const SolveReport& counted) { solved = counted; },
        options_.certificate || options_.correctly_rounded ? 0.0 : longest_warm_up);
    progress.finish();
    lu.progress = {};
    lu.record_timeline = false;
    enter(solved);
    if (!options_.trace.empty()) {
      keep_factorization_trace(comm, options_.trace, "solve", solved.factorization, report_.inputs());
    }
    auto& results = report_.results();
    if (options_.determinant) enter_determinant(lu);
    if (solved.factorization.info != 0) {
      report_.check(by_lu() ? "regular" : "positive_definite", false, results["info"], 0);
      return context_.finish(report_);
    }
    if (solved.overflow != 0) {
      context_.say(format("column %lld of X overflows %s, counted from 1", static_cast<long long>(solved.overflow),
                          options_.scalar.c_str()));
      report_.check("solution_in_range", false, solved.overflow, 0);
      return context_.finish(report_);
    }
    // The scaled residual of High-Performance Linpack, which requires less than 16.
    results["scaled_residual"] = solved.scaled_residual;
    report_.check_at_most("scaled_residual", solved.scaled_residual, 16.0);
    if (options_.certificate) certify(solved.error_bound);
    if (options_.correctly_rounded) enter_rounding(solved);
    const double bound =
        1.0 / (static_cast<double>(unit_roundoff<T>) * static_cast<double>(std::max<Index>(A_.rows(), 1)));
    report_.check("condition", !solved.ill_conditioned, solved.scaled_condition, bound);
    if (options_.hash) hash();
    if (!options_.x.empty()) write_result(options_.x, X_);
    return context_.finish(report_);
  }

 private:
  [[nodiscard]] bool by_lu() const { return options_.method == SolveMethod::lu; }
  void make_positive_definite() {
    const DistributedMatrix<T> sum(context_.comm(), A_.placement(), "A");
    transpose(context_.comm(), T(1), A_, Operation::conjugate_transpose, sum);
    add(T(1), A_, sum);
    add_identity(T(static_cast<Real<T>>(2 * A_.rows())), sum);
    A_ = sum;
  }
  void enter(const SolveReport& solved) {
    auto& results = report_.results();
    results["info"] = solved.factorization.info;
    results["equilibrated"] = solved.equilibrated;
    results["arithmetic"] = to_string(solved.factorization.arithmetic);
    results["block"] = solved.factorization.block;
    results["group"] = solved.factorization.group;
    results["seconds"] = solved.seconds;
    results["memory_bytes"] = solved.memory_bytes;
    const std::string method(to_string(options_.method));
    results[method + "_seconds"] = solved.factorization.seconds;
    results["gflops"] = solved.factorization.gflops;
    if (by_lu()) results["growth"] = solved.factorization.growth;
    results["backward_error"] = solved.normwise_error;
    results["componentwise_error"] = solved.componentwise_error;
    results["condition"] = solved.condition;
    results["scaled_condition"] = solved.scaled_condition;
    const std::string size =
        format("solve: %lld x %lld, %lld right-hand sides, %s, %s: ", static_cast<long long>(A_.rows()),
               static_cast<long long>(A_.columns()), static_cast<long long>(B_.columns()), options_.scalar.c_str(),
               std::string(to_string(solved.factorization.arithmetic)).c_str());
    const auto info = static_cast<long long>(solved.factorization.info);
    if (info != 0) {
      context_.say(size +
                   (by_lu() ? format("the matrix is singular: U(%lld, %lld) is zero, counted from 1", info, info)
                            : format("the matrix is not positive definite: pivot %lld is not, counted from 1", info)));
    } else {
      context_.say(size +
                   format("%.4g s, %s %.4g s (%.4g GFLOP/s), ", solved.seconds, by_lu() ? "LU" : "Cholesky",
                          solved.factorization.seconds, solved.factorization.gflops) +
                   (by_lu() ? format("growth %.3g, ", solved.factorization.growth) : "") +
                   format("backward error %.3g, of elements %.3g", solved.normwise_error, solved.componentwise_error));
    }
    if (options_.condition) {
      context_.say(
          format("condition %.3g, with rows and columns of one size %.3g", solved.condition, solved.scaled_condition));
    }
  }
  void certify(double bound) {
    report_.results()["error_bound"] = bound;
    context_.say(std::isfinite(bound) ? format("error of X at most %.3g of its largest element, proven", bound)
                                      : std::string("error of X: no bound could be proven"));
    report_.check("certificate", std::isfinite(bound), bound, "finite");
  }
  void enter_rounding(const SolveReport& solved) {
    auto& results = report_.results();
    results["correctly_rounded"] = solved.correctly_rounded;
    results["undecided"] = solved.undecided;
    const Index elements = X_.rows() * X_.columns();
    std::string line = "X: no element could be proven to be the nearest number";
    if (solved.correctly_rounded) {
      line = "X: every element is the nearest number, proven";
    } else if (solved.undecided > 0) {
      results["undecided_row"] = solved.undecided_row;
      results["undecided_column"] = solved.undecided_column;
      results["distance_to_tie"] = solved.distance_to_tie;
      line = format(
          "X: %lld of %lld elements are not proven to be nearest; element (%lld, %lld), counted from 0, is within %.3g "
          "ULP of a tie",
          static_cast<long long>(solved.undecided), static_cast<long long>(elements),
          static_cast<long long>(solved.undecided_row), static_cast<long long>(solved.undecided_column),
          solved.distance_to_tie);
    }
    context_.say(line);
    report_.check("correct_rounding", solved.correctly_rounded, solved.undecided < 0 ? elements : solved.undecided, 0);
  }
  void enter_determinant(const FactorOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    const Determinant<T> found =
        determinant(context_.comm(), A_, options, options_.correctly_rounded ? Rounding::correct : Rounding::computed);
    report_.times()["determinant"] = seconds_since(start);
    const double re = real_of<double>(found.mantissa);
    const double im = imaginary_of<double>(found.mantissa);
    report_.results()["determinant"] = {{"real", re}, {"imaginary", im}, {"exponent", found.exponent}};
    const auto exponent = static_cast<long long>(found.exponent);
    context_.say(is_complex<T> ? format("determinant (%.17g, %.17g) 2^%lld", re, im, exponent)
                               : format("determinant %.17g 2^%lld", re, exponent));
    if (options_.correctly_rounded) {
      report_.results()["determinant"]["correctly_rounded"] = found.correctly_rounded;
      report_.check("rounded_determinant", found.correctly_rounded, found.correctly_rounded ? 0 : 1, 0);
    }
  }
  void hash() {
    const std::string digest = hash_of(X_);
    report_.results()["sha256"] = digest;
    context_.say("sha256 " + digest);
  }

  Context& context_;
  const Options& options_;
  Report report_;
  DistributedMatrix<T> A_, B_, X_;
};

int run(Context& context, Options options) {
  require(options.a.empty() == options.b.empty(), "solve: expected --a FILE and --b FILE, or --size N");
  require(options.a.empty() != (options.size < 0), "solve: expected either --a FILE and --b FILE, or --size N");
  require(options.a.empty() || options.right == Options().right, "solve: --right ", options.right,
          " is of random right-hand sides; those of --b are its columns");
  require_outputs(context, {{"--a", options.a}, {"--b", options.b}}, {{"--x", options.x}}, {"--trace", options.trace});
  if (options.scalar.empty()) options.scalar = scalar_of_input(context, options.a);
  return with_scalar(options.scalar, [&]<class T>() { return Run<T>(context, options)(); });
}

}  // namespace

void add_solve(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"solve", "Solve A X = B over all ranks, natively or with the same bits everywhere",
               "  mpirun -n 2 heddle solve --size 1000 --right 3 --arithmetic emulated --hash\n"
               "  heddle solve --size 1000 --method cholesky\n"
               "  heddle solve --a A.mtx --b B.mtx --x X.mtx --condition"},
              all_options(), run);
}

}  // namespace heddle::driver
