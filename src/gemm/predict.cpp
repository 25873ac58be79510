// Predicted time and memory of a product on a described cluster.
#include "blas/backend.hpp"
#include "core/instantiate.hpp"
#include "gemm/plan/arguments.hpp"
#include "gemm/plan/choose.hpp"
#include "gemm/plan/memory.hpp"
#include "gemm/run/emulated_bands.hpp"
#include <heddle/gemm/predict.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace heddle {
namespace {

using impl::PlanFacts;
using impl::Product;
using impl::RankSchedule;

void require_cluster(const ClusterShape& cluster) {
  require(cluster.nodes > 0 && cluster.ranks_per_node > 0 &&
              std::int64_t{cluster.nodes} * cluster.ranks_per_node <= most_ranks_predicted,
          "predict_gemm: ", cluster.nodes, " nodes of ", cluster.ranks_per_node,
          " ranks; expected at least one rank and at most ", most_ranks_predicted);
}

Product shape_of(const ClusterShape& cluster, const Placement& a, const Placement& b, const Placement& c) {
  Product shape;
  shape.ranks = cluster.nodes * cluster.ranks_per_node;
  shape.a = a;
  shape.b = b;
  shape.c = c;
  shape.on_gpus = cluster.on_gpus;
  // Within a server of GPUs bands land where they belong.
  shape.blocks = cluster.on_gpus && cluster.nodes == 1;
  if (cluster.nodes > 1) {
    for (int rank = 0; rank < shape.ranks; ++rank) shape.node_of.push_back(rank / cluster.ranks_per_node);
  }
  return shape;
}

// Memory of the rank that needs most, its parts of the matrices included. Ranks of equal shares need the same, and the
// first ones have the largest shares: only some of many ranks, and the first owner of each matrix, are looked at.
template <Scalar T> double memory_of(const PlanFacts& facts, const std::vector<RankSchedule>& schedules) {
  const Product& product = facts.product;
  constexpr int most_looked_at = 8;
  constexpr std::size_t lanes = 2;
  std::set<int> looked_at = {product.a.first_rank(), product.b.first_rank(), product.c.first_rank()};
  for (int rank = 0; rank < product.ranks; rank += std::max(1, product.ranks / most_looked_at)) looked_at.insert(rank);
  double most = 0.0;
  for (const int rank : looked_at) {
    const std::size_t buffers =
        impl::tile_buffers(product, schedules[static_cast<std::size_t>(rank)], sizeof(T), lanes, 0.0);
    double bytes = impl::footprint_of<T>(facts, schedules, rank, lanes, buffers).total();
    for (const Placement* placement : {&product.a, &product.b, &product.c}) {
      if (placement->residence() == Residence::host) continue;
      bytes += sizeof(T) * static_cast<double>(placement->local_rows(rank)) *
               static_cast<double>(placement->local_columns(rank));
    }
    most = std::max(most, bytes);
  }
  return most + (product.on_gpus ? static_cast<double>(lanes * impl::cublas_workspace_bytes) : 0.0);
}

}  // namespace

std::string to_string(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::products:
      return "products";
    case Bottleneck::links_within_nodes:
      return "links within nodes";
    case Bottleneck::links_between_nodes:
      return "links between nodes";
  }
  throw Error(ErrorKind::argument, "not a value of heddle::Bottleneck");
}

template <Scalar T>
GemmPrediction predict_gemm(const ClusterShape& cluster, Index rows, Index columns, Index inner,
                            const MachineRates& rates, const GemmOptions& options) {
  require_cluster(cluster);
  require(rows >= 0 && columns >= 0 && inner >= 0, "predict_gemm: C is ", rows, " x ", columns,
          ", the inner dimension is ", inner, "; expected none negative");
  const int ranks = cluster.nodes * cluster.ranks_per_node;
  return predict_gemm<T>(cluster, Placement::row_bands(rows, inner, ranks),
                         Placement::column_bands(inner, columns, ranks), Placement::row_bands(rows, columns, ranks),
                         rates, options);
}

template <Scalar T>
GemmPrediction predict_gemm(const ClusterShape& cluster, const Placement& a, const Placement& b, const Placement& c,
                            const MachineRates& rates, const GemmOptions& options) {
  const Kokkos::Timer timer;
  require_cluster(cluster);
  const Product shape = shape_of(cluster, a, b, c);
  GemmOptions with_rates = options;
  with_rates.rates = rates;
  impl::require_plan(shape, with_rates);
  impl::MemoryLimits memory;
  memory.workspace_bytes =
      options.workspace_bytes > 0 ? options.workspace_bytes : std::size_t{1} << (cluster.on_gpus ? 34U : 30U);
  require(options.arithmetic != Arithmetic::emulated || !rates.emulated.empty(),
          "predict_gemm: the rates have none of emulated products");
  const PlanFacts facts = impl::choose_plan<T>(shape, with_rates, rates, memory);
  const std::vector<RankSchedule> schedules = impl::outline_schedules(facts.product, facts.bands_per_pass);

  GemmPrediction prediction;
  prediction.planning_seconds = timer.seconds();
  prediction.seconds = facts.predicted_seconds.value_or(0.0);
  prediction.tile = facts.product.tile;
  prediction.grid = {facts.product.grid_rows(), facts.product.grid_columns};
  prediction.layers = facts.product.layers;
  prediction.bands_per_pass = facts.bands_per_pass;
  prediction.arithmetic = facts.arithmetic.taken;
  prediction.bytes_received = facts.traffic.bytes_received;
  prediction.bytes_between_nodes = facts.traffic.bytes_between_nodes;
  prediction.memory_bytes = memory_of<T>(facts, schedules);
  if (prediction.seconds > 0.0) {
    prediction.gflops = flops_per_multiply_add<T> * facts.traffic.multiply_adds / prediction.seconds / 1e9;
  }
  const bool emulated = facts.arithmetic.emulated();
  const impl::PredictedTimes times = impl::predicted_times(emulated ? impl::emulated_rates(rates) : rates,
                                                           impl::element_cost<T>, facts.product, schedules);
  const double travels = std::max(times.within_nodes, times.between_nodes);
  if (travels > 0.0) {
    prediction.hidden_share = std::clamp(1.0 - (times.seconds - times.products) / travels, 0.0, 1.0);
  }
  if (travels > times.products) {
    prediction.bottleneck =
        times.between_nodes > times.within_nodes ? Bottleneck::links_between_nodes : Bottleneck::links_within_nodes;
  }
  return prediction;
}

#define HEDDLE_INSTANTIATE(T)                                                                                        \
  template GemmPrediction predict_gemm<T>(const ClusterShape&, Index, Index, Index, const MachineRates&,             \
                                          const GemmOptions&);                                                       \
  template GemmPrediction predict_gemm<T>(const ClusterShape&, const Placement&, const Placement&, const Placement&, \
                                          const MachineRates&, const GemmOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
