// C = A B by cuBLAS, by GEMMul8 (https://github.com/RIKEN-RCCS/GEMMul8) and by EmulatedGemm, in turn, with the errors
// of each.
#include "support/measure.hpp"
#include "support/normal.hpp"
#include <heddle/gemm/emulation.hpp>

#include <cublas_v2.h>
#include <gemmul8.hpp>

#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::perf {
namespace {

void check(cublasStatus_t status) {
  require(status == CUBLAS_STATUS_SUCCESS, "cuBLAS: ", cublasGetStatusString(status));
}

struct Contender {
  std::string name;
  std::function<void()> product;
  std::vector<double> seconds;
  double error;
};

// GEMMul8 with as many moduli as range(1) says.
template <Scalar T> void contest(benchmark::State& state) {
  using Element = std::conditional_t<is_complex<T>, cuDoubleComplex, double>;
  const Index n = extent(state.range(0));
  const auto moduli = static_cast<unsigned>(state.range(1));
  const ExecutionSpace& space = world().space();
  const blas::Context context(space);
  const auto A = normal_matrix<T>(space, n, n, 1);
  const auto B = normal_matrix<T>(space, n, n, 2);
  const LocalMatrix<T> C(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::product"), n, n);
  const auto size = static_cast<std::size_t>(n);
  const Kokkos::View<char*, MemorySpace> workspace(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::workspace"),
      ::gemmul8::workSize<is_complex<T>>(size, size, size, moduli));
  cublasHandle_t handle = nullptr;
  check(cublasCreate(&handle));
  check(cublasSetStream(handle, space.cuda_stream()));
  // As its documentation advises.
  constexpr std::size_t cublas_bytes = 32 << 20;
  const Kokkos::View<char*, MemorySpace> cublas_workspace("heddle::perf::workspace", cublas_bytes);
  check(cublasSetWorkspace(handle, cublas_workspace.data(), cublas_bytes));
  EmulatedGemm<T> looking(context, n, n, n);
  EmulatedGemm<T> trusting(context, n, n, n, {.look = false});

  constexpr auto N = Operation::none;
  const auto gemmul8_product = [&](bool fast) {
    const T one(1);
    const T zero(0);
    const auto of = [](const T* x) { return reinterpret_cast<const Element*>(x); };
    ::gemmul8::gemm<Element>(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, of(&one), of(A.data()), size,
                             of(B.data()), size, of(&zero), reinterpret_cast<Element*>(C.data()), size, moduli, fast,
                             workspace.data());
  };
  std::vector<Contender> contenders = {{"cublas", [&] { blas::gemm<T>(context, N, N, T(1), A, B, T(0), C); }, {}, 0.0},
                                       {"heddle_look", [&] { looking(N, N, T(1), A, B, T(0), C); }, {}, 0.0},
                                       {"heddle", [&] { trusting(N, N, T(1), A, B, T(0), C); }, {}, 0.0},
                                       {"gemmul8_accurate", [&] { gemmul8_product(false); }, {}, 0.0},
                                       {"gemmul8_fast", [&] { gemmul8_product(true); }, {}, 0.0}};
  const FewRows<T> exact(space, A, B);
  const auto once = [&](const Contender& contender) {
    contender.product();
    space.fence("heddle::perf::product");
  };
  for (Contender& contender : contenders) {
    Kokkos::deep_copy(C, T(std::numeric_limits<double>::quiet_NaN()));
    once(contender);
    contender.error = exact.error_of(space, C);
  }
  for ([[maybe_unused]] auto iteration : state) {
    double all = 0.0;
    for (Contender& contender : contenders) {
      contender.seconds.push_back(seconds_of([&] { once(contender); }));
      all += contender.seconds.back();
    }
    state.SetIterationTime(all);
  }
  check(cublasDestroy(handle));
  const double native = median(contenders.front().seconds);
  for (const Contender& contender : contenders) {
    state.counters["ratio_" + contender.name] = native / median(contender.seconds);
    state.counters["error_" + contender.name] = contender.error;
  }
}
#define HEDDLE_GEMMUL8(T)                            \
  BENCHMARK(contest<T>)                              \
      ->UseManualTime()                              \
      ->Unit(benchmark::kMillisecond)                \
      ->ArgsProduct({{4096, 8192, 16384}, {14, 15}}) \
      ->ArgNames({"n", "moduli"})
HEDDLE_GEMMUL8(double);
HEDDLE_GEMMUL8(Kokkos::complex<double>);

}  // namespace
}  // namespace heddle::perf
