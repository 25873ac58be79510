// heddle sum and heddle dot: exact sums of what is in files, beside plain ones.
#include "drivers/commands.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/sha256.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/repeats.hpp"
#include <heddle/exact/distributed.hpp>
#include <heddle/io/matrix_file.hpp>
#include <heddle/io/text_list.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

namespace heddle::driver {
namespace {

struct SumOptions {
  std::string input;
  std::string scalar;
  bool compare = false;
};
struct DotOptions {
  std::string x, y;
  std::string scalar;
  bool conjugate = false;
  bool compare = false;
};

constexpr const char* compare_help = "Show the plain sum, one after the other, and how far off it is";

const OptionTable<SumOptions>& sum_options() {
  static const OptionTable<SumOptions> table = {
      {"--input,-i",
       &SumOptions::input,
       Text{},
       "File of the elements: a matrix of any shape (.mtx, .npy, .h5 or .h5:DATASET), or of any other name a text of "
       "numbers, one or several on a line; integers count with all their digits",
       {.required = true}},
      {"--scalar", &SumOptions::scalar, scalar_kind(), scalar_help},
      {"--compare", &SumOptions::compare, Flag{}, compare_help},
  };
  return table;
}

const OptionTable<DotOptions>& dot_options() {
  static const OptionTable<DotOptions> table = {
      {"--x",
       &DotOptions::x,
       Text{},
       "File of x: a matrix (.mtx, .npy, .h5 or .h5:DATASET), or of any other name a text of numbers",
       {.required = true}},
      {"--y", &DotOptions::y, Text{}, "File of y, of the same shape", {.required = true}},
      {"--conjugate", &DotOptions::conjugate, Flag{}, "Of conj(x) and y"},
      {"--scalar", &DotOptions::scalar, scalar_kind(), scalar_help},
      {"--compare", &DotOptions::compare, Flag{}, compare_help},
  };
  return table;
}

// Return true if a text of `count` numbers has the form that read_text_matrix() takes.
bool looks_like_matrix(const std::string& path, Index count) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  Index order = 0;
  return word.find_first_not_of("0123456789") == std::string::npos &&
         Integer{.least = 1, .most = 1 << 30}.read(word, order) && count > 2 && count == order * order + 1;
}

// Return true if the file is a text of numbers: its name has the ending of no other format.
bool is_list(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return path.find(".h5:") == std::string::npos && ending != ".mtx" && ending != ".npy" && ending != ".h5";
}

std::string scalar_of(const Context& context, const std::string& path) {
  return is_list(path) ? "double" : scalar_of_input(context, path);
}

// Matrices that add up to the numbers in a file; whole numbers keep all their digits.
template <Scalar T> using FileNumbers = std::vector<DistributedMatrix<T>>;

// Read the numbers in a file into the placement `place`.
template <Scalar T>
FileNumbers<T> read_numbers(const Context& context, const std::string& path, const std::string& place) {
  const Communicator& comm = context.comm();
  const auto placed = [&](Index rows, Index columns) { return placement_from(place, rows, columns, comm.size()); };
  if (!is_list(path)) return read_matrix_terms<T>(comm, path, placed);
  FileNumbers<T> A = read_text_list_terms<T>(comm, path, placed);
  if (context.root() && looks_like_matrix(path, A.front().rows())) {
    complain("warning: " + path + " has the form of a matrix: its order, which counts as a number here, and as many " +
             "numbers as that has elements");
  }
  return A;
}

template <Scalar T> using Elements = Kokkos::View<T*, MemorySpace>;

// This rank's elements, side by side.
template <Scalar T> Elements<T> elements_of(const DistributedMatrix<T>& A) {
  const MatrixView<T>& local = A.local();
  const Elements<T> dense(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::elements"), local.size());
  const auto height = static_cast<Index>(local.extent(0));
  Kokkos::parallel_for(
      "heddle::driver::elements",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(A.communicator().space(), 0,
                                                                    static_cast<Index>(local.size())),
      KOKKOS_LAMBDA(Index k) { dense(k) = local(k % height, k / height); });
  A.communicator().space().fence("heddle::driver::elements");
  return dense;
}

template <Scalar T> std::vector<T> on_host(const DistributedMatrix<T>& A) {
  const Elements<T> elements = elements_of(A);
  const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), elements);
  return std::vector<T>(mirror.data(), mirror.data() + mirror.extent(0));
}
template <Scalar T> Elements<T> on_device(const std::vector<T>& elements) {
  const Elements<T> dense(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::elements"), elements.size());
  Kokkos::deep_copy(
      dense, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(elements.data(), elements.size()));
  return dense;
}

// Return vectors whose inner product is that of the sums of X and of Y. Products with further terms count if both
// factors are finite and not zero: the first terms alone decide about zeros, infinities and NaNs.
template <Scalar T> std::array<Elements<T>, 2> factors_of(const FileNumbers<T>& X, const FileNumbers<T>& Y) {
  if (X.size() == 1 && Y.size() == 1) return {elements_of(X.front()), elements_of(Y.front())};
  const auto counts = [](const T& value) {
    return value != T(0) && std::isfinite(real_of<double>(value)) && std::isfinite(imaginary_of<double>(value));
  };
  std::vector<T> x = on_host(X.front());
  std::vector<T> y = on_host(Y.front());
  for (std::size_t i = 0; i < X.size(); ++i) {
    for (std::size_t j = i == 0 ? 1 : 0; j < Y.size(); ++j) {
      const std::vector<T> of_x = on_host(X[i]);
      const std::vector<T> of_y = on_host(Y[j]);
      for (std::size_t k = 0; k < of_x.size(); ++k) {
        if (!counts(of_x[k]) || !counts(of_y[k])) continue;
        x.push_back(of_x[k]);
        y.push_back(of_y[k]);
      }
    }
  }
  return {on_device(x), on_device(y)};
}

// Return all terms of the numbers; further terms count unless they are zero.
template <Scalar T> Elements<T> terms_of(const FileNumbers<T>& A) {
  if (A.size() == 1) return elements_of(A.front());
  std::vector<T> terms = on_host(A.front());
  for (std::size_t i = 1; i < A.size(); ++i) {
    const std::vector<T> more = on_host(A[i]);
    std::copy_if(more.begin(), more.end(), std::back_inserter(terms), [](const T& value) { return value != T(0); });
  }
  return on_device(terms);
}

// Return each number rounded, as in a program that reads them into an array of T.
template <Scalar T> Elements<T> rounded(const FileNumbers<T>& A) {
  const Elements<T> sum = elements_of(A.back());
  for (std::size_t i = A.size() - 1; i-- > 0;) {
    const Elements<T> larger = elements_of(A[i]);
    const auto n = static_cast<Index>(sum.extent(0));
    Kokkos::parallel_for(
        "heddle::driver::rounded", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n),
        KOKKOS_LAMBDA(Index k) { sum(k) += larger(k); });
  }
  Kokkos::fence("heddle::driver::rounded");
  return sum;
}

