// Choice of a product's plan by machine rates: tile, bands, grid and arithmetic.
#include "gemm/plan/choose.hpp"

#include "gemm/plan/memory.hpp"
#include "gemm/run/emulated_bands.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::impl::choose_test {
namespace {

// A machine whose products have one rate for every tile, and emulated products `emulated` times that rate.
MachineRates flat_rates(double emulated) {
  constexpr double flops = 1e12;
  MachineRates rates;
  rates.gemm = {{64, flops}, {1024, flops}};
  if (emulated > 0.0) rates.emulated = {{64, emulated * flops}, {1024, emulated * flops}};
  rates.memory_bandwidth = 1e11;
  rates.link_bandwidth = 1e10;
  rates.latency = 1e-6;
  return rates;
}

// C = A B, all square of order n. A and C are in row bands, B in column bands.
Product square_product(Index n, int ranks) {
  Product product;
  product.a = product.c = Placement::row_bands(n, n, ranks);
  product.b = Placement::column_bands(n, n, ranks);
  product.ranks = ranks;
  return product;
}

GemmOptions given(const MachineRates& rates, Arithmetic arithmetic, Index tile) {
  GemmOptions options;
  options.rates = rates;
  options.arithmetic = arithmetic;
  options.tile = tile;
  return options;
}

bool same(const EmulationOptions& one, const EmulationOptions& other) {
  return one.scheme == other.scheme && one.moduli == other.moduli && one.look == other.look &&
         one.most_moduli == other.most_moduli && one.fallback == other.fallback &&
         one.workspace_bytes == other.workspace_bytes;
}

// On four H200s with A, B and C whole on ranks 2, 1 and 0, the tiles must be the fastest measured ones; a tile of twice
// the size took 5 % longer at n = 8192, and one of half the size 4 % at n = 16384.
TEST(ChoosePlan, WithTheRatesOfH200sTakesTheTilesThatAreFastestThere) {
  const MachineRates rates = h200_rates<double>(0.0);
  for (const auto& [n, tile] : {std::pair<Index, Index>{8192, 1024}, {16384, 2048}}) {
    Product product;
    product.a = Placement::on_rank(n, n, 2);
    product.b = Placement::on_rank(n, n, 1);
    product.c = Placement::on_rank(n, n, 0);
    product.ranks = 4;
    product.on_gpus = product.blocks = true;
    EXPECT_EQ(choose_plan<double>(product, given(rates, Arithmetic::native, 0), rates, {}).product.tile, tile) << n;
  }
}

TEST(ChoosePlan, TakesTheTileAndTheBandsThatAreGiven) {
  const MachineRates rates = flat_rates(0.0);
  GemmOptions options = given(rates, Arithmetic::native, 100);
  options.bands_per_pass = 2;
  const PlanFacts facts = choose_plan<double>(square_product(1000, 2), options, rates, {});
  EXPECT_EQ(facts.product.tile, 100);
  EXPECT_EQ(facts.bands_per_pass, 2);
  EXPECT_EQ(facts.arithmetic.taken, Arithmetic::native);
  // There are ten bands, five on each of the two ranks, and no more can be held.
  options.bands_per_pass = 50;
  EXPECT_EQ(choose_plan<double>(square_product(1000, 2), options, rates, {}).bands_per_pass, 5);
}

TEST(ChoosePlan, HoldsAsManyBandsAsTheWorkspaceTakes) {
  const MachineRates rates = flat_rates(0.0);
  const GemmOptions options = given(rates, Arithmetic::native, 100);
  const auto bands_in = [&](double bands) {
    const auto bytes = static_cast<std::size_t>(bands * 100 * 1000 * sizeof(double));
    return choose_plan<double>(square_product(1000, 1), options, rates, {bytes, 0.0}).bands_per_pass;
  };
  EXPECT_EQ(bands_in(10.0), 10) << "all of them";
  // Otherwise two passes of bands are held at a time: one in use, one on its way.
  EXPECT_EQ(bands_in(9.9), 4);
  EXPECT_EQ(bands_in(4.0), 2);
  EXPECT_EQ(bands_in(0.5), 1) << "one is always held";
}

TEST(ChoosePlan, OfATileLeftOpenThePredictedTimeIsTheLeast) {
  MachineRates rates = flat_rates(0.0);
  rates.gemm = {{64, 2e11}, {256, 8e11}, {1024, 1e12}};
  for (const int ranks : {1, 2, 4}) {
    const Product shape = square_product(4096, ranks);
    const MemoryLimits memory;
    const PlanFacts chosen = choose_plan<double>(shape, given(rates, Arithmetic::native, 0), rates, memory);
    ASSERT_TRUE(chosen.predicted_seconds);
    for (const Index tile : {64, 128, 256, 512, 1024}) {
      const PlanFacts other = choose_plan<double>(shape, given(rates, Arithmetic::native, tile), rates, memory);
      // On CPUs a larger tile is chosen if it is predicted to be at most 1 % slower.
      EXPECT_LE(*chosen.predicted_seconds, 1.0101 * *other.predicted_seconds) << ranks << " " << tile;
    }
  }
}

TEST(ChoosePlan, FindsATileForMatricesOfAnySize) {
  const MachineRates rates = flat_rates(0.0);
  for (const int ranks : {1, 2, 3, 4, 32}) {
    for (const Index n : {0, 1, 2, 5, 31, 63, 64, 65, 300}) {
      for (const auto& [m, k] : {std::pair<Index, Index>{n, n}, {1, n}, {n, 1}, {7, 900}}) {
        Product shape;
        shape.c = Placement::row_bands(m, n, ranks);
        shape.a = Placement::row_bands(m, k, ranks);
        shape.b = Placement::column_bands(k, n, ranks);
        shape.ranks = ranks;
        const PlanFacts facts = choose_plan<double>(shape, given(rates, Arithmetic::native, 0), rates, {});
        const Index longest = std::max({m, n, Index{1}});
        EXPECT_TRUE(facts.product.tile >= 1 && facts.product.tile <= std::max<Index>(longest, 256))
            << ranks << " ranks, " << m << " x " << n << ": tile " << facts.product.tile;
        EXPECT_EQ(facts.product.ranks % facts.product.grid_columns, 0);
        ASSERT_TRUE(facts.predicted_seconds);
        EXPECT_TRUE(std::isfinite(*facts.predicted_seconds));
      }
    }
  }
}

TEST(ChoosePlan, TakesAGridWhereTheLinkIsTheBottleneck) {
  MachineRates rates = flat_rates(0.0);
  rates.overlap = 1.0;
  GemmOptions options = given(rates, Arithmetic::native, 0);
  const auto columns_of = [&](const Product& shape, double link_bandwidth) {
    options.rates->link_bandwidth = link_bandwidth;
    return choose_plan<double>(shape, options, *options.rates, {}).product.grid_columns;
  };
  EXPECT_EQ(columns_of(square_product(4096, 16), 1e8), 4) << "a square takes the fewest elements";
  EXPECT_EQ(columns_of(square_product(4096, 16), 1e13), 1) << "what is hidden needs no grid";
  EXPECT_EQ(columns_of(square_product(4096, 1), 1e8), 1);
  EXPECT_EQ(columns_of(square_product(4096, 7), 1e8), 1) << "7 x 1 or 1 x 7";
  Product half = square_product(4096, 16);
  half.half = true;
  EXPECT_EQ(columns_of(half, 1e8), 1);
  Product streamed = square_product(4096, 16);
  streamed.b = streamed.b.in(Residence::host);
  if (is_streamed(streamed.b)) {
    EXPECT_EQ(columns_of(streamed, 1e8), 1);
  }
  // A given grid is taken.
  options.grid = {2, 8};
  EXPECT_EQ(columns_of(square_product(4096, 16), 1e13), 8);
  EXPECT_EQ(columns_of(half, 1e13), 8);
}

TEST(ChoosePlan, OfAGridLeftOpenThePredictedTimeIsTheLeast) {
  MachineRates rates = flat_rates(0.0);
  for (const double link_bandwidth : {1e8, 3e9, 3e10}) {
    rates.link_bandwidth = link_bandwidth;
    GemmOptions options = given(rates, Arithmetic::native, 0);
    const Product shape = square_product(2048, 12);
    const PlanFacts chosen = choose_plan<double>(shape, options, rates, {});
    ASSERT_TRUE(chosen.predicted_seconds);
    for (const int columns : {1, 2, 3, 4, 6, 12}) {
      options.grid = {12 / columns, columns};
      const PlanFacts other = choose_plan<double>(shape, options, rates, {});
      // Another grid must be faster by 3 %.
      EXPECT_LE(*chosen.predicted_seconds, 1.031 * *other.predicted_seconds) << link_bandwidth << " " << columns;
    }
  }
}

TEST(ChoosePlan, PredictsOnlyFromRatesOfTheCallers) {
  const MachineRates rates = flat_rates(0.0);
  GemmOptions options = given(rates, Arithmetic::native, 100);
  EXPECT_TRUE(choose_plan<double>(square_product(1000, 1), options, rates, {}).predicted_seconds);
  options.rates.reset();
  const PlanFacts typical = choose_plan<double>(square_product(1000, 1), options, rates, {});
  EXPECT_FALSE(typical.predicted_seconds);
  EXPECT_EQ(typical.product.tile, 100);
}

TEST(ChoosePlan, AutomaticTakesTheFasterArithmetic) {
  const Product shape = square_product(1024, 1);
  const auto taken = [&](double emulated) {
    const MachineRates rates = flat_rates(emulated);
    return choose_plan<double>(shape, given(rates, Arithmetic::automatic, 256), rates, {}).arithmetic;
  };
  for (const double rate : {0.0, 0.5, 1.0}) {
    const ArithmeticChoice native = taken(rate);
    EXPECT_EQ(native.asked, Arithmetic::automatic);
    EXPECT_EQ(native.taken, Arithmetic::native) << rate;
    EXPECT_TRUE(same(native.emulation_taken, native.emulation_asked));
    EXPECT_EQ(native.moduli, 0);
  }
  // Twice as fast: with 14 moduli measured and two products of 8-bit integers more for the probe, a native product
  // takes as long as 28 of them.
  const ArithmeticChoice emulated = taken(2.03);
  EXPECT_EQ(emulated.taken, Arithmetic::emulated);
  EXPECT_EQ(emulated.moduli, emulation_moduli<double>(1024));
  EXPECT_EQ(emulated.moduli, 14);
  EXPECT_EQ(emulated.emulation_taken.most_moduli, 26);
  EXPECT_EQ(emulated.emulation_taken.fallback, Fallback::native);
  EXPECT_EQ(emulated.emulation_asked.most_moduli, 31) << "what was asked for stays";
  EXPECT_EQ(emulated.emulation_asked.fallback, Fallback::exact);
}

TEST(ChoosePlan, WithoutAProbeMoreModuliAreWorthIt) {
  const MachineRates rates = flat_rates(2.03);
  GemmOptions options = given(rates, Arithmetic::automatic, 256);
  options.emulation.look = false;
  const ArithmeticChoice choice = choose_plan<double>(square_product(1024, 1), options, rates, {}).arithmetic;
  EXPECT_EQ(choice.emulation_taken.most_moduli, 28);
  options.emulation.most_moduli = 20;
  EXPECT_EQ(choose_plan<double>(square_product(1024, 1), options, rates, {}).arithmetic.emulation_taken.most_moduli,
            20);
}

TEST(ChoosePlan, EmulatedProductsKeepTheOptionsAndOneBandARank) {
  const MachineRates rates = flat_rates(0.1);
  GemmOptions options = given(rates, Arithmetic::emulated, 0);
  options.emulation.moduli = 9;
  for (const int ranks : {1, 2, 3}) {
    const PlanFacts facts = choose_plan<float>(square_product(600, ranks), options, rates, {});
    EXPECT_EQ(facts.arithmetic.taken, Arithmetic::emulated);
    EXPECT_TRUE(same(facts.arithmetic.emulation_taken, options.emulation));
    EXPECT_EQ(facts.arithmetic.moduli, 9);
    EXPECT_EQ(facts.product.tile, 600 / ranks);
    EXPECT_FALSE(facts.tiles_wait);
  }
  // Residues of two bands of each side: 4 bytes an element of a band and modulus.
  const MemoryLimits little{std::size_t{1} << 30, 4.0 * 9 * 600 * 50};
  EXPECT_EQ(choose_plan<float>(square_product(600, 1), options, rates, little).product.tile, 50);
}

TEST(ChoosePlan, CountsWhatTravels) {
  const MachineRates rates = flat_rates(0.0);
  const GemmOptions options = given(rates, Arithmetic::native, 100);
  const Traffic alone = choose_plan<double>(square_product(800, 1), options, rates, {}).traffic;
  EXPECT_EQ(alone.multiply_adds, 800.0 * 800.0 * 800.0);
  EXPECT_EQ(alone.bytes_received, 0.0);
  // Each of four ranks receives the three quarters of B that it does not own, and nothing of A and C.
  const Traffic four = choose_plan<double>(square_product(800, 4), options, rates, {}).traffic;
  EXPECT_EQ(four.multiply_adds, alone.multiply_adds);
  EXPECT_EQ(four.bytes_received, 3.0 * 800.0 * 800.0 * sizeof(double));
  EXPECT_EQ(four.band_bytes_received, four.bytes_received);
}

TEST(ChoosePlan, RefusesModuliThatThereAreNot) {
  const MachineRates rates = flat_rates(1.0);
  GemmOptions options = given(rates, Arithmetic::emulated, 100);
  options.emulation.moduli = 40;
  test::expect_refusal(ErrorKind::argument, "emulation: 40 moduli; expected 7 to 31, or 0 for as many as",
                       [&] { (void)choose_plan<double>(square_product(100, 1), options, rates, {}); });
  options.arithmetic = Arithmetic::native;
  EXPECT_NO_THROW((void)choose_plan<double>(square_product(100, 1), options, rates, {}));
}

TEST(LimitedToMemory, LowersTheMostModuliNoFurtherThanToThoseNeeded) {
  const MachineRates rates = flat_rates(1.0);
  const PlanFacts facts =
      choose_plan<double>(square_product(512, 1), given(rates, Arithmetic::emulated, 256), rates, {});
  ASSERT_EQ(facts.arithmetic.moduli, 14);
  const auto most = [&](double free, double others) {
    return limited_to_memory<double>(facts, free, others).arithmetic.emulation_taken.most_moduli;
  };
  const auto residues = [&](int moduli) {
    return EmulatedBands<double>::bytes(facts.product, facts.bands_per_pass, moduli, {});
  };
  EXPECT_EQ(most(1e12, 0.0), 31);
  EXPECT_EQ(most(residues(20), 0.0), 20);
  EXPECT_EQ(most(residues(20) + 999.0, 1000.0), 19);
  EXPECT_EQ(most(0.0, 0.0), 14);
  EXPECT_EQ(limited_to_memory<double>(facts, 0.0, 0.0).arithmetic.emulation_asked.most_moduli, 31);
  const PlanFacts native =
      choose_plan<double>(square_product(512, 1), given(rates, Arithmetic::native, 256), rates, {});
  EXPECT_EQ(limited_to_memory<double>(native, 0.0, 0.0).arithmetic.emulation_taken.most_moduli, 31);
}

}  // namespace
}  // namespace heddle::impl::choose_test
