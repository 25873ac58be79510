// Layers of the inner dimension: schedules, resources, and the choice of their number.
#include "gemm/plan/choose.hpp"
#include "gemm/plan/memory.hpp"
#include "gemm/plan/relays.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace heddle::impl::layers_test {
namespace {

struct Plan {
  Product product;
  int bands_per_pass = 1;
};

// A product of any shape, grid, placements, layers and nodes.
class RandomPlans {
 public:
  explicit RandomPlans(unsigned seed) : bits_(seed) {}

  Plan operator()() {
    const int ranks = between(1, 12);
    const Index m = between(0, 60);
    const Index n = between(0, 60);
    const Index k = one_in(4) ? between(130, 400) : between(1, 60);
    Product product{operation(), operation(), {}, {}, placement(m, n, ranks), between(1, 30), ranks};
    product.a = product.op_a == Operation::none ? placement(m, k, ranks) : placement(k, m, ranks);
    product.b = product.op_b == Operation::none ? placement(k, n, ranks) : placement(n, k, ranks);
    product.layers = static_cast<int>(std::min<Index>(one_in(2) ? ranks : between(1, 6), k));
    product.grid_columns = divisor(product.ranks_of_group());
    product.held_b = between(2, 4);
    product.first_held_b = product.held_b + between(0, 4);
    product.blocks = one_in(2);
    const int per_node = between(1, 4);
    for (int rank = 0; rank < ranks; ++rank) product.node_of.push_back(rank / per_node);
    return {product, between(1, 6)};
  }

 private:
  int between(int least, int most) { return std::uniform_int_distribution<int>(least, most)(bits_); }
  bool one_in(int count) { return between(1, count) == 1; }
  Operation operation() { return one_in(2) ? Operation::none : Operation::transpose; }
  int divisor(int of) {
    int found = between(1, of);
    while (of % found != 0) --found;
    return found;
  }
  Placement placement(Index rows, Index columns, int ranks) {
    switch (between(0, 3)) {
      case 0:
        return Placement::on_rank(rows, columns, between(0, ranks - 1));
      case 1:
        return Placement::row_bands(rows, columns, ranks);
      case 2:
        return Placement::column_bands(rows, columns, ranks);
      default: {
        const int high = divisor(ranks);
        return Placement::block_cyclic(rows, columns, between(1, 9), between(1, 9), high, ranks / high);
      }
    }
  }

