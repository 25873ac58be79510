// Symmetric products, of which half is computed and half mirrored.
#include "gemm/plan/schedule.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace heddle::symmetric_test {
namespace {

TEST(HalfOfTheTiles, HoldsOneOfEachPairAndNearlyAsManyInEachRow) {
  for (Index count = 1; count <= 13; ++count) {
    std::vector<Index> in_row(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
      EXPECT_TRUE(impl::half_holds(i, i, count));
      for (Index j = 0; j < count; ++j) {
        in_row[static_cast<std::size_t>(i)] += impl::half_holds(i, j, count) ? 1 : 0;
        if (i != j) {
          EXPECT_NE(impl::half_holds(i, j, count), impl::half_holds(j, i, count)) << i << " " << j;
        }
      }
    }
    const auto [least, most] = std::minmax_element(in_row.begin(), in_row.end());
    EXPECT_LE(*most - *least, 1) << count;
  }
}

template <class T> class SymmetricProduct : public ::testing::Test {
 protected:
  Communicator comm = test::world();
};
TYPED_TEST_SUITE(SymmetricProduct, test::AllScalars);

// A A^T by halves: one side as by all tiles, the other exactly its mirror image.
TYPED_TEST(SymmetricProduct, IsHalfComputedAndHalfMirrored) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  for (const Index n : {1, 2, 33, 70, 129}) {
    for (const Index tile : {7, 16, 32, 200}) {
      for (const Placement& c : {Placement::row_bands(n, n, ranks), Placement::column_bands(n, n, ranks),
                                 Placement::on_rank(n, n, ranks - 1)}) {
        // A vendor's BLAS may cut the longer one along the inner dimension.
        const Placement a = Placement::row_bands(n, n == 129 && tile > 7 ? 1000 : 19, ranks);
        const auto A = test::random_matrix<T>(this->comm, a, 1);
        const DistributedMatrix<T> C(this->comm, c);
        const DistributedMatrix<T> whole(this->comm, c);
        fill(C, T(5));
        GemmOptions options;
        options.tile = tile;
        gemm(this->comm, Operation::none, Operation::transpose, T(1), A, A, T(0), whole, options);
        options.tiles = GemmTiles::half;
        gemm(this->comm, Operation::none, Operation::transpose, T(1), A, A, T(0), C, options);
        const Index tiles = (n + tile - 1) / tile;
        const auto computed = gather(C, 0);
        complete_symmetric(this->comm, C, tile, T(1));
        const auto found = gather(C, 0);
        const auto expected = gather(whole, 0);
        complete_symmetric(this->comm, C, tile, T(-1));
        const auto negative = gather(C, 0);
        Index wrong = 0;
        for (Index j = 0; j < static_cast<Index>(found.extent(1)); ++j) {
          for (Index i = 0; i < static_cast<Index>(found.extent(0)); ++i) {
            const bool mine = impl::half_holds(i / tile, j / tile, tiles);
            const bool stays = mine && (i / tile != j / tile || i >= j);
            wrong += computed(i, j) == (mine ? expected(i, j) : T(5)) ? 0 : 1;
            wrong += found(i, j) == (stays ? expected(i, j) : expected(j, i)) ? 0 : 1;
            wrong += found(i, j) == found(j, i) ? 0 : 1;
            wrong += negative(i, j) == (i == j ? T(0) : stays ? found(i, j) : T(-1) * found(i, j)) ? 0 : 1;
          }
        }
        EXPECT_EQ(wrong, 0) << n << ", tile " << tile << ", " << c.describe();
      }
    }
  }
}

// Infinite parts of complex elements are copied, not multiplied by a sign.
TYPED_TEST(SymmetricProduct, CopiesInfiniteElements) {
  using T = TypeParam;
  constexpr Real<T> infinity = std::numeric_limits<Real<T>>::infinity();
  const T element = [&] {
    if constexpr (is_complex<T>) {
      return T(3, infinity);
    } else {
      return infinity;
    }
  }();
  for (const T sign : {T(1), T(-1)}) {
    const DistributedMatrix<T> C(this->comm, Placement::row_bands(9, 9, this->comm.size()));
    fill(C, element);
    complete_symmetric(this->comm, C, 4, sign);
    const auto found = gather(C, 0);
    for (std::size_t j = 0; j < found.extent(1); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const bool copied = found(i, j) == element && found(j, i) == (sign == T(1) ? element : -element);
        const bool turned = found(j, i) == element && found(i, j) == (sign == T(1) ? element : -element);
        EXPECT_TRUE(copied || turned) << i << " " << j;
      }
    }
    test::expect_refusal(ErrorKind::argument, "complete_symmetric: sign is ",
                         [&] { complete_symmetric(this->comm, C, 4, T(2)); });
  }
}

TYPED_TEST(SymmetricProduct, RefusesWhatIsNotSquare) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const auto A = test::random_matrix<T>(this->comm, Placement::row_bands(8, 5, ranks), 1);
  const auto B = test::random_matrix<T>(this->comm, Placement::row_bands(5, 9, ranks), 2);
  const DistributedMatrix<T> C(this->comm, Placement::row_bands(8, 9, ranks));
  GemmOptions options;
  options.tile = 4;
  options.tiles = GemmTiles::half;
  test::expect_refusal(ErrorKind::argument, "gemm: half of the tiles of a C of 8 x 9",
                       [&] { gemm(this->comm, Operation::none, Operation::none, T(1), A, B, T(0), C, options); });
  test::expect_refusal(ErrorKind::argument, "complete_symmetric: C is 8 x 9",
                       [&] { complete_symmetric(this->comm, C, 4, T(1)); });
  const DistributedMatrix<T> square(this->comm, Placement::row_bands(8, 8, ranks));
  test::expect_refusal(ErrorKind::argument, "complete_symmetric: tile 0",
                       [&] { complete_symmetric(this->comm, square, 0, T(1)); });
}

}  // namespace
}  // namespace heddle::symmetric_test
