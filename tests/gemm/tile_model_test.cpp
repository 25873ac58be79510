// The tile model: bounds of tiles, predicted times and stored rates.
#include "gemm/plan/choose_tile.hpp"
#include "gemm/rates.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/gemm/gemm.hpp>
#include <heddle/gemm/tile_model.hpp>
#include <heddle/tuning/rates.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace heddle::tile_model_test {
namespace {

using test::rates_of;

// The paper's (6) and (8), computed by hand: s = 4, BW_math = 10 T, BW_mem = 800 G (200 G elements, k = 50),
// BW_transfer = 20 G, P = 4, N = 1000: 4 * 50 * 1000 / 900 = 222.2 and 2 * 3 * 500 = 3000.
TEST(TileModel, BoundsAreThePapers) {
  const MachineRates rates = rates_of(10e12, 800e9, 20e9);
  const TileBounds bounds = tile_bounds(rates, {1000, 1000, 1000, 4, 4, 2.0});
  ASSERT_TRUE(bounds.memory.has_value());
  EXPECT_EQ(*bounds.memory, 223);
  EXPECT_EQ(bounds.transfer, 3001);
  // With twice the bytes k doubles (N = 1000 > 200), and (8) doubles: 4 * 100 * 1000 / 800 = 500.
  const TileBounds in_double = tile_bounds(rates, {1000, 1000, 1000, 4, 8, 2.0});
  EXPECT_EQ(*in_double.memory, 501);
  EXPECT_EQ(in_double.transfer, 6001);
}

TEST(TileModel, SmallMatricesAndOneRankHaveNoBound) {
  const MachineRates rates = rates_of(10e12, 800e9, 20e9);
  EXPECT_FALSE(tile_bounds(rates, {100, 100, 100, 4, 4, 2.0}).memory.has_value());
  EXPECT_EQ(tile_bounds(rates, {1000, 1000, 1000, 1, 4, 2.0}).transfer, 1);
}

TEST(TileModel, RefusesShapesOfNoProduct) {
  const MachineRates rates = rates_of(1.0, 1.0, 1.0);
  const auto refused = [&](const ProductShape& shape, const std::string& part) {
    test::expect_refusal(ErrorKind::argument, "tile_bounds: " + part,
                         [&] { static_cast<void>(tile_bounds(rates, shape)); });
    test::expect_refusal(ErrorKind::argument, "published_tile: " + part,
                         [&] { static_cast<void>(published_tile(rates, shape)); });
  };
  refused({8, 8, 8, 0}, "0 ranks; expected at least 1");
  refused({8, -8, 8, 2}, "C is 8 x -8, the inner dimension is 8; expected none negative");
  refused({8, 8, 8, 2, 0}, "elements of 0 bytes; expected at least 1");
  refused({8, 8, 8, 2, 8, 0.0}, "0 flops of a multiply-add; expected a positive number");
}

TEST(TileModel, RatesAreInterpolated) {
  const MachineRates rates = rates_of(100.0, 1.0, 1.0);
  EXPECT_EQ(rates.peak_flops(), 100.0);
  EXPECT_EQ(rates.flops_at(256), 80.0);
  EXPECT_EQ(rates.flops_at(512), 90.0);
  EXPECT_EQ(rates.flops_at(1024), 100.0);
  EXPECT_EQ(rates.flops_at(5000), 100.0);
  EXPECT_EQ(rates.flops_at(128), 40.0);
}

TEST(TileModel, AWarmDeviceIsSlower) {
  MachineRates rates = rates_of(100.0, 1e10, 1e9);
  rates.gemm.front().warm_flops = 40.0;
  rates.gemm.back().warm_flops = 90.0;
  EXPECT_EQ(rates.warmth_after(5.0), 0.0);
  EXPECT_EQ(rates.flops_at(256, 100.0), 80.0);
  rates.warm = {{1.0, 0.25}, {3.0, 1.0}};
  EXPECT_DOUBLE_EQ(rates.warmth_after(0.5), 0.125);
  EXPECT_DOUBLE_EQ(rates.warmth_after(2.0), 0.625);
  EXPECT_EQ(rates.warmth_after(100.0), 1.0);
  EXPECT_EQ(rates.flops_at(256, 100.0), 40.0);
  EXPECT_EQ(rates.flops_at(256, 2.0), 55.0);
  EXPECT_EQ(rates.flops_at(512, 100.0), 65.0);
}

impl::Product paper_product(Index n, int ranks) {
  return {Operation::none,
          Operation::none,
          Placement::on_rank(n, n, 2 % ranks),
          Placement::on_rank(n, n, 1 % ranks),
          Placement::on_rank(n, n, 0),
          1,
          ranks};
}

TEST(TileModel, ChosenTileMeetsTheBoundsAndIsNearTheBestPrediction) {
  const MachineRates rates = rates_of(50e12, 4e12, 300e9);
  const impl::ElementCost cost;
  for (const Index n : {4096, 16384}) {
    for (const int ranks : {2, 4}) {
      impl::Product product = paper_product(n, ranks);
      const Index tile = impl::choose_tile(rates, cost, product, {1}, 0, 1, std::size_t{1} << 30).tile;
      const TileBounds bounds = tile_bounds(rates, {n, n, n, ranks, 8, 2.0});
      EXPECT_GE(tile, bounds.transfer);
      EXPECT_GE(tile, bounds.memory.value_or(1));
      product.tile = tile;
      const double chosen = impl::predicted_seconds(rates, cost, product, 1);
      for (Index other = 64; other <= n; other *= 2) {
        if (other >= bounds.transfer && other >= bounds.memory.value_or(1)) {
          product.tile = other;
          EXPECT_LE(chosen, 1.011 * impl::predicted_seconds(rates, cost, product, 1)) << "tile " << other;
        }
      }
    }
  }
}

TEST(TileModel, PredictionIsTheCeilingWhereNothingTravels) {
  MachineRates rates = rates_of(1e9, 1e10, 1e9);
  impl::Product product = paper_product(1024, 1);
  product.tile = 1024;
  EXPECT_DOUBLE_EQ(impl::predicted_seconds(rates, {}, product, 1), 2.0 * 1024 * 1024 * 1024 / 1e9);
}

TEST(TileModel, ReadersOfOneOwnerShareItsLink) {
  // With everything on rank 0 and a slow link, the time is that of rank 0's sends: all of B to each of the others.
  const MachineRates rates = rates_of(1e15, 1e15, 1e9);
  impl::Product product{Operation::none,
                        Operation::none,
                        Placement::row_bands(4096, 4096, 4),
                        Placement::on_rank(4096, 4096, 0),
                        Placement::row_bands(4096, 4096, 4),
                        256,
                        4};
  const double sent = 3.0 * 8.0 * 4096.0 * 4096.0 / 1e9;
  EXPECT_NEAR(impl::predicted_seconds(rates, {}, product, 4), sent, 0.01 * sent);
  // With B in column bands, which the ranks take in turn, the owners share the work.
  product.b = Placement::column_bands(4096, 4096, 4);
  EXPECT_NEAR(impl::predicted_seconds(rates, {}, product, 4), sent / 4.0, 0.02 * sent);
}

TEST(TileModel, TilesWaitForBandsWhereProductsHideTheBus) {
  const auto host = [](Index n, int ranks) {
    return impl::Product{Operation::none,
                         Operation::none,
                         Placement::row_bands(n, n, ranks).in(Residence::host),
                         Placement::column_bands(n, n, ranks).in(Residence::host),
                         Placement::row_bands(n, n, ranks).in(Residence::host),
                         256,
                         ranks};
  };
  const auto wait = [](const MachineRates& rates, const impl::Product& product) {
    return impl::tiles_wait_for_bands(rates, {}, product, impl::workloads(product, impl::make_schedules(product, 8)));
  };
  MachineRates rates = rates_of(1e10, 1e12, 1e12);
  EXPECT_FALSE(wait(rates, host(1024, 2))) << "no bus";
  // 2 n^3 / P at 0.8e10 against 3 * 8 n^2 / P on the bus: equal at n = 1024 for 9.6e7 bytes/s.
  rates.host_bandwidth = 9.7e7;
  rates.host_bandwidth_both_ways = 5e7;
  EXPECT_TRUE(wait(rates, host(1024, 2)));
  EXPECT_FALSE(wait(rates, host(1000, 2)));
  EXPECT_FALSE(wait(rates, paper_product(1024, 2))) << "nothing in host memory";
  // Both directions one after the other, or the slower of both at once.
  const impl::Product waits = host(1024, 2);
  EXPECT_GE(impl::predicted_seconds(rates, {}, waits, 8), 1.5 * 8.0 * 1024 * 1024 / 9.7e7);
  const impl::Product at_once = host(1000, 2);
  EXPECT_GE(impl::predicted_seconds(rates, {}, at_once, 8), 8.0 * 1000 * 1000 / 5e7);
}

TEST(TileModel, BandsFitTheWorkspace) {
  impl::Product product = paper_product(1024, 4);
  product.tile = 64;  // 16 bands, 4 a rank, 512 KiB each
  EXPECT_EQ(impl::bands_that_fit(product, 8.0, std::size_t{2} << 20), 4);
  EXPECT_EQ(impl::bands_that_fit(product, 8.0, (std::size_t{2} << 20) - 1), 1);
  EXPECT_EQ(impl::bands_that_fit(product, 8.0, 0), 1);
}

class RatesFile : public ::testing::Test {
 protected:
  RatesFile() {
    // One directory for all ranks; rank 0's environment counts.
    folder_ = std::filesystem::temp_directory_path() / message_of("heddle_rates_", getpid());
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  ~RatesFile() override {
    std::filesystem::remove_all(folder_);
    unsetenv("XDG_CACHE_HOME");
  }
  Communicator comm = test::world();
  std::filesystem::path folder_;
};

TEST_F(RatesFile, IsReadAsItWasWritten) {
  EXPECT_FALSE(load_rates<double>(comm).has_value());
  MachineRates rates = rates_of(1.0 / 3.0, 1e300, 1e-3);
  rates.latency = 1e-6;
  rates.host_bandwidth = 5e10;
  rates.host_bandwidth_both_ways = 3e10;
  rates.warm = {{0.1, 0.95}, {1.0, 1.0 / 3.0}};
  save_rates<double>(comm, rates);
  const auto read = load_rates<double>(comm);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, rates);
  EXPECT_FALSE(load_rates<float>(comm).has_value()) << "rates of another type";
}

TEST_F(RatesFile, ABrokenFileIsNoFile) {
  const auto file = rates_file<double>(comm);
  comm.on_rank(0, [&] {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << R"({"gemm": [{"tile": 64)";
  });
  EXPECT_FALSE(load_rates<double>(comm).has_value());
}

TEST_F(RatesFile, AFolderInItsPlaceIsNoFile) {
  const auto file = rates_file<double>(comm);
  comm.on_rank(0, [&] { std::filesystem::create_directories(file); });
  EXPECT_FALSE(load_rates<double>(comm).has_value());
  test::expect_refusal(ErrorKind::input, ": can't be read", [&] { static_cast<void>(read_rates(file)); });
  test::expect_refusal(ErrorKind::input, ": can't be read", [&] { static_cast<void>(rates_origin(file)); });
  comm.barrier();
}

TEST_F(RatesFile, ARefusedFolderIsAnErrorOnEveryRank) {
  comm.on_rank(0, [&] { std::ofstream(folder_) << "a file where the folder should be"; });
  try {
    save_rates<double>(comm, rates_of(1.0, 1.0, 1.0));
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::output);
  }
}

