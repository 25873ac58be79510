// Tests of work matrices.
#include "dist/work_matrix.hpp"

#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace heddle::impl::work_matrix_test {
namespace {

using Work = WorkMatrix<double>;
using Shared = SharedMatrix<double>;
using Stamp = MatrixStamp<double>;

static_assert(std::is_nothrow_move_constructible_v<Work> && !std::is_copy_constructible_v<Work>);
static_assert(std::is_copy_constructible_v<Shared>);

DistributedMatrix<double> matrix_of_ones() {
  const DistributedMatrix<double> matrix(test::world(), Placement::on_rank(3, 2, 0));
  fill(matrix, 1.0);
  return matrix;
}

TEST(WorkMatrix, IsEmptyUntilItIsMadeOfAMatrix) {
  EXPECT_FALSE(Work());
  EXPECT_FALSE(Work().read());
  EXPECT_FALSE(Shared());
  EXPECT_FALSE(Shared(nullptr));
  EXPECT_TRUE(Work(matrix_of_ones()));
  EXPECT_TRUE(Shared(matrix_of_ones()));
}

TEST(WorkMatrix, AndWhoReadsItHaveTheSameElements) {
  const DistributedMatrix<double> matrix = matrix_of_ones();
  Work work(matrix);
  const Shared read = work.read();
  EXPECT_EQ(read->local().data(), matrix.local().data());
  EXPECT_EQ(work.write().local().data(), matrix.local().data());
  const Shared given_up = std::move(work);
  EXPECT_EQ((*given_up).local().data(), matrix.local().data());
}

TEST(WorkMatrix, GoesBackWhenItsLastHandleGoes) {
  int back = 0;
  {
    Shared last;
    {
      Work work(matrix_of_ones(),
                [&](const DistributedMatrix<double>& matrix) { back += static_cast<int>(matrix.rows()); });
      last = work.read();
      const Work moved = std::move(work);
    }
    EXPECT_EQ(back, 0);
  }
  EXPECT_EQ(back, 3);
}

TEST(MatrixStamp, HoldsUntilTheElementsAreWrittenOrGone) {
  EXPECT_TRUE(Stamp().stale());
  EXPECT_FALSE(Stamp().matches(Shared()));
  Stamp stamp;
  {
    Work work(matrix_of_ones());
    stamp = Stamp(work.read());
    EXPECT_FALSE(stamp.stale());
    EXPECT_TRUE(stamp.matches(work.read()));
    EXPECT_FALSE(stamp.matches(Shared()));
    EXPECT_FALSE(stamp.matches(Work(matrix_of_ones()).read())) << "another matrix";
    static_cast<void>(work.write());
    EXPECT_TRUE(stamp.stale());
    EXPECT_FALSE(stamp.matches(work.read()));
    stamp = Stamp(work.read());
    const Shared given_up = std::move(work);
    EXPECT_TRUE(stamp.matches(given_up)) << "who gives it up does not write it";
  }
  EXPECT_TRUE(stamp.stale());
}

}  // namespace
}  // namespace heddle::impl::work_matrix_test
