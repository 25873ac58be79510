// The choice of tile and grid beside a search over many tiles and all grids, by the tile model.
#include "gemm/plan/choose.hpp"
#include <heddle/gemm/predict.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace heddle {
namespace {

struct Shape {
  ClusterShape cluster;
  Index rows, columns, inner;
};

// The time with a tile and a grid of one layer, in the workspace that a prediction has on GPUs.
double seconds_of(const Shape& shape, const MachineRates& rates, Index tile, int columns) {
  constexpr std::size_t workspace_bytes = std::size_t{16} << 30;
  impl::Product product;
  product.ranks = shape.cluster.nodes * shape.cluster.ranks_per_node;
  product.a = Placement::row_bands(shape.rows, shape.inner, product.ranks);
  product.b = Placement::column_bands(shape.inner, shape.columns, product.ranks);
  product.c = Placement::row_bands(shape.rows, shape.columns, product.ranks);
  product.tile = tile;
  product.grid_columns = columns;
  product.on_gpus = true;
  product.blocks = shape.cluster.nodes == 1;
  for (int rank = 0; shape.cluster.nodes > 1 && rank < product.ranks; ++rank) {
    product.node_of.push_back(rank / shape.cluster.ranks_per_node);
  }
  const impl::ElementCost cost = impl::element_cost<double>;
  const int bands = impl::bands_that_fit(product, cost.bytes, workspace_bytes);
  impl::hold_bands_of_b(product, bands, cost.bytes, workspace_bytes);
  return impl::predicted_seconds(rates, cost, product, bands);
}

// The least time over all grids, and tiles in steps of 4 % and those that divide extents and shares.
double least_seconds(const Shape& shape, const MachineRates& rates) {
  const int ranks = shape.cluster.nodes * shape.cluster.ranks_per_node;
  const Index longest = std::min<Index>(std::max(shape.rows, shape.columns), 16384);
  constexpr double most_tiles = 10000;
  double least = std::numeric_limits<double>::infinity();
  for (int columns = 1; columns <= ranks; ++columns) {
    if (ranks % columns != 0) continue;
    std::set<Index> tiles;
    for (double tile = 200; tile <= static_cast<double>(longest); tile *= 1.04) tiles.insert(static_cast<Index>(tile));
    for (const Index extent : {shape.rows, shape.columns}) {
      for (const int parts : {1, ranks / columns, columns, ranks}) {
        for (Index k = 1; k <= 20; ++k) tiles.insert(((extent + parts - 1) / parts + k - 1) / k);
      }
    }
    for (const Index tile : tiles) {
      const double count = (static_cast<double>(shape.rows) / static_cast<double>(tile) + 1) *
                           (static_cast<double>(shape.columns) / static_cast<double>(tile) + 1);
      if (tile >= 200 && tile <= longest && count <= most_tiles) {
        least = std::min(least, seconds_of(shape, rates, tile, columns));
      }
    }
  }
  return least;
}

std::vector<Shape> drawn(int count, int most_ranks) {
  std::mt19937 bits(7);  // Its values are those of the standard, unlike those of distributions.
  const auto below = [&](int bound) { return static_cast<int>(bits() % static_cast<unsigned>(bound)); };
  const auto extent = [&] { return static_cast<Index>(2000.0 * std::pow(30.0, below(1000) / 1000.0)); };
  std::vector<Shape> shapes;
  while (static_cast<int>(shapes.size()) < count) {
    Shape shape{{1 + below(8), 1 + below(8), true}, extent(), 0, 0};
    const bool square = below(2) == 0;
    shape.columns = square ? shape.rows : extent();
    shape.inner = square ? shape.rows : extent();
    if (shape.cluster.nodes * shape.cluster.ranks_per_node <= most_ranks) shapes.push_back(shape);
  }
  return shapes;
}

TEST(Choice, IsWithinThreePercentOfTheBestOfAllTilesAndGrids) {
  const MachineRates measured = h200_rates<double>(50e9);
  const MachineRates slow = h200_rates<double>(12.5e9);
  int number = 0;
  for (const Shape& shape : drawn(200, 8)) {
    const MachineRates& rates = ++number % 2 == 0 ? measured : slow;
    const GemmPrediction chosen =
        predict_gemm<double>(shape.cluster, shape.rows, shape.columns, shape.inner, rates, {});
    EXPECT_LE(chosen.seconds, 1.03 * least_seconds(shape, rates))
        << shape.cluster.nodes << " nodes of " << shape.cluster.ranks_per_node << ", C of " << shape.rows << " x "
        << shape.columns << ", inner " << shape.inner << ": tile " << chosen.tile << ", grid " << chosen.grid.rows
        << " x " << chosen.grid.columns;
  }
}

// Tiles given by hand once took less than half of the time of the chosen ones here.
TEST(Choice, IsNoSlowerThanTilesGivenByHand) {
  const MachineRates rates = h200_rates<double>(50e9);
  struct Case {
    ClusterShape cluster;
    Index n;
    double seconds;
  };
  for (const auto& [cluster, n, seconds] :
       {Case{{64, 4, true}, 500000, 20.17}, Case{{128, 4, true}, 741376, 44.11}, Case{{8, 8, true}, 60000, 0.1314}}) {
    const GemmPrediction chosen = predict_gemm<double>(cluster, n, n, n, rates, {});
    EXPECT_LE(chosen.seconds, 1.01 * seconds) << n;
    // A second on idle cores.
    EXPECT_LT(chosen.planning_seconds, 10.0) << n;
  }
}

TEST(Choice, ScalesWithoutJumps) {
  const MachineRates rates = h200_rates<double>(50e9);
  // As much of each matrix a rank.
  double last = 0.0;
  for (int nodes = 1; nodes <= 64; nodes *= 2) {
    const auto n = static_cast<Index>(nodes * 8 * std::llround(30000 * std::sqrt(nodes) / (nodes * 8)));
    const GemmPrediction chosen = predict_gemm<double>({nodes, 8, true}, n, n, n, rates, {});
    const double of_rank = chosen.gflops / (nodes * 8);
    if (nodes > 2) {
      EXPECT_GT(of_rank, 0.75 * last) << nodes;
      EXPECT_LT(of_rank, 1.25 * last) << nodes;
    }
    last = of_rank;
  }
}

}  // namespace
}  // namespace heddle
