// Benchmarks of exact::keyed_sum against CUB's sums of runs of equal keys, which round every addition, in turn. CUB
// sorts pairs of keys and numbers first if keys are unordered.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/exact/segmented.hpp>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace heddle::perf {
namespace {

template <class T> using List = Kokkos::View<T*, MemorySpace>;

struct Sum {
  template <class T> KOKKOS_FUNCTION T operator()(const T& x, const T& y) const { return x + y; }
};

// Operands of CUB: sorted keys and values, a sum for each key present, and workspace.
template <class T> class Runs {
 public:
  Runs(const List<std::int32_t>& keys, const List<T>& x, Index count, bool sorted)
      : keys_(keys),
        x_(x),
        sorted_keys_("heddle::perf::sorted_keys", keys.extent(0)),
        sorted_x_("heddle::perf::sorted_x", keys.extent(0)),
        unique_("heddle::perf::unique", keys.extent(0)),
        sums_("heddle::perf::runs", keys.extent(0)),
        runs_("heddle::perf::number", 1),
        bits_(std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1))))),
        sorted_(sorted) {
    std::size_t for_sort = 0;
    std::size_t for_sums = 0;
    sort(nullptr, for_sort);
    reduce(nullptr, for_sums);
    bytes_ = std::max(for_sort, for_sums);
    memory_ = List<char>("heddle::perf::memory", bytes_);
  }
  void operator()() {
    if (!sorted_) sort(memory_.data(), bytes_);
    reduce(memory_.data(), bytes_);
  }
  [[nodiscard]] const List<T>& sums() const { return sums_; }
  [[nodiscard]] const List<std::int32_t>& unique() const { return unique_; }
  [[nodiscard]] Index count() const {
    int found = 0;
    Kokkos::deep_copy(found, Kokkos::subview(runs_, 0));
    return found;
  }

 private:
  void sort(void* memory, std::size_t& bytes) {
    check_cuda(cub::DeviceRadixSort::SortPairs(memory, bytes, keys_.data(), sorted_keys_.data(), x_.data(),
                                               sorted_x_.data(), static_cast<int>(keys_.extent(0)), 0, bits_,
                                               world().space().cuda_stream()));
  }
  void reduce(void* memory, std::size_t& bytes) {
    check_cuda(cub::DeviceReduce::ReduceByKey(memory, bytes, sorted_ ? keys_.data() : sorted_keys_.data(),
                                              unique_.data(), sorted_ ? x_.data() : sorted_x_.data(), sums_.data(),
                                              runs_.data(), Sum{}, static_cast<int>(keys_.extent(0)),
                                              world().space().cuda_stream()));
  }
  static void check_cuda(cudaError_t status) {
    if (status != cudaSuccess) throw Error(ErrorKind::computation, cudaGetErrorString(status));
  }

  List<std::int32_t> keys_;
  List<T> x_;
  List<std::int32_t> sorted_keys_;
  List<T> sorted_x_;
  List<std::int32_t> unique_;
  List<T> sums_;
  List<int> runs_;
  int bits_;
  bool sorted_;
  std::size_t bytes_ = 0;
  List<char> memory_;
};

template <class T> List<T> numbers(Index n) {
  const List<T> x("heddle::perf::x", static_cast<std::size_t>(n));
  const RandomEntries random{1};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n),
      KOKKOS_LAMBDA(Index i) { x(i) = static_cast<T>(random(i, 0)); });
  return x;
}
// Returns random keys, or the same number of each, in order.
List<std::int32_t> keys_of(Index n, Index count, bool ascending) {
  const List<std::int32_t> keys("heddle::perf::keys", static_cast<std::size_t>(n));
  const RandomEntries random{2};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n),
      KOKKOS_LAMBDA(Index i) {
        const double share = ascending ? static_cast<double>(i) / static_cast<double>(n) : (random(i, 0) + 1) / 2;
        const auto key = static_cast<Index>(share * static_cast<double>(count));
        keys(i) = static_cast<std::int32_t>(key < count ? key : count - 1);
      });
  return keys;
}

// Returns the largest difference of the two, for keys that CUB found.
template <class T> double difference(const List<T>& exact, const Runs<T>& runs) {
  const List<T> sums = runs.sums();
  const List<std::int32_t> unique = runs.unique();
  double off = 0;
  Kokkos::parallel_reduce(
      "heddle::perf::off", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, runs.count()),
      KOKKOS_LAMBDA(Index r, double& largest) {
        largest = Kokkos::max(largest, static_cast<double>(Kokkos::abs(sums(r) - exact(unique(r)))));
      },
      Kokkos::Max<double>(off));
  return off;
}

// range(0): elements, range(1): keys, range(2): whether keys are in ascending order.
template <class T> void keyed(benchmark::State& state) {
  const Index n = is_dry_run() ? 1000 : state.range(0);
  const Index count = is_dry_run() ? 100 : state.range(1);
  const bool ascending = state.range(2) != 0;
  const List<T> x = numbers<T>(n);
  const List<std::int32_t> keys = keys_of(n, count, ascending);
  const List<T> sums("heddle::perf::sums", static_cast<std::size_t>(count));
  Runs<T> runs(keys, x, count, ascending);
  exact::KeyedSumPlan plan(world().space());  // Both sides reuse their memory.
  compare(state, static_cast<double>(sizeof(T) + sizeof(std::int32_t)) * static_cast<double>(n),
          {"exact", [&] { return seconds_of([&] { plan.execute(x, keys, sums); }); }},
          {"cub", [&] { return seconds_of([&] { runs(); }); }}, "gbytes");
  // A sum of n / count numbers below 1, with as many roundings.
  const double terms = static_cast<double>(n) / static_cast<double>(count) + 100;
  if (!(difference<T>(sums, runs) <= 4 * terms * terms * static_cast<double>(std::numeric_limits<T>::epsilon()))) {
    fail(state, "the two results differ");
  }
}
void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgsProduct({{100000000}, {1000, 100000, 1000000, 10000000}, {0, 1}})
      ->ArgNames({"n", "keys", "ascending"});
  benchmark->Iterations(7)->UseManualTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(keyed<double>)->Name("exact/double/keyed_sum_beside_cub")->Apply(sizes);
BENCHMARK(keyed<float>)->Name("exact/float/keyed_sum_beside_cub")->Apply(sizes);

}  // namespace
}  // namespace heddle::perf
