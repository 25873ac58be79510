// Schedules of products: tiles, bands and bytes of every rank.
#include "gemm/plan/schedule.hpp"

#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace heddle::impl::schedule_test {
namespace {

struct Case {
  Product product;
  int bands_per_pass;
};

// The cases for every grid, from one column of ranks on.
std::vector<Case> with_grids(const std::vector<Case>& cases) {
  std::vector<Case> result;
  for (const Case& c : cases) {
    for (int columns = 1; columns <= c.product.ranks; ++columns) {
      if (c.product.ranks % columns != 0) continue;
      result.push_back(c);
      result.back().product.grid_columns = columns;
    }
  }
  return result;
}

// Products of all kinds: ragged, skinny, fewer tiles than ranks, every placement, transposed operands.
std::vector<Case> cases() {
  std::vector<Case> result;
  for (const auto& [m, n, k] :
       {std::array<Index, 3>{40, 40, 40}, {41, 23, 17}, {5, 64, 3}, {64, 5, 9}, {1, 1, 1}, {0, 4, 4}, {4, 0, 2}}) {
    for (const Index tile : {1, 4, 7, 16, 100}) {
      for (const int ranks : {1, 2, 3, 4, 6, 7}) {
        for (const int bands : {1, 2, 100}) {
          result.push_back({{Operation::none, Operation::none, Placement::on_rank(m, k, ranks - 1),
                             Placement::on_rank(k, n, ranks / 2), Placement::on_rank(m, n, 0), tile, ranks},
                            bands});
          result.push_back({{Operation::none, Operation::none, Placement::row_bands(m, k, ranks),
                             Placement::column_bands(k, n, ranks), Placement::row_bands(m, n, ranks), tile, ranks},
                            bands});
          result.push_back(
              {{Operation::transpose, Operation::conjugate_transpose, Placement::block_cyclic(k, m, 3, 2, 1, ranks),
                Placement::row_bands(n, k, ranks), Placement::block_cyclic(m, n, 5, 4, ranks, 1), tile, ranks},
               bands});
        }
      }
    }
  }
  return with_grids(result);
}

TEST(Schedule, EachTileIsComputedOnce) {
  for (const Case& c : cases()) {
    std::set<std::pair<int, int>> computed;
    for (int rank = 0; rank < c.product.ranks; ++rank) {
      for (const Step& step : make_schedule(c.product, c.bands_per_pass, rank).steps) {
        EXPECT_TRUE(computed.emplace(step.row_band, step.column_band).second) << "computed twice";
      }
    }
    EXPECT_EQ(static_cast<Index>(computed.size()),
              static_cast<Index>(c.product.row_bands()) * c.product.column_bands());
  }
}

TEST(Schedule, TheWorkIsSharedEvenlyAmongTheRanksOfAColumn) {
  for (const Case& c : cases()) {
    for (int q = 0; q < c.product.grid_columns; ++q) {
      std::size_t most = 0;
      std::size_t least = std::numeric_limits<std::size_t>::max();
      for (int rank = q; rank < c.product.ranks; rank += c.product.grid_columns) {
        const std::size_t steps = make_schedule(c.product, c.bands_per_pass, rank).steps.size();
        most = std::max(most, steps);
        least = std::min(least, steps);
      }
      EXPECT_LE(most - least, 1U);
    }
  }
}

TEST(Schedule, AColumnOfTheGridHasOneShareOfTheBandsOfB) {
  for (const Case& c : cases()) {
    int next = 0;
    int most = 0;
    int least = std::numeric_limits<int>::max();
    for (int q = 0; q < c.product.grid_columns; ++q) {
      const auto [first, last] = c.product.column_share(q);
      EXPECT_EQ(first, next) << "shares follow each other";
      next = last;
      most = std::max(most, last - first);
      least = std::min(least, last - first);
      for (int rank = q; rank < c.product.ranks; rank += c.product.grid_columns) {
        for (const Load& load : make_schedule(c.product, c.bands_per_pass, rank).loads_b) {
          EXPECT_TRUE(load.band >= first && load.band < last);
        }
      }
    }
    EXPECT_EQ(next, c.product.column_bands());
    EXPECT_LE(most - least, 1);
  }
}

// On P x Q ranks each receives 1/P of the rows of op(A) and 1/Q of the columns of op(B), except its own part.
TEST(Schedule, AGridReceivesTheSharesOfItsRowsAndColumns) {
  const Index n = 96;
  for (const auto& [ranks, columns] : {std::pair{4, 2}, {6, 2}, {6, 3}, {16, 4}, {4, 4}, {4, 1}}) {
    const int rows = ranks / columns;
    Product product{Operation::none,
                    Operation::none,
                    Placement::on_rank(n, n, 0),
                    Placement::on_rank(n, n, 0),
                    Placement::on_rank(n, n, 0),
                    4,
                    ranks};
    product.grid_columns = columns;
    const auto work = workloads(product, make_schedules(product, 100));
    for (int rank = 1; rank < ranks; ++rank) {
      EXPECT_EQ(work[static_cast<std::size_t>(rank)].in.all, static_cast<double>(n * n / rows + n * n / columns))
          << ranks << " ranks, " << columns << " columns, rank " << rank;
    }
    EXPECT_EQ(work[0].in.all, 0.0);
  }
}

TEST(Schedule, RanksOfAGridAskDifferentOwnersAtFirst) {
  const Index n = 64;
  Product product{Operation::none,
                  Operation::none,
                  Placement::row_bands(n, n, 16),
                  Placement::column_bands(n, n, 16),
                  Placement::row_bands(n, n, 16),
                  4,
                  16};
  product.grid_columns = 4;
  std::set<int> bands_of_a;
  std::set<int> bands_of_b;
  for (int rank = 0; rank < 16; ++rank) {
    const RankSchedule schedule = make_schedule(product, 100, rank);
    bands_of_a.insert(schedule.loads_a.front().band);
    bands_of_b.insert(schedule.loads_b.front().band);
  }
  EXPECT_EQ(bands_of_a.size(), 16U);
  EXPECT_EQ(bands_of_b.size(), 16U);
}

void expect_safe(const std::vector<Load>& loads, int slots) {
  std::map<int, const Load*> held;
  int posted = 0;
  for (const Load& load : loads) {
    ASSERT_GE(load.slot, 0);
    ASSERT_LT(load.slot, slots);
    ASSERT_LE(load.first_use, load.last_use);
    EXPECT_LE(load.post_before, load.first_use) << "posted after its first use";
    EXPECT_GE(load.post_before, posted) << "messages change places";
    posted = load.post_before;
    if (const auto before = held.find(load.slot); before != held.end()) {
      EXPECT_GT(load.post_before, before->second->last_use) << "a band is overwritten while it is read";
    }
    held[load.slot] = &load;
  }
}

TEST(Schedule, BandsArriveBeforeUseAndStayWhileRead) {
  for (const Case& c : cases()) {
    for (int rank = 0; rank < c.product.ranks; ++rank) {
      const RankSchedule schedule = make_schedule(c.product, c.bands_per_pass, rank);
      expect_safe(schedule.loads_a, schedule.slots_a);
      expect_safe(schedule.loads_b, schedule.slots_b);
      for (int number = 0; number < static_cast<int>(schedule.steps.size()); ++number) {
        const Step& step = schedule.steps[static_cast<std::size_t>(number)];
        const Load& a = schedule.loads_a[static_cast<std::size_t>(step.load_a)];
        const Load& b = schedule.loads_b[static_cast<std::size_t>(step.load_b)];
        EXPECT_EQ(a.band, step.row_band);
        EXPECT_EQ(b.band, step.column_band);
        EXPECT_LE(a.first_use, number);
        EXPECT_GE(a.last_use, number);
        EXPECT_LE(b.first_use, number);
        EXPECT_GE(b.last_use, number);
      }
    }
  }
}

TEST(Schedule, TheNextBandTravelsWhileATileIsComputed) {
  const Index n = 64;
  const Product product{Operation::none,
                        Operation::none,
                        Placement::on_rank(n, n, 2),
                        Placement::on_rank(n, n, 1),
                        Placement::on_rank(n, n, 0),
                        8,
                        4};
  for (int rank = 0; rank < 4; ++rank) {
    const RankSchedule schedule = make_schedule(product, 1, rank);
    ASSERT_EQ(schedule.slots_b, 2);
    for (std::size_t k = 1; k < schedule.loads_b.size(); ++k) {
      EXPECT_LT(schedule.loads_b[k].post_before, schedule.loads_b[k].first_use);
    }
    for (std::size_t k = 1; k < schedule.loads_a.size(); ++k) {
      EXPECT_LT(schedule.loads_a[k].post_before, schedule.loads_a[k].first_use);
    }
  }
}

TEST(Schedule, TheFirstPassUsesEachBandWhenItComes) {
  const Index n = 256;
  Product product{Operation::none,
                  Operation::none,
                  Placement::on_rank(n, n, 2),
                  Placement::on_rank(n, n, 1),
                  Placement::on_rank(n, n, 0),
                  8,
                  4};
  product.first_held_b = 4;
  // Rank 2 owns A: it waits for B alone, and loads the bands of B one after the other.
  for (const int rank : {0, 1, 3}) {
    const RankSchedule schedule = make_schedule(product, 8, rank);
    for (int bands = 1; bands <= 4; ++bands) {
      for (int step = 0; step < bands * bands; ++step) {
        EXPECT_LT(schedule.steps[static_cast<std::size_t>(step)].load_a, bands) << "step " << step;
        EXPECT_LT(schedule.steps[static_cast<std::size_t>(step)].load_b, bands) << "step " << step;
      }
    }
  }
  EXPECT_EQ(make_schedule(product, 8, 2).steps[7].load_b, 0);
}

TEST(Schedule, FromHostMemoryEveryOwnersBandOfBComesWithOneOfA) {
  const Index n = 256;
  Product product{Operation::none,
                  Operation::none,
                  Placement::row_bands(n, n, 4).in(Residence::host),
                  Placement::column_bands(n, n, 4).in(Residence::host),
                  Placement::row_bands(n, n, 4).in(Residence::host),
                  8,
                  4};
  product.first_held_b = 32;
  for (int rank = 0; rank < 4; ++rank) {
    const RankSchedule schedule = make_schedule(product, 8, rank);
    EXPECT_EQ(schedule.slots_b, 32);
    for (int bands = 1; bands <= 8; ++bands) {
      for (int step = 0; step < 4 * bands * bands; ++step) {
        EXPECT_LT(schedule.steps[static_cast<std::size_t>(step)].load_a, bands) << "step " << step;
        EXPECT_LT(schedule.steps[static_cast<std::size_t>(step)].load_b, 4 * bands) << "step " << step;
      }
    }
  }
}

TEST(Schedule, RanksBeginAtDifferentBandsOfB) {
  const Index n = 64;
  const Product product{Operation::none,
                        Operation::none,
                        Placement::on_rank(n, n, 2),
                        Placement::on_rank(n, n, 1),
                        Placement::on_rank(n, n, 0),
                        8,
                        4};
  for (std::size_t step = 0; step < 16; ++step) {
    std::set<int> bands;
    for (int rank = 0; rank < 4; ++rank) {
      bands.insert(make_schedule(product, 1, rank).steps[step].column_band);
    }
    EXPECT_EQ(bands.size(), 4U) << "step " << step;
  }
}

TEST(Schedule, BandsFromHostMemoryGoByForAllRanksAtOnceAndFromTheOwnersInTurn) {
  const Index n = 64;
  const Product product{Operation::none,
                        Operation::none,
                        Placement::row_bands(n, n, 4),
                        Placement::column_bands(n, n, 4).in(Residence::host),
                        Placement::row_bands(n, n, 4),
                        8,
                        4};
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<int> bands;
    for (const Load& load : make_schedule(product, 2, rank).loads_b) {
      bands.push_back(load.band);
    }
    EXPECT_EQ(bands, (std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7})) << "rank " << rank;
  }
}

