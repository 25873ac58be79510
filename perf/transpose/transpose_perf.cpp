// The transpose's variants beside a streaming copy of the same bytes, in turn.
#include "support/copy.hpp"
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/transpose/transpose.hpp>

#include <array>
#include <string>

namespace heddle::perf {
namespace {

struct Shape {
  Index rows;
  Index columns;
};

template <Transposable T> bool is_transpose(const LocalMatrix<T>& A, const LocalMatrix<T>& B) {
  Index wrong = 0;
  Kokkos::parallel_reduce(
      "heddle::perf::is_transpose",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(world().space(), 0,
                                                                    static_cast<Index>(A.extent(1))),
      KOKKOS_LAMBDA(Index j, Index & count) {
        for (std::size_t i = 0; i < A.extent(0); ++i) {
          count += B(j, i) == A(i, j) ? 0 : 1;
        }
      },
      wrong);
  return wrong == 0;
}

// Bytes read and written count, so the ratio is the share of a copy's rate.
template <Scalar T> void beside_copy(benchmark::State& state, const Shape& shape, TransposeVariant variant) {
  const Index m = extent(shape.rows);
  const Index n = extent(shape.columns);
  const ExecutionSpace& space = world().space();
  const LocalMatrix<T> A = random_local<T>(space, m, n, 1);
  const LocalMatrix<T> B("heddle::perf::B", static_cast<std::size_t>(n), static_cast<std::size_t>(m));
  const LocalMatrix<T> copied("heddle::perf::copied", static_cast<std::size_t>(m), static_cast<std::size_t>(n));
  const double bytes = 2.0 * static_cast<double>(m) * static_cast<double>(n) * sizeof(T);
  // compare() speaks of operations; here they are bytes.
  compare(
      state, bytes,
      {"transpose", [&] { return seconds_of([&] { transpose(space, T(1), A, Operation::transpose, B, {variant}); }); }},
      {"copy", [&] { return seconds_of([&] { streaming_copy<T>(space, A, copied); }); }});
  if (!is_transpose(A, B)) {
    fail(state, "not the transpose of A");
  }
}

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

[[maybe_unused]] const bool added = [] {
  constexpr std::array<Shape, 4> shapes = {{{8192, 8192}, {8191, 8193}, {64, 1000000}, {1000000, 64}}};
  const auto add = [](const Shape& shape, TransposeVariant variant) {
    benchmark::RegisterBenchmark(("transpose/double/" + std::string(to_string(variant)) + '/' +
                                  std::to_string(shape.rows) + 'x' + std::to_string(shape.columns))
                                     .c_str(),
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
  if (!on_host) {
    add({32768, 32768}, TransposeVariant::automatic);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf
