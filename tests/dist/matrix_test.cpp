// Tests of DistributedMatrix.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/dist/matrix.hpp>
#include <heddle/dist/split_matrix.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace heddle::matrix_test {
namespace {

template <class T> class Matrix : public ::testing::Test {
 protected:
  Communicator comm = test::world();
};
TYPED_TEST_SUITE(Matrix, test::AllScalars);

template <Scalar T> T index_value(Index i, Index j) {
  return T(static_cast<Real<T>>(1000 * i + j));
}

template <Scalar T> struct IndexEntries {
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const { return T(static_cast<Real<T>>(1000 * i + j)); }
};

TYPED_TEST(Matrix, RedistributesBetweenAnyTwoPlacements) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{23, 17}, {1, 1}, {0, 5}, {4, 0}, {2, 40}}) {
    const auto placements = test::placements_of(rows, columns, this->comm.size());
    for (const Placement& from : placements) {
      DistributedMatrix<TypeParam> A(this->comm, from);
      fill(A, IndexEntries<TypeParam>{});
      for (const Placement& to : placements) {
        DistributedMatrix<TypeParam> B(this->comm, to);
        fill(B, TypeParam{-1});
        redistribute(A, B);
        const auto local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, B.local());
        Index wrong = 0;
        for (std::size_t i = 0; i < local.extent(0); ++i) {
          for (std::size_t j = 0; j < local.extent(1); ++j) {
            wrong += local(i, j) == index_value<TypeParam>(B.global_row(static_cast<Index>(i)),
                                                           B.global_column(static_cast<Index>(j)))
                         ? 0
                         : 1;
          }
        }
        EXPECT_EQ(wrong, 0) << from.describe() << " to " << to.describe();
      }
    }
  }
}

// More for one partner than is under way at once, in and out of one rank.
TEST(Redistribute, ManyPanels) {
  const Communicator comm = test::world();
  const Index rows = 3001;
  const Index columns = 2503;
  const Placement first = Placement::on_rank(rows, columns, 0);
  const auto A = test::random_matrix<double>(comm, first, 8);
  for (const Placement& placement :
       {Placement::on_rank(rows, columns, comm.size() - 1), Placement::row_bands(rows, columns, comm.size()),
        Placement::block_cyclic(rows, columns, 64, 32, 1, comm.size())}) {
    const DistributedMatrix<double> B(comm, placement);
    redistribute(A, B);
    const DistributedMatrix<double> back(comm, first);
    redistribute(B, back);
    add(-1.0, A, back);
    EXPECT_EQ(norm(back, Norm::maximum), 0.0) << placement.describe();
  }
}

TYPED_TEST(Matrix, GatherAndScatterAreInverse) {
  const int root = this->comm.size() - 1;
  for (const Placement& placement : test::placements_of(19, 11, this->comm.size())) {
    const auto A = test::random_matrix<TypeParam>(this->comm, placement, 1);
    const auto whole = gather(A, root);
    EXPECT_EQ(whole.size(), this->comm.rank() == root ? 19U * 11U : 0U);
    for (std::size_t j = 0; j < whole.extent(1); ++j) {
      for (std::size_t i = 0; i < whole.extent(0); ++i) {
        ASSERT_EQ(whole(i, j), test::RandomEntries<TypeParam>{1}(static_cast<Index>(i), static_cast<Index>(j)));
      }
    }
    DistributedMatrix<TypeParam> B(this->comm, Placement::column_bands(19, 11, this->comm.size()));
    scatter(whole, root, B);
    EXPECT_TRUE(test::same_bits(gather(B, root), whole));
  }
}