std::string hexadecimal(double x) {
  return format("%a", x);
}
// A number, or [re, im].
template <Scalar T> nlohmann::ordered_json as_json(const T& x) {
  if (!is_complex<T>) return real_of<double>(x);
  return {real_of<double>(x), imaginary_of<double>(x)};
}
template <Scalar T> nlohmann::ordered_json as_hexadecimal(const T& x) {
  if (!is_complex<T>) return hexadecimal(real_of<double>(x));
  return {hexadecimal(real_of<double>(x)), hexadecimal(imaginary_of<double>(x))};
}
template <Scalar T> std::string shown(const T& x) {
  return is_complex<T> ? format("%.17g%+.17gi", real_of<double>(x), imaginary_of<double>(x))
                       : format("%.17g", real_of<double>(x));
}

// Add one after the other, as a loop over the file would.
template <Scalar T> T plain_sum(const Communicator& comm, const Elements<T>& terms) {
  T sum(0);
  const auto host = Kokkos::create_mirror_view(terms);
  Kokkos::deep_copy(host, terms);
  std::vector<T> all(static_cast<std::size_t>(comm.size()));
  for (std::size_t k = 0; k < host.extent(0); ++k) sum += host(k);
  comm.all_gather(std::span<const T>(&sum, 1), std::span(all));
  T total(0);
  for (const T& part : all) total += part;
  return total;
}

// Return the products that a loop over the files would add.
template <Scalar T> Elements<T> plain_products(const FileNumbers<T>& X, const FileNumbers<T>& Y, bool conjugated) {
  const Elements<T> x = rounded(X);
  const Elements<T> y = rounded(Y);
  Kokkos::parallel_for(
      "heddle::driver::products",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, static_cast<Index>(x.extent(0))),
      KOKKOS_LAMBDA(Index k) { x(k) = (conjugated ? conjugate(x(k)) : x(k)) * y(k); });
  Kokkos::fence("heddle::driver::products");
  return x;
}

