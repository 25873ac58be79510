// Products that keep the residues of their factors for later products.
#include "gemm/run/kept_products.hpp"

#include "gemm/plan/schedule.hpp"
#include "support/matrices.hpp"

#include <gtest/gtest.h>

namespace heddle::impl::kept_products_test {
namespace {

// Returns X with X^T = sign X, or any matrix if sign is 0.
template <RealScalar T> DistributedMatrix<T> made(Index n, int seed, int sign) {
  const test::RandomEntries<T> entries{seed};
  const auto host = test::host_matrix<T>(n, n, [&](Index i, Index j) {
    if (sign == 0) return entries(i, j);
    if (sign < 0 && i == j) return T{0};
    return i < j ? entries(i, j) : static_cast<T>(sign) * entries(j, i);
  });
  const DistributedMatrix<T> matrix(test::world(), Placement::row_bands(n, n, 1), "test");
  Kokkos::deep_copy(matrix.local(), test::padded_on_device(host));
  return matrix;
}

template <RealScalar T>
HostMatrix<T> plain(T alpha, const SharedMatrix<T>& X, const SharedMatrix<T>& Y, T beta, const HostMatrix<T>& Z) {
  const ExecutionSpace space;
  const MatrixView<T> z = test::padded_on_device(Z);
  const auto n = static_cast<Index>(Z.extent(0));
  EmulatedGemm<T> gemm(blas::Context(space), n, n, n, {.look = false});
  gemm(Operation::none, Operation::none, alpha, X->local(), Y->local(), beta, z);
  space.fence();
  return test::to_host(z);
}

template <RealScalar T>
HostMatrix<T> kept(KeptProducts<T>& products, T alpha, const typename KeptProducts<T>::Given& X,
                   const typename KeptProducts<T>::Given& Y, T beta, const HostMatrix<T>& Z, Index tile = 0) {
  const MatrixView<T> z = test::padded_on_device(Z);
  products(alpha, X, Y, beta, z, tile);
  Kokkos::fence();
  return test::to_host(z);
}

template <class T> class KeptProduct : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KeptProduct, Reals);

TYPED_TEST(KeptProduct, HasTheBitsOfAnyOther) {
  using T = TypeParam;
  const std::vector<int> signs = {0, 1, -1, 0, 1, -1};
  for (const Index n : {1, 15, 17, 100}) {
    ASSERT_TRUE(KeptProducts<T>::fit(n, {.look = false}));
    const auto Z = test::host_random<T>(n, n, 9);
    std::vector<SharedMatrix<T>> matrices;
    for (std::size_t k = 0; k < signs.size(); ++k) matrices.push_back(made<T>(n, static_cast<int>(k) + 1, signs[k]));
    for (const std::size_t most : {2U, 4U}) {
      KeptProducts<T> products(ExecutionSpace(), n, {.look = false}, most);
      // Every pair, so that most residues have been evicted when they are wanted again, and some have not.
      for (std::size_t k = 0; k < matrices.size(); ++k) {
        for (std::size_t l = 0; l < matrices.size(); ++l) {
          EXPECT_TRUE(
              test::same_bits(kept<T>(products, T(0.5), {matrices[k], signs[k]}, {matrices[l], signs[l]}, T(1), Z),
                              plain<T>(T(0.5), matrices[k], matrices[l], T(1), Z)))
              << n << " " << k << " " << l;
        }
      }
      // A symmetric product that is not declared as one.
      EXPECT_TRUE(test::same_bits(kept<T>(products, T(-1), {matrices[1]}, {matrices[1]}, T(0), Z),
                                  plain<T>(T(-1), matrices[1], matrices[1], T(0), Z)));
      EXPECT_EQ(products.kept(), most);
    }
  }
  KeptProducts<T> nothing(ExecutionSpace(), 0, {.look = false});
  const SharedMatrix<T> empty = made<T>(0, 1, 0);
  EXPECT_EQ(nothing(T(1), {empty}, {empty}, T(0), empty->local(), 0), 0.0);
}

TYPED_TEST(KeptProduct, OfHalfLeavesTheOtherAsItWas) {
  using T = TypeParam;
  constexpr Index n = 200;
  constexpr Index tile = 64;
  KeptProducts<T> products(ExecutionSpace(), n, {.look = false});
  const auto Z = test::host_random<T>(n, n, 9);
  for (const int sign : {1, -1}) {
    const SharedMatrix<T> X = made<T>(n, 3, sign);
    const auto whole = plain<T>(T(1), X, X, T(1), Z);
    const auto half = kept<T>(products, T(1), {X, sign}, {X, sign}, T(1), Z, tile);
    Index computed = 0;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const bool holds = half_holds(i / tile, j / tile, (n + tile - 1) / tile);
        computed += holds ? 1 : 0;
        ASSERT_EQ(half(i, j), holds ? whole(i, j) : Z(i, j)) << i << " " << j;
      }
    }
    EXPECT_LT(computed, 7 * n * n / 10);
  }
}

TEST(KeptProducts, MakeResiduesAnewOfWhatWasWrittenAndTakeTheRoomOfWhatHasGone) {
  constexpr Index n = 60;
  KeptProducts<double> products(ExecutionSpace(), n, {.look = false});
  const auto Z = test::host_random<double>(n, n, 9);
  const SharedMatrix<double> X = made<double>(n, 1, 0);
  const DistributedMatrix<double> storage = made<double>(n, 2, 0);
  WorkMatrix<double> Y(storage);
  const auto product = [&] { return kept<double>(products, 1.0, {X}, {Y.read()}, 0.0, Z); };
  const auto first = product();
  // A write that bypasses the owner, which does not detect it.
  Kokkos::deep_copy(storage.local(), 1.0);
  EXPECT_TRUE(test::same_bits(product(), first)) << "residues are kept";
  for (const double value : {1.0, 2.0}) {
    Kokkos::deep_copy(Y.write().local(), value);
    EXPECT_TRUE(test::same_bits(product(), plain<double>(1.0, X, Y.read(), 0.0, Z))) << value;
  }
  // Other matrices in the storage of the last one.
  for (const double value : {3.0, 4.0, 5.0}) {
    Y = WorkMatrix<double>(storage);
    Kokkos::deep_copy(Y.write().local(), value);
    EXPECT_TRUE(test::same_bits(product(), plain<double>(1.0, X, Y.read(), 0.0, Z))) << value;
  }
  EXPECT_EQ(products.kept(), 2U);
}

}  // namespace
}  // namespace heddle::impl::kept_products_test