TYPED_TEST(Matrix, NormsAreThoseOfTheWholeMatrix) {
  using R = Real<TypeParam>;
  const Index rows = 37;
  const Index columns = 29;
  R one = 0;
  R infinity = 0;
  R maximum = 0;
  double squares = 0;
  const test::RandomEntries<TypeParam> entry{5};
  for (Index j = 0; j < columns; ++j) {
    R sum = 0;
    for (Index i = 0; i < rows; ++i) {
      const R size = Kokkos::abs(entry(i, j));
      sum += size;
      maximum = std::max(maximum, size);
      squares += static_cast<double>(size) * size;
    }
    one = std::max(one, sum);
  }
  for (Index i = 0; i < rows; ++i) {
    R sum = 0;
    for (Index j = 0; j < columns; ++j) {
      sum += Kokkos::abs(entry(i, j));
    }
    infinity = std::max(infinity, sum);
  }
  // Sums of 37 terms in another order: n u relative.
  const R bound = 40 * unit_roundoff<TypeParam>;
  for (const Placement& placement : test::placements_of(rows, columns, this->comm.size())) {
    const auto A = test::random_matrix<TypeParam>(this->comm, placement, 5);
    EXPECT_NEAR(norm(A, Norm::one), one, bound * one);
    EXPECT_NEAR(norm(A, Norm::infinity), infinity, bound * infinity);
    // A device's |x + iy| may differ from the host's in the last bit.
    EXPECT_NEAR(norm(A, Norm::maximum), maximum, is_complex<TypeParam> ? 4 * unit_roundoff<TypeParam> * maximum : R{0});
    EXPECT_NEAR(norm(A, Norm::frobenius), std::sqrt(squares), 10 * bound * std::sqrt(squares));
  }
}

TYPED_TEST(Matrix, NormsAtTheEdges) {
  using R = Real<TypeParam>;
  for (const Norm kind : {Norm::one, Norm::infinity, Norm::frobenius, Norm::maximum}) {
    DistributedMatrix<TypeParam> empty(this->comm, Placement::row_bands(0, 4, this->comm.size()));
    EXPECT_EQ(norm(empty, kind), R{0});
    DistributedMatrix<TypeParam> zero(this->comm, Placement::row_bands(3, 4, this->comm.size()));
    fill(zero, TypeParam{0});
    EXPECT_EQ(norm(zero, kind), R{0});
    DistributedMatrix<TypeParam> poisoned(this->comm, Placement::row_bands(3, 4, this->comm.size()));
    test::fill_ones_but(poisoned, 1, 2, TypeParam(std::numeric_limits<R>::quiet_NaN()));
    EXPECT_TRUE(std::isnan(norm(poisoned, kind)));
  }
  DistributedMatrix<TypeParam> large(this->comm, Placement::row_bands(2, 2, this->comm.size()));
  const R huge = std::numeric_limits<R>::max() / 4;
  fill(large, TypeParam(huge));
  // Squares overflow, the norm doesn't.
  EXPECT_NEAR(norm(large, Norm::frobenius) / huge, R{2}, 8 * unit_roundoff<TypeParam>);
}

TYPED_TEST(Matrix, ElementwiseOperations) {
  using R = Real<TypeParam>;
  for (const Placement& placement : test::placements_of(13, 13, this->comm.size())) {
    const auto A = test::random_matrix<TypeParam>(this->comm, placement, 2);
    DistributedMatrix<TypeParam> B(this->comm, placement);
    copy(A, B);
    scale(TypeParam(2), B);
    add(TypeParam(-1), A, B);
    // 2a - a is a, without rounding.
    add(TypeParam(-1), A, B);
    EXPECT_EQ(norm(B, Norm::maximum), R{0});
    add_identity(TypeParam(3), B);
    EXPECT_EQ(trace(B), TypeParam(39));
    EXPECT_EQ(norm(B, Norm::one), R{3});
    EXPECT_EQ(norm(B, Norm::infinity), R{3});
  }
}

// A product's bits do not depend on where its element lies.
TYPED_TEST(Matrix, MultiplesAreTheSameInEveryPlacement) {
  using T = TypeParam;
  const T alpha = test::narrow<T>({0.7731412345678912, -0.3141592653589793});
  for (const Placement& placement : test::placements_of(13, 7, this->comm.size())) {
    const auto A = test::random_matrix<T>(this->comm, placement, 2);
    const auto before = gather(A, 0);
    scale(alpha, A);
    const auto found = gather(A, 0);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const T x = before(at % found.extent(0), at / found.extent(0));
      T expected = alpha * x;
      if constexpr (is_complex<T>) {
        expected = T(std::fma(-alpha.imag(), x.imag(), alpha.real() * x.real()),
                     std::fma(alpha.imag(), x.real(), alpha.real() * x.imag()));
      }
      EXPECT_EQ(found(at % found.extent(0), at / found.extent(0)), expected) << placement.describe();
    }
  }
}

TYPED_TEST(Matrix, RefusesWhatDoesNotFit) {
  const int ranks = this->comm.size();
  test::expect_refusal(ErrorKind::argument, "matrix 'matrix': 2 x 2 on rank",
                       [&] { DistributedMatrix<TypeParam>(this->comm, Placement::on_rank(2, 2, ranks)); });
  DistributedMatrix<TypeParam> A(this->comm, Placement::row_bands(3, 4, ranks));
  DistributedMatrix<TypeParam> B(this->comm, Placement::row_bands(4, 3, ranks));
  test::expect_refusal(ErrorKind::argument, "redistribute: from 3 x 4", [&] { redistribute(A, B); });
  test::expect_refusal(ErrorKind::argument, "copy: from 3 x 4", [&] { copy(A, B); });
  test::expect_refusal(ErrorKind::argument, "trace: the matrix is 3 x 4; expected square",
                       [&] { static_cast<void>(trace(A)); });
  const HostMatrix<TypeParam> whole("whole", 2, 2);
  test::expect_refusal(ErrorKind::argument, "scatter: the matrix on rank 0 is not 3 x 4",
                       [&] { scatter(whole, 0, A); });
}

TYPED_TEST(Matrix, APlaceholderIsRefusedByEveryOperation) {
  using T = TypeParam;
  const DistributedMatrix<T> none;
  const DistributedMatrix<T> A(this->comm, Placement::on_rank(0, 0, 0));
  const char* const text = "made by the default constructor";
  test::expect_refusal(ErrorKind::argument, text, [&] { static_cast<void>(norm(none, Norm::one)); });
  test::expect_refusal(ErrorKind::argument, text, [&] { static_cast<void>(norm(none, Norm::frobenius)); });
  test::expect_refusal(ErrorKind::argument, text, [&] { static_cast<void>(trace(none)); });
  test::expect_refusal(ErrorKind::argument, text, [&] { fill(none, T{1}); });
  test::expect_refusal(ErrorKind::argument, text, [&] { fill(none, IndexEntries<T>{}); });
  test::expect_refusal(ErrorKind::argument, text, [&] { scale(T{2}, none); });
  test::expect_refusal(ErrorKind::argument, text, [&] { add_identity(T{2}, none); });
  test::expect_refusal(ErrorKind::argument, text, [&] { static_cast<void>(gather(none, 0)); });
  test::expect_refusal(ErrorKind::argument, text, [&] { scatter(HostMatrix<T>(), 0, none); });
  test::expect_refusal(ErrorKind::argument, text, [&] { redistribute(none, none); });
  test::expect_refusal(ErrorKind::argument, text, [&] { copy(none, none); });
  test::expect_refusal(ErrorKind::argument, text, [&] { add(T{1}, none, none); });
  test::expect_refusal(ErrorKind::argument, text, [&] { static_cast<void>(none.global_row(0)); });
  test::expect_refusal(ErrorKind::argument, "", [&] { redistribute(A, none); });
}

