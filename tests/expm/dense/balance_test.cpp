// Balancing: reductions of norms, matrices that stay unchanged, and undoing to the bit.
#include "expm/dense/balance.hpp"

#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace heddle::balance_test {
namespace {

using impl::apply_balance;
using impl::Balance;
using impl::balance;
using impl::Parts;
using impl::SharedMatrix;
using impl::undo_balance;
using impl::WorkMatrix;
using impl::WorkParts;

using Entry = std::function<double(Index, Index)>;

template <RealScalar T> WorkMatrix<T> part_of(const Communicator& comm, Index n, const Entry& entry) {
  const HostMatrix<T> whole("heddle::test::whole", comm.rank() == 0 ? n : 0, comm.rank() == 0 ? n : 0);
  for (Index j = 0; j < static_cast<Index>(whole.extent(1)); ++j) {
    for (Index i = 0; i < n; ++i) whole(i, j) = static_cast<T>(entry(i, j));
  }
  WorkMatrix<T> matrix(DistributedMatrix<T>(comm, Placement::row_bands(n, n, comm.size())));
  scatter(whole, 0, matrix.write());
  return matrix;
}

// 1-norms of rows and columns of |Re| + |Im|, on rank 0.
template <RealScalar T> std::array<std::vector<double>, 2> norms_of(const Parts<T>& A) {
  std::array<std::vector<double>, 2> norms;
  for (const SharedMatrix<T>* part : {&A.real, &A.imaginary}) {
    if (!*part) continue;
    const HostMatrix<T> whole = gather(**part, 0);
    for (auto& sums : norms) sums.resize(whole.extent(0), 0.0);
    for (std::size_t j = 0; j < whole.extent(1); ++j) {
      for (std::size_t i = 0; i < whole.extent(0); ++i) {
        norms[0][i] += std::abs(static_cast<double>(whole(i, j)));
        norms[1][j] += std::abs(static_cast<double>(whole(i, j)));
      }
    }
  }
  return norms;
}

template <RealScalar T> bool same(const SharedMatrix<T>& left, const HostMatrix<T>& right) {
  return test::same_bits(gather(*left, 0), right);
}

template <class T> class Balancing : public ::testing::Test {
 protected:
  Communicator comm = test::world();

  // Check the result of balance() against B itself, and that undoing it gives A.
  Balance check(WorkParts<T> X, bool needed) {
    const Parts<T> A = X.read();
    const auto before = norms_of(A);
    const HostMatrix<T> real = A.real ? gather(*A.real, 0) : HostMatrix<T>();
    const HostMatrix<T> imaginary = A.imaginary ? gather(*A.imaginary, 0) : HostMatrix<T>();
    const Balance result = balance(comm, A);
    EXPECT_EQ(result.needed, needed);
    EXPECT_LE(result.sweeps, 20);
    EXPECT_EQ(std::all_of(result.exponents.begin(), result.exponents.end(), [](int e) { return e == 0; }), !needed);
    apply_balance(comm, std::span<const int>(result.exponents), X);
    const auto after = norms_of(X.read());
    if (comm.rank() == 0) {
      const double norm_before = *std::max_element(before[1].begin(), before[1].end());
      const double norm_after = *std::max_element(after[1].begin(), after[1].end());
      EXPECT_NEAR(result.norm_before, norm_before, 1e-9 * norm_before);
      EXPECT_NEAR(result.norm_after, norm_after, 1e-9 * norm_after);
      EXPECT_LE(norm_after, needed ? 0.95 * norm_before : norm_before);
      for (std::size_t i = 0; i < after[0].size() && result.sweeps < 20; ++i) {
        // Rows or columns of zeros are unchanged.
        if (after[0][i] > 0.0 && after[1][i] > 0.0) {
          EXPECT_LE(std::abs(std::log2(after[0][i] / after[1][i])), needed ? 2.0 : 40.0) << i;
        }
      }
    }
    undo_balance(comm, std::span<const int>(result.exponents), X);
    EXPECT_TRUE(!X.real || same<T>(X.real.read(), real));
    EXPECT_TRUE(!X.imaginary || same<T>(X.imaginary.read(), imaginary));
    return result;
  }
  static double random(Index i, Index j, int seed = 1) { return test::random_number(i, j, seed); }
};
using RealScalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Balancing, RealScalars);

