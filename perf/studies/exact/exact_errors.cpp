// The experiment of how accurate exact operations are: errors against the condition, by each way to form sums.
#include "studies/exact/exact_errors.hpp"

#include "drivers/exact/algorithms.hpp"
#include "drivers/exact/hard_problems.hpp"
#include "drivers/support/process/text.hpp"
#include "studies/table.hpp"
#include <heddle/exact/lu.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::driver {
namespace {

using exact::Algorithm;
using Sum = exact::Accumulator<double>;
using Vector = Kokkos::View<double*, MemorySpace>;

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
constexpr StudyTable table = {"exact-errors",
                              "device,operation,size,seed,condition,algorithm,refinements,block_refinements,error"};

struct Options : StudyFiles {
  std::vector<std::string> operations = {"dot", "gemv", "trsv", "lu"};
  std::vector<std::string> algorithms = {"auto", "twice", "plain"};
  std::vector<double> conditions;
  std::vector<int> refinements = {0, 1, 2};
  Index size = 100;
  int problems = 3;
  std::uint64_t seed = 1;
  Options() { output = "study_exact_errors.csv"; }
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> options = before_study_files<Options>({
      {"--operations", &Options::operations, choice({"dot", "gemv", "trsv", "lu"}, "NAME,..."), "What is computed"},
      {"--algorithms", &Options::algorithms, choice(exact_algorithms(), "NAME,..."),
       "Ways to form sums; on GPUs trsv has auto, twice and plain, LU auto alone"},
      {"--conditions",
       &Options::conditions,
       Number{.least = 1.0, .type_name = "X,X,..."},
       "Conditions of the problems, to 1e300",
       {.otherwise = "10 to 1e40, tenfold twice, and 1e300"}},
      {"--refinements", &Options::refinements, Integer{.least = 0, .type_name = "N,N,..."},
       "Corrections of triangular systems by their residuals, of the automatic algorithm; on CPUs of diagonal blocks, "
       "too"},
      {"--size", &Options::size, Integer{.least = 6, .most = 2000}, "Length of vectors, order of matrices"},
      {"--problems", &Options::problems, Integer{.least = 1}, "Of each condition, from consecutive seeds"},
      {"--seed", &Options::seed, Integer{.least = 0}, "Of the first problem's random numbers"},
  });
  return options;
}

// One way to compute a result.
struct Way {
  Algorithm algorithm = Algorithm::automatic;
  int refinements = 0;
  int block_refinements = 0;
};

struct Row {
  std::string operation;
  Index size = 0;
  std::uint64_t seed = 0;
  double condition = 0.0;
  Way way;
  double error = 0.0;
};

// Return an error as it is shown: at most 1, which leaves no digit; NaN counts as 1.
double shown(double error) {
  return error <= 1 ? error : 1;
}

// Adds a row for each way to compute the operation.
class Study {
 public:
  Study(const Context& context, const Options& options) : comm_(context.comm()), options_(options) {}

  [[nodiscard]] std::vector<Row> rows(const std::string& operation, const HardProblem& problem) {
    rows_.clear();
    row_ = {operation, problem.size, problem.seed, 0.0, {}, 0.0};
    if (operation == "dot") {
      add_dot(hard_dot(problem));
    } else if (operation == "gemv") {
      add_gemv(hard_product(problem));
    } else if (operation == "trsv") {
      add_trsv(hard_system(problem));
    } else {
      add_lu(hard_matrix(comm_.space(), problem));
    }
    return std::move(rows_);
  }

 private:
  void add(const Way& way, double error) {
    row_.way = way;
    row_.error = shown(error);
    rows_.push_back(row_);
  }
  [[nodiscard]] std::vector<Way> ways() const {
    std::vector<Way> all;
    for (const std::string& name : options_.algorithms) all.push_back({exact::algorithm_from(name)});
    return all;
  }

