// The machine's rates, measured if they are not known.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/support/options/option_kinds.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/gemm/tile_model.hpp>
#include <heddle/tuning/rates.hpp>

namespace heddle::driver {

/// Return the rates kept for this machine and job size; measure, keep and announce them if there are none. Collective.
/// If the cache folder can't be written, a line says so. Rates of another math mode than auto are measured each time
/// and not kept, except on CPUs, where `plain` is auto.
template <Scalar T>
[[nodiscard]] MachineRates known_rates(const Context& context, MathMode math = MathMode::automatic) {
  constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
  const Communicator& comm = context.comm();
  const bool kept = math == MathMode::automatic || on_host;
  if (kept) {
    if (auto rates = load_rates<T>(comm)) return *rates;
  }
  context.say(kept ? "measuring this machine's rates, once (heddle tune does it again)"
                   : "measuring this machine's rates in the math mode " + option_name(math));
  Progress progress = context.progress("rates");
  MachineRates rates = measure_rates<T>(
      comm, 2.0, [&](double share) { progress.update(share); }, math);
  progress.finish();
  if (!kept) return rates;
  try {
    save_rates<T>(comm, rates);
  } catch (const Error& error) {
    context.say(format("rates not kept: %s", error.what()));
  }
  return rates;
}

/// All figures as an object of a report.
[[nodiscard]] inline nlohmann::ordered_json json_of(const MachineRates& rates) {
  auto points = nlohmann::ordered_json::array();
  for (const auto& point : rates.gemm) {
    points.push_back({{"tile", point.tile}, {"gflops", point.flops / 1e9}, {"warm_gflops", point.warm_flops / 1e9}});
  }
  auto emulated = nlohmann::ordered_json::array();
  for (const auto& point : rates.emulated) emulated.push_back({{"tile", point.tile}, {"gflops", point.flops / 1e9}});
  auto warm = nlohmann::ordered_json::array();
  for (const auto& point : rates.warm) warm.push_back({{"seconds", point.seconds}, {"warmth", point.warmth}});
  return {{"gemm", points},
          {"warm", warm},
          {"emulated", emulated},
          {"gemm_gflops", rates.peak_flops() / 1e9},
          {"memory_gbytes_per_second", rates.memory_bandwidth / 1e9},
          {"link_gbytes_per_second", rates.link_bandwidth / 1e9},
          {"node_gbytes_per_second", rates.node_bandwidth / 1e9},
          {"latency_seconds", rates.latency},
          {"overlap", rates.overlap},
          {"node_overlap", rates.node_overlap},
          {"host_gbytes_per_second", rates.host_bandwidth / 1e9},
          {"host_both_ways_gbytes_per_second", rates.host_bandwidth_both_ways / 1e9}};
}

}  // namespace heddle::driver
