// Choice of tile, grid, layers and arithmetic of a distributed product.
#include "gemm/plan/choose.hpp"

#include "core/instantiate.hpp"
#include "gemm/plan/choose_tile.hpp"
#include "gemm/plan/memory.hpp"
#include "gemm/run/emulated_bands.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::impl {
namespace {

// A way to compute the product.
struct Candidate {
  Product product;
  int bands_per_pass = 1;
  std::optional<double> seconds;  // Predicted seconds; absent if no rates are given.
};

// Set the bands of a product whose tile is chosen. `most_held`: most bands of A in a pass, if options leave that open.
Candidate with_bands(const Product& product, const GemmOptions& options, int most_held, double element_bytes,
                     std::size_t workspace_bytes) {
  Candidate candidate{product, 1, {}};
  candidate.bands_per_pass =
      settle_bands(candidate.product, options.bands_per_pass, most_held, element_bytes, workspace_bytes);
  return candidate;
}

// Factor by which several layers have to beat fewer, and another grid of an emulated product one column.
constexpr double least_gain = 0.97;

// Columns of the grids that may be taken, one column first.
std::vector<int> grid_columns_of(const Product& shape, const GemmOptions& options) {
  if (options.grid.columns > 0) return {options.grid.columns};
  std::vector<int> columns = {1};
  const bool one_column = shape.half || is_streamed(shape.a) || is_streamed(shape.b) || is_streamed(shape.c);
  for (int k = 2; !one_column && k <= shape.ranks_of_group(); ++k) {
    if (shape.ranks_of_group() % k == 0) columns.push_back(k);
  }
  return columns;
}

// The tile that is given, or the published one; 0: the model chooses.
Index settled_tile(const Product& shape, const GemmOptions& options, const MachineRates& rates,
                   const ElementCost& cost) {
  if (options.tile > 0 || options.choice == TileChoice::model) return options.tile;
  return published_tile(rates, shape_of(shape, cost));
}

// Bytes of the copies of C that layers take on the rank that has most of it.
double most_bytes_of_layers(const Product& product, double element_bytes) {
  double most = 0.0;
  for (int rank = 0; rank < product.ranks; ++rank) most = std::max(most, bytes_of_layers(product, element_bytes, rank));
  return most;
}

// The numbers of layers that may be taken, fewest first. Within a node bands hardly ever take longer than products.
// The loss of shorter runs is not in the rates. More layers than the third root of the number of ranks spare nothing:
// the tiles of C then travel more than A and B (E. Solomonik and J. Demmel, 2011).
std::vector<int> layers_to_try(const Product& shape, const GemmOptions& options, double element_bytes,
                               std::size_t workspace_bytes) {
  constexpr Index shortest_run = 1024;
  if (options.layers > 0) return {options.layers};
  std::vector<int> layers = {1};
  const bool in_host_memory = shape.a.residence() == Residence::host || shape.b.residence() == Residence::host ||
                              shape.c.residence() == Residence::host;
  // A given tile is for comparing bits, a given grid holds all ranks, and the published algorithm has one layer.
  if (options.tile > 0 || options.choice == TileChoice::published || options.grid.columns > 0 || shape.half ||
      in_host_memory || shape.node_of.empty()) {
    return layers;
  }
  const int nodes = *std::max_element(shape.node_of.begin(), shape.node_of.end()) + 1;
  for (int k = 2; k <= nodes && k * k * k <= shape.ranks && shape.ranks % k == 0 && shape.inner() / k >= shortest_run;
       k *= 2) {
    Product layered = shape;
    layered.layers = k;
    if (2.0 * most_bytes_of_layers(layered, element_bytes) > static_cast<double>(workspace_bytes)) break;
    layers.push_back(k);
  }
  // If many numbers of layers may be taken, small ones gain less.
  constexpr std::size_t most_tried = 2;
  if (layers.size() > 1 + most_tried) layers.erase(layers.begin() + 1, layers.end() - most_tried);
  return layers;
}

// The native plan in so many layers, whose copies of C leave the bands less of the workspace.
template <Scalar T>
Candidate native_in_layers(const Product& shape, int layers, const GemmOptions& options, const MachineRates& rates,
                           std::size_t workspace_bytes) {
  Product product = shape;
  product.layers = layers;
  const double copies = most_bytes_of_layers(product, sizeof(T));
  const auto left = static_cast<std::size_t>(std::max(static_cast<double>(workspace_bytes) - copies, 0.0));
  const ChosenTile chosen =
      choose_tile(rates, element_cost<T>, product, grid_columns_of(product, options),
                  settled_tile(product, options, rates, element_cost<T>), options.bands_per_pass, left);
  product.grid_columns = chosen.grid_columns;
  product.tile = chosen.tile;
  Candidate candidate = with_bands(product, options, std::numeric_limits<int>::max(), sizeof(T), left);
  candidate.seconds = chosen.seconds;
  return candidate;
}

// The native plan that is predicted to be fastest. More layers than a number that is slower than fewer are not tried.
template <Scalar T>
Candidate best_native(const Product& shape, const GemmOptions& options, const MachineRates& rates,
                      std::size_t workspace_bytes) {
  const std::vector<int> layers = layers_to_try(shape, options, sizeof(T), workspace_bytes);
  Candidate best = native_in_layers<T>(shape, layers.front(), options, rates, workspace_bytes);
  const double products = flops_per_multiply_add<T> * static_cast<double>(shape.rows()) *
                          static_cast<double>(shape.columns()) * static_cast<double>(shape.inner()) / shape.ranks /
                          rates.peak_flops();
  double last = *best.seconds;
  for (std::size_t k = 1; k < layers.size() && least_gain * *best.seconds > products; ++k) {
    Candidate candidate = native_in_layers<T>(shape, layers[k], options, rates, workspace_bytes);
    if (*candidate.seconds > last) break;
    last = *candidate.seconds;
    if (*candidate.seconds < least_gain * *best.seconds) best = std::move(candidate);
  }
  return best;
}

// Predicted seconds of an emulated product by its moduli: as many products of 8-bit integers as the moduli take, and
// two more where its factors are probed.
struct EmulatedTime {
  double integer_product = 0.0;
  Field field = Field::real;
  bool probed = false;

