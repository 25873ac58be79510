// Tests of the transpose of distributed matrices.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/transpose/distributed.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heddle::distributed_test {
namespace {

template <Scalar T> struct IndexEntries {
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    if constexpr (is_complex<T>) {
      return T(static_cast<Real<T>>(1000 * i + j), static_cast<Real<T>>(-1 - j));
    } else {
      return static_cast<T>(1000 * i + j);
    }
  }
};

// Elements of this rank's part of B that are not alpha op(A)'s.
template <Scalar T> Index wrong(const DistributedMatrix<T>& B, T alpha, Operation op) {
  const auto local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, B.local());
  const IndexEntries<T> entry;
  Index count = 0;
  for (Index j = 0; j < static_cast<Index>(local.extent(1)); ++j) {
    for (Index i = 0; i < static_cast<Index>(local.extent(0)); ++i) {
      const Index row = B.global_row(i);
      const Index column = B.global_column(j);
      T want = op == Operation::none ? entry(row, column) : entry(column, row);
      if (op == Operation::conjugate_transpose) {
        want = conjugate(want);
      }
      count += local(i, j) == alpha * want ? 0 : 1;
    }
  }
  return count;
}

template <class T> class DistributedTranspose : public ::testing::Test {
 protected:
  Communicator comm = test::world();
};
TYPED_TEST_SUITE(DistributedTranspose, test::AllScalars);

TYPED_TEST(DistributedTranspose, BetweenAnyTwoPlacements) {
  using T = TypeParam;
  for (const auto& [m, n] : std::vector<std::pair<Index, Index>>{{23, 17}, {1, 1}, {0, 5}, {2, 40}}) {
    for (const Placement& from : test::placements_of(m, n, this->comm.size())) {
      DistributedMatrix<T> A(this->comm, from);
      fill(A, IndexEntries<T>{});
      for (const Placement& to : test::placements_of(n, m, this->comm.size())) {
        for (const Operation op : {Operation::transpose, Operation::conjugate_transpose}) {
          DistributedMatrix<T> B(this->comm, to);
          fill(B, T{-1});
          transpose(this->comm, T(1), A, op, B);
          EXPECT_EQ(wrong(B, T(1), op), 0) << from.describe() << " to " << to.describe() << ", " << to_string(op);
        }
      }
    }
  }
}

TYPED_TEST(DistributedTranspose, ScalesAndLaysOut) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  DistributedMatrix<T> A(this->comm, Placement::row_bands(31, 19, ranks));
  fill(A, IndexEntries<T>{});
  // Powers of two: exact.
  const T alpha = T(-2);
  for (const Operation op : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
    const bool crossed = op != Operation::none;
    DistributedMatrix<T> B(this->comm, Placement::block_cyclic(crossed ? 19 : 31, crossed ? 31 : 19, 4, 3, 1, ranks));
    transpose(this->comm, alpha, A, op, B);
    EXPECT_EQ(wrong(B, alpha, op), 0) << to_string(op);
  }
}

TYPED_TEST(DistributedTranspose, ByAnyVariant) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  DistributedMatrix<T> A(this->comm, Placement::row_bands(45, 38, ranks));
  fill(A, IndexEntries<T>{});
  for (const TransposeVariant variant :
       {TransposeVariant::naive, TransposeVariant::tiled, TransposeVariant::tiled_padded, TransposeVariant::streamed}) {
    for (const TransposeOptions& options : {TransposeOptions{variant}, TransposeOptions{variant, 4, 16}}) {
      for (const Placement& to :
           {Placement::row_bands(38, 45, ranks), Placement::block_cyclic(38, 45, 5, 7, 1, ranks)}) {
        DistributedMatrix<T> B(this->comm, to);
        fill(B, T{-1});
        transpose(this->comm, T(1), A, Operation::conjugate_transpose, B, options);
        EXPECT_EQ(wrong(B, T(1), Operation::conjugate_transpose), 0) << to_string(variant) << ", " << to.describe();
      }
    }
  }
}

// More panels for each partner than are under way at once.
TEST(DistributedTransposeOfMany, Panels) {
  const Communicator comm = test::world();
  const int ranks = comm.size();
  const Index m = 3001;
  const Index n = 2503;
  const std::vector<std::pair<Placement, Placement>> pairs = {
      {Placement::on_rank(m, n, 0), Placement::on_rank(n, m, ranks - 1)},
      {Placement::row_bands(m, n, ranks), Placement::row_bands(n, m, ranks)},
      {Placement::column_bands(m, n, ranks), Placement::column_bands(n, m, ranks)},
      {Placement::on_rank(m, n, 0), Placement::block_cyclic(n, m, 64, 32, 1, ranks)},
      {Placement::block_cyclic(m, n, 64, 32, ranks, 1), Placement::row_bands(n, m, ranks)},
  };
  for (const auto& [from, to] : pairs) {
    DistributedMatrix<double> A(comm, from);
    fill(A, IndexEntries<double>{});
    DistributedMatrix<double> B(comm, to);
    transpose(comm, 1.0, A, Operation::transpose, B);
    EXPECT_EQ(wrong(B, 1.0, Operation::transpose), 0) << from.describe() << " to " << to.describe();
    DistributedMatrix<double> C(comm, from);
    transpose(comm, 1.0, B, Operation::transpose, C);
    EXPECT_EQ(wrong(C, 1.0, Operation::none), 0) << to.describe() << " back to " << from.describe();
  }
}

TEST(DistributedTransposeRefuses, WhatDoesNotFit) {
  const Communicator comm = test::world();
  const DistributedMatrix<double> A(comm, Placement::row_bands(4, 6, comm.size()));
  const DistributedMatrix<double> B(comm, Placement::row_bands(4, 6, comm.size()));
  test::expect_refusal(ErrorKind::argument, "transpose: A is 4 x 6",
                       [&] { transpose(comm, 1.0, A, Operation::transpose, B); });
  test::expect_refusal(ErrorKind::argument, "blocks of -1 x 2; expected at least 1", [&] {
    transpose(comm, 1.0, A, Operation::transpose, DistributedMatrix<double>(comm, Placement::on_rank(6, 4, 0)),
              {TransposeVariant::tiled, -1, 2});
  });
  const DistributedMatrix<double> square(comm, Placement::row_bands(6, 6, comm.size()));
  test::expect_refusal(ErrorKind::argument, "transpose: B shares storage with A; expected storage of its own",
                       [&] { transpose(comm, 1.0, square, Operation::transpose, square); });
}

}  // namespace
}  // namespace heddle::distributed_test
