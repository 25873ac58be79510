// Benchmarks of exact::sum and exact::dot against plain ones, in turn.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/exact/reduce.hpp>

#include <array>
#include <string>

namespace heddle::perf {
namespace {

using Vector = Kokkos::View<double*, MemorySpace>;

// Returns numbers in (-1, 1) times powers of two up to 2^+-range; `cancels`: the second half is the first negated.
Vector numbers(Index n, int range, bool cancels, int seed) {
  const Vector x(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::perf::x"), static_cast<std::size_t>(n));
  const RandomEntries random{seed};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n),
      KOKKOS_LAMBDA(Index k) {
        const bool negated = cancels && k >= n / 2;
        const Index i = negated ? k - n / 2 : k;
        const double power = range == 0 ? 1.0 : Kokkos::exp2(Kokkos::floor(range * random(i, 1)));
        x(k) = (negated ? -1.0 : 1.0) * power * random(i, 0);
      });
  return x;
}

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
constexpr Index length = on_host ? 10000000 : 100000000;

// Returns the sum of term(k), k < n, vectorised by hand: no compiler reorders a plain loop's additions.
template <class Term> double plain_sum(Index n, const Term& term) {
  const ExecutionSpace& space = world().space();
  double total = 0;
  if constexpr (on_host) {
    constexpr Index lanes = 32;
    const Index parts = space.concurrency();
    Kokkos::parallel_reduce(
        "heddle::perf::sum", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, parts),
        [&](Index part, double& sum) {
          const Index end = n * (part + 1) / parts;
          double sums[lanes] = {};
          Index k = n * part / parts;
          for (; k + lanes <= end; k += lanes) {
            for (Index l = 0; l < lanes; ++l) {
              sums[l] += term(k + l);
            }
          }
          for (; k < end; ++k) {
            sum += term(k);
          }
          for (const double lane : sums) {
            sum += lane;
          }
        },
        total);
  } else {
    Kokkos::parallel_reduce(
        "heddle::perf::sum", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n),
        KOKKOS_LAMBDA(Index k, double& sum) { sum += term(k); }, total);
  }
  return total;
}
struct Element {
  const double* x;
  KOKKOS_INLINE_FUNCTION double operator()(Index k) const { return x[k]; }
};
struct Product {
  const double* x;
  const double* y;
  KOKKOS_INLINE_FUNCTION double operator()(Index k) const { return x[k] * y[k]; }
};

struct Data {
  const char* name;
  int range;
  bool cancels;
};
constexpr std::array<Data, 4> all_data = {
    {{"benign", 0, false}, {"range_100", 100, false}, {"cancelling", 0, true}, {"range_500_cancelling", 500, true}}};

// Returns factors for numbers(); if these cancel, the second half repeats the first.
Vector factors(Index n, const Data& data, int seed) {
  const Vector y = numbers(n, data.range, false, seed);
  if (data.cancels) {
    Kokkos::parallel_for(
        "heddle::perf::repeat", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n / 2),
        KOKKOS_LAMBDA(Index k) { y(n / 2 + k) = y(k); });
  }
  return y;
}

void sum_beside_plain(benchmark::State& state, const Data& data) {
  const Index n = is_dry_run() ? 1000 : state.range(0);
  const Vector x = numbers(n, data.range, data.cancels, 1);
  double plain = 0;
  double exact = 0;
  compare(state, 8.0 * static_cast<double>(n),
          {"exact", [&] { return seconds_of([&] { exact = exact::sum(world().space(), x); }); }},
          {"plain", [&] { return seconds_of([&] { plain = plain_sum(n, Element{x.data()}); }); }}, "gbytes");
  if (data.cancels && n % 2 == 0 && exact != 0) {
    fail(state, "what cancels is not zero");
  }
}

void dot_beside_plain(benchmark::State& state, const Data& data) {
  const Index n = is_dry_run() ? 1000 : state.range(0);
  const Vector x = numbers(n, data.range, data.cancels, 1);
  const Vector y = factors(n, data, 2);
  double plain = 0;
  double exact = 0;
  compare(state, 16.0 * static_cast<double>(n),
          {"exact", [&] { return seconds_of([&] { exact = exact::dot(world().space(), x, y); }); }},
          {"plain", [&] { return seconds_of([&] {
                            plain = plain_sum(n, Product{x.data(), y.data()});
                          }); }}, "gbytes");
  if (data.cancels && n % 2 == 0 && exact != 0) {
    fail(state, "what cancels is not zero");
  }
}

// Compares bytes per second with those of a copy, the ceiling of both.
void beside_copy(benchmark::State& state, const Data& data) {
  const Index n = is_dry_run() ? 1000 : state.range(0);
  const bool is_dot = state.range(1) != 0;
  const Vector x = numbers(n, data.range, data.cancels, 1);
  const Vector y = factors(n, data, 2);
  const double bytes = (is_dot ? 16.0 : 8.0) * static_cast<double>(n);
  double exact = 0;
  const Contender ours{
      "exact", [&] {
        return seconds_of([&] { exact = is_dot ? exact::dot(world().space(), x, y) : exact::sum(world().space(), x); });
      }};
  const Vector target("heddle::perf::copy", x.extent(0));
  compare(state, bytes, ours,
          {"copy", [&] { return seconds_of([&] { Kokkos::deep_copy(world().space(), target, x); }); },
           16.0 * static_cast<double>(n)},
          "gbytes");
  if (data.cancels && n % 2 == 0 && exact != 0) {
    fail(state, "what cancels is not zero");
  }
}

[[maybe_unused]] const bool added = [] {
  for (const Data& data : all_data) {
    // The benchmark of benign numbers has no suffix.
    const std::string of_data = std::string(data.name) == "benign" ? "" : '/' + std::string(data.name);
    benchmark::RegisterBenchmark(("exact/double/beside_copy" + of_data).c_str(),
                                 [&data](benchmark::State& state) { beside_copy(state, data); })
        ->ArgsProduct({{length}, {0, 1}})
        ->ArgNames({"n", "dot"})
        ->Iterations(9)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    for (const auto& [name, run] : {std::pair("sum", &sum_beside_plain), std::pair("dot", &dot_beside_plain)}) {
      benchmark::RegisterBenchmark(("exact/double/" + std::string(name) + '/' + data.name).c_str(),
                                   [&data, run = run](benchmark::State& state) { run(state, data); })
          ->Arg(length)
          ->ArgName("n")
          ->Iterations(9)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf
