// Benchmarks of C = A B with matrices in pinned host memory, on all GPUs of a node, against cublasXt.
#include "studies/gemm/cublasxt.hpp"
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/gemm/gemm.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace heddle::perf {
namespace {

struct Matrices {
  DistributedMatrix<double> A;
  DistributedMatrix<double> B;
  DistributedMatrix<double> C;
};

Matrices random_in_host_memory(const Placement& a, const Placement& b, const Placement& c) {
  return {random_distributed<double>(a.in(Residence::host), 1), random_distributed<double>(b.in(Residence::host), 2),
          DistributedMatrix<double>(world(), c.in(Residence::host))};
}

// Returns the GPUs of all ranks, each once.
std::vector<int> devices_of_all() {
  const int mine = driver::CublasXt::current_device();
  std::vector<int> devices(static_cast<std::size_t>(world().size()));
  world().all_gather(std::span<const int>(&mine, 1), std::span<int>(devices));
  return driver::each_once(devices);
}

// Rank 0 drives every GPU while the other ranks sleep: cublasXt runs in one process.
class CublasXt {
 public:
  CublasXt() {
    const std::vector<int> devices = devices_of_all();
    if (world().rank() == 0) library_.emplace(devices);
  }
  [[nodiscard]] double seconds(int block, const Matrices& whole) const {
    return seconds_of_rank_0([&] {
      library_->multiply<double>(block, static_cast<std::size_t>(whole.C.rows()), whole.A.local().data(),
                                 whole.B.local().data(), whole.C.local().data());
    });
  }

 private:
  std::optional<driver::CublasXt> library_;
};

constexpr std::array<int, 4> blocks = {2048, 4096, 8192, 16384};

// cublasXt has its matrices whole in rank 0's memory. `whole`: Heddle uses those same matrices; `bands`: A and C in row
// bands, B in column bands, each in the memory of its rank.
void beside_cublasxt(benchmark::State& state, bool bands) {
  const Index n = extent(state.range(0));
  const int ranks = world().size();
  const Placement on_rank_0 = Placement::on_rank(n, n, 0);
  const Matrices whole = random_in_host_memory(on_rank_0, on_rank_0, on_rank_0);
  const Matrices ours =
      bands ? random_in_host_memory(Placement::row_bands(n, n, ranks), Placement::column_bands(n, n, ranks),
                                    Placement::row_bands(n, n, ranks))
            : whole;
  const CublasXt cublasxt;
  GemmPlan<double> plan(world(), Operation::none, ours.A.placement(), Operation::none, ours.B.placement(),
                        ours.C.placement());
  GemmReport report;
  const auto multiply = [&] { return seconds_of([&] { report = plan.execute(1.0, ours.A, ours.B, 0.0, ours.C); }); };

  fill(ours.C, 0.0);
  static_cast<void>(multiply());
  bool right = is_product(ours.C);
  fill(whole.C, 0.0);
  static_cast<void>(cublasxt.seconds(blocks.front(), whole));
  right = is_product(whole.C) && right;
  int best_block = 0;
  double shortest = 0.0;
  for (const int block : blocks) {
    const double seconds = cublasxt.seconds(block, whole);
    state.counters["gflops_block_" + std::to_string(block)] = operations<double>(n) / seconds / 1e9;
    if (best_block == 0 || seconds < shortest) {
      best_block = block;
      shortest = seconds;
    }
  }

  compare(state, operations<double>(n), {"heddle", multiply},
          {"cublasxt", [&] { return cublasxt.seconds(best_block, whole); }});
  if (!right) {
    fail(state, "not the product of A and B");
  }
  state.counters["block"] = best_block;
  state.counters["tile"] = static_cast<double>(report.tile);
  state.counters["wait_share"] = report.wait_seconds / report.seconds;
}

BENCHMARK_CAPTURE(beside_cublasxt, bands, true)
    ->Name("gemm_host/double/bands")
    ->ArgName("n")
    ->Arg(16384)
    ->Arg(32768)
    ->Iterations(4)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(beside_cublasxt, whole, false)
    ->Name("gemm_host/double/whole")
    ->ArgName("n")
    ->Arg(16384)
    ->Arg(32768)
    ->Iterations(4)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heddle::perf