TYPED_TEST(Matrix, RefusesMatricesOfOtherRanksAndRootsThatAreNone) {
  const DistributedMatrix<TypeParam> A(this->comm, Placement::on_rank(3, 4, 0));
  fill(A, IndexEntries<TypeParam>{});
  const DistributedMatrix<TypeParam> duplicate(test::world(), A.placement());
  redistribute(A, duplicate);
  EXPECT_TRUE(test::same_bits(gather(A, 0), gather(duplicate, 0)));
  for (const int root : {-1, this->comm.size()}) {
    test::expect_refusal(ErrorKind::argument, message_of("gather: root is ", root, "; expected a rank, 0 to"),
                         [&] { static_cast<void>(gather(A, root)); });
    test::expect_refusal(ErrorKind::argument, message_of("scatter: root is ", root, "; expected a rank, 0 to"),
                         [&] { scatter(HostMatrix<TypeParam>(), root, A); });
  }
  if (this->comm.size() == 1) return;
  const char* const text = "B is a matrix of another communicator";
  MPI_Comm turned = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_split(MPI_COMM_WORLD, 0, -this->comm.rank(), &turned), MPI_SUCCESS);
  for (const Communicator& other : {Communicator(MPI_COMM_SELF), Communicator(turned)}) {
    const DistributedMatrix<TypeParam> B(other, A.placement());
    test::expect_refusal(ErrorKind::argument, text, [&] { redistribute(A, B); });
    test::expect_refusal(ErrorKind::argument, text, [&] { copy(A, B); });
    test::expect_refusal(ErrorKind::argument, text, [&] { add(TypeParam{1}, A, B); });
  }
  MPI_Comm_free(&turned);
}

TYPED_TEST(Matrix, MoreMemoryThanTheMachineHasIsAnErrorOfMemory) {
  test::expect_refusal(ErrorKind::memory, "matrix 'huge': rank", [&] {
    DistributedMatrix<TypeParam>(this->comm, Placement::row_bands(Index{1} << 31, Index{1} << 31, this->comm.size()),
                                 "huge");
  });
}

TYPED_TEST(Matrix, TakesTheCallersStorageWithAnyLeadingDimension) {
  const Placement placement = Placement::block_cyclic(11, 9, 2, 3, 1, this->comm.size());
  const Index rows = placement.local_rows(this->comm.rank());
  const Index columns = placement.local_columns(this->comm.rank());
  const LocalMatrix<TypeParam> parent("parent", static_cast<std::size_t>(rows + 5), static_cast<std::size_t>(columns));
  const MatrixView<TypeParam> part = Kokkos::subview(parent, std::pair<Index, Index>(2, 2 + rows), Kokkos::ALL);
  const DistributedMatrix<TypeParam> A(this->comm, placement, part);
  fill(A, IndexEntries<TypeParam>{});
  const auto whole = gather(A, 0);
  for (std::size_t j = 0; j < whole.extent(1); ++j) {
    for (std::size_t i = 0; i < whole.extent(0); ++i) {
      ASSERT_EQ(whole(i, j), index_value<TypeParam>(static_cast<Index>(i), static_cast<Index>(j)));
    }
  }
  const MatrixView<TypeParam> wrong = Kokkos::subview(parent, std::pair<Index, Index>(0, rows + 1), Kokkos::ALL);
  test::expect_refusal(ErrorKind::argument, "matrix: the local array of 11 x 9",
                       [&] { DistributedMatrix<TypeParam>(this->comm, placement, wrong); });
}

TEST(SplitMatrix, SplitsAndJoins) {
  const Communicator comm = test::world();
  using Complex = Kokkos::complex<double>;
  const auto A = test::random_matrix<Complex>(comm, Placement::row_bands(9, 6, comm.size()), 3);
  SplitMatrix<double> parts = split(A);
  // The parts may live elsewhere.
  DistributedMatrix<double> moved(comm, Placement::on_rank(9, 6, comm.size() - 1));
  redistribute(*parts.imaginary, moved);
  parts.imaginary = moved;
  DistributedMatrix<Complex> B(comm, Placement::column_bands(9, 6, comm.size()));
  join(parts, B);
  EXPECT_TRUE(test::same_bits(gather(A, 0), gather(B, 0)));
  parts.imaginary.reset();
  join(parts, B);
  const auto whole = gather(B, 0);
  for (std::size_t k = 0; k < whole.size(); ++k) {
    ASSERT_EQ(whole.data()[k].imag(), 0.0);
  }
}

}  // namespace
}  // namespace heddle::matrix_test
