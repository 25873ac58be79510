// A matrix written and read back is the same matrix, bit for bit, in both formats, all types and all placements.
#include "io/temporary_folder.hpp"
#include <heddle/io/matrix_file.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

namespace heddle::round_trip_test {
namespace {

template <Scalar T> bool same_bits(const T& one, const T& other) {
  using Bytes = std::array<std::byte, sizeof(T)>;
  return std::bit_cast<Bytes>(one) == std::bit_cast<Bytes>(other);
}

template <class T> class RoundTrip : public ::testing::Test {
 protected:
  // Numbers of all magnitudes, zeros of both signs, and the ends of the range.
  HostMatrix<T> sample(Index rows, Index columns) const {
    using Number = Real<T>;
    using Limits = std::numeric_limits<Number>;
    std::mt19937_64 bits(5);
    std::uniform_real_distribution<Number> mantissa(-1, 1);
    std::uniform_int_distribution<int> exponent(Limits::min_exponent, Limits::max_exponent);
    const auto number = [&]() -> Number {
      switch (bits() % 8) {
        case 0:
          return Number(-0.0);
        case 1:
          return Limits::denorm_min();
        case 2:
          return -Limits::max();
        default:
          return std::ldexp(mantissa(bits), exponent(bits));
      }
    };
    HostMatrix<T> whole("sample", rows, columns);
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) {
        if constexpr (is_complex<T>) {
          const Number real = number();
          whole(i, j) = T(real, number());
        } else {
          whole(i, j) = number();
        }
      }
    }
    return whole;
  }

  void check(Index rows, Index columns) {
    const auto expected = sample(rows, columns);
    for (const auto& place : test::placements(comm_.size())) {
      const DistributedMatrix<T> A(comm_, place(rows, columns));
      scatter(comm_.rank() == 0 ? expected : HostMatrix<T>(), 0, A);
      for (const char* file : {"matrix.mtx", "matrix.h5"}) {
        SCOPED_TRACE(std::string(file) + ", " + A.placement().describe());
        const auto path = folder_ / file;
        write_matrix(path, A);
        const auto info = matrix_file_info(comm_, path);
        EXPECT_EQ(info.rows, rows);
        EXPECT_EQ(info.columns, columns);
        EXPECT_EQ(info.complex, is_complex<T>);
        const auto B = read_matrix<T>(comm_, path, place);
        EXPECT_EQ(B.placement(), A.placement());
        const auto found = gather(B, 0);
        if (comm_.rank() == 0) {
          ASSERT_EQ(found.span(), expected.span());
          for (Index j = 0; j < columns; ++j) {
            for (Index i = 0; i < rows; ++i) {
              EXPECT_TRUE(same_bits(found(i, j), expected(i, j))) << i << ", " << j;
            }
          }
        }
        comm_.barrier();
      }
    }
  }

  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

using Scalars = ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(RoundTrip, Scalars);

TYPED_TEST(RoundTrip, GivesTheSameBits) {
  this->check(1, 1);
  this->check(3, 1);
  this->check(13, 17);
}

TYPED_TEST(RoundTrip, TakesEmptyMatrices) {
  this->check(0, 0);
  this->check(0, 3);
  this->check(3, 0);
}

// Functors: nvcc takes no lambdas in the private functions that GoogleTest makes.
struct Numbered {
  KOKKOS_FUNCTION double operator()(Index i, Index j) const { return static_cast<double>(6 * i + j); }
};
struct OneNan {
  KOKKOS_FUNCTION double operator()(Index i, Index j) const { return i == 1 && j == 0 ? NAN : 1.0; }
};

TEST(RoundTripPanels, OfAMatrixWiderThanOnePanel) {
  // Two million rows make panels of four columns.
  const Communicator comm(MPI_COMM_WORLD);
  const test::TemporaryFolder folder(comm);
  const Index rows = Index{1} << 21;
  const DistributedMatrix<double> A(comm, Placement::row_bands(rows, 6, comm.size()));
  fill(A, Numbered{});
  write_matrix(folder / "long.h5", A);
  const auto B = read_matrix<double>(comm, folder / "long.h5");
  add(-1.0, A, B);
  EXPECT_EQ(norm(B, Norm::maximum), 0.0);
}

TEST(MatrixFile, RefusesOtherEndings) {
  const Communicator comm(MPI_COMM_WORLD);
  const DistributedMatrix<double> A(comm, Placement::row_bands(1, 1, comm.size()));
  for (const char* path : {"matrix.dat", "matrix", ".mtx", "matrix.mtx.gz"}) {
    const Error error = test::error_of([&] { write_matrix(path, A); });
    EXPECT_EQ(error.kind(), ErrorKind::argument);
    EXPECT_EQ(error.what(),
              std::string(path) +
                  ": a matrix file must end in .mtx (Matrix Market), .h5 (HDF5; FILE.h5:NAME is a dataset "
                  "in it), .npy (NumPy) or .txt (plain text)");
    EXPECT_EQ(test::error_of([&] { static_cast<void>(read_matrix<double>(comm, path)); }).kind(), ErrorKind::argument);
    EXPECT_EQ(test::error_of([&] { static_cast<void>(require_matrix_ending(path)); }).kind(), ErrorKind::argument);
  }
}

// A file of each format, and placements that the last rank alone gets wrong.
TEST(MatrixFile, RefusesPlacementsOfOtherShapesOnEveryRank) {
  const Communicator comm(MPI_COMM_WORLD);
  const test::TemporaryFolder folder(comm);
  const DistributedMatrix<double> A(comm, Placement::row_bands(2, 2, comm.size()));
  fill(A, 1.0);
  const bool is_last = comm.rank() == comm.size() - 1;
  for (const char* name : {"a.mtx", "a.h5", "a.npy", "a.txt"}) {
    write_matrix(folder / name, A);
    const auto error = [&](const PlacementChoice& place) {
      return test::error_of([&] { static_cast<void>(read_matrix<double>(comm, folder / name, place)); });
    };
    const Error wide = error([&](Index rows, Index columns) {
      return Placement::row_bands(rows, is_last ? columns + 1 : columns, comm.size());
    });
    EXPECT_EQ(wide.kind(), ErrorKind::argument);
    EXPECT_NE(std::string(wide.what()).find("the placement is of a 2 x 3 matrix; expected 2 x 2"), std::string::npos)
        << wide.what();
    const Error thrown = error([&](Index rows, Index columns) {
      if (is_last) throw std::runtime_error("no place");
      return Placement::row_bands(rows, columns, comm.size());
    });
    EXPECT_EQ(thrown.kind(), ErrorKind::computation);
    EXPECT_NE(std::string(thrown.what()).find("no place"), std::string::npos) << thrown.what();
  }
}

TEST(MatrixFile, RefusesToWriteWhatMatrixMarketCantHold) {
  const Communicator comm(MPI_COMM_WORLD);
  const test::TemporaryFolder folder(comm);
  const DistributedMatrix<double> A(comm, Placement::row_bands(2, 2, comm.size()));
  fill(A, OneNan{});
  const auto path = folder / "nan.mtx";
  const Error error = test::error_of([&] { write_matrix(path, A); });
  EXPECT_EQ(error.kind(), ErrorKind::output);
  EXPECT_EQ(error.what(),
            path.string() + ": can't be written: element (2, 1) is nan, for which Matrix Market has no form");
  comm.barrier();
  EXPECT_EQ(folder.files(), 0);
}

}  // namespace
}  // namespace heddle::round_trip_test
