// Tests of placements.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/core/error.hpp>
#include <heddle/dist/placement.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle::placement_test {
namespace {

TEST(CyclicAxis, LocalAndGlobalIndicesAreInverse) {
  for (const Index extent : {0, 1, 2, 7, 30, 64, 101}) {
    for (const Index block : {1, 2, 3, 8, 200}) {
      for (const int processes : {1, 2, 3, 5}) {
        const CyclicAxis axis{extent, block, processes};
        Index total = 0;
        for (int process = 0; process < processes; ++process) {
          total += axis.count(process);
          for (Index local = 0; local < axis.count(process); ++local) {
            const Index global = axis.global(process, local);
            ASSERT_LT(global, extent);
            EXPECT_EQ(axis.owner(global), process);
            EXPECT_EQ(axis.local(global), local);
          }
        }
        EXPECT_EQ(total, extent);
      }
    }
  }
}

TEST(CyclicAxis, LocalsOfARangeAreThoseThatAreOwned) {
  const CyclicAxis axis{29, 3, 4};
  for (int process = 0; process < 4; ++process) {
    for (Index begin = 0; begin <= 29; ++begin) {
      for (Index end = begin; end <= 29; ++end) {
        const Range locals = axis.locals(process, {begin, end});
        Index owned = 0;
        for (Index global = begin; global < end; ++global) {
          if (axis.owner(global) == process) {
            EXPECT_EQ(axis.local(global), locals.begin + owned);
            ++owned;
          }
        }
        EXPECT_EQ(locals.size(), owned);
      }
    }
  }
}

// Results of ScaLAPACK's NUMROC(29, 3, p, 0, 4), by hand: blocks 0..9 dealt to 4 processes, the last of 2 rows.
TEST(CyclicAxis, CountsAreScalapacks) {
  const CyclicAxis axis{29, 3, 4};
  EXPECT_EQ(axis.count(0), 9);
  EXPECT_EQ(axis.count(1), 8);
  EXPECT_EQ(axis.count(2), 6);
  EXPECT_EQ(axis.count(3), 6);
}

TEST(Placement, EveryElementHasOneOwner) {
  for (const Index rows : {0, 1, 5, 23}) {
    for (const Index columns : {0, 1, 17}) {
      for (const int ranks : {1, 2, 3, 4, 7}) {
        for (const Placement& placement : test::placements_of(rows, columns, ranks)) {
          Index owned = 0;
          for (int rank = 0; rank < placement.rank_end(); ++rank) {
            owned += placement.local_rows(rank) * placement.local_columns(rank);
          }
          EXPECT_EQ(owned, rows * columns) << placement.describe();
          for (Index i = 0; i < rows; ++i) {
            for (Index j = 0; j < columns; ++j) {
              const int owner = placement.owner(i, j);
              EXPECT_EQ(placement.local_rows(owner, {i, i + 1}).size(), 1);
              EXPECT_EQ(placement.local_columns(owner, {j, j + 1}).size(), 1);
            }
          }
        }
      }
    }
  }
}

TEST(Placement, MoreRanksThanRowsLeavesSomeEmpty) {
  const Placement bands = Placement::row_bands(2, 5, 4);
  EXPECT_EQ(bands.local_rows(0), 1);
  EXPECT_EQ(bands.local_rows(1), 1);
  EXPECT_EQ(bands.local_rows(2), 0);
  EXPECT_EQ(bands.local_rows(3), 0);
}

TEST(Placement, IsReadFromText) {
  EXPECT_EQ(placement_from("rank:2", 5, 6, 3), Placement::on_rank(5, 6, 2));
  EXPECT_EQ(placement_from("rows", 5, 6, 3), Placement::row_bands(5, 6, 3));
  EXPECT_EQ(placement_from("columns", 5, 6, 3), Placement::column_bands(5, 6, 3));
  EXPECT_EQ(placement_from("cyclic:2x3:1x3", 5, 6, 3), Placement::block_cyclic(5, 6, 2, 3, 1, 3));
  EXPECT_EQ(placement_from("cyclic:2x3", 5, 6, 4), Placement::block_cyclic(5, 6, 2, 3, 2, 2));
  EXPECT_EQ(placement_from("host:rank:1", 5, 6, 3), Placement::on_rank(5, 6, 1).in(Residence::host));
  EXPECT_NE(placement_from("host:rows", 5, 6, 3), Placement::row_bands(5, 6, 3));
  EXPECT_EQ(placement_from("host:rows", 5, 6, 3).describe(), "5 x 6 in 3 row bands, in host memory");
  for (const char* wrong : {"", "row", "host:", "host", "rows:host", "rank:", "rank:3", "rank:-1", "rank:1x", "cyclic",
                            "cyclic:2", "cyclic:2x3:4x1", "cyclic:0x3", "cyclic:2x3:0x1", "cyclic:2x3x4"}) {
    SCOPED_TRACE(::testing::Message() << wrong);
    test::expect_refusal(ErrorKind::argument, "placement", [&] { static_cast<void>(placement_from(wrong, 5, 6, 3)); });
  }
}

TEST(Placement, RefusesWhatIsNoPlacement) {
  test::expect_refusal(ErrorKind::argument, "placement: -1 x 2 matrix; expected extents of at least 0",
                       [&] { Placement::on_rank(-1, 2, 0); });
  test::expect_refusal(ErrorKind::argument, "placement: first rank -1; expected at least 0",
                       [&] { Placement::on_rank(1, 2, -1); });
  test::expect_refusal(ErrorKind::argument, "row_bands: 0 ranks; expected at least 1",
                       [&] { Placement::row_bands(1, 2, 0); });
  test::expect_refusal(ErrorKind::argument, "placement: blocks of 0 x 1; expected at least 1 x 1",
                       [&] { Placement::block_cyclic(1, 2, 0, 1, 1, 1); });
}

// Numbers whose products overflow, and whose lower bits look small.
TEST(Placement, RefusesRanksAndBlocksBeyondItsIntegers) {
  constexpr int many = 1 << 16;
  constexpr Index most = std::numeric_limits<Index>::max();
  test::expect_refusal(ErrorKind::argument,
                       "placement: grid of 65536 x 65536 from rank 0; expected ranks below 2^31 - 1",
                       [&] { static_cast<void>(Placement::block_cyclic(4, 4, 1, 1, many, many)); });
  test::expect_refusal(ErrorKind::argument,
                       "placement: grid of 1 x 1 from rank 2147483647; expected ranks below 2^31 - 1",
                       [&] { static_cast<void>(Placement::on_rank(4, 4, std::numeric_limits<int>::max())); });
  test::expect_refusal(ErrorKind::argument, "expected fewer than 2^63 rows and columns for all ranks together",
                       [&] { static_cast<void>(Placement::block_cyclic(4, 4, Index{1} << 62, 1, 4, 1)); });
  EXPECT_EQ(Placement::row_bands(most, 1, 7).local_rows(6) + 6 * (most / 7), most);
}

}  // namespace
}  // namespace heddle::placement_test