// The formula of GemmPlan's documentation.
TEST(Schedule, BytesMovedAreThoseOfTheFormula) {
  const Index m = 96;
  const Index n = 80;
  const Index k = 56;
  for (const int ranks : {2, 3, 4}) {
    for (const int bands : {1, 2, 8}) {
      const Index tile = 4;
      // All matrices are on one rank that also computes: its own parts are not sent to it.
      const Product product{Operation::none,
                            Operation::none,
                            Placement::on_rank(m, k, 0),
                            Placement::on_rank(k, n, 0),
                            Placement::on_rank(m, n, 0),
                            tile,
                            ranks};
      const auto work = workloads(product, make_schedules(product, bands));
      ASSERT_EQ(work.size(), static_cast<std::size_t>(ranks));
      double served = 0.0;
      for (int rank = 1; rank < ranks; ++rank) {
        const Workload& mine = work[static_cast<std::size_t>(rank)];
        const Index my_bands = m / tile / ranks;
        const Index passes = (my_bands + bands - 1) / bands;
        EXPECT_EQ(mine.in.all, static_cast<double>(my_bands * tile * k + passes * k * n));
        EXPECT_EQ(mine.out.all, static_cast<double>(my_bands * tile * n));
        EXPECT_EQ(mine.home.all, 0.0);
        EXPECT_EQ(mine.multiply_adds, static_cast<double>(my_bands * tile * n * k));
        served += mine.in.all;
      }
      EXPECT_EQ(work[0].in.all, 0.0);
      EXPECT_EQ(work[0].out.all, 0.0);
      EXPECT_EQ(work[0].served.all, served);
      EXPECT_EQ(work[0].home.all, static_cast<double>(m * n) * (ranks - 1) / ranks);
    }
  }
}

