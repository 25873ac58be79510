// Benchmarks of exact::lu against cuSOLVER's getrf and against the same algorithm in plain double, column by column, in
// turn.
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

// Right-looking factorization in plain double, column by column.
void plain_lu(const ExecutionSpace& space, const Matrix& A) {
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  using Largest = Kokkos::MaxFirstLoc<double, Index, MemorySpace>;
  const auto n = static_cast<Index>(A.extent(0));
  const Kokkos::View<typename Largest::value_type, MemorySpace> pivot("heddle::perf::pivot");
  for (Index j = 0; j < n; ++j) {
    Kokkos::parallel_reduce(
        "heddle::perf::pivot", Range(space, j, n),
        KOKKOS_LAMBDA(Index i, typename Largest::value_type & best) {
          if (Kokkos::abs(A(i, j)) > best.val) {
            best.val = Kokkos::abs(A(i, j));
            best.loc = i;
          }
        },
        Largest(pivot));
    Kokkos::parallel_for(
        "heddle::perf::swap", Range(space, 0, n), KOKKOS_LAMBDA(Index k) {
          const Index row = pivot().loc;
          const double held = A(j, k);
          A(j, k) = A(row, k);
          A(row, k) = held;
        });
    Kokkos::parallel_for(
        "heddle::perf::divide", Range(space, j + 1, n), KOKKOS_LAMBDA(Index i) { A(i, j) /= A(j, j); });
    const Index rest = n - j - 1;
    Kokkos::parallel_for(
        "heddle::perf::update", Range(space, 0, rest * rest), KOKKOS_LAMBDA(Index at) {
          const Index i = j + 1 + at % rest;
          const Index k = j + 1 + at / rest;
          A(i, k) -= A(i, j) * A(j, k);
        });
  }
}

void beside(benchmark::State& state, bool is_plain) {
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
          {is_plain ? "plain" : "cusolver", [&] {
             Kokkos::deep_copy(theirs, A);
             return seconds_of([&] { is_plain ? plain_lu(world().space(), theirs) : cusolver.factor(); });
           }});
  // The same pivots give the same factors except for roundings.
  double most = 0;
  Kokkos::parallel_reduce(
      "heddle::perf::difference", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n * n),
      KOKKOS_LAMBDA(Index at, double& worst) {
        worst = Kokkos::fmax(worst, Kokkos::abs(ours(at % n, at / n) - theirs(at % n, at / n)));
      },
      Kokkos::Max<double>(most));
  if (!(most < 1e-6)) {
    fail(state, "the factors differ by more than roundings");
  }
}
[[maybe_unused]] const bool added = [] {
  for (const bool is_plain : {false, true}) {
    benchmark::RegisterBenchmark(is_plain ? "lu/double/plain" : "lu/double/cusolver",
                                 [is_plain](benchmark::State& state) { beside(state, is_plain); })
        ->Arg(1024)
        ->Arg(4096)
        ->ArgName("n")
        ->Iterations(3)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf
