// Tests that sums over ranks have the bits of one rank.
#include "matrices.hpp"
#include "support/errors.hpp"
#include <heddle/exact/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <vector>

namespace heddle::exact::distributed_test {
namespace {

using Kokkos::complex;

template <class T> Kokkos::View<T*, MemorySpace> vector_of(const std::vector<T>& values) {
  const Kokkos::View<T*, MemorySpace> vector("heddle::test::vector", values.size());
  Kokkos::deep_copy(vector, Kokkos::View<const T*, Kokkos::HostSpace>(values.data(), values.size()));
  return vector;
}
// Returns a rank's elements: distributed in blocks, cyclically, or all on the last rank.
template <class T> std::vector<T> share(const Communicator& comm, const std::vector<T>& all, int way) {
  std::vector<T> mine;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto rank = static_cast<std::size_t>(comm.rank());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::size_t owner = way == 0 ? k * ranks / all.size() : way == 1 ? k % ranks : ranks - 1;
    if (owner == rank) {
      mine.push_back(all[k]);
    }
  }
  return mine;
}

template <class T> class ExactOverRanks : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(ExactOverRanks, Types);

TYPED_TEST(ExactOverRanks, SumsAreThoseOfOneRank) {
  using T = TypeParam;
  const Communicator comm(MPI_COMM_WORLD);
  for (const Data data : {Data::tame, Data::spread, Data::any}) {
    for (const std::size_t n : {0U, 1U, 5U, 1000U}) {
      std::mt19937_64 random(n + 1);
      std::vector<T> x(n);
      std::vector<T> y(n);
      for (std::size_t k = 0; k < n; ++k) {
        x[k] = number<T>(random, data);
        y[k] = number<T>(random, data);
        if (data == Data::any && k % 2 == 1 && k + 3 < n) {
          x[k] = -x[k - 1];
          y[k] = y[k - 1];
        }
      }
      const auto all_x = vector_of(x);
      const auto all_y = vector_of(y);
      for (int way = 0; way < 3; ++way) {
        const auto my_x = vector_of(share(comm, x, way));
        const auto my_y = vector_of(share(comm, y, way));
        EXPECT_EQ(text_of(sum(comm, my_x)), text_of(sum(ExecutionSpace(), all_x))) << n << ' ' << way;
        EXPECT_EQ(text_of(dot(comm, my_x, my_y)), text_of(dot(ExecutionSpace(), all_x, all_y))) << n << ' ' << way;
        EXPECT_EQ(text_of(dotc(comm, my_x, my_y)), text_of(dotc(ExecutionSpace(), all_x, all_y))) << n << ' ' << way;
        EXPECT_EQ(shown(nrm2(comm, my_x)), shown(nrm2(ExecutionSpace(), all_x))) << n << ' ' << way;
      }
    }
  }
  const auto one = vector_of(std::vector<T>(comm.rank() == 0 ? 2 : 1));
  const auto other = vector_of(std::vector<T>(1));
  test::expect_refusal(ErrorKind::argument, "exact::dot: parts of", [&] { static_cast<void>(dot(comm, one, other)); });
}

TYPED_TEST(ExactOverRanks, ProductsAreThoseOfOneRank) {
  using T = TypeParam;
  const Communicator comm(MPI_COMM_WORLD);
  const Index m = 45;
  const Index n = 37;
  for (const Data data : {Data::tame, Data::cancelling, Data::any}) {
    std::mt19937_64 random(7);
    Matrix<T> A(m, n);
    A.fill(random, data);
    for (const Operation op : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
      const bool crossed = op != Operation::none;
      std::vector<T> x(static_cast<std::size_t>(crossed ? m : n));
      std::vector<T> y(static_cast<std::size_t>(crossed ? n : m));
      for (std::size_t k = 0; k < x.size(); ++k) {
        // Products with equal columns cancel.
        x[k] = data == Data::cancelling && k % 2 == 1 ? -x[k - 1] : number<T>(random, data);
      }
      for (T& value : y) {
        value = number<T>(random, data);
      }
      const T alpha = number<T>(random, Data::spread);
      const T beta = number<T>(random, Data::spread);
      const auto expected = vector_of(y);
      gemv(ExecutionSpace(), op, alpha, A.device, vector_of(x), beta, expected);
      const auto host = Kokkos::create_mirror_view(expected);
      Kokkos::deep_copy(host, expected);
      for (const Placement& placement :
           {Placement::row_bands(m, n, comm.size()), Placement::column_bands(m, n, comm.size()),
            placement_from("cyclic:5x3", m, n, comm.size()), placement_from("rank:0", m, n, comm.size())}) {
        const DistributedMatrix<T> distributed(comm, placement);
        const auto local = Kokkos::create_mirror_view(distributed.local());
        for (Index j = 0; j < static_cast<Index>(local.extent(1)); ++j) {
          for (Index i = 0; i < static_cast<Index>(local.extent(0)); ++i) {
            local(i, j) = A.host(distributed.global_row(i), distributed.global_column(j));
          }
        }
        Kokkos::deep_copy(distributed.local(), local);
        std::vector<T> found = y;
        gemv<T>(comm, op, alpha, distributed, x, beta, found);
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(text_of(found[i]), text_of(host(i))) << i << ' ' << placement.describe();
        }
      }
    }
  }
  const DistributedMatrix<T> A(comm, Placement::row_bands(3, 2, comm.size()));
  std::vector<T> y(2);
  test::expect_refusal(ErrorKind::argument, "exact::gemv: op(A) is 3 x 2, x has 2 elements, y has 2",
                       [&] { gemv<T>(comm, Operation::none, T(1), A, std::vector<T>(2), T(0), y); });
}