  std::mt19937 bits_;
};

constexpr int trials = 3000;

TEST(Layers, RunsMakeUpTheInnerDimension) {
  for (const Index inner : {1, 2, 7, 63, 64, 65, 127, 128, 129, 1000, 4096, 100000}) {
    for (int layers = 1; layers <= 9 && layers <= inner; ++layers) {
      Product product;
      product.a = Placement::on_rank(3, inner, 0);
      product.layers = layers;
      Index next = 0;
      for (int layer = 0; layer < layers; ++layer) {
        const Range run = product.inner_range(layer);
        EXPECT_EQ(run.begin, next);
        EXPECT_GT(run.size(), 0) << inner << " in " << layers;
        EXPECT_LE(run.size(), product.longest_run());
        EXPECT_EQ(run.begin % (inner / layers >= 64 ? 64 : 1), 0);
        next = run.end;
      }
      EXPECT_EQ(next, inner);
      // Runs are equal except for rounding.
      EXPECT_LE(product.longest_run(), inner / layers + 64);
    }
  }
}

TEST(Layers, OfEachTileEachLayerIsComputedOnceByARankOfItsGroup) {
  RandomPlans random(1);
  for (int trial = 0; trial < trials; ++trial) {
    const auto [product, bands] = random();
    std::set<std::tuple<int, int, int>> computed;
    const auto schedules = make_schedules(product, bands);
    for (int rank = 0; rank < product.ranks; ++rank) {
      const RankSchedule& schedule = schedules[static_cast<std::size_t>(rank)];
      EXPECT_EQ(schedule.steps, make_schedule(product, bands, rank).steps);
      int last = 0;
      for (const Step& step : schedule.steps) {
        EXPECT_TRUE(computed.emplace(step.layer, step.row_band, step.column_band).second) << "computed twice";
        EXPECT_EQ(step.layer / product.layers_of_group(), product.group_of(rank));
        EXPECT_GE(step.layer, last) << "one layer after the other";
        last = step.layer;
        const auto [first, end] = product.column_share(product.grid_column_of(rank));
        EXPECT_TRUE(step.column_band >= first && step.column_band < end);
      }
    }
    EXPECT_EQ(static_cast<Index>(computed.size()),
              Index{product.layers} * product.row_bands() * product.column_bands());
  }
}

void expect_bands_there(const Product& product, const std::vector<Load>& loads, int slots, const RankSchedule& schedule,
                        int Step::*load_of, int Step::*band_of, int bands_of_layer) {
  std::map<int, const Load*> held;
  int posted = 0;
  for (const Load& load : loads) {
    ASSERT_TRUE(load.slot >= 0 && load.slot < slots);
    ASSERT_TRUE(load.band >= 0 && load.band < product.layers * bands_of_layer);
    ASSERT_LE(load.first_use, load.last_use);
    EXPECT_LE(load.post_before, load.first_use);
    EXPECT_GE(load.post_before, posted);
    posted = load.post_before;
    const auto before = held.find(load.slot);
    EXPECT_TRUE(before == held.end() || load.post_before > before->second->last_use);
    held[load.slot] = &load;
  }
  for (int number = 0; number < static_cast<int>(schedule.steps.size()); ++number) {
    const Step& step = schedule.steps[static_cast<std::size_t>(number)];
    const Load& load = loads[static_cast<std::size_t>(step.*load_of)];
    EXPECT_EQ(load.band, step.layer * bands_of_layer + step.*band_of);
    EXPECT_TRUE(load.first_use <= number && number <= load.last_use);
  }
}

TEST(Layers, BandsOfTheStepsLayerArriveBeforeUseAndStayWhileRead) {
  RandomPlans random(2);
  for (int trial = 0; trial < trials; ++trial) {
    const auto [product, bands] = random();
    for (const RankSchedule& schedule : make_schedules(product, bands)) {
      EXPECT_LE(schedule.slots_a, 2 * bands);
      expect_bands_there(product, schedule.loads_a, schedule.slots_a, schedule, &Step::load_a, &Step::row_band,
                         product.row_bands());
      expect_bands_there(product, schedule.loads_b, schedule.slots_b, schedule, &Step::load_b, &Step::column_band,
                         product.column_bands());
    }
  }
}

TEST(Layers, ABandIsItsRunOfTheInnerDimension) {
  RandomPlans random(3);
  for (int trial = 0; trial < trials; ++trial) {
    const Product product = random().product;
    for (int band = 0; band < product.bands_of_a(); ++band) {
      const Region region = band_of_a(product, band);
      const Range run = product.inner_range(band / product.row_bands());
      const Range& inner = product.op_a == Operation::none ? region.columns : region.rows;
      const Range& rows = product.op_a == Operation::none ? region.rows : region.columns;
      EXPECT_TRUE(inner.begin == run.begin && inner.end == run.end);
      EXPECT_EQ(rows.begin, product.row_range(band % product.row_bands()).begin);
      Index size = 0;
      for (const Piece& piece : pieces_of(product.a, region)) size += piece.size();
      EXPECT_EQ(size, region.size());
    }
    for (int band = 0; band < product.bands_of_b(); ++band) {
      const Region region = band_of_b(product, band);
      const Range run = product.inner_range(band / product.column_bands());
      const Range& inner = product.op_b == Operation::none ? region.rows : region.columns;
      EXPECT_TRUE(inner.begin == run.begin && inner.end == run.end);
    }
  }
}

// An owner that adds the contributions of the layers in order adds every element once.
TEST(Layers, EachLayerBringsEveryElementOfAnOwnersPartOnce) {
  RandomPlans random(4);
  for (int trial = 0; trial < trials / 4; ++trial) {
    const auto [product, bands] = random();
    for (int owner = 0; owner < product.ranks; ++owner) {
      const Index rows = product.c.local_rows(owner);
      const Index columns = product.c.local_columns(owner);
      std::vector<std::vector<int>> times(static_cast<std::size_t>(product.layers),
                                          std::vector<int>(static_cast<std::size_t>(rows * columns)));
      for (const RankSchedule& schedule : make_schedules(product, bands)) {
        for (const Step& step : schedule.steps) {
          const Piece piece = piece_of(product.c, tile_of_c(product, step.row_band, step.column_band), owner);
          for (Index j = piece.columns.begin; j < piece.columns.end; ++j) {
            for (Index i = piece.rows.begin; i < piece.rows.end; ++i) {
              ++times[static_cast<std::size_t>(step.layer)][static_cast<std::size_t>(i + j * rows)];
            }
          }
        }
      }
      for (const std::vector<int>& of_layer : times) {
        EXPECT_TRUE(std::all_of(of_layer.begin(), of_layer.end(), [](int count) { return count == 1; }));
      }
    }
  }
}

TEST(Layers, WhatIsPassedOnIsOfTheSameLayerAndComesFromOneWhoHasItOfTheOwner) {
  RandomPlans random(5);
  for (int trial = 0; trial < trials; ++trial) {
    const auto [product, bands] = random();
    const auto schedules = make_schedules(product, bands);
    for (const PlanOperand& operand : {operand_a, operand_b}) {
      const Relays relays(product, operand, schedules);
      for (int rank = 0; rank < product.ranks; ++rank) {
        for (const Load& load : schedules[static_cast<std::size_t>(rank)].*operand.loads) {
          for (const Piece& piece : pieces_of(product.*operand.placement, operand.band(product, load.band))) {
            const int source = relays.source(rank, load.band, piece.owner);
            if (source == piece.owner) continue;
            EXPECT_TRUE(product.on_one_node(rank, source));
            EXPECT_EQ(relays.source(source, load.band, piece.owner), piece.owner);
            const auto& of_source = schedules[static_cast<std::size_t>(source)].*operand.loads;
            EXPECT_TRUE(std::any_of(of_source.begin(), of_source.end(),
                                    [&](const Load& other) { return other.band == load.band; }));
          }
        }
      }
    }
  }
}

// 16 ranks, four layers of a grid of 2 x 2, all of the matrices on rank 0.
TEST(Layers, ARankTakesTheFourthPartOfItsBandsAndOwnersHaveTilesOfEveryLayer) {
  constexpr Index n = 256;
  Product product;
  product.a = product.b = product.c = Placement::on_rank(n, n, 0);
  product.tile = 16;
  product.ranks = 16;
  product.layers = 4;
  product.grid_columns = 2;
  ASSERT_EQ(product.grid_rows(), 2);
  const auto work = workloads(product, make_schedules(product, 100));
  constexpr double elements = n * n;
  for (int rank = 0; rank < product.ranks; ++rank) {
    const Workload& mine = work[static_cast<std::size_t>(rank)];
    EXPECT_EQ(mine.multiply_adds, elements * n / 16);
    EXPECT_EQ(mine.in.all, rank == 0 ? 0.0 : 2 * elements / 2 / 4);
    EXPECT_EQ(mine.out.all, rank == 0 ? 0.0 : elements / 4);
    EXPECT_EQ(mine.elements_added, rank == 0 ? 3 * elements : 0.0);
  }
  EXPECT_EQ(work[0].home.all, elements * 4 - elements / 4);
  EXPECT_EQ(bytes_of_layers(product, 8.0, 0), 8.0 * 3 * elements);
  EXPECT_EQ(bytes_of_layers(product, 8.0, 1), 0.0);
  // Bands are a fourth as long, so that four times as many fit.
  const double of_layers = bytes_of_bands(product, make_schedule(product, 1, 1), 8.0, 1);
  product.layers = 1;
  EXPECT_EQ(4 * of_layers, bytes_of_bands(product, make_schedule(product, 1, 1), 8.0, 1));
}

TEST(Layers, OfMoreLayersThanRanksEachTakesSeveralAndOthersGoOneAfterTheOther) {
  Product product;
  product.a = product.b = product.c = Placement::on_rank(64, 64, 0);
  product.ranks = 4;
  const auto groups = [&](int layers) {
    product.layers = layers;
    return std::pair(product.groups(), product.layers_of_group());
  };
  EXPECT_EQ(groups(1), std::pair(1, 1));
  EXPECT_EQ(groups(2), std::pair(2, 1));
  EXPECT_EQ(groups(3), std::pair(1, 3));
  EXPECT_EQ(groups(4), std::pair(4, 1));
  EXPECT_EQ(groups(6), std::pair(2, 3));
  EXPECT_EQ(groups(8), std::pair(4, 2));
}

// ---- the choice

// A and C in row bands, B in column bands, over nodes of eight GPUs.
Product cluster_product(Index n, int ranks) {
  Product product;
  product.a = product.c = Placement::row_bands(n, n, ranks);
  product.b = Placement::column_bands(n, n, ranks);
  product.ranks = ranks;
  product.on_gpus = true;
  for (int rank = 0; rank < ranks; ++rank) product.node_of.push_back(rank / 8);
  return product;
}

PlanFacts chosen(const Product& shape, GemmOptions options = {}, std::size_t workspace_bytes = std::size_t{1} << 34) {
  options.rates = h200_rates<double>(50e9);
  return choose_plan<double>(shape, options, *options.rates, {workspace_bytes, 0.0});
}

TEST(ChooseLayers, TakesSeveralOnlyWhereTheyAreFasterByThreePercent) {
  std::set<int> taken;
  for (const Index n : {2048, 16384, 32768, 65536, 131072}) {
    for (const int ranks : {8, 16, 64, 96, 256}) {
      const Product shape = cluster_product(n, ranks);
      const PlanFacts facts = chosen(shape);
      const PlanFacts one = chosen(shape, {.layers = 1});
      taken.insert(facts.product.layers);
      if (facts.product.layers == 1) {
        EXPECT_EQ(*facts.predicted_seconds, *one.predicted_seconds);
        EXPECT_EQ(facts.product.tile, one.product.tile);
        EXPECT_EQ(facts.product.grid_columns, one.product.grid_columns);
      } else {
        EXPECT_LT(*facts.predicted_seconds, 0.97 * *one.predicted_seconds) << n << " " << ranks;
        EXPECT_EQ(facts.product.ranks % facts.product.layers, 0);
        EXPECT_GE(ranks, facts.product.layers * facts.product.layers * facts.product.layers);
        // Copies of C take at most half of the workspace.
        EXPECT_LE(bytes_of_layers(facts.product, 8.0, 0), 0x1p33);
      }
    }
  }
  EXPECT_TRUE(taken.count(1) == 1 && taken.size() >= 3) << "sizes at which both happen";
}

TEST(ChooseLayers, TakesOneWhereBitsAreComparedAndWhereLayersAreNotFor) {
  const Product shape = cluster_product(32768, 256);
  ASSERT_GT(chosen(shape).product.layers, 1);
  EXPECT_EQ(chosen(shape, {.tile = 512}).product.layers, 1);
  EXPECT_EQ(chosen(shape, {.grid = {16, 16}}).product.layers, 1);
  EXPECT_EQ(chosen(shape, {.layers = 1}).product.layers, 1);
  // Copies of C must not take more than half of the workspace: 32 MiB for each layer but the first.
  EXPECT_EQ(chosen(shape, {}, std::size_t{63} << 20).product.layers, 1);
  Product other = shape;
  other.node_of.clear();
  EXPECT_EQ(chosen(other).product.layers, 1) << "one node";
  other = shape;
  other.half = true;
  EXPECT_EQ(chosen(other).product.layers, 1);
  for (Placement Product::*placement : {&Product::a, &Product::b, &Product::c}) {
    other = shape;
    other.*placement = (shape.*placement).in(Residence::host);
    EXPECT_EQ(chosen(other).product.layers, 1);
  }
  EXPECT_EQ(chosen(shape, {.arithmetic = Arithmetic::emulated}).product.layers, 1);
}

TEST(ChooseLayers, TakesWhatIsAskedForWithItsGrid) {
  const Product shape = cluster_product(32768, 64);
  EXPECT_EQ(chosen(shape, {.layers = 8}).product.layers, 8);
  const PlanFacts facts = chosen(shape, {.tile = 512, .grid = {2, 8}, .layers = 4});
  EXPECT_EQ(facts.product.layers, 4);
  EXPECT_EQ(facts.product.grid_columns, 8);
  EXPECT_EQ(facts.product.grid_rows(), 2);
  EXPECT_EQ(facts.traffic.multiply_adds, 32768.0 * 32768.0 * 32768.0);
  // Without a common divisor all ranks are one grid and compute one layer after the other.
  EXPECT_EQ(chosen(shape, {.tile = 512, .grid = {8, 8}, .layers = 3}).product.groups(), 1);
}

}  // namespace
}  // namespace heddle::impl::layers_test
