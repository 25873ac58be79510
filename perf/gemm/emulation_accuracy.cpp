// Errors of products by integers and of the BLAS against correctly rounded products, by kind of matrix. An error is the
// maximum of |C - AB|_ij / (|A| |B|)_ij in units of round-off, u.
#include "support/measure.hpp"
#include <heddle/emulation/emulation.hpp>
#include <heddle/exact/matrix.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace heddle::perf {
namespace {

using Host = HostMatrix<double>;

LocalMatrix<double> on_device(const Host& host) {
  const LocalMatrix<double> view("heddle::perf::operand", host.extent(0), host.extent(1));
  Kokkos::deep_copy(view, host);
  return view;
}

Host made(Index rows, Index columns, const std::function<double(Index, Index)>& entry) {
  Host result("heddle::perf::made", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) result(i, j) = entry(i, j);
  }
  return result;
}

double error(const Host& C, const Host& exact, const Host& absolute) {
  double worst = 0.0;
  for (std::size_t j = 0; j < C.extent(1); ++j) {
    for (std::size_t i = 0; i < C.extent(0); ++i) {
      const double difference = std::abs(C(i, j) - exact(i, j));
      if (difference > 0.0) worst = std::max(worst, difference / absolute(i, j));
    }
  }
  return worst / unit_roundoff<double>;
}

struct Errors {
  double native;
  std::vector<double> emulated;
  double chosen;  // Error with the moduli chosen by a probe.
  EmulationReport report;
};

Errors errors_of(const Host& A, const Host& B, const std::vector<int>& moduli) {
  const ExecutionSpace space;
  const blas::Context context(space);
  constexpr auto N = Operation::none;
  const auto magnitude = [](const Host& X) {
    return made(static_cast<Index>(X.extent(0)), static_cast<Index>(X.extent(1)),
                [&](Index i, Index j) { return std::abs(X(i, j)); });
  };
  const auto a = on_device(A);
  const auto b = on_device(B);
  const LocalMatrix<double> c("heddle::perf::product", A.extent(0), B.extent(1));
  const auto result = [&] {
    space.fence("heddle::perf::product");
    Host host("heddle::perf::result", c.extent(0), c.extent(1));
    Kokkos::deep_copy(host, c);
    return host;
  };
  exact::gemm(space, N, N, 1.0, a, b, 0.0, c);
  const Host exact = result();
  exact::gemm(space, N, N, 1.0, on_device(magnitude(A)), on_device(magnitude(B)), 0.0, c);
  const Host absolute = result();
  Errors errors;
  blas::gemm<double>(context, N, N, 1.0, a, b, 0.0, c);
  errors.native = error(result(), exact, absolute);
  for (const int count : moduli) {
    EmulatedGemm<double> gemm(context, static_cast<Index>(A.extent(0)), static_cast<Index>(B.extent(1)),
                              static_cast<Index>(A.extent(1)), {.moduli = count});
    gemm(N, N, 1.0, a, b, 0.0, c);
    errors.emulated.push_back(error(result(), exact, absolute));
  }
  EmulatedGemm<double> probing(context, static_cast<Index>(A.extent(0)), static_cast<Index>(B.extent(1)),
                               static_cast<Index>(A.extent(1)));
  probing(N, N, 1.0, a, b, 0.0, c);
  errors.chosen = error(result(), exact, absolute);
  errors.report = probing.report();
  return errors;
}

using Random = std::mt19937_64;
/// Returns element (i, j) of a factor.
using Entry = std::function<double(Random&, Index, Index)>;

double normal(Random& random, Index, Index) {
  return std::normal_distribution<double>()(random);
}
double uniform(Random& random, Index, Index) {
  return std::uniform_real_distribution<double>(-1.0, 1.0)(random);
}
double positive(Random& random, Index, Index) {
  return std::uniform_real_distribution<double>(0.0, 1.0)(random);
}
// Returns numbers with exponents anywhere within +-most.
Entry spread(int most) {
  return [most](Random& random, Index, Index) {
    return std::ldexp(uniform(random, 0, 0), std::uniform_int_distribution<int>(-most, most)(random));
  };
}
// Returns normal numbers times 2^(by_row i + by_column j).
Entry graded(double by_row, double by_column) {
  return [=](Random& random, Index i, Index j) {
    return std::ldexp(normal(random, i, j), static_cast<int>(std::floor(by_row * static_cast<double>(i) +
                                                                        by_column * static_cast<double>(j))));
  };
}
// The second half of each sum cancels the first except for 1e-10 of it.
double cancelling_a(Random&, Index i, Index k) {
  return std::sin(1.0 + 0.7 * static_cast<double>(i + k % 500));
}
double cancelling_b(Random&, Index k, Index j) {
  const double value = std::cos(1.0 + 1.3 * static_cast<double>(k % 500 + 3 * j));
  return k < 500 ? value * (1.0 + 1e-10) : -value;
}

// range(0): rows and columns, range(1): inner dimension.
void accuracy(benchmark::State& state, const Entry& of_a, const Entry& of_b) {
  const Index n = extent(state.range(0));
  const Index inner = extent(state.range(1));
  const std::vector<int> moduli = {14, 15, 16, 18, 22, 31};
  Random random(1);
  const Host A = made(n, inner, [&](Index i, Index k) { return of_a(random, i, k); });
  const Host B = made(inner, n, [&](Index k, Index j) { return of_b(random, k, j); });
  Errors errors;
  for ([[maybe_unused]] auto iteration : state) {
    state.SetIterationTime(seconds_of([&] { errors = errors_of(A, B, moduli); }));
  }
  state.counters["blas"] = errors.native;
  state.counters["look"] = errors.chosen;
  state.counters["look_moduli"] = errors.report.moduli;
  state.counters["look_spread"] = errors.report.spread;
  for (std::size_t k = 0; k < moduli.size(); ++k) {
    state.counters["moduli_" + std::to_string(moduli[k])] = errors.emulated[k];
  }
}

#define HEDDLE_ACCURACY(name, A, B, ...)  \
  BENCHMARK_CAPTURE(accuracy, name, A, B) \
      ->UseManualTime()                   \
      ->Iterations(1)                     \
      ->Unit(benchmark::kMillisecond)     \
      ->ArgNames({"n", "inner"}) __VA_ARGS__
HEDDLE_ACCURACY(normal, normal, normal, ->ArgsProduct({{100}, {1, 10, 100, 1000, 10000}})->Args({20, 100000}));
HEDDLE_ACCURACY(uniform, uniform, uniform, ->Args({300, 1000}));
HEDDLE_ACCURACY(positive, positive, positive, ->Args({300, 1000}));
HEDDLE_ACCURACY(exponents_30, spread(30), spread(30), ->Args({300, 1000}));
HEDDLE_ACCURACY(exponents_100, spread(100), spread(100), ->Args({300, 1000}));
HEDDLE_ACCURACY(exponents_300, spread(300), spread(300), ->Args({300, 1000}));
HEDDLE_ACCURACY(columns_of_a_graded, graded(0.0, -0.125), normal, ->Args({300, 1000}));
HEDDLE_ACCURACY(a_graded_against_b, graded(0.0, -0.0625), graded(0.0625, 0.0), ->Args({300, 1000}));
HEDDLE_ACCURACY(rows_of_a_graded, graded(-1.0, 0.0), normal, ->Args({300, 1000}));
HEDDLE_ACCURACY(cancelling, cancelling_a, cancelling_b, ->Args({300, 1000}));

}  // namespace
}  // namespace heddle::perf