TYPED_TEST(Balancing, FindsAHiddenScaling) {
  using T = TypeParam;
  const int range = std::is_same_v<T, float> ? 30 : 400;
  for (const Index n : {2, 3, 10, 65, 130}) {
    for (const bool both : {false, true}) {
      const auto entry = [&](int seed) {
        return [=](Index i, Index j) {
          const auto exponent = [&](Index k) { return static_cast<int>(range * test::random_number(k, 7, 9)); };
          return std::ldexp(static_cast<double>(static_cast<T>(TestFixture::random(i, j, seed))),
                            exponent(i) - exponent(j));
        };
      };
      WorkParts<T> A{part_of<T>(this->comm, n, entry(1)), {}};
      if (both) A.imaginary = part_of<T>(this->comm, n, entry(2));
      const Balance found = this->check(std::move(A), true);
      EXPECT_LE(found.norm_after, 4.0 * static_cast<double>(n));
      EXPECT_LT(found.sweeps, 20);
    }
  }
}

TYPED_TEST(Balancing, KnownBadlyScaledMatrices) {
  using T = TypeParam;
  // R. Ward (1977), his third example.
  const std::array<double, 9> ward = {-131, 19, 18, -390, 56, 54, -387, 57, 52};
  const Balance found = this->check(
      {part_of<T>(this->comm, 3, [&](Index i, Index j) { return ward[static_cast<std::size_t>(3 * i + j)]; }), {}},
      true);
  EXPECT_LT(found.norm_after, 600.0);  // from 908
  // [1 2^k; 0 -1], which scaling and squaring overscales. b need not be below the diagonal's size.
  for (const int k : {3, 20, 60}) {
    const Balance reduced =
        this->check({{},
                     part_of<T>(this->comm, 2,
                                [&](Index i, Index j) {
                                  return i == j ? (i == 0 ? 1.0 : -1.0) : j > i ? std::ldexp(1.0, k) : 0.0;
                                })},
                    true);
    EXPECT_LE(reduced.norm_after, 4.0);
    EXPECT_GE(reduced.norm_after, 1.25);
  }
  // Ones and 2^k: a row and a column that are balanced only together.
  for (const int k : {10, 40}) {
    const Balance reduced = this->check(
        {part_of<T>(this->comm, 9, [&](Index i, Index j) { return i == 0 && j > 0 ? std::ldexp(1.0, k) : 1.0; }), {}},
        true);
    EXPECT_LE(reduced.norm_after, 64.0 * std::ldexp(1.0, k / 2));
  }
}

TYPED_TEST(Balancing, PassesFromNeighbourToNeighbour) {
  using T = TypeParam;
  // Tridiagonal with 1 above and 2^-6 below the diagonal: the changes of both ends must reach the middle.
  const Entry chain = [](Index i, Index j) { return j == i + 1 ? 1.0 : i == j + 1 ? 0x1p-6 : 0.0; };
  const Balance found = this->check({part_of<T>(this->comm, 4, chain), {}}, true);
  EXPECT_LE(found.norm_after, 0.5);
  EXPECT_LT(found.sweeps, 20);
  // In a chain that is too long, they do not reach the middle: unchanged.
  const Parts<T> A{part_of<T>(this->comm, 200, chain), nullptr};
  const Balance left = balance(this->comm, A);
  EXPECT_GT(left.sweeps, 2);
  EXPECT_FALSE(left.needed);
  EXPECT_EQ(left.norm_after, left.norm_before);
}

