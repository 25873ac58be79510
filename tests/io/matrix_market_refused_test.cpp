// Matrix Market files that are wrong: each is refused on every rank, with file, line and reason.
#include "io/temporary_folder.hpp"
#include <heddle/io/matrix_market.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

namespace heddle::matrix_market_refused_test {
namespace {

struct Refused {
  const char* text;
  const char* message;  // What follows "FILE".
};

const std::string array_header = "%%MatrixMarket matrix array real general\n";
const std::string coordinate_header = "%%MatrixMarket matrix coordinate real general\n";

class MatrixMarketRefused : public ::testing::Test {
 protected:
  template <Scalar T = double> void refuse(const std::string& text, const std::string& message) {
    const auto path = folder_.write("bad.mtx", text);
    const Error error = test::error_of([&] { static_cast<void>(read_matrix_market<T>(comm_, path)); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.what(), path.string() + message);
    comm_.barrier();
  }

  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(MatrixMarketRefused, Banner) {
  refuse("", ": is empty, where a Matrix Market file is expected");
  refuse("1 2\n", ", line 1: expected the banner '%%MatrixMarket matrix ...', found '1'");
  refuse("%%MatrixMarket vector array real general\n", ", line 1: expected 'matrix' in the banner, found 'vector'");
  refuse("%%MatrixMarket matrix dense real general\n",
         ", line 1: expected array or coordinate in the banner, found 'dense'");
  refuse("%%MatrixMarket matrix array double general\n",
         ", line 1: expected real, integer, complex or pattern in the banner, found 'double'");
  refuse("%%MatrixMarket matrix array real\n",
         ", line 1: expected general, symmetric, hermitian or skew-symmetric in the banner, found ''");
  refuse("%%MatrixMarket matrix array real general extra\n", ", line 1: expected the end of the line, found 'extra'");
  refuse("%%MatrixMarket matrix array pattern general\n1 1\n1\n", ", line 1: an array can't have the field pattern");
  refuse("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n",
         ", line 1: a skew-symmetric matrix can't have the field pattern");
  refuse("%%MatrixMarket matrix array real hermitian\n1 1\n1\n",
         ", line 1: a hermitian matrix must have the field complex");
}

TEST_F(MatrixMarketRefused, Sizes) {
  refuse(array_header, ", line 1: the file ends where 'rows columns' is expected");
  refuse(coordinate_header + "%\n", ", line 2: the file ends where 'rows columns entries' is expected");
  refuse(array_header + "2\n", ", line 2: expected the number of columns, found the end of the line");
  refuse(array_header + "2 x\n", ", line 2: expected the number of columns, found 'x'");
  refuse(array_header + "2 2 4\n", ", line 2: expected the end of the line, found '4'");
  refuse(array_header + "-1 2\n", ", line 2: sizes must not be negative");
  refuse(array_header + "2.0 2\n", ", line 2: expected the number of rows, found '2.0'");
  refuse(array_header + "99999999999999999999 2\n",
         ", line 2: the number of rows '99999999999999999999' is out of range");
  refuse(array_header + "9999999999 9999999999\n", ", line 2: a 9999999999 x 9999999999 matrix is too large");
  refuse(array_header + "100000 100000\n1\n",
         ", line 2: 10000000000 entries are announced, more than the file's 57 bytes can hold");
  refuse(coordinate_header + "2 2 5\n1 1 1\n", ", line 2: 5 entries don't fit into a 2 x 2 matrix");
  refuse("%%MatrixMarket matrix array real symmetric\n2 3\n",
         ", line 2: a 2 x 3 matrix can't be symmetric, hermitian or skew-symmetric");
}

// As many rows or columns as one likes, of a matrix that has no elements.
TEST_F(MatrixMarketRefused, WhatFollowsNoElements) {
  constexpr Index many = 100'000'000'000'000'000;
  for (const std::string& header : {array_header + "0 100000000000000000\n", array_header + "100000000000000000 0\n"}) {
    const auto A = read_matrix_market<float>(comm_, folder_.write("empty.mtx", header));
    EXPECT_EQ(std::max(A.rows(), A.columns()), many);
    EXPECT_EQ(std::min(A.rows(), A.columns()), 0);
    comm_.barrier();
    refuse(header + "1\n", ", line 3: expected the end of the file after 0 entries, found '1'");
  }
}

template <class Type> std::string share_of(Index rows, int ranks) {
  const Index local = (rows + ranks - 1) / ranks;
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f GiB",
                static_cast<double>(sizeof(Type)) * static_cast<double>(local) * static_cast<double>(rows) / 0x1p30);
  return message_of("rank 0 has no memory for its ", local, " x ", rows, " elements, ", text);
}

TEST_F(MatrixMarketRefused, LargerThanMemory) {
  const std::string text = coordinate_header + "90000000 90000000 1\n1 1 1\n";
  const std::string begin = ": a 90000000 x 90000000 matrix does not fit: ";
  refuse<double>(text, begin + share_of<double>(90'000'000, comm_.size()));
  refuse<float>(text, begin + share_of<float>(90'000'000, comm_.size()));
  refuse<Kokkos::complex<float>>(text, begin + share_of<Kokkos::complex<float>>(90'000'000, comm_.size()));
}

TEST_F(MatrixMarketRefused, NumbersOfEntries) {
  refuse(array_header + "2 2\n1\n2\n3\n", ", line 5: the file ends after 3 of 4 entries");
  refuse(array_header + "2 2\n1\n2\n3\n4\n5\n", ", line 7: expected the end of the file after 4 entries, found '5'");
  refuse(coordinate_header + "2 2 2\n1 1 1\n", ", line 3: the file ends after 1 of 2 entries");
  refuse(coordinate_header + "2 2 1\n1 1 1\n2 2 1\n",
         ", line 4: expected the end of the file after 1 entries, found '2 2 1'");
  refuse(array_header + "2 0\n1\n", ", line 3: expected the end of the file after 0 entries, found '1'");
  refuse(array_header + "0 2\n1\n", ", line 3: expected the end of the file after 0 entries, found '1'");
}

TEST_F(MatrixMarketRefused, Numbers) {
  refuse(array_header + "1 1\none\n", ", line 3: expected a real number, found 'one'");
  refuse(array_header + "1 1\n1.0x\n", ", line 3: expected a real number, found '1.0x'");
  refuse(array_header + "1 1\n1,5\n", ", line 3: expected a real number, found '1,5'");
  refuse(array_header + "1 1\n+-1\n", ", line 3: expected a real number, found '+-1'");
  refuse(array_header + "1 1\n1 2\n", ", line 3: expected the end of the line, found '2'");
  refuse(array_header + "1 1\n%1\n", ", line 3: expected a real number, found '%1'");
  refuse(array_header + "1 1\nnan\n", ", line 3: a real number 'nan' is not finite");
  refuse(array_header + "1 1\n\n-inf\n", ", line 4: a real number '-inf' is not finite");
  refuse(array_header + "1 1\n1e400\n", ", line 3: a real number '1e400' is out of range");
  refuse<float>(array_header + "1 1\n1e39\n", ", line 3: a real number '1e39' is out of range");
  refuse("%%MatrixMarket matrix array integer general\n1 1\n1.5\n", ", line 3: expected an integer, found '1.5'");
  refuse<Kokkos::complex<double>>("%%MatrixMarket matrix array complex general\n1 1\n1\n",
                                  ", line 3: expected an imaginary part, found the end of the line");
  refuse(array_header + "1 1\n" + std::string(100, 'x') + "\n",
         ", line 3: expected a real number, found '" + std::string(40, 'x') + "...'");
  refuse(array_header + "1 1\n" + std::string("1\0", 2) + "\n", ", line 3: expected a real number, found '1?'");
}

TEST_F(MatrixMarketRefused, Indices) {
  const std::string outside = " is outside the 2 x 3 matrix (indices start at 1)";
  refuse(coordinate_header + "2 3 1\n0 1 1\n", ", line 3: entry (0, 1)" + outside);
  refuse(coordinate_header + "2 3 1\n3 1 1\n", ", line 3: entry (3, 1)" + outside);
  refuse(coordinate_header + "2 3 1\n1 4 1\n", ", line 3: entry (1, 4)" + outside);
  refuse(coordinate_header + "2 3 1\n1 -1 1\n", ", line 3: entry (1, -1)" + outside);
  refuse(coordinate_header + "2 3 1\n1\n", ", line 3: expected a column index, found the end of the line");
  refuse(coordinate_header + "2 3 1\n1 1\n", ", line 3: expected a real number, found the end of the line");
  refuse(coordinate_header + "2 3 3\n2 1 1\n1 1 1\n2 1 5\n", ", line 5: entry (2, 1) was given on line 3 already");
  refuse("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1 1\n",
         ", line 3: expected the end of the line, found '1'");
}

TEST_F(MatrixMarketRefused, SymmetricKinds) {
  refuse("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n",
         ", line 3: entry (1, 2) is above the diagonal, of which only the lower side is stored");
  refuse("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n2 1 1\n",
         ", line 4: entry (2, 1) was given on line 3 already");
  refuse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 0\n",
         ", line 3: entry (2, 2) is on the diagonal, which a skew-symmetric matrix does not store");
  refuse<Kokkos::complex<double>>(
      "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0.5\n",
      ", line 5: diagonal entry (2, 2) of a hermitian matrix has imaginary part 0.5, not 0");
  refuse<Kokkos::complex<double>>("%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n1 1 1 1\n",
                                  ", line 3: diagonal entry (1, 1) of a hermitian matrix has imaginary part 1, not 0");
}

TEST_F(MatrixMarketRefused, ComplexForReal) {
  refuse("%%MatrixMarket matrix array complex general\n1 1\n1 1\n",
         ": holds complex numbers where real ones are expected");
}

TEST_F(MatrixMarketRefused, FilesThatCantBeRead) {
  const auto missing = folder_ / "missing.mtx";
  Error error = test::error_of([&] { static_cast<void>(read_matrix_market<double>(comm_, missing)); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.what(), missing.string() + ": can't be opened: No such file or directory");
  error = test::error_of([&] { static_cast<void>(read_matrix_market<double>(comm_, folder_ / "")); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_NE(std::string(error.what()).find("is a folder, not a file"), std::string::npos);
}

}  // namespace
}  // namespace heddle::matrix_market_refused_test
