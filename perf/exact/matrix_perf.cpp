// Benchmarks of exact::gemv, trsv and lu against the same algorithms in plain double, in turn.
#include "support/copy.hpp"
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/exact/lu.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace heddle::perf {
namespace {

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;
using Vector = Kokkos::View<double*, MemorySpace>;

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

Matrix random_matrix(Index n, int seed) {
  const auto extent = static_cast<std::size_t>(n);
  const Matrix A(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::perf::A"), extent, extent);
  const RandomEntries random{seed};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n * n),
      KOKKOS_LAMBDA(Index at) { A(at % n, at / n) = random(at % n, at / n); });
  return A;
}
Vector random_vector(Index n, int seed) {
  const Vector x(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::perf::x"), static_cast<std::size_t>(n));
  const RandomEntries random{seed};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n),
      KOKKOS_LAMBDA(Index i) { x(i) = random(i, 0); });
  return x;
}

// y = A x, rows in parts that stay in the first-level cache, eight columns at a time.
void plain_gemv(const ExecutionSpace& space, const Matrix& A, const Vector& x, const Vector& y) {
  const auto m = static_cast<Index>(A.extent(0));
  const auto n = static_cast<Index>(A.extent(1));
  constexpr Index chunk = on_host ? 256 : 1;
  Kokkos::parallel_for(
      "heddle::perf::gemv",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, (m + chunk - 1) / chunk),
      KOKKOS_LAMBDA(Index number) {
        const Index begin = number * chunk;
        const Index count = m - begin < chunk ? m - begin : chunk;
        double sums[chunk] = {};
        Index j = 0;
        for (; j + 8 <= n; j += 8) {
          const double* const a = &A(begin, j);
          const Index stride = m;
          for (Index i = 0; i < count; ++i) {
            double sum = sums[i];
            for (Index q = 0; q < 8; ++q) {
              sum += a[i + q * stride] * x(j + q);
            }
            sums[i] = sum;
          }
        }
        for (; j < n; ++j) {
          for (Index i = 0; i < count; ++i) {
            sums[i] += A(begin + i, j) * x(j);
          }
        }
        for (Index i = 0; i < count; ++i) {
          y(begin + i) = sums[i];
        }
      });
}

void gemv(benchmark::State& state) {
  const Index n = is_dry_run() ? 100 : state.range(0);
  const bool transposed = state.range(1) != 0;
  const Matrix A = random_matrix(n, 1);
  const Vector x = random_vector(n, 2);
  const Vector y = random_vector(n, 3);
  const double bytes = 8.0 * static_cast<double>(n) * static_cast<double>(n);
  const Contender exact{"exact", [&] {
                          return seconds_of([&] {
                            exact::gemv(world().space(), transposed ? Operation::transpose : Operation::none, 1.0, A, x,
                                        0.0, y);
                          });
                        }};
  if (on_host) {
    compare(state, bytes, exact, {"plain", [&] { return seconds_of([&] { plain_gemv(world().space(), A, x, y); }); }},
            "gbytes");
    return;
  }
  const Matrix copied("heddle::perf::copied", A.extent(0), A.extent(1));
  compare(state, bytes, exact,
          {"copy", [&] { return seconds_of([&] { Kokkos::deep_copy(world().space(), copied, A); }); }, 2 * bytes},
          "gbytes");
}
BENCHMARK(gemv)
    ->Name("exact/double/gemv")
    ->ArgsProduct({{on_host ? 4096 : 16384}, {0, 1}})
    ->ArgNames({"n", "transposed"})
    ->Iterations(9)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void trsv(benchmark::State& state) {
  const Index n = is_dry_run() ? 100 : state.range(0);
  const Matrix A = random_matrix(n, 1);
  Kokkos::parallel_for(
      "heddle::perf::diagonal", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n),
      KOKKOS_LAMBDA(Index i) { A(i, i) = static_cast<double>(n); });
  const Vector b = random_vector(n, 2);
  const Vector x = random_vector(n, 3);
  const auto columns = [&] {
    Kokkos::deep_copy(x, b);
    // One column after the other, by all threads if that is faster.
    for (Index j = 0; j < n; ++j) {
      x(j) /= A(j, j);
      const double by = x(j);
      const double* const a = &A(0, j);
      double* const to = x.data();
#pragma GCC ivdep
      for (Index i = j + 1; i < n; ++i) {
        to[i] -= a[i] * by;
      }
    }
  };
  compare(state, 4.0 * static_cast<double>(n) * static_cast<double>(n),
          {"exact",
           [&] {
             return seconds_of([&] {
               Kokkos::deep_copy(x, b);
               exact::trsv(world().space(), Triangle::lower, Operation::none, Diagonal::stored, A, x);
             });
           }},
          {"plain", [&] { return seconds_of(columns); }}, "gbytes");
}

