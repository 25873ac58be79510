// heddle gemv and heddle trsv: products and triangular systems with a vector, correctly rounded or reproducible.
#include "drivers/commands.hpp"
#include "drivers/exact/algorithms.hpp"
#include "drivers/exact/sizes.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/repeats.hpp"
#include <heddle/exact/matrix.hpp>

#include <chrono>
#include <cmath>
#include <complex>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::driver {
namespace {

using exact::Algorithm;

struct Options {
  std::string a, vector;
  std::string scalar;
  Operation op = Operation::none;
  std::string algorithm = "auto";
  bool compare = false;
  std::string output;
};
struct GemvOptions : Options {
  std::string alpha = "1";
  std::string beta = "0";
  std::string y;
};
struct TrsvOptions : Options {
  std::string triangle = "lower";
  bool unit = false;
  int refinements = 0;
};

// `vector`: the name and the help of the vector's option.
template <class All> OptionTable<All> table_of(const std::string& vector, const char* help) {
  return OptionTable<All>({
      {"--a", &All::a, Text{}, matrix_file_help, {.required = true}},
      {vector, &All::vector, Text{}, help, {.required = true}},
      {"--scalar", &All::scalar, scalar_kind(), scalar_help},
      {"--op", &All::op, operation_kind(), "Of A"},
      {"--algorithm", &All::algorithm, choice(exact_algorithms()),
       "How sums are formed; twice and plain are not correctly rounded"},
      {"--compare", &All::compare, Flag{}, "Compute it by plain arithmetic too, and show what differs"},
      {"--output,-o", &All::output, Text{}, "File to write the result to; the ending chooses the format"},
  });
}
const OptionTable<GemvOptions>& gemv_options() {
  static const OptionTable<GemvOptions> table =
      table_of<GemvOptions>("--x", "File of x: a matrix of one column")
          .include(itself, OptionTable<GemvOptions>({
                               {"--alpha", &GemvOptions::alpha, Text{"NUMBER"}, "Factor of op(A) x: re or re,im"},
                               {"--beta", &GemvOptions::beta, Text{"NUMBER"}, "Factor of y's old value: re or re,im"},
                               {"--y", &GemvOptions::y, Text{}, "File of y's old value, for --beta, likewise"},
                           }));
  return table;
}
const OptionTable<TrsvOptions>& trsv_options() {
  static const OptionTable<TrsvOptions> table =
      table_of<TrsvOptions>("--b", "File of b: a matrix of one column")
          .include(
              itself,
              OptionTable<TrsvOptions>({
                  {"--triangle", &TrsvOptions::triangle, choice({"lower", "upper"}), "The triangle of A that is read"},
                  {"--unit", &TrsvOptions::unit, Flag{}, "The diagonal is ones, and not read"},
                  {"--refinements", &TrsvOptions::refinements, Integer{.least = 0},
                   "How often the solution is corrected by its residual"},
              }));
  return table;
}

template <class T> struct Column {
  DistributedMatrix<T> matrix;
  [[nodiscard]] auto view() const { return Kokkos::subview(matrix.local(), Kokkos::ALL, 0); }
};
template <Scalar T> Column<T> column(const Communicator& comm, Index rows) {
  return {DistributedMatrix<T>(comm, placement_from("rank:0", rows, 1, 1))};
}
template <Scalar T> Column<T> read_column(const Communicator& comm, const std::string& path, Index rows) {
  Column<T> read{read_placed<T>(comm, path, "rank:0")};
  require(read.matrix.columns() == 1 && read.matrix.rows() == rows, path, ": is ", read.matrix.rows(), " x ",
          read.matrix.columns(), ", expected ", rows, " x 1");
  return read;
}

// Return a column that holds `old`, or zeros without it.
template <Scalar T> Column<T> begun(const Communicator& comm, Index rows, const std::optional<Column<T>>& old) {
  Column<T> y = column<T>(comm, rows);
  if (old) {
    Kokkos::deep_copy(y.view(), old->view());
  } else {
    Kokkos::deep_copy(y.view(), T(0));
  }
  return y;
}

// Enter the result, time it, and compare it with that of plain arithmetic. run(algorithm, y) computes into a Column of
// `rows` rows that starts as `old`.
template <Scalar T, class Run>
// NOLINTNEXTLINE(readability-function-size): what both commands know of their result
Column<T> result_of(Context& context, Report& report, const Options& options, Index rows,
                    const std::optional<Column<T>>& old, const Run& run) {
  const Communicator& comm = context.comm();
  Column<T> found;
  double seconds = 0;
  const auto run_once = [&] {
    found = begun<T>(comm, rows, old);
    const auto start = std::chrono::steady_clock::now();
    run(exact::algorithm_from(options.algorithm), found);
    return seconds_since(start);
  };
  repeat_warm(1, run_once, [&](double counted) { seconds = counted; });
  const HostMatrix<T> host = gather(found.matrix, 0);
  const std::string digest = hash_of<T>(host);
  auto& results = report.results();
  results["sha256"] = digest;
  results["seconds"] = seconds;
  context.say(format("%lld elements, %s, by %s sums: %.4g s, sha256 %s", static_cast<long long>(host.size()),
                     options.scalar.c_str(), options.algorithm.c_str(), seconds, digest.c_str()));
  if (options.compare) {
    const Column<T> by_plain = begun<T>(comm, rows, old);
    run(Algorithm::plain, by_plain);
    const HostMatrix<T> plain = gather(by_plain.matrix, 0);
    Index different = 0;
    double off = 0;
    double largest = 0;
    for (std::size_t i = 0; i < host.size(); ++i) {
      different += plain(i, 0) == host(i, 0) ? 0 : 1;
      off = larger(off, size_of(T(plain(i, 0) - host(i, 0))));
      largest = larger(largest, size_of(host(i, 0)));
    }
    const double relative = off == 0 ? 0.0 : off / largest;
    results["plain_different_elements"] = different;
    results["plain_relative_error"] = relative;
    context.say(format("plain: %lld elements differ, by up to %.3g of the largest", static_cast<long long>(different),
                       relative));
  }
  if (!options.output.empty()) write_result(options.output, found.matrix, true);
  return found;
}

template <Scalar T> int gemv_as(Context& context, const GemvOptions& options) {
  const Communicator& comm = context.comm();
  auto report = context.report("gemv");
  const auto A = read_placed<T>(comm, options.a, "rank:0");
  const bool straight = options.op == Operation::none;
  const Index rows = straight ? A.rows() : A.columns();
  const Column<T> x = read_column<T>(comm, options.vector, straight ? A.columns() : A.rows());
  const T alpha = scalar_from<T>("--alpha", number_from("--alpha", options.alpha));
  const T beta = scalar_from<T>("--beta", number_from("--beta", options.beta));
  std::optional<Column<T>> old;
  if (!options.y.empty()) old = read_column<T>(comm, options.y, rows);
  gemv_options().enter(options, report.inputs());
  result_of<T>(context, report, options, rows, old, [&](Algorithm algorithm, const Column<T>& y) {
    exact::gemv(comm.space(), options.op, alpha, A.local(), x.view(), beta, y.view(), algorithm);
  });
  return context.finish(report);
}

// Return max |b - op(A) x| / (|op(A)| |x| + |b|), element by element, of residuals rounded once. `A`: the other
// triangle is zero.
template <Scalar T>
double backward_error(const Communicator& comm, Operation op, const DistributedMatrix<T>& A, const Column<T>& x,
                      const Column<T>& b) {
  using R = Real<T>;
  const Column<T> rest = column<T>(comm, b.matrix.rows());
  Kokkos::deep_copy(rest.view(), b.view());
  exact::gemv(comm.space(), op, T(-1), A.local(), x.view(), T(1), rest.view());
  const DistributedMatrix<R> sizes(comm, placement_from("rank:0", A.rows(), A.columns(), 1));
  const Column<R> of_x = column<R>(comm, x.matrix.rows());
  const Column<R> of_b = column<R>(comm, b.matrix.rows());
  const auto fill_sizes = [&](const DistributedMatrix<T>& from, const DistributedMatrix<R>& to) {
    const auto host = gather(from, 0);
    const HostMatrix<R> all("heddle::driver::sizes", host.extent(0), host.extent(1));
    for (std::size_t k = 0; k < host.size(); ++k) all.data()[k] = static_cast<R>(size_of(host.data()[k]));
    scatter(all, 0, to);
  };
  fill_sizes(A, sizes);
  fill_sizes(x.matrix, of_x.matrix);
  fill_sizes(b.matrix, of_b.matrix);
  exact::gemv(comm.space(), op, R(1), sizes.local(), of_x.view(), R(1), of_b.view());
  const auto residual = gather(rest.matrix, 0);
  const auto bound = gather(of_b.matrix, 0);
  double worst = 0;
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const double off = size_of(residual(i, 0));
    if (off != 0) worst = larger(worst, off / static_cast<double>(bound(i, 0)));
  }
  return worst;
}

