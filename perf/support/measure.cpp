// Timing and energy of work that all ranks do together.
#include "support/measure.hpp"

#include "support/energy.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

namespace heddle::perf {
namespace {

// Counter of this rank's device. On CPUs the ranks of a node share one counter, which its first rank reads.
std::unique_ptr<EnergyCounter> own_counter() {
#if defined(KOKKOS_ENABLE_CUDA)
  const auto& device = world().space().cuda_device_prop();
  char bus_id[32];
  std::snprintf(bus_id, sizeof bus_id, "%08x:%02x:%02x.0", static_cast<unsigned>(device.pciDomainID),
                static_cast<unsigned>(device.pciBusID), static_cast<unsigned>(device.pciDeviceID));
  return nvml_counter(bus_id);
#elif defined(KOKKOS_ENABLE_HIP)
  return nullptr;
#else
  return rapl_counter();
#endif
}

bool counts_energy() {
  return !Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible || world().node_rank() == 0;
}

}  // namespace

double seconds_of(const std::function<void()>& work) {
  world().space().fence("heddle::perf::begin");
  world().barrier();
  const Kokkos::Timer timer;
  work();
  world().space().fence("heddle::perf::end");
  return world().all_reduce(timer.seconds(), Reduction::maximum);
}

double seconds_of_rank_0(const std::function<void()>& work) {
  world().space().fence("heddle::perf::begin");
  world().barrier();
  double seconds = 0.0;
  if (world().rank() == 0) {
    const Kokkos::Timer timer;
    work();
    seconds = timer.seconds();
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(world().native(), &request);
  for (int done = 0; done == 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  world().broadcast(std::span<double>(&seconds, 1), 0);
  return seconds;
}

std::optional<double> joules_of(const std::function<void()>& work) {
  const std::unique_ptr<EnergyCounter> counter = counts_energy() ? own_counter() : nullptr;
  const bool missing = counts_energy() && !counter;
  if (world().all_reduce(missing ? 1 : 0, Reduction::maximum) > 0) return {};
  constexpr double long_enough = 2.0;
  static_cast<void>(seconds_of(work));
  const std::optional<double> before = counter ? counter->joules() : 0.0;
  double seconds = 0.0;
  int runs = 0;
  do {
    seconds += seconds_of(work);
    ++runs;
  } while (seconds < long_enough && !is_dry_run());
  const std::optional<double> after = counter ? counter->joules() : 0.0;
  const bool failed = !before || !after;
  if (world().all_reduce(failed ? 1 : 0, Reduction::maximum) > 0) return {};
  return world().all_reduce(*after - *before, Reduction::sum) / runs;
}

void count_joules(benchmark::State& state, const std::string& name, const std::function<void()>& work, int runs) {
  if (const std::optional<double> joules = joules_of(work)) {
    state.counters[name.empty() ? "joules" : "joules_" + name] = *joules / runs;
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void compare(benchmark::State& state, double flops, const Contender& first, const Contender& second,
             const std::string& unit) {
  std::vector<double> times_first;
  std::vector<double> times_second;
  std::vector<double> ratios;
  const double flops_first = first.flops > 0.0 ? first.flops : flops;
  const double flops_second = second.flops > 0.0 ? second.flops : flops;
  static_cast<void>(first.seconds());
  static_cast<void>(second.seconds());
  for ([[maybe_unused]] auto iteration : state) {
    times_first.push_back(first.seconds());
    times_second.push_back(second.seconds());
    ratios.push_back(flops_first / times_first.back() / (flops_second / times_second.back()));
    state.SetIterationTime(times_first.back());
  }
  const double best_first = flops_first / *std::min_element(times_first.begin(), times_first.end()) / 1e9;
  const double best_second = flops_second / *std::min_element(times_second.begin(), times_second.end()) / 1e9;
  state.counters[unit + '_' + first.name] = flops_first / median(times_first) / 1e9;
  state.counters[unit + '_' + second.name] = flops_second / median(times_second) / 1e9;
  state.counters[unit + "_best_" + first.name] = best_first;
  state.counters[unit + "_best_" + second.name] = best_second;
  state.counters["ratio"] = median(ratios);
  state.counters["ratio_min"] = *std::min_element(ratios.begin(), ratios.end());
  state.counters["ratio_max"] = *std::max_element(ratios.begin(), ratios.end());
  state.counters["ratio_best"] = best_first / best_second;
}

}  // namespace heddle::perf
