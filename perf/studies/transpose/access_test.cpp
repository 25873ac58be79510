// Tests of the counts of memory transactions and bank conflicts of transpose variants.
#include "studies/transpose/access.hpp"

#include <gtest/gtest.h>

namespace heddle::driver {
namespace {

constexpr auto naive = TransposeVariant::naive;
constexpr auto tiled = TransposeVariant::tiled;
constexpr auto padded = TransposeVariant::tiled_padded;

TEST(StudyAccess, OfTheArticlesThreeSteps) {
  // 32 x 32 floats: a warp writes 32 sectors where 4 would do, then every thread meets the others in one bank.
  const AccessCounts one = access_counts(gpu_units(), naive, 4, 1024, 1024, 32, 32);
  EXPECT_EQ(one.reads, 1);
  EXPECT_EQ(one.writes, 8);
  EXPECT_EQ(one.conflicts, 0);
  const AccessCounts two = access_counts(gpu_units(), tiled, 4, 1024, 1024, 32, 32);
  EXPECT_EQ(two.reads, 1);
  EXPECT_EQ(two.writes, 1);
  EXPECT_EQ(two.conflicts, 32);
  const AccessCounts three = access_counts(gpu_units(), padded, 4, 1024, 1024, 32, 32);
  EXPECT_EQ(three.reads, 1);
  EXPECT_EQ(three.writes, 1);
  EXPECT_EQ(three.conflicts, 1);
}

TEST(StudyAccess, OfDoubles) {
  // Half a warp at a time, 16 words of each of two banks.
  EXPECT_EQ(access_counts(gpu_units(), tiled, 8, 1024, 1024, 32, 32).conflicts, 16);
  EXPECT_EQ(access_counts(gpu_units(), padded, 8, 1024, 1024, 32, 32).conflicts, 1);
  EXPECT_EQ(access_counts(gpu_units(), naive, 8, 1024, 1024, 32, 8).writes, 4);
  // A block of one element uses a quarter of a sector.
  EXPECT_EQ(access_counts(gpu_units(), naive, 8, 1024, 1024, 1, 1).reads, 4);
  EXPECT_EQ(access_counts(gpu_units(), naive, 8, 1024, 1024, 4, 4).writes, 1);
}

TEST(StudyAccess, OfCaches) {
  const AccessCounts power = access_counts(cpu_units(), naive, 8, 4096, 4096, 64, 64);
  EXPECT_EQ(power.reads, 1);
  EXPECT_EQ(power.writes, 1);
  // 64 columns of B whose distance is a multiple of the 4 KiB that the sets of the first cache span.
  EXPECT_EQ(power.conflicts, 64);
  // 8 elements more a row, and each begins in the next set.
  EXPECT_EQ(access_counts(cpu_units(), naive, 8, 4096, 4104, 64, 64).conflicts, 1);
  EXPECT_EQ(access_counts(cpu_units(), naive, 8, 4096, 4096, 4, 4).reads, 2);
  EXPECT_EQ(access_counts(cpu_units(), tiled, 8, 4096, 4096, 64, 64).conflicts, 8);
}

}  // namespace
}  // namespace heddle::driver