TEST(ExactAllreduce, TakesThePlaceOfMpis) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const std::size_t n : {0U, 1U, 2U, 101U}) {
    std::vector<double> mine(n);
    std::vector<Reference> expected(n);
    std::vector<double> tiny(n);
    for (int r = 0; r < size; ++r) {
      std::mt19937_64 random(static_cast<unsigned>(r) + 1);
      for (std::size_t k = 0; k < n; ++k) {
        double x = real_number<double>(random, Data::spread);
        if (r + 1 == size && size > 1) {
          // Nearly the negative of the first rank's.
          std::mt19937_64 first(1);
          double of_first = 0;
          for (std::size_t l = 0; l <= k; ++l) {
            of_first = real_number<double>(first, Data::spread);
          }
          x = -of_first * (1 + 0x1p-40);
        }
        expected[k].add(x);
        if (r == rank) {
          mine[k] = x;
        }
      }
    }
    std::vector<double> sums(n, -1);
    ASSERT_EQ(allreduce(mine.data(), sums.data(), static_cast<int>(n), MPI_DOUBLE, MPI_COMM_WORLD), MPI_SUCCESS);
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_EQ(shown(sums[k]), shown(expected[k].value<double>())) << k;
    }
    ASSERT_EQ(allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(n), MPI_DOUBLE, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(mine, sums);
  }
  // 1 + u + ... : each u is at most a tie beside 1; together they are more.
  std::vector<std::complex<float>> parts = {{rank == 0 ? 1.0F : 0x1p-24F, rank == 0 ? 0x1p127F : -0x1p127F}};
  ASSERT_EQ(allreduce(MPI_IN_PLACE, parts.data(), 1, MPI_C_FLOAT_COMPLEX, MPI_COMM_WORLD), MPI_SUCCESS);
  Reference real;
  Reference imaginary;
  for (int r = 0; r < size; ++r) {
    real.add(r == 0 ? 1.0 : 0x1p-24);
    imaginary.add(r == 0 ? 0x1p127 : -0x1p127);
  }
  EXPECT_EQ(shown(parts[0].real()), shown(real.value<float>()));
  EXPECT_EQ(shown(parts[0].imag()), shown(imaginary.value<float>()));
  int number = 1;
  EXPECT_EQ(allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TYPE);
}

TEST(ExactAllreduce, ReturnsTheErrorsOfMpi) {
  double send = 1.0;
  double receive = 0.0;
  EXPECT_EQ(allreduce(&send, &receive, -1, MPI_DOUBLE, MPI_COMM_WORLD), MPI_ERR_COUNT);
  EXPECT_EQ(allreduce(&send, &receive, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TYPE);
  EXPECT_EQ(receive, 0.0);
}

TEST(ExactAllreduce, OfAccumulators) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<Accumulator<double>> sums(3);
  for (int k = 0; k < 3; ++k) {
    sums[static_cast<std::size_t>(k)].add_product(double_max, comm.rank() == 0 ? double_max : -double_max);
    sums[static_cast<std::size_t>(k)].add(comm.rank() + k);
  }
  all_reduce(comm, std::span(sums));
  for (int k = 0; k < 3; ++k) {
    const double expected = comm.size() == 2   ? 1.0 + 2.0 * k
                            : comm.size() == 1 ? infinite<double>()
                                               : -infinite<double>();
    EXPECT_EQ(sums[static_cast<std::size_t>(k)].value(), expected);
  }
}

}  // namespace
}  // namespace heddle::exact::distributed_test
