#include "gemm/kept_products.hpp"

#include "gemm/schedule.hpp"
#include "support/matrices.hpp"

#include <gtest/gtest.h>

namespace heddle::impl {
namespace {

using Matrix = std::shared_ptr<const DistributedMatrix<double>>;

constexpr Index n = 200;
constexpr Index tile = 64;

// sign: of its transpose; 0: any matrix.
Matrix made(int seed, int sign) {
  const auto entries = test::RandomEntries<double>{seed};
  const auto host = test::host_matrix<double>(n, n, [&](Index i, Index j) {
    if (sign == 0) return entries(i, j);
    if (sign < 0 && i == j) return 0.0;
    return i < j ? entries(i, j) : sign * entries(j, i);
  });
  DistributedMatrix<double> matrix(test::world(), Placement::row_bands(n, n, 1), "test");
  Kokkos::deep_copy(matrix.local(), test::padded_on_device(host));
  return std::make_shared<const DistributedMatrix<double>>(matrix);
}

HostMatrix<double> plain(double alpha, const Matrix& X, const Matrix& Y, double beta, const HostMatrix<double>& Z) {
  const ExecutionSpace space;
  const MatrixView<double> z = test::padded_on_device(Z);
  EmulatedGemm<double> gemm(blas::Context(space), n, n, n, {.look = false});
  gemm(Operation::none, Operation::none, alpha, X->local(), Y->local(), beta, z);
  space.fence();
  return test::to_host(z);
}

HostMatrix<double> kept(KeptProducts<double>& products, double alpha, const KeptProducts<double>::Given& X,
                        const KeptProducts<double>::Given& Y, double beta, const HostMatrix<double>& Z,
                        Index of_half = 0) {
  const MatrixView<double> z = test::padded_on_device(Z);
  products(alpha, X, Y, beta, z, of_half);
  Kokkos::fence();
  return test::to_host(z);
}

TEST(KeptProducts, HaveTheBitsOfAnyOthers) {
  const ExecutionSpace space;
  ASSERT_TRUE(KeptProducts<double>::fit(n, {.look = false}));
  KeptProducts<double> products(space, n, {.look = false});
  const auto Z = test::host_random<double>(n, n, 9);
  std::vector<Matrix> matrices;
  const std::vector<int> signs = {0, 1, -1, 0, 1, -1};
  for (std::size_t k = 0; k < signs.size(); ++k) matrices.push_back(made(static_cast<int>(k) + 1, signs[k]));
  // Every pair, so that most have gone when they are asked for again, and some have not.
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    for (std::size_t l = 0; l < matrices.size(); ++l) {
      const KeptProducts<double>::Given left{matrices[k], signs[k]};
      const KeptProducts<double>::Given right{matrices[l], signs[l]};
      EXPECT_TRUE(
          test::same_bits(kept(products, 0.5, left, right, 1.0, Z), plain(0.5, matrices[k], matrices[l], 1.0, Z)))
          << k << " " << l;
    }
  }
  EXPECT_TRUE(test::same_bits(kept(products, -1.0, {matrices[0]}, {matrices[0]}, 0.0, Z),
                              plain(-1.0, matrices[0], matrices[0], 0.0, Z)));
}

TEST(KeptProducts, OfHalfLeaveTheOthersAsTheyWere) {
  KeptProducts<double> products(ExecutionSpace(), n, {.look = false});
  const auto Z = test::host_random<double>(n, n, 9);
  for (const int sign : {1, -1}) {
    const Matrix X = made(3, sign);
    const auto whole = plain(1.0, X, X, 1.0, Z);
    const auto half = kept(products, 1.0, {X, sign}, {X, sign}, 1.0, Z, tile);
    const Index bands = (n + tile - 1) / tile;
    Index computed = 0;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const bool holds = half_holds(i / tile, j / tile, bands);
        computed += holds ? 1 : 0;
        ASSERT_EQ(half(i, j), holds ? whole(i, j) : Z(i, j)) << i << " " << j;
      }
    }
    EXPECT_LT(computed, 7 * n * n / 10);
  }
}

TEST(KeptProducts, ForgetWhatChanges) {
  KeptProducts<double> products(ExecutionSpace(), n, {.look = false});
  const auto Z = test::host_random<double>(n, n, 9);
  const Matrix X = made(1, 0);
  Matrix Y = made(2, 0);
  const auto first = kept(products, 1.0, {X}, {Y}, 0.0, Z);
  Kokkos::deep_copy(Y->local(), 1.0);
  EXPECT_TRUE(test::same_bits(kept(products, 1.0, {X}, {Y}, 0.0, Z), first)) << "residues are kept";
  products.forget(Y);
  EXPECT_TRUE(test::same_bits(kept(products, 1.0, {X}, {Y}, 0.0, Z), plain(1.0, X, Y, 0.0, Z)));
  Kokkos::deep_copy(Y->local(), 2.0);
  products.forget_all();
  EXPECT_TRUE(test::same_bits(kept(products, 1.0, {X}, {Y}, 0.0, Z), plain(1.0, X, Y, 0.0, Z)));
  // Another matrix where the last one was.
  const DistributedMatrix<double> storage = *Y;
  Y = std::make_shared<const DistributedMatrix<double>>(storage);
  Kokkos::deep_copy(Y->local(), 3.0);
  EXPECT_TRUE(test::same_bits(kept(products, 1.0, {X}, {Y}, 0.0, Z), plain(1.0, X, Y, 0.0, Z)));
}

}  // namespace
}  // namespace heddle::impl