template <Scalar T> int trsv_as(Context& context, const TrsvOptions& options) {
  const Communicator& comm = context.comm();
  auto report = context.report("trsv");
  const auto A = read_placed<T>(comm, options.a, "rank:0");
  require(A.rows() == A.columns(), options.a, ": is ", A.rows(), " x ", A.columns(), ", expected a square matrix");
  const Column<T> b = read_column<T>(comm, options.vector, A.rows());
  trsv_options().enter(options, report.inputs());
  const bool lower = options.triangle == "lower";
  const auto solve = [&](Algorithm algorithm, const Column<T>& solved) {
    exact::trsv(comm.space(), lower ? Triangle::lower : Triangle::upper, options.op,
                options.unit ? Diagonal::unit : Diagonal::stored, A.local(), solved.view(), options.refinements,
                algorithm);
  };
  const Column<T> x = result_of<T>(context, report, options, A.rows(), std::optional(b), solve);
  const HostMatrix<T> read = gather(A, 0);
  for (std::size_t j = 0; j < read.extent(1); ++j) {
    for (std::size_t i = 0; i < read.extent(0); ++i) {
      if (i == j && options.unit) read(i, j) = T(1);
      if (lower ? i < j : i > j) read(i, j) = T(0);
    }
  }
  const DistributedMatrix<T> triangle(comm, placement_from("rank:0", A.rows(), A.columns(), 1));
  scatter(read, 0, triangle);
  const double error = backward_error<T>(comm, options.op, triangle, x, b);
  if (options.refinements == 0 && options.algorithm != "plain") {
    // The sum and the quotient are rounded once each.
    report.check_at_most("backward_error", error, 4.0 * unit_roundoff<T>);
  } else {
    report.results()["backward_error"] = error;
    context.say(format("backward error %.3g", error));
  }
  return context.finish(report);
}

