// The check of heddle gemm: passes right products, whatever range they are in, and fails wrong ones.
#include "drivers/support/matrices/product_check.hpp"

#include "support/matrices.hpp"
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heddle::driver::product_check_test {
namespace {

template <class T> struct Random {
  int seed;
  int exponent;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    const T element = test::RandomEntries<T>{seed}(i, j);
    const Real<T> half = Kokkos::exp2(static_cast<Real<T>>(exponent / 2));
    const Real<T> rest = Kokkos::exp2(static_cast<Real<T>>(exponent - exponent / 2));
    return element * half * rest;
  }
};

// Set one element and leave the others.
template <Scalar T> void set(const DistributedMatrix<T>& A, Index row, Index column, const T& value) {
  for (Index j = 0; j < static_cast<Index>(A.local().extent(1)); ++j) {
    for (Index i = 0; i < static_cast<Index>(A.local().extent(0)); ++i) {
      if (A.global_row(i) == row && A.global_column(j) == column) {
        Kokkos::deep_copy(Kokkos::subview(A.local(), i, j), value);
      }
    }
  }
}

template <Scalar T> T get(const DistributedMatrix<T>& A, Index row, Index column) {
  HostMatrix<T> all = gather(A, 0);
  T value = A.communicator().rank() == 0 ? all(row, column) : T(0);
  A.communicator().broadcast(std::span(&value, 1), 0);
  return value;
}

template <class T> class ProductCheckOf : public ::testing::Test {
 protected:
  Communicator comm = test::world();
  static constexpr Index m = 7;
  static constexpr Index n = 9;
  static constexpr Index k = 5;

  DistributedMatrix<T> matrix(Index rows, Index columns, int seed, int exponent) {
    DistributedMatrix<T> A(comm, Placement::row_bands(rows, columns, comm.size()));
    fill(A, Random<T>{seed, exponent});
    return A;
  }
  // The check's value over its bound, of C = alpha A B + beta C0 with `spoil` done to C after the product.
  template <class Spoil>
  double ratio(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
               const DistributedMatrix<T>& C0, const Spoil& spoil, const GemmOptions& options = {.tile = 4}) {
    const DistributedMatrix<T> C(comm, C0.placement());
    copy(C0, C);
    const ProductCheck<T> check(Operation::none, alpha, A, Operation::none, B, beta, C0);
    const GemmReport report = gemm(comm, Operation::none, Operation::none, alpha, A, B, beta, C, options);
    spoil(C);
    Kokkos::fence();
    return check.value(C, report.emulation.moduli > 0 ? report.emulation.error_bound : 0.0) / check.bound();
  }
};
TYPED_TEST_SUITE(ProductCheckOf, test::AllScalars);

constexpr auto nothing = [](const auto&) {};

// Factors of every size that leaves the product in range, and sums that leave it on the way where they are not scaled.
TYPED_TEST(ProductCheckOf, PassesRightProductsOfEveryRange) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  const int top = Limits::max_exponent - 2;
  const int bottom = Limits::min_exponent - Limits::digits;
  for (const auto& [a, b] :
       {std::pair(0, 0), std::pair(bottom + 4, 0), std::pair(bottom + 20, 3), std::pair(bottom / 2, bottom / 2),
        std::pair(bottom / 2 - 4, bottom / 2 + 3), std::pair(0, bottom + 2), std::pair(top, -4), std::pair(-6, top),
        std::pair(top, bottom), std::pair(top / 2, top / 2 - 4), std::pair(bottom, top)}) {
    const auto A = this->matrix(this->m, this->k, 1, a);
    const auto B = this->matrix(this->k, this->n, 2, b);
    for (const int c : {0, bottom + 3, top - 3}) {
      const auto C0 = this->matrix(this->m, this->n, 3, c);
      for (const T beta : {T(0), T(0.5), T(-1)}) {
        const double found = this->ratio(T(0.75), A, B, beta, C0, nothing);
        EXPECT_LE(found, 1.0) << a << " " << b << " " << c << " " << beta;
      }
    }
  }
}

