// Tests of reductions over ranks in pieces, as for more elements than MPI counts: small pieces give the same bits.
#include "exact/sums/allreduce.hpp"
#include "matrices.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace heddle::exact::pieces_test {
namespace {

template <class T> class ExactPieces : public ::testing::Test {};
using RealTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ExactPieces, RealTypes);

TYPED_TEST(ExactPieces, ChangeNoElement) {
  using T = TypeParam;
  const Communicator comm(MPI_COMM_WORLD);
  for (const std::size_t n : {0U, 1U, 7U, 100U}) {
    std::mt19937_64 random(n + 31 * static_cast<unsigned>(comm.rank()));
    std::vector<T> mine(n + 1);
    for (T& x : mine) x = real_number<T>(random, Data::spread);
    std::vector<T> whole(n + 1, T(-1));
    ASSERT_EQ(impl::allreduce_reals<T>(mine.data(), whole.data(), n, comm.native()), MPI_SUCCESS);
    EXPECT_EQ(whole[n], T(-1));
    for (const std::size_t most : {1U, 2U, 3U, 7U, 99U}) {
      std::vector<T> found(n + 1, T(-1));
      ASSERT_EQ(impl::allreduce_reals<T>(mine.data(), found.data(), n, comm.native(), most), MPI_SUCCESS);
      EXPECT_EQ(found, whole) << n << ' ' << most;
      std::vector<T> in_place = mine;
      ASSERT_EQ(impl::allreduce_reals<T>(MPI_IN_PLACE, in_place.data(), n, comm.native(), most), MPI_SUCCESS);
      whole[n] = mine[n];
      EXPECT_EQ(in_place, whole) << n << ' ' << most;
      whole[n] = T(-1);
    }
  }
}

TYPED_TEST(ExactPieces, ChangeNoAccumulator) {
  using T = TypeParam;
  const Communicator comm(MPI_COMM_WORLD);
  for (const std::size_t most : {1U, 2U, 5U}) {
    std::vector<Accumulator<T>> sums(5);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      sums[k].add(static_cast<T>(static_cast<std::size_t>(comm.rank()) + 10 * k));
    }
    impl::all_reduce_sums(comm, std::span(sums), most);
    const auto ranks = static_cast<std::size_t>(comm.size());
    for (std::size_t k = 0; k < sums.size(); ++k) {
      EXPECT_EQ(sums[k].value(), static_cast<T>(10 * k * ranks + ranks * (ranks - 1) / 2)) << most;
    }
  }
}

}  // namespace
}  // namespace heddle::exact::pieces_test
