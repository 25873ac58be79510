// Benchmarks of C = A B against ScaLAPACK's pdgemm and pzgemm: the same matrices, in turn, in one run.
#include "studies/gemm/scalapack.hpp"
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/gemm/gemm.hpp>
#include <heddle/tuning/rates.hpp>

#include <array>

using Complex = Kokkos::complex<double>;

extern "C" {
int Csys2blacs_handle(MPI_Comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* descriptor_a, const double* b, const int* ib,
             const int* jb, const int* descriptor_b, const double* beta, double* c, const int* ic, const int* jc,
             const int* descriptor_c);
void pzgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const Complex* alpha,
             const Complex* a, const int* ia, const int* ja, const int* descriptor_a, const Complex* b, const int* ib,
             const int* jb, const int* descriptor_b, const Complex* beta, Complex* c, const int* ic, const int* jc,
             const int* descriptor_c);
}

namespace heddle::perf {
namespace {

constexpr auto product_of(double /*type*/) {
  return &pdgemm_;
}
constexpr auto product_of(Complex /*type*/) {
  return &pzgemm_;
}

// Matrices of Heddle's product: ScaLAPACK's own, bands of the ranks, or one block of each for each rank.
enum Matrices : int { same_cyclic, bands, blocks };

// Placements of A, B and C.
struct Placements {
  Placement a;
  Placement b;
  Placement c;
};
Placements placements_of(Matrices matrices, const Placement& cyclic, int height) {
  const Index n = cyclic.rows();
  const int ranks = world().size();
  const auto share = [&](int parts) { return (n + parts - 1) / parts; };
  switch (matrices) {
    case same_cyclic:
      return {cyclic, cyclic, cyclic};
    case bands:
      return {Placement::row_bands(n, n, ranks), Placement::column_bands(n, n, ranks),
              Placement::row_bands(n, n, ranks)};
    case blocks:
      break;
  }
  const Placement whole = Placement::block_cyclic(n, n, share(height), share(ranks / height), height, ranks / height);
  return {whole, whole, whole};
}

// Measured once, on the current links.
template <Scalar T> const MachineRates& rates() {
  static const MachineRates measured = measure_rates<T>(world());
  return measured;
}

// range(0): n, range(1): ScaLAPACK's block, range(2): the matrices of Heddle's product. Ratio: time of the peer over
// ours.
template <Scalar T> void beside(benchmark::State& state) {
  const Index n = extent(state.range(0));
  const Index block = state.range(1);
  const int ranks = world().size();
  int height = 1;
  while ((height + 1) * (height + 1) <= ranks && ranks % (height + 1) == 0) {
    ++height;
  }
  const Placement cyclic = Placement::block_cyclic(n, n, block, block, height, ranks / height);
  const auto A = random_distributed<T>(cyclic, 1);
  const auto B = random_distributed<T>(cyclic, 2);
  const auto C = random_distributed<T>(cyclic, 3);
  const Placements ours = placements_of(static_cast<Matrices>(state.range(2)), cyclic, height);
  const auto a = random_distributed<T>(ours.a, 1);
  const auto b = random_distributed<T>(ours.b, 2);
  const DistributedMatrix<T> c(world(), ours.c);
  const driver::Blacs blacs = {&Csys2blacs_handle, &Cfree_blacs_system_handle, &Cblacs_gridinit, &Cblacs_gridexit};
  const driver::PblasProduct<T> peer(world(), blacs, product_of(T()), cyclic);
  GemmPlan<T> plan(world(), Operation::none, ours.a, Operation::none, ours.b, ours.c, {.rates = rates<T>()});
  GemmReport report;
  const double flops =
      flops_per_multiply_add<T> * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  compare(state, flops, {"heddle", [&] { return seconds_of([&] { report = plan.execute(T(1.0), a, b, T(0.0), c); }); }},
          {is_complex<T> ? "pzgemm" : "pdgemm", [&] { return seconds_of([&] { peer.multiply(A, B, C); }); }});
  // Both computed the same product.
  const DistributedMatrix<T> product(world(), cyclic);
  redistribute(c, product);
  add(T(-1.0), C, product);
  const double difference = norm(product, Norm::maximum);
  if (!(difference <= 1e-14 * static_cast<double>(n))) {
    fail(state, "the two products differ");
  }
  state.counters["tile"] = static_cast<double>(report.tile);
  state.counters["grid_columns"] = report.grid.columns;
  state.counters["between_nodes"] = report.bytes_between_nodes;
  state.counters["predicted"] = report.predicted_seconds.value_or(0.0);
  constexpr std::array labels = {"same cyclic matrices", "bands", "blocks"};
  state.SetLabel(labels[static_cast<std::size_t>(state.range(2))]);
}

void beside_pdgemm(benchmark::State& state) {
  beside<double>(state);
}
void beside_pzgemm(benchmark::State& state) {
  beside<Complex>(state);
}
void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Unit(benchmark::kMillisecond);
  benchmark->ArgsProduct({{1024, 2048, 4096}, {64, 256}, {same_cyclic, bands, blocks}});
  benchmark->ArgNames({"n", "block", "matrices"});
}
BENCHMARK(beside_pdgemm)->Apply(sizes);
BENCHMARK(beside_pzgemm)->Apply(sizes);

}  // namespace
}  // namespace heddle::perf
