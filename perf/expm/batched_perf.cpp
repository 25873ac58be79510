// Benchmarks of batches of small exponentials against a loop of expm() over the same matrices.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/expm/batched.hpp>
#include <heddle/expm/expm.hpp>

#include <algorithm>

namespace heddle::perf {
namespace {

template <class T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;

// Returns matrices with ||A_b||_1 about `norm`.
template <Scalar T> Batch<T> random_batch(const ExecutionSpace& space, Index n, Index count, double norm) {
  const Batch<T> A(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::batch"), n, n, count);
  const RandomElements<T> elements{1};
  const auto scale = static_cast<Real<T>>((is_complex<T> ? 1.3 : 2.0) * norm / static_cast<double>(n));
  Kokkos::parallel_for(
      "heddle::perf::fill",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(A.size())),
      KOKKOS_LAMBDA(Index k) { A(k % n, k / n % n, k / n / n) = scale * elements(k % n, k / n); });
  return A;
}

// range(0): n, range(1): matrices, range(2): norm.
template <Scalar T> void batched(benchmark::State& state) {
  const Index n = state.range(0);
  const Index count = extent(state.range(1));
  const ExecutionSpace& space = world().space();
  const Batch<T> A = random_batch<T>(space, n, count, static_cast<double>(state.range(2)));
  const Batch<T> E(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::result"), n, n, count);
  double least = 1e300;
  for ([[maybe_unused]] auto iteration : state) {
    const double seconds = seconds_of([&] {
      expm_batched(space, A, E);
      space.fence("heddle::perf::batched");
    });
    state.SetIterationTime(seconds);
    least = std::min(least, seconds);
  }
  state.counters["matrices_per_second"] = static_cast<double>(count) / least;
  // The same matrices one by one, on this rank alone.
  const Communicator alone(MPI_COMM_SELF, space);
  const Placement whole = Placement::on_rank(n, n, 0);
  const Index some = std::min<Index>(count, 20);
  const double one_by_one = seconds_of([&] {
    for (Index b = 0; b < some; ++b) {
      const DistributedMatrix<T> from(alone, whole, Kokkos::subview(A, Kokkos::ALL, Kokkos::ALL, b));
      const DistributedMatrix<T> to(alone, whole, Kokkos::subview(E, Kokkos::ALL, Kokkos::ALL, b));
      ExpmOptions options;
      options.gemm.tile = n;
      expm(alone, from, to, options);
    }
  });
  state.counters["one_by_one_over_batched"] =
      one_by_one / static_cast<double>(some) / (least / static_cast<double>(count));
}

#define HEDDLE_BATCHES(T)                           \
  BENCHMARK(batched<T>)                             \
      ->UseManualTime()                             \
      ->Unit(benchmark::kMillisecond)               \
      ->ArgsProduct({{8, 32, 64}, {1000}, {1, 10}}) \
      ->ArgNames({"n", "matrices", "norm"})
HEDDLE_BATCHES(double);
HEDDLE_BATCHES(Kokkos::complex<double>);
HEDDLE_BATCHES(float);

}  // namespace
}  // namespace heddle::perf
