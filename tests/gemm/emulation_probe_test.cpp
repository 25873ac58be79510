// Emulated products of factors with a wide spread of exponents.
#include "gemm/exact_product.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/core/error.hpp>
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::emulation_probe_test {
namespace {

using test::exact_product;
using test::host_matrix;
using test::host_random;
using test::padded_on_device;
using test::size_of;

template <Scalar T> struct Result {
  HostMatrix<T> C;
  EmulationReport report;
};

template <Scalar T>
Result<T> reported_product(const HostMatrix<T>& A, const HostMatrix<T>& B, const EmulationOptions& options = {}) {
  const ExecutionSpace space;
  const LocalMatrix<T> C("heddle::test::product", A.extent(0), B.extent(1));
  EmulatedGemm<T> gemm(blas::Context(space), static_cast<Index>(A.extent(0)), static_cast<Index>(B.extent(1)),
                       static_cast<Index>(A.extent(1)), options);
  gemm(Operation::none, Operation::none, T(1), padded_on_device(A), padded_on_device(B), T(0), C);
  space.fence();
  return {test::to_host<T>(C), gemm.report()};
}

// Largest |C - AB| / |A| |B|, in units of round-off; any wrong bit of an element that must be exact counts as infinite.
template <Scalar T> double error(const HostMatrix<T>& A, const HostMatrix<T>& B, const HostMatrix<T>& C) {
  const auto exact = exact_product(A, B);
  double worst = 0.0;
  for (std::size_t j = 0; j < C.extent(1); ++j) {
    for (std::size_t i = 0; i < C.extent(0); ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < A.extent(1); ++k) sum += size_of(A(i, k)) * size_of(B(k, j));
      const double off = size_of(T(C(i, j) - exact(i, j)));
      if (off > 0.0) worst = std::max(worst, off / (sum * static_cast<double>(unit_roundoff<T>)));
    }
  }
  return worst;
}

// Random numbers times 2^e, with e anywhere within +-most.
template <Scalar T> HostMatrix<T> spread(Index rows, Index columns, int most, int seed) {
  return host_matrix<T>(rows, columns, [&](Index i, Index j) {
    const T x = test::RandomEntries<T>{seed}(i, j);
    const int e = static_cast<int>(std::lround(most * test::random_number(i, j, seed + 50)));
    if constexpr (is_complex<T>) {
      return T(std::ldexp(x.real(), e), std::ldexp(x.imag(), e));
    } else {
      return std::ldexp(x, e);
    }
  });
}

template <class T> class Probe : public ::testing::Test {};
TYPED_TEST_SUITE(Probe, test::AllScalars);

TYPED_TEST(Probe, AddsNothingForOrdinaryMatrices) {
  using T = TypeParam;
  for (const Index inner : {7, 100, 700}) {
    const auto A = host_random<T>(40, inner, 1);
    const auto B = host_random<T>(inner, 30, 2);
    const auto probed = reported_product(A, B);
    const auto plain = reported_product(A, B, {.look = false});
    EXPECT_EQ(probed.report.moduli, emulation_moduli<T>(inner));
    EXPECT_FALSE(probed.report.fallback);
    EXPECT_GE(probed.report.spread, 1.0);
    EXPECT_LT(probed.report.spread, 4.0);
    EXPECT_EQ(plain.report.spread, 0.0);
    EXPECT_TRUE(test::same_bits(probed.C, plain.C));
  }
}

// Compare with |a| |b| / sum |a_k b_k|, by definition.
TYPED_TEST(Probe, FindsTheSpread) {
  using T = TypeParam;
  for (const int most : {0, 3, 10}) {
    const auto A = spread<T>(20, 60, most, 3);
    const auto B = spread<T>(60, 25, most, 4);
    double expected = 0.0;
    for (std::size_t j = 0; j < 25; ++j) {
      for (std::size_t i = 0; i < 20; ++i) {
        double sum = 0.0, a = 0.0, b = 0.0;
        for (std::size_t k = 0; k < 60; ++k) {
          sum += size_of(A(i, k)) * size_of(B(k, j));
          a = std::hypot(a, size_of(A(i, k)));
          b = std::hypot(b, size_of(B(k, j)));
        }
        expected = std::max(expected, a * b / sum);
      }
    }
    const double found = reported_product(A, B).report.spread;
    EXPECT_GE(found, expected * (1.0 - 1e-6)) << most;
    // Two factors of one leading bit count for half each, and other terms for nothing.
    EXPECT_LE(found, 32.0 * expected) << most;
  }
}

TYPED_TEST(Probe, AddsModuliWhereExponentsSpread) {
  using T = TypeParam;
  const auto A = spread<T>(50, 400, 15, 5);
  const auto B = spread<T>(400, 60, 15, 6);
  const auto probed = reported_product(A, B);
  EXPECT_GT(probed.report.moduli, emulation_moduli<T>(400));
  EXPECT_FALSE(probed.report.fallback);
  EXPECT_LE(error(A, B, probed.C), 4.0 * std::sqrt(400.0));
  EXPECT_LT(8.0 * error(A, B, probed.C), error(A, B, reported_product(A, B, {.look = false}).C));
}

// Some rows and columns have only small elements in common; such elements of C are decided one by one.
TYPED_TEST(Probe, SeesSingleElements) {
  using T = TypeParam;
  auto A = host_random<T>(40, 64, 7);
  auto B = host_random<T>(64, 50, 8);
  for (std::size_t k = 0; k < 64; ++k) {
    A(3, k) = k == 5 ? T(1) : T(Real<T>(0x1p-30) * A(3, k));
    B(k, 9) = k == 6 ? T(1) : T(Real<T>(0x1p-30) * B(k, 9));
  }
  const auto probed = reported_product(A, B);
  EXPECT_GE(probed.report.spread, 0x1p26);
  EXPECT_LE(probed.report.spread, 0x1p34);
  EXPECT_FALSE(probed.report.fallback);
  EXPECT_LE(error(A, B, probed.C), 4.0 * 8.0);
  EXPECT_GT(error(A, B, reported_product(A, B, {.look = false}).C), 1e4);
}

// A doubtful element changes nothing for its neighbours, for any pieces of columns.
TYPED_TEST(Probe, SaysTheSameInAnyPieces) {
  using T = TypeParam;
  constexpr Index inner = 201;
  auto A = host_random<T>(20, inner, 22);
  auto B = host_random<T>(inner, 64, 23);
  for (std::size_t k = 0; k < inner; ++k) {
    A(2, k) = k == 0 ? T(Real<T>(0x1p-6)) : T(1);
    B(k, 3) = k == 0 ? T(1) : T(Real<T>(0x1p-7));
    A(7, k) = k == 5 ? T(1) : T(Real<T>(0x1p-12));
    B(k, 60) = k == 6 ? T(1) : T(Real<T>(0x1p-12));
  }
  const auto whole = reported_product(A, B);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{50000}, std::size_t{1} << 20}) {
    const auto pieces = reported_product(A, B, {.workspace_bytes = bytes});
    EXPECT_EQ(pieces.report.spread, whole.report.spread);
    EXPECT_EQ(pieces.report.moduli, whole.report.moduli);
    EXPECT_TRUE(test::same_bits(pieces.C, whole.C));
  }
}

