// Exponentials by emulated products: the same bits for any number of ranks and any tile, and with residues kept by one
// rank.
#include "support/matrices.hpp"
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace heddle::emulated_test {
namespace {

using test::Complex;
using test::narrow;

constexpr Index n = 201;  // Halves have four tiles on each side, the last one smaller.

template <class T> class EmulatedExpm : public ::testing::Test {
 protected:
  // Expect the same bits for any ranks and tiles, on rank 0.
  template <class Entry> void expect_same_bits(const Entry& entry, ExpmOptions options, const char* what) {
    options.gemm.arithmetic = Arithmetic::emulated;
    const HostMatrix<T> whole = test::host_matrix<T>(n, n, [&](Index i, Index j) { return narrow<T>(entry(i, j)); });
    const auto exponential = [&](const Communicator& comm, Index tile) {
      options.gemm.tile = tile;
      const DistributedMatrix<T> A(comm, Placement::row_bands(n, n, comm.size()));
      const DistributedMatrix<T> E(comm, A.placement());
      scatter(comm.rank() == 0 ? whole : HostMatrix<T>(), 0, A);
      expm(comm, A, E, options);
      return gather(E, 0);
    };
    const auto kept = exponential(Communicator(MPI_COMM_SELF), 0);
    const auto planned = exponential(test::world(), 0);
    const auto tiled = exponential(test::world(), 60);
    if (test::world().rank() == 0) {
      EXPECT_TRUE(test::same_bits(kept, planned)) << what;
      EXPECT_TRUE(test::same_bits(kept, tiled)) << what;
      options.gemm.arithmetic = Arithmetic::native;
      const auto native = exponential(Communicator(MPI_COMM_SELF), 0);
      double largest = 0.0;
      double scale = 0.0;
      for (std::size_t k = 0; k < native.size(); ++k) {
        largest = std::max(largest, std::abs(test::widen(native.data()[k]) - test::widen(kept.data()[k])));
        scale = std::max(scale, std::abs(test::widen(native.data()[k])));
      }
      EXPECT_LE(largest, 1000.0 * static_cast<double>(unit_roundoff<T>) * scale) << what;
    }
  }
};
TYPED_TEST_SUITE(EmulatedExpm, test::AllScalars);

TYPED_TEST(EmulatedExpm, HasTheSameBitsOnAnyRanks) {
  using T = TypeParam;
  const auto number = [](Index i, Index j, int seed) { return test::random_number(i, j, seed); };
  const auto symmetric = [&](Index i, Index j, int seed) { return number(std::min(i, j), std::max(i, j), seed); };
  const auto antisymmetric = [&](Index i, Index j, int seed) {
    return i == j ? 0.0 : (i < j ? 1.0 : -1.0) * symmetric(i, j, seed);
  };
  for (const double size : {0.02, 0.5}) {
    this->expect_same_bits([&](Index i, Index j) { return Complex(0.1 * size * number(i, j, 1), 0.0); }, {}, "general");
    this->expect_same_bits([&](Index i, Index j) { return Complex(size * symmetric(i, j, 2), 0.0); }, {}, "symmetric");
    this->expect_same_bits([&](Index i, Index j) { return Complex(size * antisymmetric(i, j, 3), 0.0); }, {},
                           "antisymmetric");
    if constexpr (is_complex<T>) {
      for (const int products : {3, 4}) {
        this->expect_same_bits([&](Index i, Index j) { return 0.1 * size * Complex(number(i, j, 4), number(i, j, 5)); },
                               {.complex_products = products}, "general, complex");
        this->expect_same_bits(
            [&](Index i, Index j) { return size * Complex(symmetric(i, j, 6), antisymmetric(i, j, 7)); },
            {.complex_products = products}, "Hermitian");
        this->expect_same_bits(
            [&](Index i, Index j) { return size * Complex(antisymmetric(i, j, 8), symmetric(i, j, 9)); },
            {.complex_products = products}, "skew-Hermitian");
      }
      this->expect_same_bits([&](Index i, Index j) { return Complex(0.0, size * symmetric(i, j, 10)); }, {},
                             "-i times a symmetric one");
    }
  }
  this->expect_same_bits([&](Index i, Index j) { return Complex(0.1 * number(i, j, 11), 0.0); },
                         {.method = ExpmMethod::pade}, "by Pade");
  this->expect_same_bits([&](Index i, Index j) { return Complex(0.1 * symmetric(i, j, 12), 0.0); },
                         {.method = ExpmMethod::taylor, .degree = 9}, "by Taylor, term by term");
  // In-place corrections of diagonals, balancing, a given structure, and the second exponential of a residual.
  const auto triangular = [&](Index i, Index j) { return Complex(i <= j ? 0.3 * number(i, j, 13) : 0.0, 0.0); };
  this->expect_same_bits(triangular, {}, "triangular");
  const auto badly_scaled = [&](Index i, Index j) {
    return Complex(0.1 * std::ldexp(number(i, j, 14), static_cast<int>(i % 7 - j % 7)), 0.0);
  };
  this->expect_same_bits(badly_scaled, {.balance = true}, "balanced");
  const auto given = [&](Index i, Index j) { return Complex(0.3 * symmetric(i, j, 15), 0.0); };
  this->expect_same_bits(given, {.structure = ExpmStructure::hermitian, .residual = true}, "given as symmetric");
}

// A plan's residues belong to the matrix in its arguments, wherever that lies.
TEST(EmulatedExpmPlan, FollowsAMatrixThatChanges) {
  const Communicator alone(MPI_COMM_SELF);
  ExpmOptions options;
  options.gemm.arithmetic = Arithmetic::emulated;
  const DistributedMatrix<double> A(alone, Placement::row_bands(n, n, 1));
  const DistributedMatrix<double> E(alone, A.placement());
  ExpmPlan<double> plan(alone, options);
  for (const int seed : {1, 2}) {
    scatter(test::host_matrix<double>(n, n, [&](Index i, Index j) { return 0.1 * test::random_number(i, j, seed); }), 0,
            A);
    plan.execute(A, E);
    const DistributedMatrix<double> expected(alone, A.placement());
    expm(alone, A, expected, options);
    EXPECT_TRUE(test::same_bits(gather(E, 0), gather(expected, 0))) << seed;
  }
}

}  // namespace
}  // namespace heddle::emulated_test