TYPED_TEST(Balancing, LeavesAloneWhatIsBalanced) {
  using T = TypeParam;
  const auto unchanged = [&](Index n, const Entry& entry) {
    const Balance found = this->check({part_of<T>(this->comm, n, entry), {}}, false);
    EXPECT_EQ(found.sweeps, 0);
  };
  unchanged(20, [](Index i, Index j) { return i == j ? std::ldexp(1.0, static_cast<int>(3 * i) - 30) : 0.0; });
  unchanged(20, [](Index i, Index j) { return TestFixture::random(std::min(i, j), std::max(i, j)); });
  unchanged(90, [](Index i, Index j) { return TestFixture::random(i, j); });
  unchanged(12, [](Index i, Index j) { return j == (i + 1) % 12 ? 1e3 : 0.0; });
  unchanged(5, [](Index, Index) { return 0.0; });
  unchanged(1, [](Index, Index) { return 3.0; });
  // Strictly triangular: without a cycle there is no balance.
  unchanged(2, [](Index i, Index j) { return j > i ? 1e6 : 0.0; });
  // Noise beside a diagonal.
  unchanged(6, [](Index i, Index j) { return i == j ? 1.0 : i > j ? 1e-17 : 1e-9; });
  const Parts<T> none;
  EXPECT_FALSE(balance(this->comm, none).needed);
  EXPECT_FALSE(balance(this->comm, Parts<T>{part_of<T>(this->comm, 0, Entry()), nullptr}).needed);
}

TYPED_TEST(Balancing, TakesNoNumberThatIsNone) {
  using T = TypeParam;
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const Parts<T> A{part_of<T>(this->comm, 5, [&](Index i, Index j) { return i == 3 && j == 1 ? bad : 1.0; }),
                     nullptr};
    const Balance found = balance(this->comm, A);
    EXPECT_FALSE(found.needed);
    EXPECT_FALSE(std::isfinite(found.norm_before));
  }
}

TYPED_TEST(Balancing, ScalesAtTheEndsOfTheRange) {
  using T = TypeParam;
  constexpr int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  constexpr int most = std::numeric_limits<T>::max_exponent - 1;
  const int half = std::min((most - least) / 2, 511);
  const std::array<int, 2> exponents = {half, -half};
  WorkParts<T> X{part_of<T>(this->comm, 2,
                            [&](Index i, Index j) {
                              return i == j ? 3.0 : i > j ? std::ldexp(1.0, least) : std::ldexp(1.0, most);
                            }),
                 {}};
  undo_balance(this->comm, std::span<const int>(exponents), X);
  const HostMatrix<T> larger = gather(*X.real.read(), 0);
  apply_balance(this->comm, std::span<const int>(exponents), X);
  apply_balance(this->comm, std::span<const int>(exponents), X);
  const HostMatrix<T> smaller = gather(*X.real.read(), 0);
  if (this->comm.rank() == 0) {
    EXPECT_EQ(larger(0, 0), T{3});
    EXPECT_EQ(larger(0, 1), std::numeric_limits<T>::infinity());
    EXPECT_EQ(larger(1, 0), T{0});
    EXPECT_EQ(smaller(1, 1), T{3});
  }
  // And back again, within the range.
  const int step = std::min(half, -(least + 1));
  const std::array<int, 2> up = {0, step};
  WorkParts<T> Y{part_of<T>(this->comm, 2, [&](Index i, Index j) { return i > j ? std::ldexp(1.0, least) : 1.0; }), {}};
  undo_balance(this->comm, std::span<const int>(up), Y);
  const HostMatrix<T> raised = gather(*Y.real.read(), 0);
  if (this->comm.rank() == 0) {
    EXPECT_EQ(raised(1, 0), std::ldexp(T{1}, least + step));
    EXPECT_EQ(raised(0, 1), std::ldexp(T{1}, -step));
  }
}

TYPED_TEST(Balancing, IsTheSameForAnyNumberOfRanks) {
  using T = TypeParam;
  const Communicator alone(MPI_COMM_SELF);
  for (const Index n : {7, 300}) {
    const auto found = [&](const Communicator& ranks) {
      return balance(ranks, Parts<T>{part_of<T>(ranks, n,
                                                [](Index i, Index j) {
                                                  const double grade = 20.0 * TestFixture::random(i, 3, 4) -
                                                                       20.0 * TestFixture::random(j, 3, 4);
                                                  return TestFixture::random(i, j) * std::exp2(grade);
                                                }),
                                     nullptr});
    };
    const Balance mine = found(this->comm);
    const Balance expected = found(alone);
    EXPECT_TRUE(mine.needed);
    EXPECT_EQ(mine.exponents, expected.exponents);
    EXPECT_EQ(mine.norm_before, expected.norm_before);
    EXPECT_EQ(mine.norm_after, expected.norm_after);
    EXPECT_EQ(mine.sweeps, expected.sweeps);
  }
}

}  // namespace
}  // namespace heddle::balance_test