TEST(MachineRates, AreMeasured) {
  const Communicator comm = test::world();
  double last = 0.0;
  const MachineRates rates = measure_rates<double>(comm, 0.2, [&](double share) {
    EXPECT_GE(share, last);
    last = share;
  });
  EXPECT_EQ(last, 1.0);
  ASSERT_FALSE(rates.gemm.empty());
  EXPECT_GT(rates.peak_flops(), 1e6);
  EXPECT_GT(rates.memory_bandwidth, 1e6);
  EXPECT_EQ(rates.link_bandwidth > 0.0, comm.size() > 1);
  EXPECT_GE(rates.overlap, 0.0);
  EXPECT_LE(rates.overlap, 1.0);
}

TEST(TileModel, LinksBetweenNodesHaveTheirOwnRate) {
  MachineRates rates;
  rates.gemm = {{64, 1e12}};
  rates.memory_bandwidth = 1e12;
  rates.link_bandwidth = 1e10;
  rates.overlap = 1.0;
  const Index n = 512;
  impl::Product product;
  product.a = product.c = Placement::row_bands(n, n, 4);
  product.b = Placement::column_bands(n, n, 4);
  product.ranks = 4;
  product.tile = 64;
  product.blocks = true;
  const auto seconds = [&](std::vector<int> node_of, double node_bandwidth) {
    product.node_of = std::move(node_of);
    rates.node_bandwidth = node_bandwidth;
    return impl::predicted_seconds(rates, {}, product, 2);
  };
  const double on_one = seconds({}, 0.0);
  EXPECT_EQ(seconds({}, 1e7), on_one) << "nothing leaves the node";
  EXPECT_EQ(seconds({0, 0, 1, 1}, 0.0), on_one) << "one rate is that of all links";
  // Half of B comes to every rank from the other node, and none of it is hidden behind products this short.
  const double slow = seconds({0, 0, 1, 1}, 1e7);
  EXPECT_GE(slow, 8.0 * n * n / 2 / 1e7);
  EXPECT_LE(slow, 2.0 * 8.0 * n * n / 2 / 1e7);
  const double apart = seconds({0, 1, 2, 3}, 1e7);
  EXPECT_GE(apart, 8.0 * n * n * 3 / 4 / 1e7);
  EXPECT_GT(apart, slow);
}

