// Tile model: predicted time of a product.
#include "gemm/plan/predict.hpp"

#include "comm/vendor/vendor.hpp"
#include "core/elementwise.hpp"
#include "gemm/plan/arguments.hpp"
#include "gemm/plan/cut.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace heddle::impl {
namespace {

// An operand and the order in which each rank loads its bands.
struct OperandLoads {
  const Placement& placement;
  const CutOperand& cut;
  bool for_all_ranks;                   // Whether each band goes to all ranks.
  std::vector<std::vector<int>> loads;  // Numbers of the bands by rank: close together, since they are read often.

  OperandLoads(const Product& product, const PlanOperand& operand, const CutOperand& cut_operand, bool all,
               const std::vector<RankSchedule>& schedules)
      : placement(product.*operand.placement), cut(cut_operand), for_all_ranks(all) {
    for (const RankSchedule& schedule : schedules) {
      std::vector<int>& bands = loads.emplace_back();
      bands.reserve((schedule.*operand.loads).size());
      for (const Load& load : schedule.*operand.loads) bands.push_back(load.band);
    }
  }

  [[nodiscard]] bool has(std::size_t number, std::size_t rank) const { return number < loads[rank].size(); }
  [[nodiscard]] int band(std::size_t number, std::size_t rank) const { return loads[rank][number]; }
  // Pieces of a rank's `number`th band.
  [[nodiscard]] const std::vector<CutPiece>& pieces(std::size_t number, std::size_t rank) const {
    return cut.bands[static_cast<std::size_t>(band(number, rank))].pieces;
  }
  // Rank that sends `rank` a piece of its `number`th band.
  [[nodiscard]] int source(std::size_t number, std::size_t rank, const CutPiece& piece) const {
    return cut.relays.source(static_cast<int>(rank), band(number, rank), piece.owner);
  }
  // Whether any of a rank's `number`th band comes from another rank.
  [[nodiscard]] bool travels(std::size_t number, std::size_t rank) const {
    if (!has(number, rank)) return false;
    const std::vector<CutPiece>& of_band = pieces(number, rank);
    return std::any_of(of_band.begin(), of_band.end(),
                       [&](const CutPiece& piece) { return piece.owner != static_cast<int>(rank); });
  }
};

// Seconds that each load of a rank takes to arrive once it has begun. Ranks that load from one owner at the same place
// of their sequences share its link (a rank that loads a band of `other` at that place too counts half): ranks of its
// node share the link within the node, all others the link between nodes. A band from host memory crosses its owner's
// bus first, those of several owners side by side.
std::vector<std::vector<double>> transfer_seconds(const MachineRates& rates, const ElementCost& cost,
                                                  const Product& product, const OperandLoads& operand,
                                                  const OperandLoads& other, double bus) {
  const Placement& placement = operand.placement;
  const std::size_t ranks = operand.loads.size();
  std::size_t longest = 0;
  std::vector<std::vector<double>> seconds;
  for (const std::vector<int>& of_rank : operand.loads) {
    longest = std::max(longest, of_rank.size());
    seconds.emplace_back(of_rank.size(), 0.0);
  }
  const std::array<double, 2> bandwidth = {bandwidth_between(rates, true), bandwidth_between(rates, false)};
  const int owners = operand.for_all_ranks ? placement.rank_end() - placement.first_rank() : 1;
  const bool from_host = placement.residence() == Residence::host && bus > 0.0;
  // Some places at a time: those of a rank lie together in memory, and the readers of all ranks fit a cache.
  constexpr std::size_t together = 64;
  // Twice the readers by place, source and way: those on its own node, and those on others.
  std::vector<int> readers(2 * together * ranks);
  std::vector<std::uint32_t> ways;  // Place in `readers` of each piece that travels.
  for (std::size_t first = 0; first < longest; first += together) {
    const auto for_each_load = [&](const auto& body) {
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::size_t end = std::min(first + together, operand.loads[rank].size());
        for (std::size_t k = first; k < end; ++k) body(rank, k);
      }
    };
    std::fill(readers.begin(), readers.end(), 0);
    ways.clear();
    for_each_load([&](std::size_t rank, std::size_t k) {
      const int share = other.travels(k, rank) ? 1 : 2;
      for (const CutPiece& piece : operand.pieces(k, rank)) {
        if (piece.owner == static_cast<int>(rank)) continue;
        const int source = operand.source(k, rank, piece);
        const std::size_t far = product.on_one_node(static_cast<int>(rank), source) ? 0 : 1;
        ways.push_back(static_cast<std::uint32_t>(2 * ((k - first) * ranks + static_cast<std::size_t>(source)) + far));
        readers[ways.back()] += share;
      }
    });
    auto way = ways.begin();
    for_each_load([&](std::size_t rank, std::size_t k) {
      for (const CutPiece& piece : operand.pieces(k, rank)) {
        const double bytes = cost.bytes * piece.size;
        double time = 0.0;
        if (piece.owner != static_cast<int>(rank)) {
          const double rate = bandwidth[*way % 2];
          if (rate > 0.0) time = bytes * std::max(0.5 * readers[*way], 1.0) / rate + rates.latency;
          ++way;
        }
        if (from_host) time = std::max(time, bytes / bus / owners);
        seconds[rank][k] += time;
      }
    });
  }
  return seconds;
}

// Seconds of a tile's product in each layer.
class TileTimes {
 public:
  TileTimes(const MachineRates& rates, const ElementCost& cost, const Product& product)
      : rates_(rates), tile_(product.tile), warms_(!rates.warm.empty()) {
    const double rate = rates.flops_at(product.tile);
    for (int layer = 0; layer < product.layers; ++layer) {
      const double flops = cost.flops_per_multiply_add * static_cast<double>(product.inner_range(layer).size());
      auto& of_layer = of_layers_.emplace_back();
      of_layer.last_a = (layer + 1) * product.row_bands() - 1;
      of_layer.last_b = (layer + 1) * product.column_bands() - 1;
      for (const int k : {0, 1, 2, 3}) {
        const bool last_row = k / 2 == 1;
        const bool last_column = k % 2 == 1;
        const Region tile =
            tile_of_c(product, last_row ? product.row_bands() - 1 : 0, last_column ? product.column_bands() - 1 : 0);
        const double of_tile = flops * static_cast<double>(tile.size());
        of_layer.values[last_row][last_column] = warms_ ? of_tile : of_tile / rate;
      }
    }
  }

  // Seconds of the tile of two bands that begins at `now`. A device that does not get warm has one rate.
  [[nodiscard]] double seconds(int layer, int band_a, int band_b, double now) const {
    const OfLayer& of_layer = of_layers_[static_cast<std::size_t>(layer)];
    const double value = of_layer.values[band_a == of_layer.last_a][band_b == of_layer.last_b];
    return warms_ ? value / rates_.flops_at(tile_, now) : value;
  }

 private:
  struct OfLayer {
    int last_a;  // Bands that may be narrower than the others.
    int last_b;
    double values[2][2];  // Seconds, or operations if the device gets warm; of the last bands second.
  };
  const MachineRates& rates_;
  Index tile_;
  bool warms_;
  std::vector<OfLayer> of_layers_;
};

// One operand's loads of a rank: how long each takes, and when it is there at the earliest (empty: at any time).
struct LoadTimes {
  const std::vector<double>& seconds;
  std::vector<double> not_before{};
};

// When a rank's bands are there, and its last product ends.
struct RankTimes {
  std::vector<double> there_a;
  std::vector<double> there_b;
  double end = 0.0;
};

// Each product begins once the last one is done and its bands are there; the loads come one after the other in the
// order of their use, each once its slot is free.
RankTimes times_of(const TileTimes& tiles, const RankSchedule& schedule, const LoadTimes& times_a,
                   const LoadTimes& times_b) {
  RankTimes times;
  std::vector<double>& there_a = times.there_a;
  std::vector<double>& there_b = times.there_b;
  there_a.reserve(schedule.loads_a.size());
  there_b.reserve(schedule.loads_b.size());
  double now = 0.0;
  double link_free = 0.0;
  // The step before which the next load may be posted.
  const auto next_post = [](const std::vector<Load>& loads, const std::vector<double>& there) {
    return there.size() < loads.size() ? loads[there.size()].post_before : std::numeric_limits<int>::max();
  };
  // Posts all loads that may be posted before a step. Returns the step before which the next one may be.
  const auto post = [&](int step) {
    while (true) {
      const int next_a = next_post(schedule.loads_a, there_a);
      const int next_b = next_post(schedule.loads_b, there_b);
      const bool a = next_a <= step;
      const bool b = next_b <= step;
      if (!a && !b) return std::min(next_a, next_b);
      const bool a_first =
          a && (!b || schedule.loads_a[there_a.size()].first_use <= schedule.loads_b[there_b.size()].first_use);
      auto& there = a_first ? there_a : there_b;
      const LoadTimes& of_loads = a_first ? times_a : times_b;
      const double seconds = of_loads.seconds[there.size()];
      const double earliest = of_loads.not_before.empty() ? 0.0 : of_loads.not_before[there.size()];
      // Data that are there already wait for nothing.
      if (seconds > 0.0) link_free = std::max(link_free, now) + seconds;
      there.push_back(std::max(seconds > 0.0 ? link_free : now, earliest));
    }
  };
  int before = 0;  // Steps before the run.
  for (const Run& run : schedule.runs) {
    for (int k = 0; k < run.count;) {
      const int end = std::min(run.count, post(before + k) - before);
      for (; k < end; ++k) {
        const auto load_a = static_cast<std::size_t>(run.load_a + (run.down ? k : 0));
        const auto load_b = static_cast<std::size_t>(run.load_b + (run.down ? 0 : k));
        // Bands that were used before are there.
        if (k == 0 || run.waits) now = std::max({now, there_a[load_a], there_b[load_b]});
        now += tiles.seconds(run.layer, schedule.loads_a[load_a].band, schedule.loads_b[load_b].band, now);
      }
    }
    before += run.count;
  }
  // Loads that no tile uses come at the end: a rank that computes nothing where C is symmetric may have some.
  post(schedule.tiles);
  times.end = now;
  return times;
}

// Earliest time at which each of a rank's loads is there: if other ranks pass it on, when these have it. Empty if that
// is no later than the rank would have it anyway.
std::vector<double> relayed_at(const OperandLoads& operand, std::size_t rank, const std::vector<RankTimes>& times,
                               std::vector<double> RankTimes::*there) {
  std::vector<double> at;
  bool late = false;
  if (operand.cut.relays.empty()) return at;
  for (std::size_t k = 0; operand.has(k, rank); ++k) {
    for (const CutPiece& piece : operand.pieces(k, rank)) {
      const int source = operand.source(k, rank, piece);
      if (source == piece.owner) continue;
      if (at.empty()) at.resize(operand.loads[rank].size(), 0.0);
      const int place = operand.cut.relays.place(static_cast<int>(rank), operand.band(k, rank));
      at[k] = (times[static_cast<std::size_t>(source)].*there)[static_cast<std::size_t>(place)];
      late = late || at[k] > (times[rank].*there)[k];
      break;  // All of the band that is passed on comes from one rank.
    }
  }
  if (!late) at.clear();
  return at;
}

// When each rank's last product ends.
std::vector<double> last_products_end(const MachineRates& rates, const ElementCost& cost, const Product& product,
                                      const std::vector<RankSchedule>& schedules, const Cut& cut, double bus_rate) {
  const OperandLoads loads_a(product, operand_a, cut.a, false, schedules);
  const OperandLoads loads_b(product, operand_b, cut.b, true, schedules);
  const auto seconds_a = transfer_seconds(rates, cost, product, loads_a, loads_b, bus_rate);
  const auto seconds_b = transfer_seconds(rates, cost, product, loads_b, loads_a, bus_rate);
  const TileTimes tiles(rates, cost, product);
  std::vector<RankTimes> times;
  times.reserve(schedules.size());
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    times.push_back(times_of(tiles, schedules[rank], {seconds_a[rank]}, {seconds_b[rank]}));
  }
  std::vector<double> ends;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    const LoadTimes times_a{seconds_a[rank], relayed_at(loads_a, rank, times, &RankTimes::there_a)};
    const LoadTimes times_b{seconds_b[rank], relayed_at(loads_b, rank, times, &RankTimes::there_b)};
    const bool relayed = !times_a.not_before.empty() || !times_b.not_before.empty();
    ends.push_back(relayed ? times_of(tiles, schedules[rank], times_a, times_b).end : times[rank].end);
  }
  return ends;
}

}  // namespace

double bandwidth_between(const MachineRates& rates, bool on_one_node) {
  return on_one_node || rates.node_bandwidth == 0.0 ? rates.link_bandwidth : rates.node_bandwidth;
}

ProductShape shape_of(const Product& product, const ElementCost& cost) {
  return {product.rows(),
          product.columns(),
          product.inner(),
          product.ranks,
          static_cast<int>(cost.bytes),
          cost.flops_per_multiply_add};
}

double predicted_seconds(const MachineRates& rates, const ElementCost& cost, const Product& product,
                         int bands_per_pass) {
  return predicted_times(rates, cost, product, outline_schedules(product, bands_per_pass)).seconds;
}

PredictedTimes predicted_times(const MachineRates& rates, const ElementCost& cost, const Product& product,
                               const std::vector<RankSchedule>& schedules) {
  const Cut cut(product, schedules);
  const std::vector<Workload> work = workloads(product, schedules, cut);
  const bool one_way = tiles_wait_for_bands(rates, cost, product, work);
  const double bus_rate = one_way ? rates.host_bandwidth : rates.host_bandwidth_both_ways;
  const std::vector<double> ends = last_products_end(rates, cost, product, schedules, cut, bus_rate);
  const double rate = rates.flops_at(product.tile) / cost.flops_per_multiply_add;
  const auto over = [&](bool on_one_node, double elements) {
    const double bandwidth = bandwidth_between(rates, on_one_node);
    return bandwidth > 0.0 ? elements * cost.bytes / bandwidth : 0.0;
  };
  // The links within a node and between nodes are two where they were measured apart.
  const bool two_links = rates.node_bandwidth > 0.0;
  const auto away = [&](const Travelling& travelling) { return two_links ? travelling.between_nodes : 0.0; };
  const auto here = [&](const Travelling& travelling) { return travelling.all - away(travelling); };
  const bool c_in_host_memory = product.c.residence() == Residence::host && bus_rate > 0.0;
  PredictedTimes slowest;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    const Workload& load = work[rank];
    PredictedTimes mine;
    mine.products = load.multiply_adds / rate;
    mine.within_nodes = over(true, std::max(here(load.in) + here(load.home), here(load.served) + here(load.out)));
    mine.between_nodes = over(false, std::max(away(load.in) + away(load.home), away(load.served) + away(load.out)));
    const double link = std::max(mine.within_nodes, mine.between_nodes) + load.messages_in * rates.latency;
    // Tiles from all ranks come to one owner at the end, if it is one.
    const double senders = load.last_elements > 0.0 ? std::max(load.last_senders, 1.0) : 0.0;
    const bool last_stays = load.last_owner < 0 || product.on_one_node(static_cast<int>(rank), load.last_owner);
    const double drain = over(last_stays, load.last_elements * senders) + (senders > 0.0 ? rates.latency : 0.0) +
                         (c_in_host_memory && !schedules[rank].runs.empty()
                              ? cost.bytes * static_cast<double>(product.tile * product.tile) / bus_rate
                              : 0.0);
    const double over_bus = one_way ? load.elements_from_host + load.elements_to_host
                                    : std::max(load.elements_from_host, load.elements_to_host);
    mine.bus = bus_rate > 0.0 ? cost.bytes * over_bus / bus_rate : 0.0;
    const double pipelined = std::max({ends[rank], link, mine.bus}) + drain;
    // Transfers hide if copy engines and cores share nothing; otherwise a part of them hides, or nothing: more of those
    // from other nodes than of those that the cores copy within one.
    const double near = mine.within_nodes + load.messages_in * rates.latency + mine.bus;
    const double travels = near + mine.between_nodes;
    const double shows = (1.0 - rates.overlap) * near + (1.0 - rates.node_overlap) * mine.between_nodes;
    const double shown = travels > 0.0 ? shows / travels * std::max(mine.products + travels - pipelined, 0.0) : 0.0;
    const double landed = product.blocks ? 0.0 : 3.0 * load.home.all;
    const double copies =
        (landed + 2.0 * load.elements_assembled + 3.0 * load.elements_added) * cost.bytes / rates.memory_bandwidth;
    mine.seconds = pipelined + shown + copies;
    if (rank == 0 || mine.seconds > slowest.seconds) slowest = mine;
  }
  return slowest;
}

bool tiles_wait_for_bands(const MachineRates& rates, const ElementCost& cost, const Product& product,
                          const std::vector<Workload>& work) {
  if (product.c.residence() == Residence::device || rates.host_bandwidth <= 0.0) {
    return false;
  }
  const double rate = rates.flops_at(product.tile) / cost.flops_per_multiply_add;
  return std::all_of(work.begin(), work.end(), [&](const Workload& load) {
    return load.multiply_adds / rate >=
           cost.bytes * (load.elements_from_host + load.elements_to_host) / rates.host_bandwidth;
  });
}

int bands_that_fit(const Product& product, double element_bytes, std::size_t workspace_bytes) {
  const int most = most_bands(product);
  const double band = element_bytes * static_cast<double>(product.tile) * static_cast<double>(product.longest_run());
  // With several layers, the bands of the next one travel while those of one are used.
  if (band * most * std::min(product.layers_of_group(), 2) <= static_cast<double>(workspace_bytes)) {
    return most;
  }
  return std::clamp(static_cast<int>(static_cast<double>(workspace_bytes) / (2.0 * band)), 1, most);
}

void hold_bands_of_b(Product& product, int bands_per_pass, double element_bytes, std::size_t workspace_bytes) {
  // Data from other nodes are asked for well before they are used.
  const bool far = product.on_gpus || !product.node_of.empty();
  product.held_b = far ? 4 : 2;
  const double band = element_bytes * static_cast<double>(product.tile) * static_cast<double>(product.longest_run());
  const int layers = product.layers_of_group();
  const double left =
      static_cast<double>(workspace_bytes) - band * std::min(layers * most_bands(product), 2 * bands_per_pass);
  product.first_held_b =
      !far || left < band * product.held_b
          ? product.held_b
          : static_cast<int>(std::min(left / band, static_cast<double>(layers * product.column_bands())));
  product.first_held_b = std::max(product.first_held_b, product.held_b);
}

int settle_bands(Product& product, int asked, int most, double element_bytes, std::size_t workspace_bytes) {
  const int bands = asked > 0 ? std::min(asked, most_bands(product))
                              : std::min(bands_that_fit(product, element_bytes, workspace_bytes), most);
  hold_bands_of_b(product, bands, element_bytes, workspace_bytes);
  return bands;
}

std::size_t default_workspace_bytes(const Communicator& comm) {
  const auto memory = vendor::memory_info();
  if (memory.total == 0) {
    return std::size_t{1} << 30;
  }
  // Not all of the free memory can be had: allocations are rounded up, and the transport stages some bands.
  const double here = std::min(static_cast<double>(memory.total) / 8.0, 0.75 * static_cast<double>(memory.free));
  return static_cast<std::size_t>(comm.all_reduce(here, Reduction::minimum));
}

}  // namespace heddle::impl
