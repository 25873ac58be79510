// The order of a factorization's work: every column meets every panel on its left once, in turn; and routes of messages
// over a grid of ranks.
#include "solve/lu/schedule.hpp"

#include "solve/grid/rank_grid.hpp"
#include "solve/grid/row_exchange.hpp"
#include "solve/grid/slabs.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace heddle::schedule_test {
namespace {

using impl::LuSchedule;

// Count, for every column, the panels that have been applied to it when it is factored or at the end.
void expect_each_panel_once(const LuSchedule& schedule) {
  SCOPED_TRACE(message_of(schedule.rows, " x ", schedule.columns, ", blocks of ", schedule.block, ", groups of ",
                          schedule.group));
  std::vector<Index> applied(static_cast<std::size_t>(schedule.columns), 0);
  const Index panels = schedule.panels();
  for (Index p = 0; p < panels; ++p) {
    const Range own = schedule.panel(p);
    ASSERT_FALSE(own.empty());
    for (Index j = own.begin; j < own.end; ++j) ASSERT_EQ(applied[static_cast<std::size_t>(j)], p) << "column " << j;
    const LuSchedule::Update update = schedule.update_after(p);
    ASSERT_EQ(update.last, p + 1);
    ASSERT_LE(update.last - update.first, schedule.group);
    ASSERT_GE(update.first, schedule.group_begin(p));
    const Range rows = schedule.rows_of(update);
    ASSERT_EQ(rows.begin, update.first * schedule.block);
    ASSERT_EQ(rows.end, schedule.panel(p).end);
    const Range next = schedule.before_next_panel(update).columns;
    ASSERT_EQ(next.begin, update.columns.begin);
    if (p + 1 < panels) ASSERT_GE(next.end, schedule.panel(p + 1).end);
    if (schedule.group == 1 && p + 1 < panels) ASSERT_EQ(next.end, schedule.panel(p + 1).end);
    ASSERT_EQ(schedule.beside_next_panel(update).columns.begin, next.end);
    ASSERT_EQ(schedule.beside_next_panel(update).columns.end, update.columns.end);
    for (Index j = update.columns.begin; j < update.columns.end; ++j) {
      ASSERT_GE(j, own.end);
      ASSERT_EQ(applied[static_cast<std::size_t>(j)], update.first) << "column " << j << " after panel " << p;
      applied[static_cast<std::size_t>(j)] = update.last;
    }
  }
  for (Index j = schedule.steps(); j < schedule.columns; ++j) {
    ASSERT_EQ(applied[static_cast<std::size_t>(j)], panels) << "column " << j;
  }
}

TEST(LuSchedule, EachColumnMeetsEachPanelOnce) {
  for (const Index group : {1, 2, 4, 16}) {
    for (const Index block : {1, 3, 8}) {
      for (Index rows = 0; rows <= 70; rows += rows < 10 ? 1 : 7) {
        for (Index columns = 0; columns <= 70; columns += columns < 10 ? 1 : 5) {
          expect_each_panel_once({rows, columns, block, group});
        }
      }
    }
  }
  expect_each_panel_once({100000, 100000, 256, 16});
}

TEST(LuSchedule, MostOfTheWorkHasLongInnerDimensions) {
  const LuSchedule schedule{32768, 32768, 256, 16};
  double all = 0;
  double longest = 0;
  for (Index p = 0; p < schedule.panels(); ++p) {
    const LuSchedule::Update update = schedule.update_after(p);
    const double work = static_cast<double>(schedule.rows_of(update).size()) *
                        static_cast<double>(schedule.rows - schedule.rows_of(update).end) *
                        static_cast<double>(update.columns.size());
    all += work;
    longest += update.last - update.first == 16 ? work : 0;
  }
  EXPECT_GT(longest / all, 0.8);
}

// The products that a column meets, each by its panels and the columns of one call.
using Products = std::vector<std::vector<Index>>;
void add_products(std::vector<Products>& of_columns, const impl::LuSchedule::Update& update, Index first_panel,
                  Range columns, Index piece) {
  for (Index begin = columns.begin; begin < columns.end;) {
    const Index end = std::min(columns.end, (begin / piece + 1) * piece);
    for (Index j = begin; j < end; ++j) {
      of_columns[static_cast<std::size_t>(j)].push_back(
          {first_panel + update.first, first_panel + update.last, begin, end});
    }
    begin = end;
  }
}
void add_elimination(std::vector<Products>& of_columns, const impl::LuSchedule& schedule, Index first, Index piece) {
  for (Index p = 0; p < schedule.panels(); ++p) {
    const impl::LuSchedule::Update update = schedule.update_after(p);
    for (const auto& part : {schedule.before_next_panel(update), schedule.beside_next_panel(update)}) {
      add_products(of_columns, part, first / schedule.block, {first + part.columns.begin, first + part.columns.end},
                   piece);
    }
  }
}

TEST(ColumnSlabs, MeetTheProductsOfTheWholeMatrix) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{200, 200}, {90, 331}, {331, 190}, {64, 64}}) {
    for (const auto& [block, group, piece, ranks] :
         {std::array<Index, 4>{8, 1, 8, 1}, {8, 1, 24, 2}, {8, 2, 8, 3}, {8, 4, 24, 1}, {5, 2, 15, 2}}) {
      const impl::LuSchedule schedule{rows, columns, block, group};
      const CyclicAxis axis{columns, piece, static_cast<int>(ranks)};
      std::vector<Products> whole(static_cast<std::size_t>(columns));
      add_elimination(whole, schedule, 0, piece);
      const Index unit = impl::ColumnSlabs::unit(schedule, axis, Arithmetic::native);
      for (Index width = unit; width < columns + unit; width += unit) {
        SCOPED_TRACE(message_of(rows, " x ", columns, ", block ", block, ", group ", group, ", piece ", piece, ", ",
                                ranks, " ranks, width ", width));
        const impl::ColumnSlabs slabs{schedule, axis, width};
        std::vector<Products> found(static_cast<std::size_t>(columns));
        for (Index k = 0; k < slabs.count(); ++k) {
          const Range slab = slabs.slab(k);
          double share = slabs.share_done(impl::FactorizationKind::lu, slab, 0);
          for (const Range batch : slabs.batches_before(slab)) {
            for (const auto& update : slabs.updates(batch, slab, Arithmetic::native)) {
              add_products(found, update, 0, update.columns, piece);
            }
            const double now = slabs.share_done(impl::FactorizationKind::lu, slab, batch.end / block);
            EXPECT_GE(now, share);
            share = now;
          }
          if (slab.begin < schedule.steps()) add_elimination(found, slabs.schedule_of(slab), slab.begin, piece);
        }
        EXPECT_EQ(found, whole);
        for (const auto kind : {impl::FactorizationKind::lu, impl::FactorizationKind::cholesky}) {
          if (kind == impl::FactorizationKind::cholesky && rows != columns) continue;
          EXPECT_NEAR(slabs.share_done(kind, slabs.slab(slabs.count() - 1), schedule.panels()), 1.0, 1e-12);
        }
      }
    }
  }
}

