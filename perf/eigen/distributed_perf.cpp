// Benchmark of one eigenproblem over all ranks against the same iteration on one rank.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/eigen/distributed.hpp>

namespace heddle::perf {
namespace {

struct SymmetricEntries {
  RandomEntries random;
  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const { return i < j ? random(i, j) : random(j, i); }
};

void over_ranks(benchmark::State& state) {
  const Index n = is_dry_run() ? 60 : state.range(0);
  const Communicator& comm = world();
  const DistributedMatrix<double> A(comm, Placement::column_bands(n, n, comm.size()), "heddle::perf::A");
  fill(A, SymmetricEntries{RandomEntries{1}});
  const DistributedMatrix<double> V(comm, Placement::column_bands(n, n, comm.size()), "heddle::perf::V");
  const Kokkos::View<double*, MemorySpace> w("heddle::perf::w", static_cast<std::size_t>(n));
  const DistributedMatrix<double> on_one(comm, Placement::on_rank(n, n, 0), "heddle::perf::A");
  redistribute(A, on_one);
  const auto extent = static_cast<std::size_t>(comm.rank() == 0 ? n : 0);
  const Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> V_one("heddle::perf::V", extent, extent);
  const Kokkos::View<double*, MemorySpace> w_one("heddle::perf::w", extent);
  eigen::JacobiReport report;
  const double flops = 6.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  compare(state, flops, {"ranks", [&] { return seconds_of([&] { report = eigen::jacobi<double>(comm, A, w, V); }); }},
          {"one", [&] {
             return seconds_of_rank_0([&] {
               const eigen::JacobiReport alone =
                   eigen::jacobi(comm.space(), on_one.local(), w_one, V_one, {.method = eigen::JacobiMethod::blocked});
               comm.space().fence("heddle::perf::one");
               require(alone.converged, "not converged on one rank");
             });
           }});
  state.counters["sweeps"] = report.sweeps;
  if (!report.converged) {
    fail(state, "not converged");
  }
}
BENCHMARK(over_ranks)
    ->Name("eigen/double/distributed")
    ->Arg(512)
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(8192)
    ->ArgName("n")
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heddle::perf