TYPED_TEST(Probe, TakesZerosForWhatTheyAre) {
  using T = TypeParam;
  const auto identity = host_matrix<T>(70, 70, [](Index i, Index j) { return i == j ? T(1) : T(0); });
  const auto band = host_matrix<T>(
      70, 70, [](Index i, Index j) { return std::abs(i - j) <= 1 ? test::RandomEntries<T>{9}(i, j) : T(0); });
  const auto lower =
      host_matrix<T>(70, 70, [](Index i, Index j) { return i >= j ? test::RandomEntries<T>{10}(i, j) : T(0); });
  for (const auto* A : {&identity, &band, &lower}) {
    const auto found = reported_product(*A, band);
    EXPECT_FALSE(found.report.fallback);
    EXPECT_LT(found.report.moduli, emulation_moduli<T>(70) + 8);
    EXPECT_LE(error(*A, band, found.C), 40.0);
  }
  const auto nothing = host_matrix<T>(70, 70, [](Index, Index) { return T(0); });
  EXPECT_EQ(reported_product(nothing, band).report.moduli, emulation_moduli<T>(70));
}

TYPED_TEST(Probe, FallsBackWhereNoModuliSuffice) {
  using T = TypeParam;
  const int most = std::numeric_limits<Real<T>>::max_exponent / 2 - 6;
  const auto A = spread<T>(30, 80, most, 11);
  const auto B = spread<T>(80, 35, most, 12);
  const auto exact = reported_product(A, B);
  ASSERT_TRUE(exact.report.fallback);
  EXPECT_EQ(*exact.report.fallback, Fallback::exact);
  EXPECT_EQ(exact.report.moduli, 0);
  EXPECT_TRUE(test::same_bits(exact.C, exact_product(A, B)));
  const auto native = reported_product(A, B, {.fallback = Fallback::native});
  const ExecutionSpace space;
  const LocalMatrix<T> C("heddle::test::native", 30, 35);
  blas::gemm<T>(space, Operation::none, Operation::none, T(1), padded_on_device(A), padded_on_device(B), T(0), C);
  space.fence();
  EXPECT_EQ(native.report.fallback, Fallback::native);
  EXPECT_TRUE(test::same_bits(native.C, test::to_host<T>(C)));
  const auto none = reported_product(A, B, {.fallback = Fallback::none});
  EXPECT_FALSE(none.report.fallback);
  EXPECT_EQ(none.report.moduli, 31);
  EXPECT_EQ(none.report.error_bound, emulation_error<T>(80, 31));
  for (const int most_moduli : {6, 32})
    test::expect_refusal(ErrorKind::argument, "emulation: at most",
                         [&] { reported_product(A, B, {.most_moduli = most_moduli}); });
  // With the caller's limit.
  const auto mild_a = spread<T>(30, 80, 12, 13);
  const auto mild_b = spread<T>(80, 35, 12, 14);
  const int wanted = reported_product(mild_a, mild_b).report.moduli;
  ASSERT_GT(wanted, emulation_moduli<T>(80));
  EXPECT_EQ(reported_product(mild_a, mild_b, {.most_moduli = wanted}).report.moduli, wanted);
  EXPECT_TRUE(reported_product(mild_a, mild_b, {.most_moduli = wanted - 1}).report.fallback);
  // The same object takes the next product without a change.
  EmulatedGemm<T> gemm(blas::Context(space), 30, 35, 80);
  const auto tame_a = host_random<T>(30, 80, 15);
  const auto tame_b = host_random<T>(80, 35, 16);
  gemm(Operation::none, Operation::none, T(1), padded_on_device(A), padded_on_device(B), T(0), C);
  EXPECT_TRUE(gemm.report().fallback);
  gemm(Operation::none, Operation::none, T(1), padded_on_device(mild_a), padded_on_device(mild_b), T(0), C);
  EXPECT_EQ(gemm.report().moduli, wanted);
  gemm(Operation::none, Operation::none, T(1), padded_on_device(tame_a), padded_on_device(tame_b), T(0), C);
  EXPECT_EQ(gemm.report().moduli, emulation_moduli<T>(80));
  space.fence();
  EXPECT_TRUE(test::same_bits(test::to_host<T>(C), reported_product(tame_a, tame_b).C));
}

TEST(ProbeOptions, HaveNames) {
  for (const Fallback fallback : {Fallback::exact, Fallback::native, Fallback::none}) {
    EXPECT_EQ(fallback_from(to_string(fallback)), fallback);
  }
  test::expect_refusal(ErrorKind::argument, "fallback 'blas': expected one of exact, native, none",
                       [&] { static_cast<void>(fallback_from("blas")); });
  EXPECT_EQ(arithmetic_from("auto"), Arithmetic::automatic);
}

}  // namespace
}  // namespace heddle::emulation_probe_test
