// Benchmarks of the transpose's variants against a streaming copy of the same bytes, in turn.
#include "support/copy.hpp"
#include "support/measure.hpp"
#include "support/operands.hpp"
#include "support/transposes.hpp"
#include <heddle/transpose/transpose.hpp>

#include <array>
#include <utility>

namespace heddle::perf {
namespace {

// Bytes read and written count, so the ratio is the share of a copy's rate.
template <Scalar T> void beside_copy(benchmark::State& state, const Shape& shape, TransposeVariant variant) {
  const Index m = extent(shape.rows);
  const Index n = extent(shape.columns);
  const ExecutionSpace& space = world().space();
  const LocalMatrix<T> A = random_local<T>(space, m, n, 1);
  const LocalMatrix<T> B("heddle::perf::B", static_cast<std::size_t>(n), static_cast<std::size_t>(m));
  const LocalMatrix<T> copied("heddle::perf::copied", static_cast<std::size_t>(m), static_cast<std::size_t>(n));
  const double bytes = bytes_moved<T>(A);
  compare(state, bytes,
          {"transpose",
           [&] { return seconds_of_one([&] { transpose(space, T(1), A, Operation::transpose, B, {variant}); }); }},
          {"copy", [&] { return seconds_of_one([&] { streaming_copy<T>(space, A, copied); }); }}, "gbytes");
  if (!is_transpose(A, B)) {
    fail(state, "not the transpose of A");
  }
}

// Transposes in place; an even number of times restores the matrix.
void in_place_beside_copy(benchmark::State& state, const Shape& shape) {
  const Index m = extent(shape.rows);
  const Index n = extent(shape.columns);
  const ExecutionSpace& space = world().space();
  const LocalMatrix<double> A = random_local<double>(space, m, n, 1);
  const Kokkos::View<double*, MemorySpace> elements("heddle::perf::elements", A.size());
  Kokkos::deep_copy(space, elements, Kokkos::View<const double*, MemorySpace>(A.data(), A.size()));
  const LocalMatrix<double> copied("heddle::perf::copied", static_cast<std::size_t>(m), static_cast<std::size_t>(n));
  Index rows = m;
  Index columns = n;
  int times = 0;
  const auto transpose_once = [&] {
    return seconds_of([&] {
      transpose_in_place(space, 1.0, elements, rows, columns, Operation::transpose);
      std::swap(rows, columns);
      ++times;
    });
  };
  compare(state, bytes_moved(A), {"in_place", transpose_once},
          {"copy", [&] { return seconds_of([&] { streaming_copy<double>(space, A, copied); }); }}, "gbytes");
  if (times % 2 == 0) {
    static_cast<void>(transpose_once());
  }
  const LocalMatrix<double> B("heddle::perf::B", static_cast<std::size_t>(n), static_cast<std::size_t>(m));
  Kokkos::deep_copy(space, Kokkos::View<double*, MemorySpace>(B.data(), B.size()), elements);
  if (!is_transpose(A, B)) {
    fail(state, "not the transpose of A");
  }
}

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

[[maybe_unused]] const bool added = [] {
  constexpr std::array<Shape, 4> shapes = {{{8192, 8192}, {8191, 8193}, {64, 1000000}, {1000000, 64}}};
  const auto add = [](const Shape& shape, TransposeVariant variant) {
    benchmark::RegisterBenchmark(benchmark_name(to_string(variant), shape).c_str(),
                                 [=](benchmark::State& state) { beside_copy<double>(state, shape, variant); })
        ->Iterations(9)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  for (const Shape& shape : shapes) {
    for (const TransposeVariant variant : {TransposeVariant::naive, TransposeVariant::tiled,
                                           TransposeVariant::tiled_padded, TransposeVariant::automatic}) {
      add(shape, variant);
    }
  }
  for (const Shape& shape : {shapes[0], shapes[1]}) {
    benchmark::RegisterBenchmark(benchmark_name("in_place", shape).c_str(),
                                 [=](benchmark::State& state) { in_place_beside_copy(state, shape); })
        ->Iterations(4)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  if (!on_host) {
    add({32768, 32768}, TransposeVariant::automatic);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf
