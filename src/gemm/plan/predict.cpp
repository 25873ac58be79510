// Tile model: predicted time of a product.
#include "gemm/plan/predict.hpp"

#include "comm/vendor/vendor.hpp"
#include "core/elementwise.hpp"
#include "gemm/plan/arguments.hpp"
#include "gemm/plan/relays.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace heddle::impl {
namespace {

// An operand, its bands in pieces, and the order in which each rank loads them.
struct OperandLoads {
  const Placement& placement;
  bool for_all_ranks;                           // Whether each band goes to all ranks.
  std::vector<std::vector<Piece>> pieces;       // Of each band.
  std::vector<const std::vector<Load>*> loads;  // By rank.
  Relays relays;

  OperandLoads(const Product& product, const PlanOperand& operand, bool all, const std::vector<RankSchedule>& schedules)
      : placement(product.*operand.placement), for_all_ranks(all), relays(product, operand, schedules) {
    for (int k = 0; k < (product.*operand.bands)(); ++k) {
      pieces.push_back(pieces_of(placement, operand.band(product, k)));
    }
    for (const RankSchedule& schedule : schedules) loads.push_back(&(schedule.*operand.loads));
  }

  [[nodiscard]] bool has(std::size_t number, std::size_t rank) const { return number < loads[rank]->size(); }
  [[nodiscard]] std::size_t band(std::size_t number, std::size_t rank) const {
    return static_cast<std::size_t>((*loads[rank])[number].band);
  }
  // Rank that sends `rank` a piece of its `number`th band.
  [[nodiscard]] int source(std::size_t number, std::size_t rank, const Piece& piece) const {
    return relays.source(static_cast<int>(rank), static_cast<int>(band(number, rank)), piece.owner);
  }
  // Whether any of a rank's `number`th band comes from another rank.
  [[nodiscard]] bool travels(std::size_t number, std::size_t rank) const {
    if (!has(number, rank)) return false;
    const std::vector<Piece>& of_band = pieces[band(number, rank)];
    return std::any_of(of_band.begin(), of_band.end(),
                       [&](const Piece& piece) { return piece.owner != static_cast<int>(rank); });
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
  for (const std::vector<Load>* of_rank : operand.loads) longest = std::max(longest, of_rank->size());
  std::vector<std::vector<double>> seconds(ranks);
  for (std::size_t k = 0; k < longest; ++k) {
    // Readers of each source: those on its own node, and those on others.
    std::vector<std::array<double, 2>> readers(ranks, {0.0, 0.0});
    const auto way = [&](std::size_t rank, int source) {
      return product.on_one_node(static_cast<int>(rank), source) ? 0 : 1;
    };
    const auto for_each_piece = [&](const auto& body) {
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (!operand.has(k, rank)) continue;
        for (const Piece& piece : operand.pieces[operand.band(k, rank)]) {
          body(rank, piece, static_cast<int>(rank) != piece.owner);
        }
      }
    };
    for_each_piece([&](std::size_t rank, const Piece& piece, bool comes) {
      const double share = other.travels(k, rank) ? 0.5 : 1.0;
      const int source = operand.source(k, rank, piece);
      readers[static_cast<std::size_t>(source)][way(rank, source)] += comes ? share : 0.0;
    });
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (operand.has(k, rank)) seconds[rank].push_back(0.0);
    }
    for_each_piece([&](std::size_t rank, const Piece& piece, bool comes) {
      const double bytes = cost.bytes * static_cast<double>(piece.size());
      double time = 0.0;
      const int source = operand.source(k, rank, piece);
      const int which = way(rank, source);
      if (const double bandwidth = bandwidth_between(rates, which == 0); comes && bandwidth > 0.0) {
        time = bytes * std::max(readers[static_cast<std::size_t>(source)][which], 1.0) / bandwidth + rates.latency;
      }
      if (placement.residence() == Residence::host && bus > 0.0) {
        const int owners = operand.for_all_ranks ? placement.rank_end() - placement.first_rank() : 1;
        time = std::max(time, bytes / bus / owners);
      }
      seconds[rank].back() += time;
    });
  }
  return seconds;
}

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
RankTimes times_of(const MachineRates& rates, const ElementCost& cost, const Product& product,
                   const RankSchedule& schedule, const LoadTimes& times_a, const LoadTimes& times_b) {
  RankTimes times;
  std::vector<double>& there_a = times.there_a;
  std::vector<double>& there_b = times.there_b;
  double now = 0.0;
  double link_free = 0.0;
  std::vector<double> flops_of_element;  // Of C, by layer.
  for (int layer = 0; layer < product.layers; ++layer) {
    flops_of_element.push_back(cost.flops_per_multiply_add * static_cast<double>(product.inner_range(layer).size()));
  }
  // A device that does not get warm has one rate.
  const double cold = rates.warm.empty() ? rates.flops_at(product.tile) : 0.0;
  const auto may_post = [](const std::vector<Load>& loads, std::size_t next, std::size_t step) {
    return next < loads.size() && loads[next].post_before <= static_cast<int>(step);
  };
  for (std::size_t k = 0; k < schedule.steps.size(); ++k) {
    while (true) {
      const bool a = may_post(schedule.loads_a, there_a.size(), k);
      const bool b = may_post(schedule.loads_b, there_b.size(), k);
      if (!a && !b) {
        break;
      }
      const bool a_first =
          a && (!b || schedule.loads_a[there_a.size()].first_use <= schedule.loads_b[there_b.size()].first_use);
      auto& there = a_first ? there_a : there_b;
      const LoadTimes& of_loads = a_first ? times_a : times_b;
      const double seconds = of_loads.seconds[there.size()];
      const double earliest = of_loads.not_before.empty() ? 0.0 : of_loads.not_before[there.size()];
      // Data that are there already wait for nothing.
      if (seconds > 0.0) {
        link_free = std::max(link_free, now) + seconds;
      }
      there.push_back(std::max(seconds > 0.0 ? link_free : now, earliest));
    }
    const Step& step = schedule.steps[k];
    now =
        std::max({now, there_a[static_cast<std::size_t>(step.load_a)], there_b[static_cast<std::size_t>(step.load_b)]});
    now += flops_of_element[static_cast<std::size_t>(step.layer)] *
           static_cast<double>(tile_of_c(product, step.row_band, step.column_band).size()) /
           (cold > 0.0 ? cold : rates.flops_at(product.tile, now));
  }
  times.end = now;
  return times;
}

// Earliest time at which each of a rank's loads is there: if other ranks pass it on, when these have it.
std::vector<double> relayed_at(const OperandLoads& operand, std::size_t rank, const std::vector<RankTimes>& times,
                               std::vector<double> RankTimes::*there) {
  std::vector<double> at;
  for (std::size_t k = 0; operand.has(k, rank); ++k) {
    double earliest = 0.0;
    for (const Piece& piece : operand.pieces[operand.band(k, rank)]) {
      const int source = operand.source(k, rank, piece);
      if (source == piece.owner) continue;
      const std::vector<Load>& loads = *operand.loads[static_cast<std::size_t>(source)];
      const auto load = std::find_if(loads.begin(), loads.end(), [&](const Load& one) {
        return one.band == static_cast<int>(operand.band(k, rank));
      });
      earliest = (times[static_cast<std::size_t>(source)].*there)[static_cast<std::size_t>(load - loads.begin())];
      break;  // All of the band that is passed on comes from one rank.
    }
    at.push_back(earliest);
  }
  return at;
}

// When each rank's last product ends.
std::vector<double> last_products_end(const MachineRates& rates, const ElementCost& cost, const Product& product,
                                      const std::vector<RankSchedule>& schedules, const OperandLoads& loads_a,
                                      const OperandLoads& loads_b, double bus_rate) {
  const auto seconds_a = transfer_seconds(rates, cost, product, loads_a, loads_b, bus_rate);
  const auto seconds_b = transfer_seconds(rates, cost, product, loads_b, loads_a, bus_rate);
  std::vector<RankTimes> times;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    times.push_back(times_of(rates, cost, product, schedules[rank], {seconds_a[rank]}, {seconds_b[rank]}));
  }
  std::vector<double> ends;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    if (loads_a.relays.empty() && loads_b.relays.empty()) {
      ends.push_back(times[rank].end);
      continue;
    }
    const LoadTimes times_a{seconds_a[rank], relayed_at(loads_a, rank, times, &RankTimes::there_a)};
    const LoadTimes times_b{seconds_b[rank], relayed_at(loads_b, rank, times, &RankTimes::there_b)};
    ends.push_back(times_of(rates, cost, product, schedules[rank], times_a, times_b).end);
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
  return predicted_times(rates, cost, product, make_schedules(product, bands_per_pass)).seconds;
}

PredictedTimes predicted_times(const MachineRates& rates, const ElementCost& cost, const Product& product,
                               const std::vector<RankSchedule>& schedules) {
  const OperandLoads loads_a(product, operand_a, false, schedules);
  const OperandLoads loads_b(product, operand_b, true, schedules);
  const std::vector<Workload> work = workloads(product, schedules);
  const bool one_way = tiles_wait_for_bands(rates, cost, product, work);
  const double bus_rate = one_way ? rates.host_bandwidth : rates.host_bandwidth_both_ways;
  const std::vector<double> ends = last_products_end(rates, cost, product, schedules, loads_a, loads_b, bus_rate);
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
                         (c_in_host_memory && !schedules[rank].steps.empty()
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