TYPED_TEST(ProductCheckOf, PassesRowsAndColumnsOfDifferentRange) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  const auto A = this->matrix(this->m, this->k, 1, 0);
  const auto B = this->matrix(this->k, this->n, 2, 0);
  const auto C0 = this->matrix(this->m, this->n, 3, 0);
  for (Index p = 0; p < this->k; ++p) {
    set(A, 0, p, T(Limits::denorm_min() * Real<T>(p + 3)));
    set(A, 2, p, T(Limits::max() / 64));
    set(B, p, 1, T(Limits::min() / Real<T>(p + 2)));
    set(B, p, 3, T(Real<T>(p) / 16));
  }
  EXPECT_LE(this->ratio(T(1), A, B, T(0), C0, nothing), 1.0);
  // A row of tiny numbers is checked as well as any other: that it is beside large ones does not hide it.
  for (Index p = 0; p < this->k; ++p) set(A, 4, p, T(Kokkos::sqrt(Limits::min()) * Real<T>(p + 1)));
  EXPECT_LE(this->ratio(T(1), A, B, T(0), C0, nothing), 1.0);
  EXPECT_GT(this->ratio(T(1), A, B, T(0), C0, [](const auto& C) { set(C, 4, 0, T(0)); }), 1.0);
}

TYPED_TEST(ProductCheckOf, FailsWrongElementsOfEveryRange) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  const int top = Limits::max_exponent - 6;
  const int bottom = Limits::min_exponent - Limits::digits;
  const Real<T> wrong = Real<T>(1) + Real<T>(4096) * Limits::epsilon();
  for (const auto& [a, b] : {std::pair(0, 0), std::pair(bottom + 80, 0), std::pair(top, -4),
                             std::pair(top, bottom + 40), std::pair(bottom / 2 + 40, bottom / 2 + 40)}) {
    const auto A = this->matrix(this->m, this->k, 1, a);
    const auto B = this->matrix(this->k, this->n, 2, b);
    const auto C0 = this->matrix(this->m, this->n, 3, 0);
    // Change the row's largest element, so that the error is not lost among the others.
    const auto spoil = [&](const DistributedMatrix<T>& C) {
      const auto all = gather(C, 0);
      Index largest = 0;
      if (this->comm.rank() == 0) {
        for (Index j = 1; j < this->n; ++j) {
          if (Kokkos::abs(all(5, j)) > Kokkos::abs(all(5, largest))) largest = j;
        }
      }
      this->comm.broadcast(std::span(&largest, 1), 0);
      set(C, 5, largest, get(C, 5, largest) * wrong);
    };
    EXPECT_LE(this->ratio(T(1), A, B, T(0), C0, nothing), 1.0) << a << " " << b;
    EXPECT_GT(this->ratio(T(1), A, B, T(0), C0, spoil), 1.0) << a << " " << b;
  }
  // Denormal products may have the errors that underflow explains, and no larger ones.
  const auto A = this->matrix(this->m, this->k, 1, bottom + 8);
  const auto B = this->matrix(this->k, this->n, 2, 0);
  const auto C0 = this->matrix(this->m, this->n, 3, 0);
  EXPECT_GT(this->ratio(T(1), A, B, T(0), C0,
                        [](const auto& C) { set(C, 1, 1, get(C, 1, 1) + T(Limits::denorm_min() * 4096)); }),
            1.0);
}