// `inputs`: the files that are read; `complex`: true if a factor is complex, so that the rest has to be.
template <class All, class Work>
int run_with(Context& context, All options, const std::vector<Output>& inputs, bool complex, const Work& work) {
  require_outputs(context, inputs, {{"--output", options.output}});
  if (options.scalar.empty()) {
    for (const Output& input : inputs) {
      complex = scalar_of_input(context, input.path.string()) != "double" || complex;
    }
    options.scalar = complex ? "complex-double" : "double";
  }
  return with_scalar(options.scalar, [&]<class T>() { return work.template operator()<T>(options); });
}
int run_gemv(Context& context, GemvOptions options) {
  require_one_rank(context, "gemv");
  const std::complex<double> beta = number_from("--beta", options.beta);
  const bool update = beta != 0.0;
  require(update || options.y.empty(), "--y is read only where --beta is not 0");
  require(!update || !options.y.empty(), "--beta ", options.beta, " needs y's old value in --y");
  const bool complex = beta.imag() != 0 || number_from("--alpha", options.alpha).imag() != 0;
  const std::vector<Output> inputs = {{"--a", options.a}, {"--x", options.vector}, {"--y", options.y}};
  return run_with(context, std::move(options), inputs, complex,
                  [&]<class T>(const GemvOptions& all) { return gemv_as<T>(context, all); });
}
int run_trsv(Context& context, TrsvOptions options) {
  require_one_rank(context, "trsv");
  const std::vector<Output> inputs = {{"--a", options.a}, {"--b", options.vector}};
  return run_with(context, std::move(options), inputs, false,
                  [&]<class T>(const TrsvOptions& all) { return trsv_as<T>(context, all); });
}

}  // namespace

void add_exact_vectors(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"gemv", "y = alpha op(A) x + beta y of a matrix and vectors, every element rounded once",
               "  heddle gemv --a A.mtx --x x.mtx -o y.mtx --compare\n"
               "  heddle gemv --a A.mtx --x x.mtx --alpha -1 --beta 1 --y b.mtx -o residual.mtx"},
              gemv_options(), run_gemv);
  add_command(app, selection,
              {"trsv", "The solution of a triangular system, the same bits everywhere",
               "  heddle trsv --a L.mtx --b b.mtx -o x.mtx --refinements 1"},
              trsv_options(), run_trsv);
}

}  // namespace heddle::driver
