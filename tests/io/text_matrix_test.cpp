// Matrices in plain text: order, then elements row by row; what is wrong is refused on every rank.
#include "io/temporary_folder.hpp"
#include <heddle/io/text_matrix.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

namespace heddle::text_matrix_test {
namespace {

class TextMatrix : public ::testing::Test {
 protected:
  template <Scalar T = double> void expect(const std::string& text, const std::vector<std::vector<T>>& rows) {
    const auto path = folder_.write("matrix.txt", text);
    const MatrixFileInfo info = matrix_file_info(comm_, path);
    EXPECT_EQ(info.rows, static_cast<Index>(rows.size()));
    EXPECT_EQ(info.columns, static_cast<Index>(rows.size()));
    EXPECT_FALSE(info.complex);
    for (const auto& place : test::placements(comm_.size())) {
      const auto whole = gather(read_matrix<T>(comm_, path, place), 0);
      if (comm_.rank() != 0) continue;
      ASSERT_EQ(whole.extent(0), rows.size());
      ASSERT_EQ(whole.extent(1), rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows.size(); ++j) EXPECT_EQ(whole(i, j), rows[i][j]) << i << ", " << j;
      }
    }
    comm_.barrier();
  }
  template <Scalar T = double> void refuse(const std::string& text, const std::string& message) {
    const auto path = folder_.write("bad.txt", text);
    const Error error = test::error_of([&] { static_cast<void>(read_text_matrix<T>(comm_, path)); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.what(), path.string() + message);
    comm_.barrier();
  }

  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(TextMatrix, GoesByRowsWithAnyLineBreaks) {
  const std::vector<std::vector<double>> rows = {{1, 2.5, -3}, {4, 5e-3, 6}, {7, 8, 9}};
  expect("3\n1 2.5 -3\n4 5e-3 6\n7 8 9\n", rows);
  expect("3 1 2.5 -3 4 5E-3 6 7 8 9", rows);
  expect("\n  3\r\n\r\n1\n2.5\n\t-3.0 4\n\n+.005 6 7\r\n8\n 9 \n\n", rows);
  expect("1\n7", {{7}});
  expect<float>("2\n0.1 0\n0 1e-50\n", {{0.1F, 0}, {0, 0}});
  expect<Kokkos::complex<double>>("1 4", {{{4, 0}}});
}

TEST_F(TextMatrix, RefusesOrders) {
  refuse("", ": is empty, where the order n of a matrix is expected");
  refuse(" \n\n", ": is empty, where the order n of a matrix is expected");
  for (const char* order : {"0", "-3", "3.0", "three", "3x", "nan", "+3"}) {
    refuse(std::string("\n") + order + " 1\n",
           std::string(", line 2: expected the order n of the matrix, a positive integer, found '") + order + "'");
  }
  refuse("99999999999 1", ", line 1: a matrix of order '99999999999' is too large");
  refuse("999999999999999999999 1", ", line 1: a matrix of order '999999999999999999999' is too large");
}

TEST_F(TextMatrix, RefusesOtherCounts) {
  refuse("2\n1 2\n3\n", ", line 3: the file ends after 3 of 4 numbers (a 2 x 2 matrix)");
  refuse("2", ", line 1: the file ends after 0 of 4 numbers (a 2 x 2 matrix)");
  refuse("3000000\n1 2\n3 4\n",
         ", line 3: the file ends after 4 of 9000000000000 numbers (a 3000000 x 3000000 matrix)");
  refuse("2\n1.000 2.000\n3.000\n", ", line 3: the file ends after 3 of 4 numbers (a 2 x 2 matrix)");
  refuse("2\n1 2\n3 4\n\n5 6\n7\n", ", line 5: a 2 x 2 matrix has 4 numbers, but the file holds 7");
  refuse("1 2 3", ", line 1: a 1 x 1 matrix has 1 numbers, but the file holds 2");
}

TEST_F(TextMatrix, RefusesWhatIsNoNumber) {
  refuse("2\n1 2\nx 4\n", ", line 3: expected a real number, found 'x'");
  refuse("2\n1 2\n3 4,5\n", ", line 3: expected a real number, found '4,5'");
  refuse("2\n1 nan\n3 4\n", ", line 2: a real number 'nan' is not finite");
  refuse("2\n1 2\n-inf 4\n", ", line 3: a real number '-inf' is not finite");
  refuse<float>("1\n1e39\n", ", line 2: a real number '1e39' is out of range");
  const auto missing = folder_ / "missing.txt";
  const Error error = test::error_of([&] { static_cast<void>(read_text_matrix<double>(comm_, missing)); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.what(), missing.string() + ": can't be opened: No such file or directory");
}

// Functors: nvcc takes no lambdas in the private functions that GoogleTest makes.
struct OneInfinity {
  KOKKOS_FUNCTION double operator()(Index i, Index j) const { return i == 1 && j == 0 ? INFINITY : 1.0; }
};
template <class T> struct ThirdsAs {
  KOKKOS_FUNCTION T operator()(Index i, Index j) const { return T(i - 2 * j) / T(3); }
};

template <Scalar T> void write_and_read(const Communicator& comm, const std::filesystem::path& path) {
  for (const auto& place : test::placements(comm.size())) {
    const DistributedMatrix<T> A(comm, place(7, 7));
    fill(A, ThirdsAs<T>{});
    write_matrix(path, A);
    const auto B = read_matrix<T>(comm, path, place);
    add(T(-1), A, B);
    EXPECT_EQ(norm(B, Norm::maximum), 0);
  }
}

TEST_F(TextMatrix, IsWrittenToTheBit) {
  write_and_read<double>(comm_, folder_ / "double.txt");
  write_and_read<float>(comm_, folder_ / "float.txt");
  const DistributedMatrix<double> A(comm_, Placement::row_bands(2, 2, comm_.size()));
  fill(A, ThirdsAs<double>{});
  write_matrix(folder_ / "A.txt", A);
  if (comm_.rank() == 0) {
    std::ostringstream text;
    text << std::ifstream(folder_ / "A.txt").rdbuf();
    EXPECT_EQ(text.str(), "2\n0 -0.6666666666666666\n0.3333333333333333 -0.3333333333333333\n");
  }
}

TEST_F(TextMatrix, RefusesToWriteWhatItCantHold) {
  const auto path = folder_ / "A.txt";
  const auto refused = [&](const auto& A, const std::string& message) {
    const Error error = test::error_of([&] { write_matrix(path, A); });
    EXPECT_EQ(error.kind(), ErrorKind::output);
    EXPECT_EQ(error.what(), path.string() + ": can't be written: " + message);
  };
  const int ranks = comm_.size();
  refused(DistributedMatrix<Kokkos::complex<double>>(comm_, Placement::row_bands(2, 2, ranks)),
          "complex numbers have no form in plain text; choose .mtx or .h5");
  refused(DistributedMatrix<double>(comm_, Placement::row_bands(2, 3, ranks)),
          "plain text holds square matrices, not 2 x 3; choose .mtx or .h5");
  refused(DistributedMatrix<double>(comm_, Placement::row_bands(0, 0, ranks)),
          "plain text holds square matrices, not 0 x 0; choose .mtx or .h5");
  const DistributedMatrix<double> A(comm_, Placement::row_bands(2, 2, ranks));
  fill(A, OneInfinity{});
  refused(A, "element (2, 1) is inf, for which plain text has no form");
  comm_.barrier();
  EXPECT_EQ(folder_.files(), 0);
}

}  // namespace
}  // namespace heddle::text_matrix_test
