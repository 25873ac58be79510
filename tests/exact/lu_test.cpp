// Tests of the factorization against its definition, element by element, and against itself: blocks, layouts, batches.
#include "exact/triangles/gathered.hpp"
#include "matrices.hpp"
#include "support/errors.hpp"
#include <heddle/exact/lu.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace heddle::exact::lu_test {
namespace {

using Kokkos::complex;

template <class T> std::string bits_of(const Matrix<T>& A) {
  std::string all;
  for (std::size_t j = 0; j < A.host.extent(1); ++j) {
    for (std::size_t i = 0; i < A.host.extent(0); ++i) {
      all += text_of(A.host(i, j)) + '\n';
    }
  }
  return all;
}
template <class T> Real<T> size_of(const T& x) {
  if constexpr (is_complex<T>) {
    return std::abs(x.real()) + std::abs(x.imag());
  } else {
    return std::abs(x);
  }
}

template <class T> class ExactLu : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(ExactLu, Types);

// Applies the pivots to A, then checks every element from those before it.
template <class T> void check_factors(const Matrix<T>& before, const Matrix<T>& LU, const LuResult& result) {
  const std::size_t m = before.host.extent(0);
  const std::size_t n = before.host.extent(1);
  Matrix<T> A(m, n);
  Kokkos::deep_copy(A.host, before.host);
  ASSERT_EQ(result.pivots.size(), std::min(m, n));
  for (std::size_t k = 0; k < result.pivots.size(); ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(A.host(k, j), A.host(static_cast<std::size_t>(result.pivots[k]), j));
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    const T pivot = j < m ? LU.host(j, j) : T(0);
    for (std::size_t i = 0; i < m; ++i) {
      Expected<T> expected;
      expected.add(A.host(i, j), T(1));
      for (std::size_t k = 0; k < std::min(i, j); ++k) {
        expected.add(-LU.host(i, k), LU.host(k, j));
      }
      if (i <= j) {
        ASSERT_EQ(text_of(LU.host(i, j)), expected.text()) << i << ", " << j;
      } else if constexpr (!is_complex<T>) {
        ASSERT_EQ(text_of(LU.host(i, j)), text_of(expected.value() / pivot)) << i << ", " << j;
      } else {
        ASSERT_EQ(text_of(LU.host(i, j)), expected_quotient(expected.value(), pivot)) << i << ", " << j;
      }
      // No candidate was larger; equal ones came later.
      if (i > j && j < result.pivots.size()) {
        ASSERT_LE(size_of(expected.value()), size_of(pivot)) << i << ", " << j;
      }
    }
  }
}

TYPED_TEST(ExactLu, EveryElementIsWhatItsDefinitionSays) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  const std::array<std::array<std::size_t, 2>, 7> shapes = {
      {{1, 1}, {2, 2}, {5, 3}, {3, 5}, {40, 40}, {70, 33}, {33, 70}}};
  for (const Data data : {Data::tame, Data::spread, Data::denormal, Data::huge}) {
    for (const auto& [m, n] : shapes) {
      Matrix<T> A(m, n);
      A.fill(random, data);
      // Room for the growth of U.
      for (std::size_t j = 0; j < n && data == Data::huge; ++j) {
        for (std::size_t i = 0; i < m; ++i) {
          A.host(i, j) *= Real<T>(0x1p-8);
        }
      }
      Kokkos::deep_copy(A.device, A.host);
      Matrix<T> LU(m, n);
      Kokkos::deep_copy(LU.device, A.device);
      const LuResult result = lu(ExecutionSpace(), LU.device);
      LU.read();
      EXPECT_EQ(result.info, 0);
      check_factors(A, LU, result);
    }
  }
}

TYPED_TEST(ExactLu, BlocksLayoutsAndBatchesChangeNoBit) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  for (const auto& [m, n] : {std::array<std::size_t, 2>{150, 150}, {90, 130}, {130, 90}}) {
    for (const Data data : {Data::tame, Data::cancelling}) {
      Matrix<T> A(m, n);
      A.fill(random, data);
      std::string expected;
      std::vector<Index> pivots;
      for (const int block : {1, 2, 7, 32, 64, 1000, 0}) {
        Matrix<T> LU(m, n);
        Kokkos::deep_copy(LU.device, A.device);
        const LuResult result = lu(ExecutionSpace(), LU.device, {.block = block});
        LU.read();
        if (expected.empty()) {
          expected = bits_of(LU);
          pivots = result.pivots;
        }
        EXPECT_EQ(bits_of(LU), expected) << block;
        EXPECT_EQ(result.pivots, pivots) << block;
      }
      const Kokkos::View<T**, Kokkos::LayoutRight, MemorySpace> rows("heddle::test::rows", m, n);
      Kokkos::deep_copy(rows, A.device);
      EXPECT_EQ(lu(ExecutionSpace(), rows).pivots, pivots);
      Matrix<T> back(m, n);
      Kokkos::deep_copy(back.device, rows);
      back.read();
      EXPECT_EQ(bits_of(back), expected);
      const Kokkos::View<T***, MemorySpace> batch("heddle::test::batch", 3, m, n);
      Kokkos::deep_copy(Kokkos::subview(batch, 1, Kokkos::ALL, Kokkos::ALL), A.device);
      const std::vector<LuResult> results = lu_batched(ExecutionSpace(), batch);
      ASSERT_EQ(results.size(), 3U);
      EXPECT_EQ(results[1].pivots, pivots);
      EXPECT_EQ(results[0].info, 1);
      EXPECT_EQ(results[2].info, 1);
      const Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> one("heddle::test::one", m, n);
      Kokkos::deep_copy(one, Kokkos::subview(batch, 1, Kokkos::ALL, Kokkos::ALL));
      Kokkos::deep_copy(back.host, one);
      EXPECT_EQ(bits_of(back), expected);
    }
  }
}

