// Benchmarks of the library's own vector kernels and small products against Kokkos Kernels', in turn:
// docs/notes/host-and-device.md has the table.
#include "expm/batched/batched_matrices.hpp"
#include "expm/thin/blocks.hpp"
#include "support/measure.hpp"
#include <heddle/blas/blas.hpp>

#include <KokkosBatched_Gemm_Decl.hpp>
#include <KokkosBatched_Gemm_Serial_Impl.hpp>
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosBlas2_gemv.hpp>
#include <KokkosBlas3_gemm.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace heddle::perf {
namespace {

using Block = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;

Block filled(Index rows, Index columns) {
  const Block X("heddle::perf::block", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  Kokkos::parallel_for(
      "heddle::perf::fill",
      Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<2>>(world().space(), {0, 0}, {rows, columns}),
      KOKKOS_LAMBDA(Index i, Index j) { X(i, j) = 1.0 / static_cast<double>(1 + (i * 7 + j * 13) % 1001); });
  world().space().fence("heddle::perf::fill");
  return X;
}

// Times both in turn, with enough calls a turn to take a millisecond. The counter `ratio` is Kokkos Kernels' speed over
// ours.
template <class Ours, class Theirs>
void beside(benchmark::State& state, double flops, const Ours& ours, const Theirs& theirs) {
  const auto seconds = [](const auto& call, int count) {
    return seconds_of([&] {
      for (int k = 0; k < count; ++k) call();
    });
  };
  ours();
  const int count = is_dry_run() ? 1 : std::clamp(static_cast<int>(3e-3 / seconds(ours, 3)), 1, 1000);
  compare(state, flops * count, {"kokkos_kernels", [&] { return seconds(theirs, count); }},
          {"heddle", [&] { return seconds(ours, count); }});
}

void axpby(benchmark::State& state, Index n) {
  const Block X = filled(n, 1);
  const Block Y = filled(n, 1);
  beside(
      state, 3.0 * static_cast<double>(n),
      [&] {
        impl::add_scaled<double>(world().space(), 1.0 / 3.0, MatrixView<const double>(X), 0.5, MatrixView<double>(Y));
      },
      [&] { KokkosBlas::axpby(world().space(), 1.0 / 3.0, X, 0.5, Y); });
}

void dot(benchmark::State& state, Index n) {
  const Block X = filled(n, 1);
  const Block Y = filled(n, 1);
  impl::BlockColumns<double> columns(world().space());
  beside(
      state, 2.0 * static_cast<double>(n),
      [&] { benchmark::DoNotOptimize(columns.dots(MatrixView<const double>(X), MatrixView<const double>(Y)).front()); },
      [&] {
        benchmark::DoNotOptimize(
            KokkosBlas::dot(world().space(), Kokkos::subview(X, Kokkos::ALL, 0), Kokkos::subview(Y, Kokkos::ALL, 0)));
      });
}

void nrm2(benchmark::State& state, Index n) {
  const Block X = filled(n, 1);
  impl::BlockColumns<double> columns(world().space());
  beside(
      state, 2.0 * static_cast<double>(n),
      [&] { benchmark::DoNotOptimize(columns.norms(MatrixView<const double>(X)).front()); },
      [&] { benchmark::DoNotOptimize(KokkosBlas::nrm2(world().space(), Kokkos::subview(X, Kokkos::ALL, 0))); });
}

// y = V f + y, as in a step of the Arnoldi process.
void gemv(benchmark::State& state, Index n) {
  constexpr Index count = 24;
  const Block V = filled(n, count);
  const Block y = filled(n, 1);
  const std::vector<double> factors(static_cast<std::size_t>(count), 1e-3);
  const std::vector<double> own = {0.5};
  const Kokkos::View<double*, MemorySpace> f("heddle::perf::factors", static_cast<std::size_t>(count));
  Kokkos::deep_copy(f, 1e-3);
  impl::BlockColumns<double> columns(world().space());
  beside(
      state, 2.0 * static_cast<double>(n * count),
      [&] { columns.combine(own, MatrixView<double>(y), factors, MatrixView<const double>(V)); },
      [&] { KokkosBlas::gemv(world().space(), "N", 1.0, V, f, 0.5, Kokkos::subview(y, Kokkos::ALL, 0)); });
}

void gemm(benchmark::State& state, Index n) {
  const Block A = filled(n, n);
  const Block B = filled(n, n);
  const Block C = filled(n, n);
  const blas::Context context(world().space());
  beside(
      state, 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n),
      [&] {
        blas::gemm<double>(context, Operation::none, Operation::none, 1.0, MatrixView<const double>(A),
                           MatrixView<const double>(B), 0.0, MatrixView<double>(C));
      },
      [&] { KokkosBlas::gemm(world().space(), "N", "N", 1.0, A, B, 0.0, C); });
}

// 256 products of small matrices, a team each.
void gemm_batched(benchmark::State& state, int n) {
  constexpr int count = 256;
  const impl::SmallMatrices<double> small(n);
  const auto elements = static_cast<std::size_t>(small.elements());
  const Kokkos::View<double*, MemorySpace> A("heddle::perf::A", count * elements);
  const Kokkos::View<double*, MemorySpace> B("heddle::perf::B", count * elements);
  const Kokkos::View<double*, MemorySpace> C("heddle::perf::C", count * elements);
  Kokkos::deep_copy(A, 0.5);
  Kokkos::deep_copy(B, 0.25);
  using Teams = Kokkos::TeamPolicy<ExecutionSpace>;
  using One = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  beside(
      state, 2.0 * count * n * n * n,
      [&] {
        Kokkos::parallel_for(
            "heddle::perf::small_products", Teams(world().space(), count, 1),
            KOKKOS_LAMBDA(const Teams::member_type& team) {
              const std::size_t at = static_cast<std::size_t>(team.league_rank()) * elements;
              small.multiply(team, A.data() + at, B.data() + at, false, C.data() + at);
            });
      },
      [&] {
        Kokkos::parallel_for(
            "heddle::perf::serial_gemm", Teams(world().space(), count, 1),
            KOKKOS_LAMBDA(const Teams::member_type& team) {
              const std::size_t at = static_cast<std::size_t>(team.league_rank()) * elements;
              const auto matrix = [n](double* first) {
                return One(first, static_cast<std::size_t>(n), static_cast<std::size_t>(n));
              };
              KokkosBatched::SerialGemm<KokkosBatched::Trans::NoTranspose, KokkosBatched::Trans::NoTranspose,
                                        KokkosBatched::Algo::Gemm::Blocked>::invoke(1.0, matrix(A.data() + at),
                                                                                    matrix(B.data() + at), 0.0,
                                                                                    matrix(C.data() + at));
            });
      });
}

void enter(const std::string& name, void (*body)(benchmark::State&, Index), std::initializer_list<Index> sizes) {
  for (const Index n : sizes) {
    benchmark::RegisterBenchmark((name + "/n:" + std::to_string(n)).c_str(),
                                 [body, n](benchmark::State& state) { body(state, extent(n)); });
  }
}

const bool registered = [] {
  enter("kokkos_kernels/axpby", axpby, {1000, 100000, 4000000});
  enter("kokkos_kernels/dot", dot, {1000, 100000, 4000000});
  enter("kokkos_kernels/nrm2", nrm2, {1000, 100000, 4000000});
  enter("kokkos_kernels/gemv", gemv, {1000, 100000, 1000000});
  enter("kokkos_kernels/gemm", gemm, {64, 512, 1024});
  enter("kokkos_kernels/gemm_batched",
        [](benchmark::State& state, Index n) { gemm_batched(state, static_cast<int>(n)); }, {8, 16, 32, 64});
  return true;
}();

}  // namespace
}  // namespace heddle::perf
