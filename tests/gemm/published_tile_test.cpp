// The published choice of the tile: equation (9) by its inequalities, tried tile by tile, compared with
// published_tile(), and the plans that take it.
#include "gemm/plan/choose.hpp"
#include "gemm/rates.hpp"
#include "support/errors.hpp"
#include <heddle/gemm/gemm.hpp>
#include <heddle/gemm/predict.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

namespace heddle::published_tile_test {
namespace {

using test::rates_of;

// Equations (5), (7) and (9) for one tile of this product.
struct Inequalities {
  double math, memory, link;  // Flops and bytes per second.
  ProductShape shape;

  [[nodiscard]] double length() const {
    return std::cbrt(static_cast<double>(shape.rows) * static_cast<double>(shape.columns) *
                     static_cast<double>(shape.inner));
  }
  // (5): multiply-adds of a tile per element that it moves, against the rate of memory.
  [[nodiscard]] bool computes_longer_than_memory(Index tile) const {
    const auto t = static_cast<double>(tile);
    const double intensity = t * t * length() / (2 * (2 * t * length() + t * t));
    return intensity > math / (memory / shape.element_bytes);
  }
  // (7) against the time of a tile: a band is sent to each other rank while the owner computes one tile.
  [[nodiscard]] bool hides_transfers(Index tile) const {
    if (shape.ranks == 1 || link == 0.0) return true;
    const auto t = static_cast<double>(tile);
    const double transfers = (shape.ranks - 1) * shape.element_bytes * t * length() / link;
    return shape.flops_per_multiply_add * t * t * length() / math > transfers;
  }
  [[nodiscard]] Index share() const { return std::max<Index>((shape.rows + shape.ranks - 1) / shape.ranks, 1); }
  // The smallest tile that meets both and leaves every rank a band.
  [[nodiscard]] std::optional<Index> smallest() const {
    for (Index tile = 1; tile <= share(); ++tile) {
      if (computes_longer_than_memory(tile) && hides_transfers(tile)) return tile;
    }
    return {};
  }
};

TEST(PublishedTile, IsTheSmallestThatMeetsEquation9OfAnyShapeAndRates) {
  std::mt19937 engine(9);
  const auto between = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(engine));
  };
  int met = 0;
  int bound_by_memory = 0;
  int bound_by_link = 0;
  int no_tile_hides = 0;
  int too_small_for_memory = 0;
  for (int k = 0; k < 4000; ++k) {
    Inequalities of{between(1e9, 2e14), between(1e9, 4e12), k % 7 == 0 ? 0.0 : between(1e7, 1e12), {}};
    of.shape.rows = static_cast<Index>(between(1, 20000));
    const bool square = k % 2 == 0;
    of.shape.columns = square ? of.shape.rows : static_cast<Index>(between(1, 20000));
    of.shape.inner = square ? of.shape.rows : static_cast<Index>(between(1, 20000));
    of.shape.ranks = 1 + k % 9;
    of.shape.element_bytes = k % 3 == 0 ? 4 : k % 3 == 1 ? 8 : 16;
    of.shape.flops_per_multiply_add = k % 3 == 2 ? 8.0 : 2.0;
    const MachineRates rates = rates_of(of.math, of.memory, of.link);
    const std::optional<Index> smallest = of.smallest();
    EXPECT_EQ(published_tile(rates, of.shape), smallest.value_or(of.share()))
        << of.shape.rows << " x " << of.shape.columns << ", inner " << of.shape.inner << ", " << of.shape.ranks
        << " ranks, " << of.math << " flops, " << of.memory << " and " << of.link << " bytes a second";
    const TileBounds bounds = tile_bounds(rates, of.shape);
    met += smallest ? 1 : 0;
    bound_by_memory += smallest && bounds.memory > bounds.transfer ? 1 : 0;
    bound_by_link += smallest && bounds.memory < bounds.transfer ? 1 : 0;
    no_tile_hides += !smallest && !of.hides_transfers(of.share()) ? 1 : 0;
    too_small_for_memory += bounds.memory ? 0 : 1;
    EXPECT_EQ(bounds.smallest().has_value(), bounds.memory.has_value());
  }
  for (const int cases : {met, bound_by_memory, bound_by_link, no_tile_hides, too_small_for_memory}) {
    EXPECT_GE(cases, 100);
  }
}

// Computed by hand for the paper's floats (s = 4): k = 20 T / (2 T / 4) = 40, N = 10000: 4 * 40 * 10000 / 9920 = 161.3;
// eight ranks with 300 GB/s: 2 * 7 * 20 T / 300 G = 933.3.
TEST(PublishedTile, IsThatOfTheNumbersByHand) {
  const MachineRates rates = rates_of(20e12, 2e12, 300e9);
  EXPECT_EQ(published_tile(rates, {10000, 10000, 10000, 8, 4, 2.0}), 934);
  EXPECT_EQ(published_tile(rates, {10000, 10000, 10000, 1, 4, 2.0}), 162);
  EXPECT_EQ(published_tile(rates, {4000, 4000, 4000, 8, 4, 2.0}), 500) << "a rank's share";
  EXPECT_EQ(published_tile(rates, {0, 0, 0, 8, 4, 2.0}), 1);
  test::expect_refusal(ErrorKind::argument, "tile_bounds: the rates can't be used", [] {
    (void)published_tile(MachineRates{}, {8, 8, 8, 1, 8, 2.0});
  });
}

TEST(PublishedTile, IsTakenByPlansOfNativeProductsWithoutATile) {
  MachineRates rates = rates_of(1e13, 1e12, 6e10);
  rates.emulated = {{64, 1e10}};
  GemmOptions options;
  options.rates = rates;
  options.choice = TileChoice::published;
  impl::Product product;
  product.ranks = 4;
  product.a = product.c = Placement::row_bands(12000, 12000, 4);
  product.b = Placement::column_bands(12000, 12000, 4);
  const auto tile = [&] { return impl::choose_plan<double>(product, options, rates, {}).product.tile; };
  const Index published = published_tile(rates, {12000, 12000, 12000, 4, 8, 2.0});
  EXPECT_GT(published, 1000);
  EXPECT_LT(published, 3000);
  EXPECT_EQ(tile(), published);
  options.arithmetic = Arithmetic::automatic;
  EXPECT_EQ(tile(), published) << "native products are the faster ones";
  options.grid = {2, 2};
  EXPECT_EQ(tile(), published) << "whatever the grid";
  options.tile = 100;
  EXPECT_EQ(tile(), 100) << "a given tile is taken";
  options = {.choice = TileChoice::published, .rates = rates, .arithmetic = Arithmetic::emulated};
  const Index of_share = tile();
  options.choice = TileChoice::model;
  EXPECT_EQ(tile(), of_share) << "of emulated products";
}

TEST(PublishedTile, ComesWithOneLayerBetweenNodes) {
  MachineRates rates = h200_rates<double>(50e9);
  const ClusterShape cluster{32, 8, true};
  GemmOptions options;
  ASSERT_GT(predict_gemm<double>(cluster, 32768, 32768, 32768, rates, options).layers, 1);
  options.choice = TileChoice::published;
  const GemmPrediction found = predict_gemm<double>(cluster, 32768, 32768, 32768, rates, options);
  EXPECT_EQ(found.layers, 1);
  EXPECT_EQ(found.tile, published_tile(rates, {32768, 32768, 32768, 256, 8, 2.0}));
}

TEST(PublishedTile, HasAName) {
  EXPECT_EQ(to_string(TileChoice::model), "model");
  EXPECT_EQ(to_string(TileChoice::published), "published");
}

}  // namespace
}  // namespace heddle::published_tile_test
