// Matrix Market files that are right, in every variety of the format.
#include "io/temporary_folder.hpp"
#include <heddle/io/matrix_file.hpp>
#include <heddle/io/matrix_market.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <vector>

namespace heddle::matrix_market_test {
namespace {

using test::TemporaryFolder;
using Complex = Kokkos::complex<double>;
__extension__ using Int128 = __int128;

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
  expect<double>("%%MatrixMarket matrix array integer general\n1 3\n-1\n+2\n9007199254740992\n",
                 {{-1, 2, 9007199254740992.0}});
  // Integers of more digits than 64 bits have.
  expect<double>(
      "%%MatrixMarket matrix array integer general\n1 3\n-18446744073709551616\n100000000000000000000\n0007\n",
      {{-0x1p64, 1e20, 7}});
  expect<float>("%%MatrixMarket matrix array integer general\n1 2\n16777216\n-16777218\n", {{0x1p24F, -16777218.0F}});
  expect<double>("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", {{1, 1}, {1, 0}});
  expect<float>("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n", {{0, -3}, {3, 0}});
}

TEST_F(MatrixMarket, NumbersAsFortranWritesThem) {
  expect<double>(
      "%%MatrixMarket matrix array real general\n3 4\n1.5D-02\n-4.D0\n+2.5d+01\n1d5\n.5D+1\n1Q2\n1.5+300\n-1.5-300\n"
      "0.25E+001\n1.D-400\n1D+05\n2.5q-1\n",
      {{0.015, 1e5, 1.5e300, 0.0}, {-4, 5, -1.5e-300, 1e5}, {25, 100, 2.5, 0.25}});
  expect<float>("%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 1.00000005960464477540D0\n",
                {{1.00000012F}});
  expect<Complex>("%%MatrixMarket matrix array complex general\n1 1\n1D1 -2.0d-1\n", {{Complex(10, -0.2)}});
  for (const char* word : {"1.5D", "1D5D5", "1.5+30", "15+300", "1.5+3000", "1.5e3-300", "D5", "1.5-3", "1,5", "1.5D+",
                           "0x10", "1.5 D2", "1.5+300.0"}) {
    const auto path =
        folder_.write("bad.mtx", std::string("%%MatrixMarket matrix array real general\n1 1\n") + word + "\n");
    EXPECT_EQ(test::error_of([&] { static_cast<void>(read_matrix_market<double>(comm_, path)); }).kind(),
              ErrorKind::input)
        << word;
    comm_.barrier();
  }
}

TEST_F(MatrixMarket, CommentsBehindBlanksAndAByteOrderMark) {
  expect<double>(
      "\xEF\xBB\xBF%%MatrixMarket matrix coordinate real general\n % hello\n\t  %% 1 1 1\n%\n 1 1 1\n1 1 4\n", {{4}});
}

Int128 power_of_ten(int exponent) {
  Int128 power = 1;
  for (int k = 0; k < exponent; ++k) power *= 10;
  return power;
}

// The sum of all terms of an element, which is exact in Int128.
Int128 sum_of_terms(const std::vector<HostMatrix<float>>& terms, std::size_t row) {
  Int128 sum = 0;
  for (const auto& term : terms) sum += static_cast<Int128>(term(row, 0));
  return sum;
}

TEST_F(MatrixMarket, TermsOfIntegersHoldAllOfTheirDigits) {
  const auto path = folder_.write("wide.mtx",
                                  "%%MatrixMarket matrix array integer general\n5 1\n9007199254740993\n"
                                  "-9223372036854775807\n18446744073709551615\n-3\n1" +
                                      std::string(37, '0') + "1\n");
  const std::vector<Int128> expected = {9007199254740993, -9223372036854775807,
                                        static_cast<Int128>(18446744073709551615ULL), -3, power_of_ten(38) + 1};
  for (const auto& place : test::placements(comm_.size())) {
    std::vector<HostMatrix<float>> terms;
    for (const auto& term : read_matrix_terms<float>(comm_, path, place)) terms.push_back(gather(term, 0));
    EXPECT_GT(terms.size(), 2U);
    for (std::size_t row = 0; comm_.rank() == 0 && row < 5; ++row) {
      EXPECT_TRUE(sum_of_terms(terms, row) == expected[row]) << row;
    }
    const auto doubles = read_matrix_terms<double>(comm_, path, place);
    ASSERT_EQ(doubles.size(), 3U);  // 10^38 + 1 has 127 bits.
    const auto first = gather(doubles[0], 0);
    const auto second = gather(doubles[1], 0);
    const auto third = gather(doubles[2], 0);
    if (comm_.rank() != 0) continue;
    EXPECT_EQ(first(0, 0), 0x1p53);
    EXPECT_EQ(second(0, 0), 1);
    EXPECT_EQ(first(1, 0), -0x1p63 + 1024);
    EXPECT_EQ(second(1, 0), -1023);
    EXPECT_EQ(first(3, 0), -3);
    EXPECT_EQ(second(3, 0), 0);
    for (std::size_t row = 0; row < 4; ++row) EXPECT_EQ(third(row, 0), 0);
    EXPECT_TRUE(static_cast<Int128>(first(4, 0)) + static_cast<Int128>(second(4, 0)) +
                    static_cast<Int128>(third(4, 0)) ==
                expected[4]);
  }
  EXPECT_EQ(read_matrix_terms<double>(
                comm_, folder_.write("narrow.mtx", "%%MatrixMarket matrix array integer general\n1 1\n-7\n"))
                .size(),
            1U);
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
}  // namespace heddle::matrix_market_test
