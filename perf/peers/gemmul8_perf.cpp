// Benchmarks of C = A B by cuBLAS, by GEMMul8 (https://github.com/RIKEN-RCCS/GEMMul8) and by EmulatedGemm, in turn,
// with the errors of each. GEMMul8 multiplies by 8-bit integers and, in another backend, by 8-bit floating-point
// numbers.
#include "peers/cublas.hpp"
#include "support/measure.hpp"
#include "support/normal.hpp"
#include <heddle/emulation/emulation.hpp>

#include <gemmul8.hpp>

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::perf {
namespace {

// GEMMul8 with range(1) moduli.
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
  // As GEMMul8's documentation advises.
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
  // GEMMul8's floating-point backend needs its own workspace and cuBLASLt's handle.
  constexpr auto fp8 = ::gemmul8::Backend::FP8;
  const Kokkos::View<char*, MemorySpace> fp8_workspace(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::workspace"),
      ::gemmul8::workSize<is_complex<T>, fp8>(size, size, size, moduli));
  cublasLtHandle_t lt_handle = nullptr;
  check(cublasLtCreate(&lt_handle));
  const auto fp8_product = [&](bool fast) {
    const T one(1);
    const T zero(0);
    const auto of = [](const T* x) { return reinterpret_cast<const Element*>(x); };
    ::gemmul8::gemmLt<Element, fp8>(lt_handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, of(&one), of(A.data()), size,
                                    of(B.data()), size, of(&zero), reinterpret_cast<Element*>(C.data()), size, moduli,
                                    fast, fp8_workspace.data(), nullptr, nullptr, false, false, false, false,
                                    space.cuda_stream());
  };
  struct Way {
    const char* name;
    std::function<void()> product;
    [[nodiscard]] double seconds() const { return seconds_of(product); }
  };
  const std::vector<Way> contenders = {{"cublas", [&] { blas::gemm<T>(context, N, N, T(1), A, B, T(0), C); }},
                                       {"heddle_look", [&] { looking(N, N, T(1), A, B, T(0), C); }},
                                       {"heddle", [&] { trusting(N, N, T(1), A, B, T(0), C); }},
                                       {"gemmul8_accurate", [&] { gemmul8_product(false); }},
                                       {"gemmul8_fast", [&] { gemmul8_product(true); }},
                                       {"gemmul8_fp8_accurate", [&] { fp8_product(false); }},
                                       {"gemmul8_fp8_fast", [&] { fp8_product(true); }}};
  const FewRows<T> exact(space, A, B);
  for (const Way& contender : contenders) {
    const double error = exact.error_after(space, C, [&] { static_cast<void>(contender.seconds()); });
    state.counters[std::string("error_") + contender.name] = error;
  }
  std::vector<std::vector<double>> seconds(contenders.size());
  for ([[maybe_unused]] auto iteration : state) {
    double all = 0.0;
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      seconds[k].push_back(contenders[k].seconds());
      all += seconds[k].back();
    }
    state.SetIterationTime(all);
  }
  for (const Way& contender : contenders) count_joules(state, contender.name, contender.product, world().size());
  check(cublasDestroy(handle));
  check(cublasLtDestroy(lt_handle));
  for (std::size_t k = 0; k < contenders.size(); ++k) {
    state.counters[std::string("ratio_") + contenders[k].name] = median(seconds[0]) / median(seconds[k]);
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
