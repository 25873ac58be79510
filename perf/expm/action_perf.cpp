// Benchmarks of exp(t A) B for one vector and for a few, against the whole exponential of the same matrix.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/expm/action.hpp>
#include <heddle/expm/expm.hpp>

#include <algorithm>

namespace heddle::perf {
namespace {

using Complex = Kokkos::complex<double>;

// Returns a dense matrix, real and symmetric if asked, with a spectrum of about -1 ... 1.
DistributedMatrix<double> dense(Index n, bool symmetric) {
  DistributedMatrix<double> A(world(), Placement::row_bands(n, n, world().size()), "operand");
  // A random matrix of variance 1/3 has a spectral radius of sqrt(n / 3), a symmetric one of twice that.
  const double scale = (symmetric ? 0.5 : 1.0) * std::sqrt(3.0 / static_cast<double>(n));
  const RandomEntries entries{1};
  fill(
      A, KOKKOS_LAMBDA(Index i, Index j) { return scale * (symmetric && i > j ? entries(j, i) : entries(i, j)); });
  return A;
}

// Kinetic energy by differences of eighth order plus a harmonic potential, scaled to about -1 ... 1: 9 diagonals.
struct Banded {
  MatrixView<const Complex> x;
  MatrixView<Complex> y;
  KOKKOS_INLINE_FUNCTION void operator()(Index at) const {
    constexpr double weights[5] = {205.0 / 72, -8.0 / 5, 1.0 / 5, -8.0 / 315, 1.0 / 560};
    const auto n = static_cast<Index>(x.extent(0));
    const Index i = at % n;
    const Index c = at / n;
    const double place = 2.0 * static_cast<double>(i) / static_cast<double>(n) - 1.0;
    Complex sum = (weights[0] / 3.0 - 1.0 + 0.1 * place * place) * x(i, c);
    for (Index k = 1; k <= 4; ++k) {
      if (i >= k) sum += weights[k] / 3.0 * x(i - k, c);
      if (i + k < n) sum += weights[k] / 3.0 * x(i + k, c);
    }
    y(i, c) = sum;
  }
};
ExpmActionOperator<Complex> banded(Index n) {
  ExpmActionOperator<Complex> H;
  H.n = n;
  H.apply = [](const ExecutionSpace& space, const MatrixView<const Complex>& X, const MatrixView<Complex>& Y) {
    Kokkos::parallel_for(
        "heddle::perf::banded",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(X.size())),
        Banded{X, Y});
  };
  return H;
}

void report(benchmark::State& state, const ExpmActionReport& last) {
  state.SetLabel(std::string(to_string(last.method)));
  state.counters["degree"] = last.degree;
  state.counters["steps"] = static_cast<double>(last.steps);
  state.counters["products"] = static_cast<double>(last.products);
  state.counters["other_products"] = static_cast<double>(last.other_products);
}

// Returns the median time of the whole exponential.
template <class Work> double seconds_of_whole(const Work& work) {
  std::vector<double> seconds(3);
  for (double& one : seconds) one = seconds_of(work);
  return median(seconds);
}

double tolerance_of(const benchmark::State& state) {
  return state.range(3) == 0 ? 0.0 : std::pow(10.0, -static_cast<double>(state.range(3)));
}

// exp(-i t H) B, H real and symmetric, t H of spectral radius range(2). range(0): n, (1): columns of B, (3): digits, 0
// for all.
void unitary(benchmark::State& state) {
  const Index n = extent(state.range(0));
  const auto time = static_cast<double>(state.range(2));
  const auto H = dense(n, true);
  const LocalMatrix<Complex> B = random_local<Complex>(world().space(), n, state.range(1), 2);
  const LocalMatrix<Complex> R = random_local<Complex>(world().space(), n, state.range(1), 3);
  const ExpmActionOptions options{.structure = ExpmActionStructure::hermitian, .tolerance = tolerance_of(state)};
  ExpmActionPlan<Complex> plan(world(), options);
  ExpmActionReport last;
  double least = 1e300;
  for ([[maybe_unused]] auto iteration : state) {
    const double seconds = seconds_of([&] { last = plan.execute({0.0, -time}, H, B, R); });
    state.SetIterationTime(seconds);
    least = std::min(least, seconds);
  }
  report(state, last);
  scale(-time, H);
  const SplitMatrix<double> E{DistributedMatrix<double>(world(), H.placement()),
                              DistributedMatrix<double>(world(), H.placement())};
  ExpmPlan<double> whole(world(), {.tolerance = options.tolerance});
  state.counters["whole_over_action"] = seconds_of_whole([&] { whole.execute({std::nullopt, H}, E); }) / least;
}

// exp(A) B of a matrix without structure; ranges as above.
void general(benchmark::State& state) {
  const Index n = extent(state.range(0));
  const auto A = dense(n, false);
  scale(static_cast<double>(state.range(2)), A);
  const LocalMatrix<double> B = random_local<double>(world().space(), n, state.range(1), 2);
  const LocalMatrix<double> R = random_local<double>(world().space(), n, state.range(1), 3);
  const ExpmActionOptions options{.tolerance = tolerance_of(state)};
  ExpmActionPlan<double> plan(world(), options);
  ExpmActionReport last;
  double least = 1e300;
  for ([[maybe_unused]] auto iteration : state) {
    const double seconds = seconds_of([&] { last = plan.execute(1.0, A, B, R); });
    state.SetIterationTime(seconds);
    least = std::min(least, seconds);
  }
  report(state, last);
  const DistributedMatrix<double> E(world(), A.placement());
  ExpmPlan<double> whole(world(), {.tolerance = options.tolerance});
  state.counters["whole_over_action"] = seconds_of_whole([&] { whole.execute(A, E); }) / least;
}

// exp(-i t H) B of a banded operator by each of its methods; range(4): the method.
void banded_operator(benchmark::State& state) {
  const Index n = extent(state.range(0));
  const auto time = static_cast<double>(state.range(2));
  const ExpmActionOperator<Complex> H = banded(n);
  const LocalMatrix<Complex> B = random_local<Complex>(world().space(), n, state.range(1), 2);
  const LocalMatrix<Complex> R = random_local<Complex>(world().space(), n, state.range(1), 3);
  const ExpmActionOptions options{.method = static_cast<ExpmActionMethod>(state.range(4)),
                                  .structure = ExpmActionStructure::hermitian,
                                  .tolerance = tolerance_of(state)};
  ExpmActionPlan<Complex> plan(world(), options);
  ExpmActionReport last;
  for ([[maybe_unused]] auto iteration : state) {
    state.SetIterationTime(seconds_of([&] { last = plan.execute({0.0, -time}, H, B, R); }));
  }
  report(state, last);
}

BENCHMARK(unitary)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({{1000}, {1, 4}, {1, 10, 100}, {0, 6}})
    ->ArgNames({"n", "columns", "radius", "digits"});
BENCHMARK(general)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({{1000}, {1, 4}, {1, 10}, {0, 6}})
    ->ArgNames({"n", "columns", "radius", "digits"});
BENCHMARK(banded_operator)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({{1000, 10000}, {1}, {1, 10, 100}, {0, 6}, {0, 1, 2, 3}})
    ->ArgNames({"n", "columns", "radius", "digits", "method"});

}  // namespace
}  // namespace heddle::perf