// Each rank receives the message once, from a rank that has it and sends to it; each node receives it from outside
// once.
void expect_everyone_reached(const std::vector<int>& group, const std::vector<int>& node_of, int root) {
  SCOPED_TRACE(message_of("root ", root, " of ", group.size()));
  std::map<int, impl::Relay> ways;
  for (const int rank : group) ways[rank] = impl::relay(group, node_of, root, rank);
  EXPECT_EQ(ways[root].from, -1);
  std::map<int, int> times;
  std::map<int, int> from_outside;
  std::map<int, int> to_outside;
  std::vector<int> reached{root};
  for (std::size_t k = 0; k < reached.size(); ++k) {
    const int rank = reached[k];
    for (const int to : ways[rank].to) {
      EXPECT_EQ(ways[to].from, rank);
      ++times[to];
      if (node_of[static_cast<std::size_t>(to)] != node_of[static_cast<std::size_t>(rank)]) {
        ++from_outside[node_of[static_cast<std::size_t>(to)]];
        ++to_outside[node_of[static_cast<std::size_t>(rank)]];
      }
      reached.push_back(to);
    }
    ASSERT_LE(reached.size(), group.size());
  }
  EXPECT_EQ(reached.size(), group.size());
  for (const auto& [rank, count] : times) EXPECT_EQ(count, 1) << "rank " << rank;
  for (const auto& [node, count] : from_outside) EXPECT_EQ(count, 1) << "node " << node;
  for (const auto& [node, count] : to_outside) EXPECT_EQ(count, 1) << "node " << node;
}

TEST(Relay, ReachesEveryRankOnceAndEveryNodeOnce) {
  const std::vector<std::vector<int>> nodes{{0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5}, {0, 0, 1, 1, 2, 2},
                                            {0, 0, 0, 0, 1, 1}, {0, 1, 0, 1, 0, 1}, {2, 0, 0, 1, 1, 1}};
  for (const auto& node_of : nodes) {
    for (const std::vector<int>& group :
         {std::vector<int>{0}, {0, 1, 2, 3, 4, 5}, {1, 3, 5}, {0, 2, 4}, {2, 3}, {0, 1, 2}}) {
      for (const int root : group) expect_everyone_reached(group, node_of, root);
    }
  }
}