TYPED_TEST(ProductCheckOf, WhatIsNotFiniteIsWhereItHasToBe) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  for (const Real<T> bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
    const auto A = this->matrix(this->m, this->k, 1, 0);
    const auto B = this->matrix(this->k, this->n, 2, 0);
    const auto C0 = this->matrix(this->m, this->n, 3, 0);
    set(A, 2, 3, T(bad));
    set(B, 1, 4, T(bad));
    set(C0, 6, 6, T(bad));
    for (const T beta : {T(0), T(0.5)}) {
      EXPECT_LE(this->ratio(T(2), A, B, beta, C0, nothing), 1.0) << bad;
      // Finite where it can't be, not finite where it must be, and wrong where a row or column beside is spoilt.
      EXPECT_TRUE(std::isnan(this->ratio(T(2), A, B, beta, C0, [](const auto& C) { set(C, 2, 0, T(1)); })));
      EXPECT_TRUE(std::isnan(this->ratio(T(2), A, B, beta, C0, [](const auto& C) { set(C, 0, 4, T(1)); })));
      EXPECT_TRUE(std::isnan(this->ratio(T(2), A, B, beta, C0, [&](const auto& C) { set(C, 0, 0, T(bad)); })));
      EXPECT_GT(this->ratio(T(2), A, B, beta, C0, [](const auto& C) { set(C, 0, 0, get(C, 0, 0) + T(0.01)); }), 1.0);
    }
  }
  const auto A = this->matrix(this->m, this->k, 1, 0);
  const auto B = this->matrix(this->k, this->n, 2, 0);
  const auto C0 = this->matrix(this->m, this->n, 3, 0);
  EXPECT_LE(this->ratio(T(Limits::infinity()), A, B, T(0), C0, nothing), 1.0);
  EXPECT_LE(this->ratio(T(1), A, B, T(Limits::quiet_NaN()), C0, nothing), 1.0);
  EXPECT_TRUE(
      std::isnan(this->ratio(T(1), A, B, T(Limits::quiet_NaN()), C0, [](const auto& C) { set(C, 0, 0, T(1)); })));
}

TYPED_TEST(ProductCheckOf, NamesTheOperandThatIsNotFinite) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  for (const Real<T> bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
    const auto A = this->matrix(this->m, this->k, 1, 0);
    const auto B = this->matrix(this->k, this->n, 2, 0);
    const auto C0 = this->matrix(this->m, this->n, 3, 0);
    EXPECT_EQ(operand_not_finite(T(1), A, B, T(1), C0), "");
    set(C0, this->m - 1, this->n - 1, T(bad));
    EXPECT_EQ(operand_not_finite(T(1), A, B, T(1), C0), "C's old value");
    EXPECT_EQ(operand_not_finite(T(1), A, B, T(0), C0), "");
    set(B, 0, 4, T(bad));
    EXPECT_EQ(operand_not_finite(T(1), A, B, T(1), C0), "B");
    set(A, this->m - 1, 0, T(bad));
    EXPECT_EQ(operand_not_finite(T(1), A, B, T(0), C0), "A");
    EXPECT_EQ(operand_not_finite(T(0), A, B, T(0), C0), "");
  }
}

// An emulated product of few moduli is as exact as its reported error, and not more.
TYPED_TEST(ProductCheckOf, TakesTheBoundOfEmulatedProducts) {
  using T = TypeParam;
  const auto A = this->matrix(this->m, this->k, 1, 0);
  const auto B = this->matrix(this->k, this->n, 2, 0);
  const auto C0 = this->matrix(this->m, this->n, 3, 0);
  for (const int moduli : {7, 9, 14, 20}) {
    const GemmOptions options{
        .tile = 4, .arithmetic = Arithmetic::emulated, .emulation = {.moduli = moduli, .look = false}};
    EXPECT_LE(this->ratio(T(1.5), A, B, T(0.5), C0, nothing, options), 1.0) << moduli;
    const auto spoil = [](const auto& C) { set(C, 3, 3, get(C, 3, 3) + T(0.25)); };
    EXPECT_GT(this->ratio(T(1.5), A, B, T(0.5), C0, spoil, options), 1.0) << moduli;
  }
}

TYPED_TEST(ProductCheckOf, EmptyProducts) {
  using T = TypeParam;
  const auto none = this->matrix(this->m, 0, 1, 0);
  const auto across = this->matrix(0, this->n, 1, 0);
  const auto C0 = this->matrix(this->m, this->n, 3, 0);
  EXPECT_LE(this->ratio(T(1), none, across, T(0.5), C0, nothing), 1.0);
  EXPECT_GT(this->ratio(T(1), none, across, T(0), C0, [](const auto& C) { set(C, 1, 1, T(1)); }), 1.0);
}

}  // namespace
}  // namespace heddle::driver::product_check_test
