// Benchmarks of C = A B over all GPUs against cuBLASMp: the same matrices in turn, in one run.
#include "studies/gemm/cublasmp.hpp"
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/gemm/gemm.hpp>

#include <algorithm>
#include <memory>
#include <set>

namespace heddle::perf {
namespace {

using driver::CublasMp;
using Library = std::shared_ptr<const CublasMp>;

struct Placements {
  Placement a;
  Placement b;
  Placement c;
};

// C = A B with its own matrices.
class Product {
 public:
  Product(const Library& library, const Placements& where)
      : C_(world(), where.c),
        product_(library, random_distributed<double>(where.a, 1), random_distributed<double>(where.b, 2), C_) {}

  [[nodiscard]] bool supported() const { return product_.supported(); }
  [[nodiscard]] bool registered() const { return product_.registered(); }
  [[nodiscard]] double seconds() {
    return seconds_of([&] { product_.multiply(); });
  }
  [[nodiscard]] const DistributedMatrix<double>& result() const { return C_; }

 private:
  DistributedMatrix<double> C_;
  driver::CublasMpProduct<double> product_;
};

// Heddle's bands, in the layout for which cuBLASMp gathers B while it multiplies: C's blocks are as wide as B's bands.
Placements bands(Index n) {
  const int ranks = world().size();
  return {Placement::row_bands(n, n, ranks), Placement::column_bands(n, n, ranks),
          Placement::block_cyclic(n, n, n / ranks, n / ranks, ranks, 1)};
}

struct Cyclic {
  int grid_rows = 0;
  int grid_columns = 0;
  Index block = 0;
  [[nodiscard]] Placements placements(Index n) const {
    const Placement all = Placement::block_cyclic(n, n, block, block, grid_rows, grid_columns);
    return {all, all, all};
  }
};

// Returns the best of all grids and of several blocks, each run once to warm up and once for the time.
Cyclic best_cyclic(const Library& library, Index n) {
  const int ranks = world().size();
  Cyclic best;
  double shortest = 0.0;
  for (int grid_rows = 1; grid_rows <= ranks; ++grid_rows) {
    if (ranks % grid_rows != 0) {
      continue;
    }
    const int grid_columns = ranks / grid_rows;
    const Index widest = n / std::max(grid_rows, grid_columns);
    for (const Index block : std::set<Index>{1024, 4096, widest}) {
      const Cyclic tried = {grid_rows, grid_columns, block};
      if (block > widest) {
        continue;
      }
      Product product(library, tried.placements(n));
      if (!product.supported()) {
        continue;
      }
      static_cast<void>(product.seconds());
      const double seconds = product.seconds();
      if (best.block == 0 || seconds < shortest) {
        best = tried;
        shortest = seconds;
      }
    }
  }
  return best;
}

// `same`: cuBLASMp uses Heddle's placements. Otherwise it uses its own best block-cyclic ones.
void beside_cublasmp(benchmark::State& state, bool same) {
  const Index n = extent(state.range(0));
  if (const std::string trouble = CublasMp::trouble_with(world()); !trouble.empty()) {
    state.SkipWithError(trouble.c_str());
    return;
  }
  if (n % world().size() != 0) {
    state.SkipWithError("needs a number of ranks that divides n");
    return;
  }
  const auto library = std::make_shared<const CublasMp>(world(), HEDDLE_CUBLASMP_FILE);
  const Cyclic cyclic = same ? Cyclic{} : best_cyclic(library, n);
  if (!same && cyclic.block == 0) {
    state.SkipWithError("cuBLASMp takes none of the block-cyclic placements");
    return;
  }
  Product theirs(library, same ? bands(n) : cyclic.placements(n));
  if (!theirs.supported()) {
    state.SkipWithError("cuBLASMp does not take these placements");
    return;
  }
  const auto A = random_distributed<double>(Placement::row_bands(n, n, world().size()), 1);
  const auto B = random_distributed<double>(Placement::column_bands(n, n, world().size()), 2);
  const DistributedMatrix<double> C(world(), A.placement());
  GemmPlan<double> plan(world(), Operation::none, A.placement(), Operation::none, B.placement(), C.placement());
  GemmReport report;
  compare(state, operations<double>(n),
          {"heddle", [&] { return seconds_of([&] { report = plan.execute(1.0, A, B, 0.0, C); }); }},
          {"cublasmp", [&] { return theirs.seconds(); }});
  if (!is_product(C) || !is_product(theirs.result())) {
    fail(state, "not the product of A and B");
  }
  state.counters["cublasmp_version"] = library->version();
  state.counters["registered"] = theirs.registered() ? 1 : 0;
  state.counters["tile"] = static_cast<double>(report.tile);
  if (!same) {
    state.counters["grid_rows"] = cyclic.grid_rows;
    state.counters["grid_columns"] = cyclic.grid_columns;
    state.counters["block"] = static_cast<double>(cyclic.block);
  }
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("n")->Arg(8192)->Arg(16384)->Arg(32768)->Iterations(8)->UseManualTime()->Unit(
      benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(beside_cublasmp, bands, true)->Name("gemm/double/bands")->Apply(sizes);
BENCHMARK_CAPTURE(beside_cublasmp, cyclic, false)->Name("gemm/double/cyclic")->Apply(sizes);

}  // namespace
}  // namespace heddle::perf
