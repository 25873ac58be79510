// All implementations of real products, against sums in higher precision.
#include "expm/arithmetic/careful_products.hpp"
#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::impl::real_products_test {
namespace {

constexpr Index n = 203;  // Not a multiple of a tile, a panel or the number of ranks.

double error_of(const HostMatrix<double>& X, const HostMatrix<double>& Z) {
  double largest = 0.0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      long double sum = X(i, j);
      for (Index k = 0; k < n; ++k) sum += 0.5L * X(i, k) * X(k, j);
      largest = std::max(largest, std::abs(static_cast<double>(sum - Z(i, j))));
    }
  }
  return largest;
}

bool is_symmetric(const HostMatrix<double>& Z) {
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) {
      if (Z(i, j) != Z(j, i)) return false;
    }
  }
  return true;
}

// X + X X / 2 for a symmetric X, as a whole and by half.
struct Products {
  explicit Products(const GemmOptions& options)
      : comm(test::world()),
        tile(options.tile),
        rows(comm, Placement::row_bands(n, n, comm.size())),
        columns(comm, Placement::column_bands(n, n, comm.size())),
        chosen(choose_products(comm, rows, columns, options)) {
    WorkMatrix<double> left = rows.take();
    fill(left.write(), test::SymmetricEntries{7});
    X = std::move(left);
    WorkMatrix<double> right = columns.take();
    redistribute(*X, right.write());
    Y = std::move(right);
  }
  WorkMatrix<double> begun() const {
    WorkMatrix<double> Z = rows.take();
    copy(*X, Z.write());
    return Z;
  }
  void check() {
    WorkMatrix<double> whole = begun();
    cost = chosen.whole->multiply(0.5, {X}, {Y}, 1.0, whole.write());
    WorkMatrix<double> half = begun();
    const ProductCost of_half = chosen.half->multiply(0.5, {X, 1}, {Y, 1}, 1.0, half.write());
    chosen.half->complete(half.write(), 1.0);
    EXPECT_NEAR(cost.flops, 2.0 * n * n * n, 1.0);
    // On a GPU the cheapest tile may be the whole matrix: half of the product then is all of it, except for rounding.
    EXPECT_LE(of_half.flops, (tile > 0 ? 0.75 : 1.0) * cost.flops * (1 + 1e-12));
    const HostMatrix<double> given = gather(*X, 0);
    const HostMatrix<double> found = gather(*whole.read(), 0);
    const HostMatrix<double> mirrored = gather(*half.read(), 0);
    if (comm.rank() == 0) {
      // Elements of X are below 1: sums of n products are below n, with as many rounding errors.
      EXPECT_LE(error_of(given, found), n * std::sqrt(n) * 0x1p-53);
      EXPECT_LE(error_of(given, mirrored), n * std::sqrt(n) * 0x1p-53);
      EXPECT_TRUE(is_symmetric(mirrored));
    }
  }

  Communicator comm;
  Index tile;
  MatrixPool<double> rows;
  MatrixPool<double> columns;
  ChosenProducts<double> chosen;
  SharedMatrix<double> X;
  SharedMatrix<double> Y;
  ProductCost cost;
};

TEST(RealProducts, AreRightNatively) {
  for (const Index tile : {0, 64}) {
    Products products({.tile = tile});
    EXPECT_EQ(products.chosen.careful, nullptr);
    products.check();
    EXPECT_FALSE(products.cost.probed);
  }
}

TEST(RealProducts, AreRightByIntegers) {
  for (const Index tile : {0, 64}) {
    for (const bool look : {false, true}) {
      GemmOptions options;
      options.tile = tile;
      options.arithmetic = Arithmetic::emulated;
      options.emulation.look = look;
      Products products(options);
      EXPECT_EQ(products.chosen.careful != nullptr, look);
      products.check();
      EXPECT_FALSE(products.cost.probed) << "random matrices are evenly scaled";
    }
  }
}

TEST(RealProducts, AreProbedWhereNormsAreNotTrusted) {
  GemmOptions options;
  options.arithmetic = Arithmetic::emulated;
  Products products(options);
  ASSERT_NE(products.chosen.careful, nullptr);
  products.chosen.careful->trust(Trust::never);
  products.check();
  EXPECT_TRUE(products.cost.probed);
}

}  // namespace
}  // namespace heddle::impl::real_products_test
