// Matrix Market files that are right, in every variety of the format.
#include "io/temporary_folder.hpp"
#include <heddle/io/matrix_market.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <vector>

namespace heddle {
namespace {

using test::TemporaryFolder;
using Complex = Kokkos::complex<double>;

class MatrixMarket : public ::testing::Test {
 protected:
  // Reads `text` in every placement and expects `rows` of elements.
  template <Scalar T> void expect(const std::string& text, const std::vector<std::vector<T>>& rows) {
    const auto path = folder_.write("matrix.mtx", text);
    for (const auto& place : test::placements(comm_.size())) {
      const auto A = read_matrix_market<T>(comm_, path, place);
      const auto whole = gather(A, 0);
      if (comm_.rank() != 0) continue;
      ASSERT_EQ(whole.extent(0), rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(whole.extent(1), rows[i].size());
        for (std::size_t j = 0; j < rows[i].size(); ++j) EXPECT_EQ(whole(i, j), rows[i][j]) << i << ", " << j;
      }
    }
    comm_.barrier();
  }

  Communicator comm_{MPI_COMM_WORLD};
  TemporaryFolder folder_{comm_};
};

TEST_F(MatrixMarket, ArrayGoesByColumns) {
  expect<double>("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", {{1, 3, 5}, {2, 4, 6}});
}

TEST_F(MatrixMarket, CommentsBlankLinesCaseAndLineEnds) {
  expect<double>(
      "%%matrixMARKET Matrix ARRAY Real GENERAL\r\n% a comment\r\n\r\n%another, 1 2 3\r\n  2 1 \r\n\r\n "
      "+1.5e0\r\n\t-2.5E-1  \r\n\r\n",
      {{1.5}, {-0.25}});
  expect<double>("%%MatrixMarket matrix array real general\n1 1\n7", {{7}});
}

TEST_F(MatrixMarket, CoordinateEntriesInAnyOrder) {
  expect<double>("%%MatrixMarket matrix coordinate real general\n3 4 4\n3 4 12\n1 1 1\n2 3 6\n3 1 -3\n",
                 {{1, 0, 0, 0}, {0, 0, 6, 0}, {-3, 0, 0, 12}});
  expect<double>("%%MatrixMarket matrix coordinate real general\n2 2 0\n", {{0, 0}, {0, 0}});
}

TEST_F(MatrixMarket, IntegerAndPattern) {
  expect<double>("%%MatrixMarket matrix array integer general\n1 3\n-1\n+2\n9007199254740993\n",
                 {{-1, 2, 9007199254740992.0}});
  expect<double>("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", {{1, 1}, {1, 0}});
  expect<float>("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n", {{0, -3}, {3, 0}});
}

TEST_F(MatrixMarket, SymmetricKindsInArrays) {
  expect<double>("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
                 {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}});
  expect<double>("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
                 {{0, -1, -2}, {1, 0, -3}, {2, 3, 0}});
  expect<Complex>("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 -0.0\n",
                  {{Complex(1, 0), Complex(2, -3)}, {Complex(2, 3), Complex(4, 0)}});
  expect<Complex>("%%MatrixMarket matrix array complex symmetric\n2 2\n1 5\n2 3\n4 6\n",
                  {{Complex(1, 5), Complex(2, 3)}, {Complex(2, 3), Complex(4, 6)}});
  expect<Complex>("%%MatrixMarket matrix array complex skew-symmetric\n2 2\n2 3\n",
                  {{Complex(0, 0), Complex(-2, -3)}, {Complex(2, 3), Complex(0, 0)}});
}

TEST_F(MatrixMarket, SymmetricKindsInCoordinates) {
  expect<double>("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n3 1 5\n2 2 4\n3 2 7\n",
                 {{0, 0, 5}, {0, 4, 7}, {5, 7, 0}});
  expect<Complex>("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 2 3\n1 1 1 0\n",
                  {{Complex(1, 0), Complex(2, -3)}, {Complex(2, 3), Complex(0, 0)}});
}

TEST_F(MatrixMarket, RealFilesAsComplexMatrices) {
  expect<Complex>("%%MatrixMarket matrix array real general\n1 2\n1\n-2\n", {{Complex(1, 0), Complex(-2, 0)}});
}

TEST_F(MatrixMarket, NumbersAreCorrectlyRounded) {
  expect<double>(
      "%%MatrixMarket matrix array real general\n4 1\n0.1\n1e-400\n4.9406564584124654e-324\n1.7976931348623157e308\n",
      {{0.1}, {0.0}, {4.9406564584124654e-324}, {1.7976931348623157e308}});
  // Halfway between two floats but for digits that a detour through double would lose.
  expect<float>("%%MatrixMarket matrix array real general\n1 1\n1.00000005960464477540\n", {{1.00000012F}});
}

TEST_F(MatrixMarket, EmptyMatrices) {
  expect<double>("%%MatrixMarket matrix array real general\n0 3\n", {});
  expect<double>("%%MatrixMarket matrix array real general\n2 0\n", {{}, {}});
  expect<double>("%%MatrixMarket matrix coordinate real general\n0 0 0\n", {});
  const auto A =
      read_matrix_market<double>(comm_, folder_.write("wide.mtx", "%%MatrixMarket matrix array real general\n0 3\n"));
  EXPECT_EQ(A.rows(), 0);
  EXPECT_EQ(A.columns(), 3);
}

TEST_F(MatrixMarket, InfoComesFromTheHeader) {
  const auto info = matrix_market_info(
      comm_, folder_.write("matrix.mtx", "%%MatrixMarket matrix coordinate complex general\n%\n5 7 1\n1 1 1 1\n"));
  EXPECT_EQ(info.rows, 5);
  EXPECT_EQ(info.columns, 7);
  EXPECT_TRUE(info.complex);
}

TEST_F(MatrixMarket, WritesTheFormatAsItIsSpecified) {
  const HostMatrix<double> whole("whole", 2, 2);
  whole(0, 0) = 1;
  whole(1, 0) = 0.1;
  whole(0, 1) = -1e300;
  whole(1, 1) = 0;
  const DistributedMatrix<double> A(comm_, Placement::row_bands(2, 2, comm_.size()));
  scatter(comm_.rank() == 0 ? whole : HostMatrix<double>(), 0, A);
  write_matrix_market(folder_ / "out.mtx", A);
  if (comm_.rank() == 0) {
    std::ifstream stream(folder_ / "out.mtx");
    const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    EXPECT_EQ(text, "%%MatrixMarket matrix array real general\n2 2\n1\n0.1\n-1e+300\n0\n");
  }
}

}  // namespace
}  // namespace heddle
