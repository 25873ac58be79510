// Products by integers beside those of the BLAS, in turn, with the errors of both.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/exact/matrix.hpp>
#include <heddle/gemm/emulation.hpp>

#include <algorithm>
#include <vector>

namespace heddle::perf {
namespace {

// Standard normal numbers, a sum of uniform ones.
template <Scalar T> struct NormalElements {
  int seed;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    T sum{0};
    for (int k = 0; k < 12; ++k) sum += RandomElements<T>{seed + 100 * k}(i, j);
    return sum;
  }
};

template <Scalar T> LocalMatrix<T> normal_matrix(const ExecutionSpace& space, Index rows, Index columns, int seed) {
  const LocalMatrix<T> A(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::operand"), rows,
                         columns);
  const NormalElements<T> elements{seed};
  Kokkos::parallel_for(
      "heddle::perf::fill",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(A.size())),
      KOKKOS_LAMBDA(Index k) { A(k % rows, k / rows) = elements(k % rows, k / rows); });
  return A;
}

// Largest |C - exact| over the largest |exact|, in the first few rows.
template <Scalar T>
double error_of(const ExecutionSpace& space, const MatrixView<const T>& C, const LocalMatrix<T>& exact) {
  double error = 0.0;
  double size = 0.0;
  const auto rows = static_cast<Index>(exact.extent(0));
  const auto columns = static_cast<Index>(exact.extent(1));
  Kokkos::parallel_reduce(
      "heddle::perf::error", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
      KOKKOS_LAMBDA(Index k, double& worst, double& largest) {
        const T expected = exact(k % rows, k / rows);
        worst = Kokkos::max(worst, static_cast<double>(Kokkos::abs(C(k % rows, k / rows) - expected)));
        largest = Kokkos::max(largest, static_cast<double>(Kokkos::abs(expected)));
      },
      Kokkos::Max<double>(error), Kokkos::Max<double>(size));
  return error / size;
}

// range(0): n, range(1): moduli (0: the default, after a look; 1: the default without one), range(2): MiB for sums (0:
// the default).
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

  const Index rows = std::min<Index>(n, 8);
  const auto few = Kokkos::pair<Index, Index>(0, rows);
  const LocalMatrix<T> exact("heddle::perf::exact", rows, n);
  exact::gemm(space, N, N, T(1), Kokkos::subview(A, few, Kokkos::ALL), B, T(0), exact);
  native();
  state.counters["native_error"] = error_of<T>(space, Kokkos::subview(C, few, Kokkos::ALL), exact);
  by_integers();
  state.counters["error"] = error_of<T>(space, Kokkos::subview(C, few, Kokkos::ALL), exact);

  std::vector<double> times;
  std::vector<double> native_times;
  for ([[maybe_unused]] auto iteration : state) {
    native_times.push_back(seconds_of(native));
    times.push_back(seconds_of(by_integers));
    state.SetIterationTime(times.back());
  }
  const auto median = [](std::vector<double>& all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  };
  const double seconds = median(times);
  const double native_seconds = median(native_times);
  const double cube = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  state.counters["moduli"] = gemm.report().moduli;
  state.counters["gflops"] = flops_per_multiply_add<T> * cube / seconds / 1e9;
  state.counters["native_gflops"] = flops_per_multiply_add<T> * cube / native_seconds / 1e9;
  state.counters["native_over_emulated"] = native_seconds / seconds;
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

}  // namespace
}  // namespace heddle::perf