  [[nodiscard]] double with(int moduli) const {
    return integer_product * (ResidueSystem::planes(field, moduli) + (probed ? 2 : 0));
  }
  // The most moduli, up to `most`, with which an emulated product is no slower than `native_seconds`.
  [[nodiscard]] int most_worth(int moduli, int most, double native_seconds) const {
    while (moduli < most && with(moduli + 1) <= native_seconds) ++moduli;
    return moduli;
  }
};

template <Scalar T>
Candidate emulated_candidate(const Product& shape, const GemmOptions& options, const MemoryLimits& memory, int moduli) {
  Product product = shape;
  product.tile = options.tile > 0
                     ? options.tile
                     : emulated_tile(shape, ResidueSystem::planes(field_of<T>, moduli), memory.residue_bytes);
  // On GPUs the automatic tile leaves room for the residues of three bands of A.
  const int most_held = product.on_gpus ? 3 : std::numeric_limits<int>::max();
  return with_bands(product, options, most_held, sizeof(T), memory.workspace_bytes);
}

// Whether the times of emulated products are known: not if the rates have none, or for products by slices, which were
// not measured.
bool have_emulated_times(const EmulationOptions& emulation, const MachineRates& rates) {
  return emulation.scheme == EmulationScheme::residues && !rates.emulated.empty();
}

// The time of an emulated product that takes so many seconds at the rates of emulated products, which are those with
// the moduli that round-off takes.
template <Scalar T>
EmulatedTime emulated_time(const Product& product, double seconds, const EmulationOptions& emulation) {
  const int measured = emulation_moduli<T>(product.inner());
  return {seconds / ResidueSystem::planes(field_of<T>, measured), field_of<T>, wants_probe(emulation)};
}
template <Scalar T>
EmulatedTime emulated_time(const Candidate& candidate, const EmulationOptions& emulation, const MachineRates& rates) {
  const double seconds =
      predicted_seconds(emulated_rates(rates), element_cost<T>, candidate.product, candidate.bands_per_pass);
  return emulated_time<T>(candidate.product, seconds, emulation);
}

// A lower bound of emulated_time(), for which nothing is scheduled: no rank has more work than another.
template <Scalar T>
EmulatedTime least_emulated_time(const Product& product, const EmulationOptions& emulation, const MachineRates& rates) {
  constexpr double round_off = 1e-9;
  const double flops = product.half ? 0.0
                                    : flops_per_multiply_add<T> * static_cast<double>(product.rows()) *
                                          static_cast<double>(product.columns()) * static_cast<double>(product.inner());
  const double seconds = flops / product.ranks / emulated_rates(rates).flops_at(product.tile);
  return emulated_time<T>(product, (1.0 - round_off) * seconds, emulation);
}

// An emulated plan and its time, if that is known.
struct Emulated {
  Candidate candidate;
  std::optional<EmulatedTime> time;
};

// The emulated plan with the grid that is predicted to be fastest, of those that receive less than one column does; one
// column without rates. Empty if none can be faster than `limit` seconds.
template <Scalar T>
std::optional<Emulated> best_emulated(const Product& shape, const GemmOptions& options, const MachineRates& rates,
                                      const MemoryLimits& memory, int moduli, double limit) {
  const bool known = have_emulated_times(options.emulation, rates);
  // The tile is that of any grid, and so is the bound.
  const Product with_tile = emulated_candidate<T>(shape, options, memory, moduli).product;
  const double least = known ? least_emulated_time<T>(with_tile, options.emulation, rates).with(moduli) : 0.0;
  if (least >= limit) return {};
  std::optional<Emulated> best;
  const auto received = [&](int columns) {
    return static_cast<double>(shape.rows()) * columns / shape.ranks_of_group() +
           static_cast<double>(shape.columns()) / columns;
  };
  for (const int columns : grid_columns_of(shape, options)) {
    if (best && (!known || least >= least_gain * *best->candidate.seconds)) break;
    if (best && !(received(columns) < received(1))) continue;
    Product with_grid = shape;
    with_grid.grid_columns = columns;
    Emulated emulated{emulated_candidate<T>(with_grid, options, memory, moduli), {}};
    if (known) {
      emulated.time = emulated_time<T>(emulated.candidate, options.emulation, rates);
      emulated.candidate.seconds = emulated.time->with(moduli);
    }
    if (!best || *emulated.candidate.seconds < least_gain * *best->candidate.seconds) best = std::move(emulated);
  }
  return best;
}

// The facts that follow from a candidate.
template <Scalar T>
PlanFacts facts_of(const Candidate& candidate, const ArithmeticChoice& arithmetic, const GemmOptions& options,
                   const MachineRates& rates) {
  PlanFacts facts;
  facts.product = candidate.product;
  facts.bands_per_pass = candidate.bands_per_pass;
  facts.arithmetic = arithmetic;
  facts.math = options.math;
  if (options.rates) facts.predicted_seconds = candidate.seconds;
  const std::vector<Workload> work =
      workloads(candidate.product, outline_schedules(candidate.product, candidate.bands_per_pass));
  facts.tiles_wait = !arithmetic.emulated() && tiles_wait_for_bands(rates, element_cost<T>, candidate.product, work);
  for (const Workload& of_rank : work) {
    facts.traffic.multiply_adds += of_rank.multiply_adds;
    facts.traffic.band_bytes_received += sizeof(T) * of_rank.in.all;
    facts.traffic.bytes_received += sizeof(T) * (of_rank.in.all + of_rank.home.all);
    facts.traffic.band_bytes_between_nodes += sizeof(T) * of_rank.in.between_nodes;
    facts.traffic.bytes_between_nodes += sizeof(T) * (of_rank.in.between_nodes + of_rank.home.between_nodes);
  }
  return facts;
}

}  // namespace