TEST(Schedule, WhatIsInBandsTravelsAtMostOnceMore) {
  // A and C in row bands are not sent; each rank receives the missing (P - 1) / P of B once.
  const Index n = 96;
  for (const int ranks : {2, 3, 4}) {
    const Product product{Operation::none,
                          Operation::none,
                          Placement::row_bands(n, n, ranks),
                          Placement::column_bands(n, n, ranks),
                          Placement::row_bands(n, n, ranks),
                          8,
                          ranks};
    for (const Workload& work : workloads(product, make_schedules(product, 100))) {
      EXPECT_EQ(work.in.all, static_cast<double>(n * n) * (ranks - 1) / ranks);
      EXPECT_EQ(work.out.all, 0.0);
      EXPECT_EQ(work.home.all, 0.0);
    }
  }
}

TEST(Schedule, PiecesMakeUpTheirRegion) {
  for (const Placement& placement : test::placements_of(23, 31, 4)) {
    const Region region{{4, 19}, {3, 30}};
    Index size = 0;
    for (const Piece& piece : pieces_of(placement, region)) {
      EXPECT_GT(piece.size(), 0);
      size += piece.size();
      for (Index i = piece.rows.begin; i < piece.rows.end; ++i) {
        const Index row = placement.row_axis().global(placement.grid_row(piece.owner), i);
        EXPECT_TRUE(row >= region.rows.begin && row < region.rows.end);
      }
    }
    EXPECT_EQ(size, region.size());
  }
}

}  // namespace
}  // namespace heddle::impl::schedule_test