TYPED_TEST(ExactLu, SingularMatricesAndTies) {
  using T = TypeParam;
  // A column of zeros stays zero; the columns behind it are factored regardless.
  std::mt19937_64 random(3);
  const std::size_t n = 30;
  Matrix<T> A(n, n);
  A.fill(random, Data::tame);
  for (std::size_t i = 0; i < n; ++i) {
    A.host(i, 7) = T(0);
  }
  Kokkos::deep_copy(A.device, A.host);
  const LuResult result = lu(ExecutionSpace(), A.device);
  EXPECT_EQ(result.info, 8);
  A.read();
  EXPECT_EQ(A.host(7, 7), T(0));
  EXPECT_NE(A.host(n - 1, n - 1), T(0));
  const Kokkos::View<T*, MemorySpace> x("heddle::test::x", n);
  test::expect_refusal(ErrorKind::argument, "exact::lu_solve: U is singular, its element 8, 8 is zero",
                       [&] { lu_solve(ExecutionSpace(), Operation::none, A.device, result, x); });
  EXPECT_EQ(condition(ExecutionSpace(), A.device, result, 1.0), std::numeric_limits<double>::infinity());
  // A zero matrix, and equal candidates.
  Matrix<T> zeros(4, 4);
  const LuResult of_zeros = lu(ExecutionSpace(), zeros.device);
  EXPECT_EQ(of_zeros.info, 1);
  EXPECT_EQ(of_zeros.pivots, (std::vector<Index>{0, 1, 2, 3}));
  Matrix<T> ties(3, 3);
  const std::array<std::array<int, 3>, 3> values = {{{1, 2, 3}, {-1, 1, 1}, {1, 1, 5}}};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      ties.host(i, j) = T(static_cast<Real<T>>(values[i][j]));
    }
  }
  Kokkos::deep_copy(ties.device, ties.host);
  EXPECT_EQ(lu(ExecutionSpace(), ties.device).pivots, (std::vector<Index>{0, 1, 2}));
  // A NaN spoils only its column.
  ties.host(1, 0) = T(std::numeric_limits<Real<T>>::quiet_NaN());
  Kokkos::deep_copy(ties.device, ties.host);
  EXPECT_EQ(lu(ExecutionSpace(), ties.device).pivots[0], 0);
  EXPECT_EQ(lu(ExecutionSpace(), Matrix<T>(0, 5).device).info, 0);
}

TYPED_TEST(ExactLu, SeveralColumnsAreSolvedAsOneIs) {
  using T = TypeParam;
  const auto column = [](const Matrix<T>& matrix, std::size_t j) {
    return Kokkos::subview(matrix.device, Kokkos::ALL, j);
  };
  std::mt19937_64 random(7);
  for (const Data data : {Data::tame, Data::spread, Data::denormal}) {
    constexpr std::size_t n = 60;
    Matrix<T> A(n, n);
    Matrix<T> B(n, 4);
    Matrix<T> X(n, 4);
    Matrix<T> expected(n, 4);
    A.fill(random, data);
    B.fill(random, data);
    SolveReport worst;
    for (std::size_t j = 0; j < 4; ++j) {
      const SolveReport one = solve(ExecutionSpace(), A.device, column(B, j), column(expected, j));
      worst.refinements = std::max(worst.refinements, one.refinements);
      worst.backward_error = std::max(worst.backward_error, one.backward_error);
    }
    const auto check = [&](const Matrix<T>& x) {
      const SolveReport report =
          compiled::solve_columns<T>(ExecutionSpace(), strided(A.device), strided(B.device), strided(x.device), {});
      EXPECT_EQ(report.info, 0);
      EXPECT_EQ(report.refinements, worst.refinements);
      EXPECT_EQ(report.backward_error, worst.backward_error);
    };
    check(X);
    check(B);
    X.read();
    B.read();
    expected.read();
    EXPECT_EQ(bits_of(X), bits_of(expected));
    EXPECT_EQ(bits_of(B), bits_of(expected));
  }
}

