// Benchmarks of exact::segmented_sum and exact::keyed_sum against plain sums of the same elements, in turn.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/exact/segmented.hpp>

#include <string>

namespace heddle::perf {
namespace {

using Vector = Kokkos::View<double*, MemorySpace>;
using Keys = Kokkos::View<std::int64_t*, MemorySpace>;

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
constexpr Index length = on_host ? 10000000 : 100000000;

Vector random_numbers(Index n) {
  const Vector x(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::perf::x"), static_cast<std::size_t>(n));
  const RandomEntries random{1};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n),
      KOKKOS_LAMBDA(Index i) { x(i) = random(i, 0); });
  return x;
}
// Returns random keys, or the same number of each, in order.
Keys some_keys(Index n, Index count, bool ascending) {
  const Keys keys(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::perf::keys"), static_cast<std::size_t>(n));
  const RandomEntries random{2};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n),
      KOKKOS_LAMBDA(Index i) {
        const auto share = ascending ? static_cast<double>(i) / static_cast<double>(n) : (random(i, 0) + 1) / 2;
        const auto key = static_cast<Index>(share * static_cast<double>(count));
        keys(i) = key < count ? key : count - 1;
      });
  return keys;
}

// Sums serially on a CPU thread, like NumPy's add.at; by atomic operations on a GPU.
void plain_keyed_sum(const Vector& x, const Keys& keys, const Vector& sums) {
  const auto n = static_cast<Index>(x.extent(0));
  Kokkos::deep_copy(world().space(), sums, 0.0);
  if (on_host) {
    for (Index i = 0; i < n; ++i) sums(keys(i)) += x(i);
    return;
  }
  Kokkos::parallel_for(
      "heddle::perf::keyed", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(world().space(), 0, n),
      KOKKOS_LAMBDA(Index i) { Kokkos::atomic_add(&sums(keys(i)), x(i)); });
}
void keyed(benchmark::State& state) {
  const Index n = is_dry_run() ? 1000 : state.range(0);
  const Index count = is_dry_run() ? 100 : state.range(1);
  const Vector x = random_numbers(n);
  const Keys keys = some_keys(n, count, state.range(2) != 0);
  const Vector sums("heddle::perf::sums", static_cast<std::size_t>(count));
  const Vector plain("heddle::perf::plain", static_cast<std::size_t>(count));
  compare(state, 16.0 * static_cast<double>(n),
          {"exact", [&] { return seconds_of([&] { exact::keyed_sum(world().space(), x, keys, sums); }); }},
          {"plain", [&] { return seconds_of([&] { plain_keyed_sum(x, keys, plain); }); }}, "gbytes");
}
BENCHMARK(keyed)
    ->Name("exact/double/keyed_sum")
    ->ArgsProduct({{length}, {1, 1000, 100000, 1000000}, {0, 1}})
    ->ArgNames({"n", "keys", "ascending"})
    ->Iterations(7)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// Sums with a thread for each segment.
void plain_segmented_sum(const Vector& x, const Keys& offsets, const Vector& sums) {
  Kokkos::parallel_for(
      "heddle::perf::segmented",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(world().space(), 0,
                                                                    static_cast<Index>(sums.extent(0))),
      KOKKOS_LAMBDA(Index s) {
        double sum = 0;
        for (Index k = offsets(s); k < offsets(s + 1); ++k) sum += x(k);
        sums(s) = sum;
      });
}
void segmented(benchmark::State& state) {
  const Index n = is_dry_run() ? 1000 : state.range(0);
  const Index each = is_dry_run() ? 10 : state.range(1);
  const Index count = n / each;
  const Vector x = random_numbers(n);
  const Keys offsets("heddle::perf::offsets", static_cast<std::size_t>(count) + 1);
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, count + 1),
      KOKKOS_LAMBDA(Index s) { offsets(s) = s * each; });
  const Vector sums("heddle::perf::sums", static_cast<std::size_t>(count));
  const Vector plain("heddle::perf::plain", static_cast<std::size_t>(count));
  compare(state, 8.0 * static_cast<double>(n + 2 * count),
          {"exact", [&] { return seconds_of([&] { exact::segmented_sum(world().space(), x, offsets, sums); }); }},
          {"plain", [&] { return seconds_of([&] { plain_segmented_sum(x, offsets, plain); }); }}, "gbytes");
}
BENCHMARK(segmented)
    ->Name("exact/double/segmented_sum")
    ->ArgsProduct({{length}, {4, 30, 1000, 100000}})
    ->ArgNames({"n", "each"})
    ->Iterations(7)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heddle::perf
