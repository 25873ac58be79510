// Benchmarks of libheddle_blas.so against another BLAS (libopenblas.so.0, or the one that HEDDLE_PEER_BLAS names), in
// turn, by Fortran's names. `perf_blas --benchmark_filter=blas/cells` lists the largest slowdowns over all routines,
// shapes and kinds of values; HEDDLE_CELLS restricts the cells to those with the given prefixes, separated by blanks.
#include "blas_cells.hpp"
#include "support/measure.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace heddle::perf {
namespace {

const Libraries& libraries() {
  static const char* const named = std::getenv("HEDDLE_PEER_BLAS");
  static const Libraries the{dlopen(HEDDLE_BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL),
                             dlopen(named != nullptr ? named : "libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)};
  return the;
}

template <class Function> struct Both {
  Function* ours = nullptr;
  Function* others = nullptr;

  Both(benchmark::State& state, const char* name) {
    const auto& [mine, peer] = libraries();
    if (mine != nullptr) ours = reinterpret_cast<Function*>(dlsym(mine, name));
    if (peer != nullptr) others = reinterpret_cast<Function*>(dlsym(peer, name));
    if (!*this) fail(state, "one of the two libraries, or the routine in it, is missing");
  }
  explicit operator bool() const { return ours != nullptr && others != nullptr; }
};

std::vector<double> random_numbers(Index n) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> between(-1.0, 1.0);
  std::vector<double> all(static_cast<std::size_t>(n));
  for (double& x : all) x = between(engine);
  return all;
}

// Compares repeated calls that last some tenths of a millisecond in all.
template <class Run> void compare_calls(benchmark::State& state, double flops, const Run& ours, const Run& others) {
  const int calls = is_dry_run() ? 1 : static_cast<int>(std::clamp(2e6 / flops, 1.0, 1e4));
  const auto timed = [calls](const Run& run) {
    return [&run, calls] {
      return seconds_of([&] {
        for (int call = 0; call < calls; ++call) run();
      });
    };
  };
  compare(state, flops * calls, {"heddle", timed(ours)}, {"peer", timed(others)}, "gflops");
}

void gemm(benchmark::State& state) {
  using Function = void(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                        const int*, const double*, const int*, const double*, double*, const int*);
  const Both<Function> dgemm(state, "dgemm_");
  if (!dgemm) return;
  const int n = static_cast<int>(is_dry_run() ? 8 : state.range(0));
  const std::vector<double> A = random_numbers(Index{n} * n);
  std::vector<double> C(A.size());
  const double one = 1.0;
  const double zero = 0.0;
  const auto by = [&](Function* function) {
    return std::function<void()>(
        [&, function] { function("N", "N", &n, &n, &n, &one, A.data(), &n, A.data(), &n, &zero, C.data(), &n); });
  };
  compare_calls(state, 2.0 * n * n * n, by(dgemm.ours), by(dgemm.others));
}
void dot(benchmark::State& state) {
  using Function = double(const int*, const double*, const int*, const double*, const int*);
  const Both<Function> ddot(state, "ddot_");
  if (!ddot) return;
  const int n = static_cast<int>(is_dry_run() ? 8 : state.range(0));
  const std::vector<double> x = random_numbers(n);
  const int one = 1;
  double sum = 0.0;
  const auto by = [&](Function* function) {
    return std::function<void()>([&, function] { sum += function(&n, x.data(), &one, x.data(), &one); });
  };
  compare_calls(state, 2.0 * n, by(ddot.ours), by(ddot.others));
  benchmark::DoNotOptimize(sum);
}
void gemv(benchmark::State& state) {
  using Function = void(const char*, const int*, const int*, const double*, const double*, const int*, const double*,
                        const int*, const double*, double*, const int*);
  const Both<Function> dgemv(state, "dgemv_");
  if (!dgemv) return;
  const int n = static_cast<int>(is_dry_run() ? 8 : state.range(0));
  const char* const op = state.range(1) == 0 ? "N" : "T";
  const std::vector<double> A = random_numbers(Index{n} * n);
  std::vector<double> y(static_cast<std::size_t>(n));
  const int step = 1;
  const double one = 1.0;
  const double zero = 0.0;
  const auto by = [&](Function* function) {
    return std::function<void()>(
        [&, function] { function(op, &n, &n, &one, A.data(), &n, A.data(), &step, &zero, y.data(), &step); });
  };
  compare_calls(state, 2.0 * n * n, by(dgemv.ours), by(dgemv.others));
}
void gesv(benchmark::State& state) {
  using Function = void(const int*, const int*, double*, const int*, int*, double*, const int*, int*);
  const Both<Function> dgesv(state, "dgesv_");
  if (!dgesv) return;
  const int n = static_cast<int>(is_dry_run() ? 8 : state.range(0));
  const std::vector<double> A = random_numbers(Index{n} * n);
  const int columns = 1;
  const auto by = [&](Function* function) {
    return std::function<void()>([&, function] {
      std::vector<double> LU = A;
      std::vector<double> x(static_cast<std::size_t>(n), 1.0);
      std::vector<int> pivots(x.size());
      int info = 0;
      function(&n, &columns, LU.data(), &n, pivots.data(), x.data(), &n, &info);
    });
  };
  compare_calls(state, 2.0 / 3.0 * n * n * n, by(dgesv.ours), by(dgesv.others));
}

// Runs all cells once; counters: the number of cells, the number that take more than 15 times as long, and the largest
// ratio. The slowest ones are listed.
void cells(benchmark::State& state) {
  if (libraries().ours == nullptr || libraries().others == nullptr) {
    fail(state, "one of the two libraries is missing");
    return;
  }
  struct Timed {
    double ratio;
    double seconds;
    std::string name;
  };
  std::vector<Timed> all;
  std::vector<std::string> wanted;
  if (is_dry_run()) {
    wanted = {"ddot/16/", "zgemmN/300x300x3/nan"};
  } else if (const char* const named = std::getenv("HEDDLE_CELLS")) {
    std::istringstream names(named);
    for (std::string name; names >> name;) wanted.push_back(name);
  }
  for (auto _ : state) {
    for_each_cell(libraries(), wanted, [&](const Cell& cell) {
      double seconds = 0.0;
      const double ratio = ratio_of(cell, seconds);
      all.push_back({ratio, seconds, cell.name});
    });
  }
  std::sort(all.begin(), all.end(), [](const Timed& a, const Timed& b) { return a.ratio > b.ratio; });
  constexpr std::size_t shown = 40;
  constexpr double goal = 15.0;
  for (std::size_t k = 0; k < std::min(shown, all.size()); ++k) {
    std::fprintf(stderr, "%8.1f times, %10.2f us  %s\n", all[k].ratio, 1e6 * all[k].seconds, all[k].name.c_str());
  }
  state.counters["cells"] = static_cast<double>(all.size());
  state.counters["above_15"] =
      static_cast<double>(std::count_if(all.begin(), all.end(), [](const Timed& one) { return one.ratio > goal; }));
  if (!all.empty()) state.counters["worst"] = all.front().ratio;
}

BENCHMARK(cells)->Name("blas/cells")->Iterations(1);
BENCHMARK(gemm)->Name("blas/dgemm")->ArgName("n")->RangeMultiplier(4)->Range(1, 4096)->Iterations(5)->UseManualTime();
BENCHMARK(dot)
    ->Name("blas/ddot")
    ->ArgName("n")
    ->RangeMultiplier(100)
    ->Range(10, 1000000)
    ->Iterations(7)
    ->UseManualTime();
BENCHMARK(gemv)
    ->Name("blas/dgemv")
    ->ArgsProduct({{100, 1000, 4000}, {0, 1}})
    ->ArgNames({"n", "transposed"})
    ->Iterations(7)
    ->UseManualTime();
BENCHMARK(gesv)->Name("blas/dgesv")->ArgName("n")->Arg(512)->Arg(2048)->Iterations(3)->UseManualTime();

}  // namespace
}  // namespace heddle::perf