// The numbers about a sum that both commands report.
template <Scalar T> struct SumFigures {
  Index count;
  T value;
  double condition;
  double seconds;
  std::optional<T> plain;  // If it is wanted.
};
template <Scalar T>
void report_sum(Context& context, Report& report, const std::string& name, const SumFigures<T>& figures) {
  const auto& [count, value, condition, seconds, plain] = figures;
  const double size = std::hypot(real_of<double>(value), imaginary_of<double>(value));
  auto& results = report.results();
  results["count"] = count;
  results["value"] = as_json(value);
  results["value_hex"] = as_hexadecimal(value);
  results["condition"] = condition;
  results["seconds"] = seconds;
  Sha256 hash;
  hash.add_numbers(&value, 1);
  results["sha256"] = hash.digest();
  context.say(format("%s of %lld elements, condition %.3g: %s", name.c_str(), static_cast<long long>(count), condition,
                     shown(value).c_str()));
  if (!plain) return;
  const double off = std::hypot(real_of<double>(*plain) - real_of<double>(value),
                                imaginary_of<double>(*plain) - imaginary_of<double>(value));
  const double relative = off == 0 ? 0.0 : off / size;
  results["plain"] = as_json(*plain);
  results["plain_hex"] = as_hexadecimal(*plain);
  results["plain_relative_error"] = relative;
  context.say(format("plain %s: %s, off by %.3g of the exact one", name.c_str(), shown(*plain).c_str(), relative));
}

template <Scalar T> int sum_as(Context& context, const SumOptions& options) {
  const Communicator& comm = context.comm();
  auto report = context.report("sum");
  const auto A = read_numbers<T>(context, options.input, is_list(options.input) ? "rows" : "columns");
  sum_options().enter(options, report.inputs());
  const Elements<T> x = terms_of(A);
  T value(0);
  const double seconds = seconds_of_runs(comm, 1, [&] { value = exact::sum(comm, x); }).front();
  const double condition = exact::sum_condition(comm, x);
  const auto plain = options.compare ? std::optional<T>(plain_sum(comm, rounded(A))) : std::nullopt;
  const Index count = A.front().rows() * A.front().columns();
  report_sum<T>(context, report, "sum", {count, value, condition, seconds, plain});
  return context.finish(report);
}

template <Scalar T> int dot_as(Context& context, const DotOptions& options) {
  const Communicator& comm = context.comm();
  auto report = context.report("dot");
  // A list is one column; each rank gets a part of it.
  const std::string place = is_list(options.x) || is_list(options.y) ? "rows" : "columns";
  const FileNumbers<T> of_x = read_numbers<T>(context, options.x, place);
  const FileNumbers<T> of_y = read_numbers<T>(context, options.y, place);
  const DistributedMatrix<T>& X = of_x.front();
  const DistributedMatrix<T>& Y = of_y.front();
  require(X.rows() == Y.rows() && X.columns() == Y.columns(), options.x, " is ", X.rows(), " x ", X.columns(), ", ",
          options.y, " is ", Y.rows(), " x ", Y.columns(), "; expected equal shapes");
  dot_options().enter(options, report.inputs());
  const std::array<Elements<T>, 2> factors = factors_of(of_x, of_y);
  const auto& [x, y] = factors;
  T value(0);
  const auto multiply = [&] { value = options.conjugate ? exact::dotc(comm, x, y) : exact::dot(comm, x, y); };
  const double seconds = seconds_of_runs(comm, 1, multiply).front();
  const double condition = options.conjugate ? exact::dotc_condition(comm, x, y) : exact::dot_condition(comm, x, y);
  const auto plain =
      options.compare ? std::optional<T>(plain_sum(comm, plain_products(of_x, of_y, options.conjugate))) : std::nullopt;
  report_sum<T>(context, report, "dot", {X.rows() * X.columns(), value, condition, seconds, plain});
  return context.finish(report);
}

int run_sum(Context& context, SumOptions options) {
  if (options.scalar.empty()) options.scalar = scalar_of(context, options.input);
  return with_scalar(options.scalar, [&]<class T>() { return sum_as<T>(context, options); });
}

int run_dot(Context& context, DotOptions options) {
  if (options.scalar.empty()) {
    const std::string of_x = scalar_of(context, options.x);
    options.scalar = of_x == "double" ? scalar_of(context, options.y) : of_x;
  }
  return with_scalar(options.scalar, [&]<class T>() { return dot_as<T>(context, options); });
}

}  // namespace

void add_exact_sums(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"sum", "The exact sum of the elements of a file, rounded once", "  heddle sum --input x.mtx --compare"},
              sum_options(), run_sum);
  add_command(
      app, selection,
      {"dot", "The exact inner product of two files, rounded once", "  heddle dot --x x.mtx --y y.mtx --compare"},
      dot_options(), run_dot);
}

}  // namespace heddle::driver
