// exact::lu beside cuSOLVER's getrf of the same matrix, in turn.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/exact/lu.hpp>

#include <cusolverDn.h>

namespace heddle::perf {
namespace {

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;

class Cusolver {
 public:
  explicit Cusolver(const Matrix& A)
      : A_(A), pivots_("heddle::perf::pivots", A.extent(0)), info_("heddle::perf::info") {
    check(cusolverDnCreate(&handle_));
    check(cusolverDnSetStream(handle_, world().space().cuda_stream()));
    int size = 0;
    check(cusolverDnDgetrf_bufferSize(handle_, n(), n(), A.data(), n(), &size));
    work_ = Kokkos::View<double*, MemorySpace>("heddle::perf::work", static_cast<std::size_t>(size));
  }
  ~Cusolver() { cusolverDnDestroy(handle_); }
  Cusolver(const Cusolver&) = delete;
  Cusolver& operator=(const Cusolver&) = delete;
  void factor() const {
    check(cusolverDnDgetrf(handle_, n(), n(), A_.data(), n(), work_.data(), pivots_.data(), info_.data()));
  }

 private:
  static void check(cusolverStatus_t status) {
    require(status == CUSOLVER_STATUS_SUCCESS, "cuSOLVER: status ", static_cast<int>(status));
  }
  [[nodiscard]] int n() const { return static_cast<int>(A_.extent(0)); }

  Matrix A_;
  Kokkos::View<int*, MemorySpace> pivots_;
  Kokkos::View<int, MemorySpace> info_;
  Kokkos::View<double*, MemorySpace> work_;
  cusolverDnHandle_t handle_ = nullptr;
};

void beside_cusolver(benchmark::State& state) {
  const Index n = is_dry_run() ? 60 : state.range(0);
  const auto extent = static_cast<std::size_t>(n);
  const Matrix A("heddle::perf::A", extent, extent);
  const RandomEntries random{1};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n * n),
      KOKKOS_LAMBDA(Index at) { A(at % n, at / n) = random(at % n, at / n); });
  const Matrix ours("heddle::perf::LU", extent, extent);
  const Matrix theirs("heddle::perf::LU", extent, extent);
  const Cusolver cusolver(theirs);
  const double flops = 2.0 / 3.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  compare(state, flops,
          {"heddle",
           [&] {
             Kokkos::deep_copy(ours, A);
             return seconds_of([&] { exact::lu(world().space(), ours); });
           }},
          {"cusolver", [&] {
             Kokkos::deep_copy(theirs, A);
             return seconds_of([&] { cusolver.factor(); });
           }});
  // The same pivots give the same factors, but for roundings.
  double most = 0;
  Kokkos::parallel_reduce(
      "heddle::perf::difference", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n * n),
      KOKKOS_LAMBDA(Index at, double& worst) {
        worst = Kokkos::fmax(worst, Kokkos::abs(ours(at % n, at / n) - theirs(at % n, at / n)));
      },
      Kokkos::Max<double>(most));
  if (!(most < 1e-6)) {
    fail(state, "not the factors of cuSOLVER");
  }
}
BENCHMARK(beside_cusolver)
    ->Name("lu/double/cusolver")
    ->Arg(1024)
    ->Arg(4096)
    ->ArgName("n")
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heddle::perf