TEST(RankGrid, KnowsWhoHasWhat) {
  const impl::RankGrid grid{{20, 4, 2}, {30, 5, 3}, 4};
  EXPECT_EQ(grid.row(), 1);
  EXPECT_EQ(grid.column(), 1);
  EXPECT_TRUE(grid.divides_rows());
  for (int rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(grid.placement().local_rows(rank), grid.rows.count(grid.row_of(rank)));
    EXPECT_EQ(grid.placement().local_columns(rank), grid.columns.count(grid.column_of(rank)));
  }
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 30; ++j) EXPECT_EQ(grid.owner(i, j), grid.placement().owner(i, j));
  }
  EXPECT_FALSE(impl::RankGrid::of_columns(20, {30, 5, 3}, 2).divides_rows());
  EXPECT_EQ(impl::RankGrid::of_columns(20, {30, 5, 3}, 2).local_rows({3, 9}), (Range{3, 9}));
}

TEST(RowMoves, AreWhatInterchangesComeTo) {
  const std::vector<std::vector<Index>> cases{{0, 1, 2, 3}, {5, 5, 5, 5}, {1, 2, 3, 4}, {7, 1, 7, 7},
                                              {3, 3, 3, 3}, {4, 6, 4, 6}, {9, 8, 7, 6}};
  std::vector<Index> order(10);
  std::iota(order.begin(), order.end(), Index{0});
  for (const auto& pivots : cases) {
    for (const Index first : {0, 2}) {
      std::vector<Index> expected(10);
      std::iota(expected.begin(), expected.end(), Index{0});
      for (Index k = first; k < 4; ++k) {
        std::swap(expected[static_cast<std::size_t>(k)],
                  expected[static_cast<std::size_t>(std::max(k, pivots[static_cast<std::size_t>(k)]))]);
      }
      std::vector<Index> taken;
      for (Index k = 0; k < 4; ++k) taken.push_back(std::max(k, pivots[static_cast<std::size_t>(k)]));
      std::vector<Index> found(10);
      std::iota(found.begin(), found.end(), Index{0});
      std::set<Index> targets;
      for (const impl::RowMove& move : impl::moves_of(taken, first, 4, order)) {
        EXPECT_TRUE(targets.insert(move.target).second);
        EXPECT_NE(move.target, move.source);
        found[static_cast<std::size_t>(move.target)] = move.source;
      }
      EXPECT_EQ(found, expected);
      EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    }
  }
}

TEST(RowPlan, BringsEachRowThatIsWanted) {
  const CyclicAxis rows{23, 3, 3};
  const impl::WantedRows wanted{{4, 22, 0, 9, 4, 13}, {{1}, {}, {21, 2, 17, 3}}};
  std::vector<impl::RowPlan> plans;
  for (int here = 0; here < 3; ++here) plans.push_back(impl::plan_rows(rows, here, wanted));
  for (int here = 0; here < 3; ++here) {
    const impl::RowPlan& plan = plans[static_cast<std::size_t>(here)];
    std::vector<Index> expected = wanted.common;
    const auto& others = wanted.by_row[static_cast<std::size_t>(here)];
    expected.insert(expected.end(), others.begin(), others.end());
    ASSERT_EQ(plan.wanted, static_cast<Index>(expected.size()));
    std::vector<Index> found(expected.size(), -1);
    for (int from = 0; from < 3; ++from) {
      const impl::RowPlan& theirs = plans[static_cast<std::size_t>(from)];
      const std::array<Range, 2> sent{theirs.common, theirs.others[static_cast<std::size_t>(here)]};
      for (std::size_t k = 0; k < 2; ++k) {
        const Range places = plan.from[static_cast<std::size_t>(from)][k];
        ASSERT_EQ(places.size(), sent[k].size());
        for (Index e = 0; e < places.size(); ++e) {
          const Index place = plan.numbers[static_cast<std::size_t>(places.begin + e)];
          EXPECT_EQ(found[static_cast<std::size_t>(place)], -1);
          found[static_cast<std::size_t>(place)] =
              rows.global(from, theirs.numbers[static_cast<std::size_t>(sent[k].begin + e)]);
        }
      }
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace heddle::schedule_test
