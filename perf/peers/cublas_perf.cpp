// Benchmarks of C = A B over all GPUs against cuBLAS on one: the aggregate rate over the number of GPUs times the rate
// of one.
#include "peers/cublas.hpp"
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/gemm/gemm.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>

namespace heddle::perf {
namespace {

cublasStatus_t gemm_of(cublasHandle_t handle, int n, const double* A, const double* B, double* C) {
  const double one = 1.0;
  const double zero = 0.0;
  return cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A, n, B, n, &zero, C, n);
}
cublasStatus_t gemm_of(cublasHandle_t handle, int n, const float* A, const float* B, float* C) {
  const float one = 1.0F;
  const float zero = 0.0F;
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A, n, B, n, &zero, C, n);
}
cublasStatus_t gemm_of(cublasHandle_t handle, int n, const Kokkos::complex<double>* A, const Kokkos::complex<double>* B,
                       Kokkos::complex<double>* C) {
  const cuDoubleComplex one = {1.0, 0.0};
  const cuDoubleComplex zero = {0.0, 0.0};
  return cublasZgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, reinterpret_cast<const cuDoubleComplex*>(A), n,
                     reinterpret_cast<const cuDoubleComplex*>(B), n, &zero, reinterpret_cast<cuDoubleComplex*>(C), n);
}
cublasStatus_t gemm_of(cublasHandle_t handle, int n, const Kokkos::complex<float>* A, const Kokkos::complex<float>* B,
                       Kokkos::complex<float>* C) {
  const cuComplex one = {1.0F, 0.0F};
  const cuComplex zero = {0.0F, 0.0F};
  return cublasCgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, reinterpret_cast<const cuComplex*>(A), n,
                     reinterpret_cast<const cuComplex*>(B), n, &zero, reinterpret_cast<cuComplex*>(C), n);
}

// The product on rank 0's GPU alone, while the other ranks sleep.
template <Scalar T> class OneGpu {
 public:
  explicit OneGpu(Index n)
      : n_(n),
        A_(random_distributed<T>(Placement::on_rank(n, n, 0), 1)),
        B_(random_distributed<T>(Placement::on_rank(n, n, 0), 2)),
        C_(world(), Placement::on_rank(n, n, 0)) {
    if (world().rank() == 0) {
      check(cublasCreate(&handle_));
      check(cublasSetStream(handle_, world().space().cuda_stream()));
    }
  }
  ~OneGpu() {
    if (handle_ != nullptr) {
      cublasDestroy(handle_);
    }
  }
  OneGpu(const OneGpu&) = delete;
  OneGpu& operator=(const OneGpu&) = delete;

  [[nodiscard]] double seconds() const {
    return seconds_of_rank_0([&] {
      multiply();
      world().space().fence("heddle::perf::cublas");
    });
  }
  // Runs on rank 0 only.
  void multiply() const {
    if (world().rank() != 0) return;
    check(gemm_of(handle_, static_cast<int>(n_), A_.local().data(), B_.local().data(), C_.local().data()));
  }
  [[nodiscard]] const DistributedMatrix<T>& product() const { return C_; }

 private:
  Index n_;
  DistributedMatrix<T> A_;
  DistributedMatrix<T> B_;
  DistributedMatrix<T> C_;
  cublasHandle_t handle_ = nullptr;
};

struct Layout {
  const char* name;
  Placement (*a)(Index);
  Placement (*b)(Index);
  Placement (*c)(Index);
};

// "whole" is the least balanced placement: each matrix on another GPU.
constexpr std::array<Layout, 2> layouts = {{
    {"bands", [](Index n) { return Placement::row_bands(n, n, world().size()); },
     [](Index n) { return Placement::column_bands(n, n, world().size()); },
     [](Index n) { return Placement::row_bands(n, n, world().size()); }},
    {"whole", [](Index n) { return Placement::on_rank(n, n, 2 % world().size()); },
     [](Index n) { return Placement::on_rank(n, n, 1 % world().size()); },
     [](Index n) { return Placement::on_rank(n, n, 0); }},
}};

// A GPU that has just been busy is slower at first: both sides begin after the same pause.
template <class Seconds> double best_of_three(const Seconds& seconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return std::min({seconds(), seconds(), seconds()});
}

// Returns the mean of runs without a pause, for as long as a GPU takes to warm up.
template <class Seconds> double sustained(const Seconds& seconds) {
  double total = 0.0;
  int runs = 0;
  do {
    total += seconds();
    ++runs;
  } while (total < 2.0 && !is_dry_run());
  return total / runs;
}

// `cublas` stands for as many GPUs as ranks, each at the rate of one alone with matrices of min(n, 16384): the ratio is
// 1 if the exchange of bands costs nothing.
template <Scalar T> void beside_cublas(benchmark::State& state, const Layout& layout, bool warm) {
  const Index n = extent(state.range(0));
  const Index n_alone = std::min<Index>(n, 16384);
  const auto A = random_distributed<T>(layout.a(n), 1);
  const auto B = random_distributed<T>(layout.b(n), 2);
  const DistributedMatrix<T> C(world(), layout.c(n));
  GemmPlan<T> plan(world(), Operation::none, A.placement(), Operation::none, B.placement(), C.placement());
  GemmReport report;
  const OneGpu<T> alone(n_alone);
  const auto ours = [&] { return seconds_of([&] { report = plan.execute(T(1), A, B, T(0), C); }); };
  const auto theirs = [&] { return alone.seconds(); };
  compare(state, operations<T>(n), {"heddle", [&] { return warm ? sustained(ours) : best_of_three(ours); }},
          {"cublas", [&] { return warm ? sustained(theirs) : best_of_three(theirs); },
           world().size() * operations<T>(n_alone)});
  if (!is_product(C) || !is_product(alone.product())) {
    fail(state, "not the product of A and B");
  }
  count_joules(state, "", [&] { plan.execute(T(1), A, B, T(0), C); });
  // On several GPUs, the idle ones would count too.
  if (world().size() == 1) count_joules(state, "cublas", [&] { alone.multiply(); });
  state.counters["tile"] = static_cast<double>(report.tile);
  state.counters["wait_share"] = report.wait_seconds / report.seconds;
}

struct Size {
  Index n;
  int runs;
};
constexpr std::array<Size, 3> sizes = {{{8192, 5}, {16384, 3}, {32768, 2}}};

template <Scalar T> void add_benchmarks(const std::string& scalar) {
  const auto add = [&](const std::string& name, const Layout& layout, const Size& size, bool warm) {
    benchmark::RegisterBenchmark((name + '/' + scalar + '/' + layout.name).c_str(),
                                 [&layout, warm](benchmark::State& state) { beside_cublas<T>(state, layout, warm); })
        ->Arg(size.n)
        ->ArgName("n")
        ->Iterations(size.runs)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  for (const Layout& layout : layouts) {
    for (const Size& size : sizes) {
      add("gemm", layout, size, false);
    }
  }
  add("gemm_sustained", layouts.front(), sizes.back(), true);
}

[[maybe_unused]] const bool added = [] {
  add_benchmarks<double>("double");
  add_benchmarks<float>("float");
  add_benchmarks<Kokkos::complex<double>>("complex-double");
  add_benchmarks<Kokkos::complex<float>>("complex-float");
  return true;
}();

}  // namespace
}  // namespace heddle::perf
