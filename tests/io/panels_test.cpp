// Tests of column panels.
#include "io/matrix/panels.hpp"

#include <gtest/gtest.h>

namespace heddle::impl::panels_test {
namespace {

// Panels cover all columns in order, and every element of a panel has the owner and the place that it has in the whole.
void check_panels(const Placement& whole, Index width) {
  SCOPED_TRACE(whole.describe() + ", width " + std::to_string(width));
  Index next = 0;
  for (const Panel& panel : panels_of(whole, width)) {
    ASSERT_EQ(panel.columns.begin, next);
    ASSERT_FALSE(panel.columns.empty());
    next = panel.columns.end;
    ASSERT_EQ(panel.placement.rows(), whole.rows());
    ASSERT_EQ(panel.placement.columns(), panel.columns.size());
    for (Index j = 0; j < panel.columns.size(); ++j) {
      for (Index i = 0; i < whole.rows(); ++i) {
        const int owner = whole.owner(i, panel.columns.begin + j);
        ASSERT_EQ(panel.placement.owner(i, j), owner) << i << ", " << j;
        ASSERT_EQ(panel.placement.row_axis().local(i), whole.row_axis().local(i));
        ASSERT_EQ(panel.placement.column_axis().local(j) + whole.local_columns(owner, panel.columns).begin,
                  whole.column_axis().local(panel.columns.begin + j));
      }
    }
  }
  ASSERT_EQ(next, whole.columns());
}

TEST(IoPanels, AreConsecutiveAndKeepOwners) {
  for (const Index columns : {0, 1, 7, 24}) {
    for (const Index width : {1, 2, 5, 8, 100}) {
      check_panels(Placement::on_rank(5, columns, 3), width);
      check_panels(Placement::row_bands(5, columns, 4), width);
      check_panels(Placement::column_bands(5, columns, 4), width);
      check_panels(Placement::block_cyclic(5, columns, 2, 3, 2, 2), width);
      check_panels(Placement::block_cyclic(5, columns, 2, 3, 1, 3, 1), width);
      check_panels(Placement::block_cyclic(5, columns, 1, 2, 3, 1), width);
    }
  }
}

TEST(IoPanels, AreNoWiderThanAskedWhereThePlacementAllows) {
  for (const Panel& panel : panels_of(Placement::row_bands(10, 100, 3), 8)) EXPECT_LE(panel.columns.size(), 8);
  for (const Panel& panel : panels_of(Placement::column_bands(10, 100, 3), 8)) EXPECT_LE(panel.columns.size(), 8);
  for (const Panel& panel : panels_of(Placement::block_cyclic(10, 100, 2, 2, 2, 2), 8))
    EXPECT_LE(panel.columns.size(), 8);
}

TEST(IoPanels, WidthIsAboutSixtyFourMebibytes) {
  EXPECT_EQ(panel_width<double>(8192), 1024);
  EXPECT_EQ(panel_width<double>(0), 8 * 1024 * 1024);
  EXPECT_EQ(panel_width<Kokkos::complex<double>>(Index{1} << 40), 1);
}

}  // namespace
}  // namespace heddle::impl::panels_test
