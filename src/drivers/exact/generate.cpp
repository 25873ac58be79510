// heddle generate: inner products, products and systems of a chosen condition, as hard inputs for exact arithmetic.
#include "drivers/commands.hpp"
#include "drivers/exact/sizes.hpp"
#include "drivers/support/matrices.hpp"
#include "drivers/support/text.hpp"
#include <heddle/core/random.hpp>
#include <heddle/exact/distributed.hpp>
#include <heddle/exact/lu.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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
       "lower triangular matrix, general: one with its rows and columns in disorder",
       {.required = true}},
      {"--size", &Options::size, Integer{.least = 6, .most = 20000}, "Length of vectors, order of matrices"},
      {"--condition", &Options::condition, Number{.least = 1.0}, "Condition that is wanted"},
      {"--seed", &Options::seed, Integer{.least = 0}, "Of the random numbers"},
      {"--output,-o", &Options::output, Text{}, "File for x of dot, else for the matrix", {.required = true}},
      {"--vector",
       &Options::vector,
       Text{},
       "File for y of dot, x of gemv, or a random right-hand side; dot and gemv need it",
       {.otherwise = "none"}},
  };
  return table;
}

// Uniform in [-1, 1), with all digits.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(mixed_bits(golden_step + seed)) {}
  double next() { return unit_from(bits()); }
  Index below(Index n) { return static_cast<Index>(bits() % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t bits() { return mixed_bits(state_ += golden_step); }
  std::uint64_t state_;
};

void shuffle(std::vector<Index>& order, Numbers& numbers) {
  for (auto k = static_cast<Index>(order.size()) - 1; k > 0; --k) {
    std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(numbers.below(k + 1))]);
  }
}

// The powers of two of the factors: the first half is spread at random up to the root of the condition, the second half
// comes down from it (T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot product", 2005, algorithm 6.1).
std::vector<int> powers_of(Index n, double condition, Numbers& numbers) {
  std::vector<int> powers;
  const Index half = n / 2;
  for (Index k = 0; k < n; ++k) {
    const double share = k == 0     ? 1.0
                         : k < half ? std::abs(numbers.next())
                                    : static_cast<double>(n - 1 - k) / static_cast<double>(n - half);
    powers.push_back(static_cast<int>(std::lround(share * std::log2(condition) / 2)));
  }
  return powers;
}
std::vector<double> factors_of(const std::vector<int>& powers, Numbers& numbers) {
  std::vector<double> x;
  for (const int power : powers) {
    // Not so small that what is divided by it overflows.
    const double number = numbers.next();
    x.push_back(std::ldexp(std::copysign(0.5 + 0.5 * std::abs(number), number), power));
  }
  return x;
}
// y whose inner product with x cancels: each of its second half takes the exact sum so far back to its own size.
std::vector<double> cancelling(const std::vector<double>& x, const std::vector<int>& powers, Numbers& numbers) {
  std::vector<double> y;
  exact::Accumulator<double> sum;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double term = std::ldexp(numbers.next(), powers[k]);
    y.push_back(k < x.size() / 2 ? term : (term - sum.value<double>()) / x[k]);
    sum.add_product(x[k], y.back());
  }
  return y;
}

// A lower triangle of order n whose inverse grows with `growth`.
HostMatrix<double> triangle(Index n, double growth, std::uint64_t seed) {
  Numbers numbers(seed);
  const auto order = static_cast<std::size_t>(n);
  const HostMatrix<double> L("heddle::driver::triangle", order, order);
  for (std::size_t j = 0; j < order; ++j) {
    L(j, j) = 1 + std::abs(numbers.next());
    for (std::size_t i = j + 1; i < order; ++i) L(i, j) = growth * numbers.next();
  }
  return L;
}
// An estimate of |L|_inf |L^-1|_inf: the transpose is its own factorization.
double condition_of(const ExecutionSpace& space, const HostMatrix<double>& L) {
  const LocalMatrix<double> U("heddle::driver::factors", L.extent(1), L.extent(0));
  const auto host = Kokkos::create_mirror_view(U);
  double norm = 0;
  exact::LuResult factors;
  for (std::size_t i = 0; i < L.extent(0); ++i) {
    double row = 0;
    for (std::size_t j = 0; j < L.extent(1); ++j) {
      host(j, i) = L(i, j);
      row += std::abs(L(i, j));
    }
    norm = std::max(norm, row);
    factors.pivots.push_back(static_cast<Index>(i));
  }
  Kokkos::deep_copy(U, host);
  return exact::condition(space, U, factors, norm);
}
// The growth that gives nearly this condition, by halving.
HostMatrix<double> triangle_of(const ExecutionSpace& space, const Options& options) {
  double low = 1e-3;
  double high = 1;
  const auto condition = [&](double growth) {
    return condition_of(space, triangle(options.size, growth, options.seed));
  };
  // Few rows need large elements.
  while (condition(high) < options.condition && high < 1e60) high *= 4;
  for (int round = 0; round < 60 && high - low > 1e-6 * high; ++round) {
    const double middle = std::sqrt(low * high);
    (condition(middle) < options.condition ? low : high) = middle;
  }
  return triangle(options.size, high, options.seed);
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
double condition_of(const Communicator& comm, const std::vector<double>& x, const std::vector<double>& y) {
  const auto on_device = [](const std::vector<double>& numbers) {
    const Kokkos::View<double*, MemorySpace> view("heddle::driver::vector", numbers.size());
    Kokkos::deep_copy(view, Kokkos::View<const double*, Kokkos::HostSpace>(numbers.data(), numbers.size()));
    return view;
  };
  return exact::dot_condition(comm, on_device(x), on_device(y));
}

// Writes what was asked for, and returns the condition that it has: of gemv, the least of its rows.
double generate(const Communicator& comm, const Options& options) {
  Numbers numbers(options.seed);
  const auto n = static_cast<std::size_t>(options.size);
  if (options.kind == "dot" || options.kind == "gemv") {
    const std::vector<int> powers = powers_of(options.size, options.condition, numbers);
    const std::vector<double> x = factors_of(powers, numbers);
    if (options.kind == "dot") {
      const std::vector<double> y = cancelling(x, powers, numbers);
      write(comm, options.output, x);
      write(comm, options.vector, y);
      return condition_of(comm, x, y);
    }
    const HostMatrix<double> A("heddle::driver::matrix", n, n);
    double least = INFINITY;
    for (std::size_t i = 0; i < n; ++i) {
      const std::vector<double> row = cancelling(x, powers, numbers);
      for (std::size_t j = 0; j < n; ++j) A(i, j) = row[j];
      least = std::min(least, condition_of(comm, x, row));
    }
    write(comm, options.output, A);
    write(comm, options.vector, x);
    return least;
  }
  const HostMatrix<double> L = triangle_of(comm.space(), options);
  const double condition = condition_of(comm.space(), L);
  std::vector<Index> rows(n);
  std::iota(rows.begin(), rows.end(), Index{0});
  std::vector<Index> columns = rows;
  if (options.kind == "general") {
    shuffle(rows, numbers);
    shuffle(columns, numbers);
  }
  const HostMatrix<double> A("heddle::driver::matrix", n, n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      A(i, j) = L(static_cast<std::size_t>(rows[i]), static_cast<std::size_t>(columns[j]));
    }
  }
  write(comm, options.output, A);
  if (!options.vector.empty()) {
    std::vector<double> b(n);
    std::generate(b.begin(), b.end(), [&] { return numbers.next(); });
    write(comm, options.vector, b);
  }
  return condition;
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
