// Rates of typical machines, for plans that are given none.
#include "comm/vendor/mappings.hpp"
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include <heddle/comm/transport.hpp>
#include <heddle/gemm/tile_model.hpp>

#include <algorithm>
#include <array>
#include <type_traits>

namespace heddle {
namespace {

constexpr double giga = 1e9;

// Operations per second of one thread of a server's CPU with 256-bit vectors, and how much of it products reach by
// tile.
template <Scalar T> MachineRates typical_of_threads(int threads) {
  const double peak = 24 * giga * threads * (std::is_same_v<Real<T>, float> ? 2.0 : 1.0);
  MachineRates rates;
  for (const auto& [tile, share] :
       {std::pair<Index, double>{32, 0.45}, {64, 0.65}, {128, 0.8}, {256, 0.9}, {512, 0.96}, {1024, 1.0}}) {
    rates.gemm.push_back({tile, share * peak});
    // Without instructions for 8-bit integers, which not every CPU has.
    rates.emulated.push_back({tile, 0.2 * share * peak});
  }
  rates.memory_bandwidth = 8 * giga * std::min(threads, 16);
  rates.link_bandwidth = 5 * giga;
  rates.latency = 2e-6;
  return rates;
}

}  // namespace

template <Scalar T> MachineRates h200_rates(double node_bandwidth) {
  MachineRates rates;
  constexpr bool single = std::is_same_v<Real<T>, float>;
  // By tile 256, 512, 1024, 2048, 4096 and 8192.
  using Six = std::array<double, 6>;
  const Six native = is_complex<T> ? (single ? Six{27, 44, 52, 53.5, 55, 55.5} : Six{47, 57, 58, 60, 60, 60})
                                   : (single ? Six{20, 37, 48.5, 50, 51, 52} : Six{33, 50, 57, 59, 60, 61});
  Index tile = 256;
  for (const double each : native) {
    rates.gemm.push_back({tile, 1e3 * giga * each});
    tile *= 2;
  }
  // By tile 2048, 4096, 8192 and 16384.
  using Four = std::array<double, 4>;
  const Four emulated = is_complex<T> ? (single ? Four{90, 192, 267, 296} : Four{48, 87, 119, 137})
                                      : (single ? Four{37, 84, 124, 158} : Four{26, 51, 68, 77});
  tile = 2048;
  for (const double each : emulated) {
    rates.emulated.push_back({tile, 1e3 * giga * each});
    tile *= 2;
  }
  rates.memory_bandwidth = 4e3 * giga;
  rates.link_bandwidth = 350 * giga;
  rates.node_bandwidth = node_bandwidth;
  rates.latency = 2e-5;
  rates.overlap = rates.node_overlap = 1.0;
  rates.host_bandwidth = 50 * giga;
  rates.host_bandwidth_both_ways = 80 * giga;
  return rates;
}

template <Scalar T> MachineRates typical_rates(const Communicator& comm) {
  MachineRates rates;
  if constexpr (impl::on_host) {
    // The fewest threads of any rank: all take the same tile.
    rates = typical_of_threads<T>(comm.all_reduce(comm.space().concurrency(), Reduction::minimum));
  } else {
    rates = h200_rates<T>(0.0);
    if (transport_of(comm).kind(comm.rank()) != TransportKind::peer) rates.link_bandwidth = 20 * giga;
  }
  if (comm.size() == 1) rates.link_bandwidth = rates.latency = rates.overlap = 0.0;
  return rates;
}

#define HEDDLE_INSTANTIATE(T)                  \
  template MachineRates h200_rates<T>(double); \
  template MachineRates typical_rates<T>(const Communicator&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