  void add_dot(const HardDot& dot) {
    Sum exact;
    for (std::size_t k = 0; k < dot.x.size(); ++k) exact.add_product(dot.x[k], dot.y[k]);
    row_.condition = condition_of(comm_, dot.x, dot.y);
    const Vector x = on_device(dot.x);
    const Vector y = on_device(dot.y);
    for (const Way& way : ways()) {
      Sum off = exact;
      off.subtract(exact::dot(comm_.space(), x, y, way.algorithm));
      add(way, std::abs(off.value<double>() / exact.value<double>()));
    }
  }

  // The largest error of an element over the largest element.
  void add_gemv(const HardProduct& product) {
    const std::size_t n = product.x.size();
    std::vector<Sum> exact(n);
    double largest = 0;
    double sizes = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double size = 0;
      for (std::size_t j = 0; j < n; ++j) {
        exact[i].add_product(product.A(i, j), product.x[j]);
        size += std::abs(product.A(i, j) * product.x[j]);
      }
      largest = std::max(largest, std::abs(exact[i].value<double>()));
      sizes = std::max(sizes, size);
    }
    row_.condition = sizes / largest;
    const LocalMatrix<double> A = on_device(product.A);
    const Vector x = on_device(product.x);
    const Vector y("heddle::study::result", n);
    for (const Way& way : ways()) {
      exact::gemv(comm_.space(), Operation::none, 1.0, A, x, 0.0, y, way.algorithm);
      const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i) {
        Sum off = exact[i];
        off.subtract(found(i));
        worst = larger(worst, std::abs(off.value<double>()));
      }
      add(way, worst / largest);
    }
  }

  // The largest error of an element over the largest element.
  void add_trsv(const HardSystem& system) {
    const std::size_t n = system.b.size();
    row_.condition = system.condition;
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(system.x.value(i)));
    const LocalMatrix<double> A = on_device(system.A);
    for (const Way& way : ways_of_trsv()) {
      const Vector solved = on_device(system.b);
      exact::trsv(comm_.space(), Triangle::lower, Operation::none, Diagonal::stored, A, solved, way.refinements,
                  way.algorithm, way.block_refinements);
      const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), solved);
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i) worst = larger(worst, system.x.error(found(i), i));
      add(way, worst / largest);
    }
  }
  [[nodiscard]] std::vector<Way> ways_of_trsv() const {
    std::vector<Way> all;
    for (const Way& way : ways()) {
      if (way.algorithm != Algorithm::automatic) {
        if (exact::trsv_takes(way.algorithm)) all.push_back(way);
        continue;
      }
      for (const int refinements : options_.refinements) {
        all.push_back({way.algorithm, refinements});
        if (on_host && refinements > 0) all.push_back({way.algorithm, 0, refinements});
      }
    }
    return all;
  }

  // |P A - L U| / |A|, in the largest row sum, of exact sums.
  void add_lu(const HardMatrix& matrix) {
    row_.condition = matrix.condition;
    for (const Way& way : ways()) {
      if (!exact::lu_takes(way.algorithm)) continue;
      const LocalMatrix<double> LU = on_device(matrix.A);
      const exact::LuResult factors = exact::lu(comm_.space(), LU, {.algorithm = way.algorithm});
      add(way,
          factorization_error(matrix.A, Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), LU), factors.pivots));
    }
  }
  [[nodiscard]] static double factorization_error(const HostMatrix<double>& A, const HostMatrix<double>& LU,
                                                  const std::vector<Index>& pivots) {
    const std::size_t n = A.extent(0);
    std::vector<std::size_t> rows(n);
    for (std::size_t k = 0; k < n; ++k) rows[k] = k;
    for (std::size_t k = 0; k < n; ++k) std::swap(rows[k], rows[static_cast<std::size_t>(pivots[k])]);
    double norm = 0;
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double size = 0;
      double error = 0;
      for (std::size_t j = 0; j < n; ++j) {
        Sum rest;
        rest.add(A(rows[i], j));
        for (std::size_t k = 0; k <= std::min(i, j); ++k) rest.subtract_product(k == i ? 1.0 : LU(i, k), LU(k, j));
        error += std::abs(rest.value<double>());
        size += std::abs(A(rows[i], j));
      }
      norm = std::max(norm, size);
      worst = larger(worst, error);
    }
    return worst / norm;
  }

  const Communicator& comm_;
  const Options& options_;
  Row row_;
  std::vector<Row> rows_;
};

std::string line_of(const Row& row) {
  return format("%-9s  %4lld  %9.3g  %-11s  %11d  %6d  %9.3g", row.operation.c_str(), static_cast<long long>(row.size),
                row.condition, std::string(to_string(row.way.algorithm)).c_str(), row.way.refinements,
                row.way.block_refinements, row.error);
}

std::vector<Row> all_rows(const Context& context, const Options& options) {
  Progress progress = context.progress("study");
  Study study(context, options);
  std::vector<Row> rows;
  const auto problems = static_cast<double>(options.operations.size() * options.conditions.size()) *
                        static_cast<double>(options.problems);
  double done = 0.0;
  for (const std::string& operation : options.operations) {
    for (const double condition : options.conditions) {
      for (int problem = 0; problem < options.problems; ++problem) {
        progress.update(done++ / problems, operation + format(", condition %.3g", condition));
        const auto seed = options.seed + static_cast<std::uint64_t>(problem);
        for (Row& row : study.rows(operation, {options.size, condition, seed})) {
          context.say(line_of(row));
          rows.push_back(std::move(row));
        }
      }
    }
  }
  progress.finish();
  return rows;
}

nlohmann::ordered_json as_json(const Row& row) {
  return {{"operation", row.operation},
          {"size", row.size},
          {"seed", row.seed},
          {"condition", row.condition},
          {"algorithm", to_string(row.way.algorithm)},
          {"refinements", row.way.refinements},
          {"block_refinements", row.way.block_refinements},
          {"error", row.error}};
}

int run(Context& context, Options options) {
  if (options.conditions.empty()) {
    for (int power = 1; power <= 39; power += 2) options.conditions.push_back(std::pow(10.0, power));
    options.conditions.insert(options.conditions.end(), {1e40, 1e300});
  }
  for (const double condition : options.conditions) {
    require(condition <= 1e300, "--conditions ", condition, ": expected at most 1e300");
  }
  require_study(context, "exact-errors", options);
  const std::vector<std::string> joined = table.rows_of_all(options.join);
  auto report = context.report("study");
  report.inputs()["study"] = "exact-errors";
  all_options().enter(options, report.inputs());

  context.say("operation     n  condition  algorithm    refinements  blocks      error");
  const std::vector<Row> rows = all_rows(context, options);
  std::vector<nlohmann::ordered_json> lines;
  double worst = 0;
  for (const Row& row : rows) {
    lines.push_back(as_json(row));
    const bool is_rounded_once = row.operation == "dot" || row.operation == "gemv";
    if (is_rounded_once && is_exact(row.way.algorithm)) worst = std::max(worst, row.error);
  }
  report.results()["rows"] = lines;
  for (nlohmann::ordered_json& line : lines) line["device"] = device_of(context);
  table.write(options.output, lines, joined);
  report.check_at_most("error_of_products_rounded_once", worst, unit_roundoff<double>);
  finish_study(context, report, options, study_exact_errors_picture);
  return context.finish(report);
}

}  // namespace

bool looks_like_study_exact_errors(const std::filesystem::path& path) {
  return table.is(path);
}

void add_study_exact_errors(CLI::App& study, Selection& selection) {
  add_command(
      study, selection,
      {"exact-errors", "Errors of exact and of plain operations against the condition of the problem",
       "  heddle study exact-errors --plot errors.png\n"
       "  heddle study exact-errors --operations trsv --conditions 1e10,1e20,1e30 --refinements 0,1,2,3\n"
       "The condition: of dot the sizes of the terms over that of their sum; of gemv and trsv |A| |x| / |y| and\n"
       "|A^-1| |A| |x| / |x| in the largest elements; of lu |A| |A^-1| in the largest row sums. The error: of lu\n"
       "|P A - L U| / |A| so, else that of the result over the result, in the largest elements; at most 1."},
      all_options(), run);
}

}  // namespace heddle::driver
