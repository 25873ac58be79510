// The order of a factorization's work: every column meets every panel on its left once, in turn.
#include "solve/schedule.hpp"

#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heddle {
namespace {

using impl::LuSchedule;

// For every column, how many panels have been applied to it when it is factored or at the end.
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

}  // namespace
}  // namespace heddle
