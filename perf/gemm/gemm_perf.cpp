// Benchmarks of the distributed product against one rank's BLAS on all cores, and by tile size against the model's
// prediction.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/gemm/gemm.hpp>

extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace heddle::perf {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

// The same product on rank 0 alone: on CPUs with as many BLAS threads as ranks, on a GPU by the vendor's BLAS.
class OneRank {
 public:
  explicit OneRank(Index n)
      : n_(world().rank() == 0 ? n : 0), A_(operand(n_, 1)), B_(operand(n_, 2)), C_(operand(n_, 3)) {}
  [[nodiscard]] double seconds() const {
    return seconds_of_rank_0([&] {
      set_threads(world().size());
      blas::gemm<double>(context_, Operation::none, Operation::none, 1.0, A_, B_, 0.0, C_);
      world().space().fence("heddle::perf::one_rank");
      set_threads(world().space().concurrency());
    });
  }

 private:
  static void set_threads(int threads) {
    if (on_host && openblas_set_num_threads != nullptr) {
      openblas_set_num_threads(threads);
    }
  }
  static LocalMatrix<double> operand(Index n, int seed) { return random_local(world().space(), n, n, seed); }
  Index n_;
  blas::Context context_{world().space()};
  LocalMatrix<double> A_;
  LocalMatrix<double> B_;
  LocalMatrix<double> C_;
};

struct Layout {
  const char* name;
  Placement (*a)(Index);
  Placement (*b)(Index);
  Placement (*c)(Index);
};

const Layout layouts[] = {
    {"bands", [](Index n) { return Placement::row_bands(n, n, world().size()); },
     [](Index n) { return Placement::column_bands(n, n, world().size()); },
     [](Index n) { return Placement::row_bands(n, n, world().size()); }},
    {"row_bands", [](Index n) { return Placement::row_bands(n, n, world().size()); },
     [](Index n) { return Placement::row_bands(n, n, world().size()); },
     [](Index n) { return Placement::row_bands(n, n, world().size()); }},
    {"ranks_2_1_0", [](Index n) { return Placement::on_rank(n, n, 2 % world().size()); },
     [](Index n) { return Placement::on_rank(n, n, 1 % world().size()); },
     [](Index n) { return Placement::on_rank(n, n, 0); }},
};

class Distributed {
 public:
  Distributed(const Layout& layout, Index n, Index tile)
      : A_(random_distributed(layout.a(n), 1)),
        B_(random_distributed(layout.b(n), 2)),
        C_(random_distributed(layout.c(n), 3)),
        plan_(world(), Operation::none, A_.placement(), Operation::none, B_.placement(), C_.placement(),
              {.tile = tile}) {}
  double seconds() {
    return seconds_of([&] { report_ = plan_.execute(1.0, A_, B_, 0.0, C_); });
  }
  [[nodiscard]] const GemmReport& report() const { return report_; }
  [[nodiscard]] bool right() const { return is_product(C_); }

 private:
  DistributedMatrix<double> A_;
  DistributedMatrix<double> B_;
  DistributedMatrix<double> C_;
  GemmPlan<double> plan_;
  GemmReport report_;
};

// range(0): layout, range(1): n. Ratio: time of one rank's BLAS on all cores over ours.
void beside_blas(benchmark::State& state) {
  const Layout& layout = layouts[state.range(0)];
  const Index n = extent(state.range(1));
  Distributed ours(layout, n, 0);
  const OneRank blas(n);
  compare(state, operations<double>(n), {"heddle", [&] { return ours.seconds(); }},
          {"blas", [&] { return blas.seconds(); }});
  if (!ours.right()) {
    fail(state, "not the product of A and B");
  }
  state.SetLabel(layout.name);
  state.counters["tile"] = static_cast<double>(ours.report().tile);
  state.counters["wait_share"] = ours.report().wait_seconds / ours.report().seconds;
}

// range(0): layout, range(1): n, range(2): tile (0: the model's). Compares the model's prediction with the measurement.
void tile_sweep(benchmark::State& state) {
  const Layout& layout = layouts[state.range(0)];
  const Index n = extent(state.range(1));
  Distributed ours(layout, n, state.range(2));
  std::vector<double> times;
  static_cast<void>(ours.seconds());
  for ([[maybe_unused]] auto iteration : state) {
    times.push_back(ours.seconds());
    state.SetIterationTime(times.back());
  }
  state.SetLabel(layout.name);
  state.counters["tile"] = static_cast<double>(ours.report().tile);
  state.counters["gflops"] = operations<double>(n) / median(times) / 1e9;
  state.counters["seconds"] = median(times);
  state.counters["predicted_seconds"] = ours.report().predicted_seconds.value_or(0.0);
}

BENCHMARK(beside_blas)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({{0, 1, 2}, {1024, 2048, 4096}})
    ->ArgNames({"layout", "n"});
BENCHMARK(tile_sweep)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({{0, 1, 2}, {2048}, {0, 64, 128, 256, 512, 1024, 2048}})
    ->ArgNames({"layout", "n", "tile"});

}  // namespace
}  // namespace heddle::perf