template <Scalar T>
PlanFacts choose_plan(const Product& shape, const GemmOptions& options, const MachineRates& rates,
                      const MemoryLimits& memory) {
  ArithmeticChoice arithmetic{options.arithmetic, Arithmetic::native, options.emulation, options.emulation, 0};
  const bool may_be_native = options.arithmetic != Arithmetic::emulated;
  Candidate native;
  if (may_be_native) native = best_native<T>(shape, options, rates, memory.workspace_bytes);
  if (options.arithmetic == Arithmetic::native) {
    return facts_of<T>(native, arithmetic, options, rates);
  }
  const int moduli = moduli_of<T>(shape.inner(), options.emulation);
  const double limit = may_be_native ? *native.seconds : std::numeric_limits<double>::infinity();
  const std::optional<Emulated> emulated = best_emulated<T>(shape, options, rates, memory, moduli, limit);
  if (may_be_native) {
    if (!emulated || !emulated->time || !(*emulated->candidate.seconds < limit)) {
      return facts_of<T>(native, arithmetic, options, rates);
    }
    arithmetic.emulation_taken.most_moduli = emulated->time->most_worth(moduli, options.emulation.most_moduli, limit);
    arithmetic.emulation_taken.fallback = Fallback::native;
  }
  arithmetic.taken = Arithmetic::emulated;
  arithmetic.moduli = moduli;
  return facts_of<T>(emulated->candidate, arithmetic, options, rates);
}

template <Scalar T> PlanFacts limited_to_memory(PlanFacts facts, double free_bytes, double other_bytes) {
  if (!facts.arithmetic.emulated()) {
    return facts;
  }
  EmulationOptions& taken = facts.arithmetic.emulation_taken;
  const auto residues = [&](int moduli) {
    return EmulatedBands<T>::bytes(facts.product, facts.bands_per_pass, moduli, taken);
  };
  while (taken.most_moduli > facts.arithmetic.moduli && other_bytes + residues(taken.most_moduli) > free_bytes) {
    --taken.most_moduli;
  }
  return facts;
}

#define HEDDLE_INSTANTIATE(T)                                                                                      \
  template PlanFacts choose_plan<T>(const Product&, const GemmOptions&, const MachineRates&, const MemoryLimits&); \
  template PlanFacts limited_to_memory<T>(PlanFacts, double, double)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