TEST(TileModel, WhatComesFromOtherNodesHidesByAShareOfItsOwn) {
  MachineRates rates;
  rates.gemm = {{64, 1e9}};
  rates.memory_bandwidth = 1e12;
  rates.link_bandwidth = 1e12;
  rates.node_bandwidth = 2e7;
  const Index n = 512;
  impl::Product product;
  product.a = product.c = Placement::row_bands(n, n, 2);
  product.b = Placement::column_bands(n, n, 2);
  product.ranks = 2;
  product.tile = 64;
  product.blocks = true;
  product.node_of = {0, 1};
  const auto seconds = [&](double overlap, double node_overlap) {
    rates.overlap = overlap;
    rates.node_overlap = node_overlap;
    return impl::predicted_seconds(rates, {}, product, 4);
  };
  const double products = 2.0 * n * n * n / 2 / 1e9;
  const double link = 8.0 * n * n / 2 / 2e7;
  // Nothing is sent within a node, so the node's overlap does not matter.
  EXPECT_NEAR(seconds(0.0, 0.0), products + link, 0.02 * (products + link));
  EXPECT_NEAR(seconds(1.0, 0.0), seconds(0.0, 0.0), 1e-3 * products);
  const double hidden = seconds(0.0, 1.0);
  EXPECT_LT(hidden, products + 0.5 * link);
  EXPECT_GE(hidden, 0.999 * products);
  EXPECT_NEAR(seconds(0.0, 0.5), (seconds(0.0, 0.0) + hidden) / 2, 1e-9);
}

}  // namespace
}  // namespace heddle::tile_model_test