// The unblocked left-looking factorization in plain double.
void plain_lu(const Matrix& A) {
  const auto n = static_cast<Index>(A.extent(0));
  double* const a = A.data();
  for (Index j = 0; j < n; ++j) {
    double* const column = a + j * n;
    for (Index k = 0; k < j; ++k) {
      const double by = column[k];
      const double* const l = a + k * n;
#pragma GCC ivdep
      for (Index i = k + 1; i < n; ++i) {
        column[i] -= l[i] * by;
      }
    }
    Index pivot = j;
    for (Index i = j + 1; i < n; ++i) {
      pivot = Kokkos::abs(column[i]) > Kokkos::abs(column[pivot]) ? i : pivot;
    }
    for (Index k = 0; k < n && pivot != j; ++k) {
      std::swap(a[j + k * n], a[pivot + k * n]);
    }
    const double by = column[j];
    for (Index i = j + 1; i < n; ++i) {
      column[i] /= by;
    }
  }
}

double exact_lu_seconds(const Matrix& A, const Matrix& LU, int block) {
  Kokkos::deep_copy(LU, A);
  return seconds_of([&] { exact::lu(world().space(), LU, {.block = block}); });
}

void lu_beside_plain(benchmark::State& state) {
  const Index n = is_dry_run() ? 60 : state.range(0);
  const int block = static_cast<int>(state.range(1));
  const Matrix A = random_matrix(n, 1);
  const Matrix LU("heddle::perf::LU", A.extent(0), A.extent(1));
  const auto extent = static_cast<double>(n);
  compare(state, 2.0 / 3.0 * extent * extent * extent, {"exact", [&] { return exact_lu_seconds(A, LU, block); }},
          {"plain", [&] {
             Kokkos::deep_copy(LU, A);
             return seconds_of([&] { plain_lu(LU); });
           }});
}
void lu_blocked(benchmark::State& state) {
  const Index n = is_dry_run() ? 60 : state.range(0);
  const Matrix A = random_matrix(n, 1);
  const Matrix LU("heddle::perf::LU", A.extent(0), A.extent(1));
  const Matrix one("heddle::perf::one", A.extent(0), A.extent(1));
  const auto extent = static_cast<double>(n);
  compare(state, 2.0 / 3.0 * extent * extent * extent, {"blocked", [&] { return exact_lu_seconds(A, LU, 0); }},
          {"unblocked", [&] { return exact_lu_seconds(A, one, 1); }});
  double worst = 0;
  Kokkos::parallel_reduce(
      "heddle::perf::difference", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n * n),
      KOKKOS_LAMBDA(Index at, double& most) {
        most = Kokkos::fmax(most, Kokkos::abs(LU(at % n, at / n) - one(at % n, at / n)));
      },
      Kokkos::Max<double>(worst));
  if (worst != 0) {
    fail(state, "blocks change bits");
  }
}
BENCHMARK(lu_blocked)
    ->Name("exact/double/lu_blocked")
    ->Arg(1024)
    ->ArgName("n")
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// Plain loops that run only on the host.
[[maybe_unused]] const bool added = [] {
  if (on_host) {
    benchmark::RegisterBenchmark("exact/double/trsv", trsv)
        ->Arg(4096)
        ->ArgName("n")
        ->Iterations(9)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("exact/double/lu", lu_beside_plain)
        ->ArgsProduct({{1024}, {1, 0}})
        ->ArgNames({"n", "block"})
        ->Iterations(3)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf
