// heddle generate: inner products, products and systems of a chosen condition, as hard inputs for exact arithmetic.
#include "drivers/commands.hpp"
#include "drivers/exact/hard_problems.hpp"
#include "drivers/exact/sizes.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/process/text.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::driver {
namespace {

struct Options {
  std::string kind;
  Index size = 100;
  double condition = 1e10;
  std::uint64_t seed = 1;
  std::string output, vector;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = {
      {"--kind,kind",
       &Options::kind,
       choice({"dot", "gemv", "triangular", "general"}),
       "dot: x and y whose inner product cancels; gemv: a square matrix each of whose rows does with x; triangular: a "
       "lower triangular matrix whose sums cancel in solving with the vector, general: a triangular one whose inverse "
       "grows, with its rows and columns in disorder",
       {.required = true}},
      {"--size", &Options::size, Integer{.least = 6, .most = 20000}, "Length of vectors, order of matrices"},
      {"--condition", &Options::condition, Number{.least = 1.0}, "Condition that is wanted"},
      {"--seed", &Options::seed, Integer{.least = 0}, "Of the random numbers"},
      {"--output,-o", &Options::output, Text{}, "File for x of dot, else for the matrix", {.required = true}},
      {"--vector",
       &Options::vector,
       Text{},
       "File for y of dot, x of gemv, the right-hand side of triangular, or a random one; dot and gemv need it",
       {.otherwise = "none"}},
  };
  return table;
}

void write(const Communicator& comm, const std::string& path, const HostMatrix<double>& A) {
  const DistributedMatrix<double> placed(
      comm, placement_from("rank:0", static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)), 1));
  scatter(A, 0, placed);
  write_result(path, placed);
}
void write(const Communicator& comm, const std::string& path, const std::vector<double>& x) {
  const HostMatrix<double> column("heddle::driver::column", x.size(), 1);
  std::copy(x.begin(), x.end(), column.data());
  write(comm, path, column);
}

// Write the problem and return its condition; for gemv, the least of its rows.
double generate(const Communicator& comm, const Options& options) {
  const HardProblem problem{options.size, options.condition, options.seed};
  if (options.kind == "dot") {
    const HardDot made = hard_dot(problem);
    write(comm, options.output, made.x);
    write(comm, options.vector, made.y);
    return condition_of(comm, made.x, made.y);
  }
  if (options.kind == "gemv") {
    const HardProduct made = hard_product(problem);
    double least = INFINITY;
    std::vector<double> row(made.x.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = made.A(i, j);
      least = std::min(least, condition_of(comm, made.x, row));
    }
    write(comm, options.output, made.A);
    write(comm, options.vector, made.x);
    return least;
  }
  if (options.kind == "triangular") {
    const HardSystem made = hard_system(problem);
    write(comm, options.output, made.A);
    if (!options.vector.empty()) write(comm, options.vector, made.b);
    return made.condition;
  }
  const HardMatrix made = hard_matrix(comm.space(), problem);
  write(comm, options.output, made.A);
  if (!options.vector.empty()) {
    const auto n = static_cast<Index>(made.A.extent(0));
    write_result(options.vector, random_matrix<double>(comm, n, 1, "rank:0", options.seed));
  }
  return made.condition;
}

int run(Context& context, const Options& options) {
  require_one_rank(context, "generate");
  require(!options.vector.empty() || options.kind == "triangular" || options.kind == "general", "generate ",
          options.kind, ": expected --vector FILE for its other vector");
  require(options.condition <= 1e300, "--condition ", options.condition, ": expected at most 1e300");
  require_writable_matrix(context, options.output);
  require_writable_matrix(context, options.vector);
  require_distinct_outputs({{"--output", options.output}, {"--vector", options.vector}});
  auto report = context.report("generate");
  all_options().enter(options, report.inputs());
  const double condition = generate(context.comm(), options);
  report.results()["condition"] = condition;
  context.say(format("%s of size %lld written, condition %.3g", options.kind.c_str(),
                     static_cast<long long>(options.size), condition));
  return context.finish(report);
}

}  // namespace

void add_generate(CLI::App& app, Selection& selection) {
  add_command(
      app, selection,
      {"generate", "Inner products, products and systems of a chosen condition",
       "  heddle generate dot --condition 1e40 -o x.mtx --vector y.mtx && heddle dot --x x.mtx --y y.mtx --compare\n"
       "  heddle generate triangular --size 200 --condition 1e30 -o L.mtx --vector b.mtx"},
      all_options(), run);
}

}  // namespace heddle::driver