TYPED_TEST(ExactLu, SolvesWithRefinement) {
  using T = TypeParam;
  using R = Real<T>;
  std::mt19937_64 random(4);
  for (const std::size_t n : {1U, 10U, 100U}) {
    Matrix<T> A(n, n);
    A.fill(random, Data::tame);
    // b = A (1, 2, ...) in integers, so that x is known.
    Matrix<T> b(n, 1);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const T scaled = A.host(i, j) * R(64);
        if constexpr (is_complex<T>) {
          A.host(i, j) = T(std::round(scaled.real()), std::round(scaled.imag()));
        } else {
          A.host(i, j) = std::round(scaled);
        }
        b.host(i, 0) += A.host(i, j) * static_cast<R>(j + 1);
      }
    }
    Kokkos::deep_copy(A.device, A.host);
    Kokkos::deep_copy(b.device, b.host);
    Matrix<T> x(n, 1);
    const auto vector = [](const Matrix<T>& matrix) { return Kokkos::subview(matrix.device, Kokkos::ALL, 0); };
    const SolveReport result = solve(ExecutionSpace(), A.device, vector(b), vector(x));
    ASSERT_EQ(result.info, 0);
    EXPECT_LE(result.backward_error, static_cast<double>(unit_roundoff<T>));
    x.read();
    const SolveReport plain = solve(ExecutionSpace(), A.device, vector(b), vector(x), {.lu = {}, .refinements = 0});
    EXPECT_EQ(plain.refinements, 0);
    EXPECT_GE(plain.backward_error, result.backward_error);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_LE(size_of(T(x.host(i, 0) - T(static_cast<R>(i + 1)))), 4000 * unit_roundoff<T> * static_cast<R>(n)) << i;
    }
    // A^H y = b by the same factors.
    Matrix<T> LU(n, n);
    Kokkos::deep_copy(LU.device, A.device);
    const LuResult factors = lu(ExecutionSpace(), LU.device);
    Matrix<T> y(n, 1);
    Kokkos::deep_copy(y.device, b.device);
    lu_solve(ExecutionSpace(), Operation::conjugate_transpose, LU.device, factors, vector(y));
    gemv(ExecutionSpace(), Operation::conjugate_transpose, T(-1), A.device, vector(y), T(1), vector(b));
    b.read();
    R size = 0;
    y.read();
    for (std::size_t i = 0; i < n; ++i) {
      size = std::max(size, size_of(y.host(i, 0)));
    }
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_LE(size_of(b.host(i, 0)), 3000 * unit_roundoff<T> * static_cast<R>(n) * size) << i;
    }
  }
}

// The hash is the same for any number of threads and any backend.
TEST(BitIdentity, OfFactorsOnOtherMachines) {
  std::mt19937_64 random(5);
  Matrix<double> A(300, 300);
  A.fill(random, Data::spread);
  const LuResult result = lu(ExecutionSpace(), A.device);
  A.read();
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, by words.
  const auto take = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3U; };
  for (std::size_t j = 0; j < 300; ++j) {
    for (std::size_t i = 0; i < 300; ++i) {
      BitsOf<double> bits = 0;
      std::memcpy(&bits, &A.host(i, j), sizeof(bits));
      take(bits);
    }
  }
  for (const Index pivot : result.pivots) {
    take(static_cast<std::uint64_t>(pivot));
  }
  EXPECT_EQ(hash, 1332523572501113402U);
}

// The inverse is known: the estimate is between a third of the condition and the condition.
TEST(ExactCondition, OfAKnownInverse) {
  for (const std::size_t n : {1U, 5U, 60U}) {
    // Ones on the diagonal, -1 above: the inverse's last column is 2^(n-2), ..., 1, 1.
    Matrix<double> A(n, n);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i <= j; ++i) {
        A.host(i, j) = i == j ? 1 : -1;
      }
    }
    Kokkos::deep_copy(A.device, A.host);
    const auto norm = static_cast<double>(n);
    const LuResult result = lu(ExecutionSpace(), A.device);
    const double exact = norm * std::ldexp(1.0, static_cast<int>(n) - 1);
    const double found = condition(ExecutionSpace(), A.device, result, norm);
    EXPECT_LE(found, exact * (1 + 1e-12));
    EXPECT_GE(found, exact / 3);
  }
}

TEST(ExactSystems, RefusePivotsOfAnotherMatrix) {
  const ExecutionSpace space;
  const Kokkos::View<double**, MemorySpace> A("heddle::test::A", 3, 3);
  Kokkos::deep_copy(A, 1.0);
  LuResult factors{{0, 1, 2}, 0};
  const Kokkos::View<double*, MemorySpace> x("heddle::test::x", 3);
  for (const Index wrong : {Index{-1}, Index{0}, Index{3}, Index{1} << 40}) {
    factors.pivots[1] = wrong;
    const std::string text = message_of("exact::lu_solve: pivot 1 is ", wrong, "; expected 1 to 2");
    test::expect_refusal(ErrorKind::argument, text, [&] { lu_solve(space, Operation::none, A, factors, x); });
    test::expect_refusal(ErrorKind::argument, text, [&] { static_cast<void>(condition(space, A, factors, 1.0)); });
  }
}

}  // namespace
}  // namespace heddle::exact::lu_test
