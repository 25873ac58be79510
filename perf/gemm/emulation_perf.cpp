// Benchmarks of products by integers against those of the BLAS, in turn, with the errors of both.
#include "support/measure.hpp"
#include "support/normal.hpp"
#include <heddle/emulation/emulation.hpp>

#include <vector>

namespace heddle::perf {
namespace {

// range(0): n, range(1): moduli (0: the default, after a probe; 1: the default without one), range(2): MiB of workspace
// for sums (0: the default).
template <Scalar T> void emulated(benchmark::State& state) {
  const Index n = extent(state.range(0));
  const ExecutionSpace& space = world().space();
  const blas::Context context(space);
  const auto A = normal_matrix<T>(space, n, n, 1);
  const auto B = normal_matrix<T>(space, n, n, 2);
  const LocalMatrix<T> C(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::product"), n, n);
  EmulatedGemm<T> gemm(context, n, n, n,
                       {.moduli = state.range(1) > 1 ? static_cast<int>(state.range(1)) : 0,
                        .look = state.range(1) == 0,
                        .workspace_bytes = static_cast<std::size_t>(state.range(2)) << 20});
  constexpr auto N = Operation::none;
  const auto native = [&] {
    blas::gemm<T>(context, N, N, T(1), A, B, T(0), C);
    space.fence("heddle::perf::native");
  };
  const auto by_integers = [&] {
    gemm(N, N, T(1), A, B, T(0), C);
    space.fence("heddle::perf::emulated");
  };

  const FewRows<T> exact(space, A, B);
  state.counters["native_error"] = exact.error_after(space, C, native);
  state.counters["error"] = exact.error_after(space, C, by_integers);

  std::vector<double> times;
  std::vector<double> native_times;
  for ([[maybe_unused]] auto iteration : state) {
    native_times.push_back(seconds_of(native));
    times.push_back(seconds_of(by_integers));
    state.SetIterationTime(times.back());
  }
  const double seconds = median(times);
  const double native_seconds = median(native_times);
  const double cube = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  state.counters["moduli"] = gemm.report().moduli;
  state.counters["gflops"] = flops_per_multiply_add<T> * cube / seconds / 1e9;
  state.counters["native_gflops"] = flops_per_multiply_add<T> * cube / native_seconds / 1e9;
  state.counters["native_over_emulated"] = native_seconds / seconds;
  // Every rank computes its own product.
  count_joules(state, "", by_integers, world().size());
  count_joules(state, "native", native, world().size());
}

#define HEDDLE_EMULATED(T)                                                            \
  BENCHMARK(emulated<T>)                                                              \
      ->UseManualTime()                                                               \
      ->Unit(benchmark::kMillisecond)                                                 \
      ->ArgsProduct({{512, 1024, 2048, 4096, 8192, 16384}, {0, 1, 14, 15}, {0, 256}}) \
      ->ArgNames({"n", "moduli", "MiB"})
HEDDLE_EMULATED(double);
HEDDLE_EMULATED(Kokkos::complex<double>);
HEDDLE_EMULATED(float);
HEDDLE_EMULATED(Kokkos::complex<float>);

}  // namespace
}  // namespace heddle::perf
