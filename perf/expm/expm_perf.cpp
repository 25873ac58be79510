// Benchmarks of the exponential: time, products, and gemm's share of the time.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/expm/expm.hpp>

namespace heddle::perf {
namespace {

// Returns a real symmetric H with ||H||_1 about `norm`.
DistributedMatrix<double> hamiltonian(Index n, double norm) {
  DistributedMatrix<double> H(world(), Placement::row_bands(n, n, world().size()), "operand");
  const double scale = 2.0 * norm / static_cast<double>(n);
  const RandomEntries entries{1};
  fill(
      H, KOKKOS_LAMBDA(Index i, Index j) { return scale * entries(i < j ? i : j, i < j ? j : i); });
  return H;
}

void report(benchmark::State& state, const ExpmReport& last) {
  state.counters["degree"] = last.degree;
  state.counters["squarings"] = last.squarings;
  state.counters["products"] = last.products;
  state.counters["gemm_share"] = last.gemm_seconds / last.seconds;
  state.counters["gflops"] = last.flops / last.seconds / 1e9;
}

// range(0): n, range(1): norm.
void real_symmetric(benchmark::State& state) {
  const Index n = extent(state.range(0));
  const auto A = hamiltonian(n, static_cast<double>(state.range(1)));
  const DistributedMatrix<double> E(world(), A.placement());
  ExpmPlan<double> plan(world());
  ExpmReport last = plan.execute(A, E);
  for ([[maybe_unused]] auto iteration : state) {
    state.SetIterationTime(seconds_of([&] { last = plan.execute(A, E); }));
  }
  report(state, last);
}

// exp(-i H): range(0): n, range(1): norm, range(2): degree of the series, 0 for the automatic choice.
void unitary(benchmark::State& state) {
  const Index n = extent(state.range(0));
  const SplitMatrix<double> A{std::nullopt, hamiltonian(n, static_cast<double>(state.range(1)))};
  const SplitMatrix<double> E{DistributedMatrix<double>(world(), A.imaginary->placement()),
                              DistributedMatrix<double>(world(), A.imaginary->placement())};
  ExpmOptions options;
  if (state.range(2) > 0) {
    options.method = ExpmMethod::taylor;
    options.degree = static_cast<int>(state.range(2));
  }
  ExpmPlan<double> plan(world(), options);
  ExpmReport last = plan.execute(A, E);
  for ([[maybe_unused]] auto iteration : state) {
    state.SetIterationTime(seconds_of([&] { last = plan.execute(A, E); }));
  }
  report(state, last);
}

BENCHMARK(real_symmetric)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({{1000, 2000}, {1, 10}})
    ->ArgNames({"n", "norm"});
BENCHMARK(unitary)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({{1000, 2000}, {1}, {0, 10}})
    ->ArgNames({"n", "norm", "degree"});

}  // namespace
}  // namespace heddle::perf
