// Batches of small exponentials against 256 bits and closed forms.
#include "expm/hard_matrices.hpp"
#include "support/errors.hpp"
#include "support/labels.hpp"
#include "support/matrices.hpp"
#include "support/multiprecision.hpp"
#include <heddle/expm/batched.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace heddle::batched_test {
namespace {

using test::Complex;
using test::kind_of;
using test::narrow;
using test::widen;

template <class T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;
template <class T> using HostBatch = Kokkos::View<T***, Kokkos::LayoutLeft, Kokkos::HostSpace>;

struct Kind {
  std::string name;
  double condition;  // Upper bound of the relative condition number of exp, by hand.
  std::function<Complex(std::size_t n, std::size_t i, std::size_t j)> entry;
};

double uniform(std::size_t i, std::size_t j, int seed) {
  return test::random_number(static_cast<Index>(i), static_cast<Index>(j), seed);
}

template <Scalar T> std::vector<Kind> kinds() {
  const auto random = [](double size) {
    return [size](std::size_t n, std::size_t i, std::size_t j) {
      const double scale = size / static_cast<double>(n);
      return scale * Complex(uniform(i, j, 1), is_complex<T> ? uniform(i, j, 2) : 0.0);
    };
  };
  const auto skew_hermitian = [](double size) {
    return [size](std::size_t n, std::size_t i, std::size_t j) {
      const double scale = size / std::sqrt(static_cast<double>(n));
      const double real = i == j ? 0.0 : (i < j ? 1.0 : -1.0) * uniform(std::min(i, j), std::max(i, j), 3);
      return scale * Complex(real, is_complex<T> ? uniform(std::min(i, j), std::max(i, j), 4) : 0.0);
    };
  };
  return {
      {"tiny", 1, random(1e-9)},
      {"small", 1, random(1e-2)},
      {"of norm 0.3", 1, random(0.6)},
      {"of norm 1", 2, random(2.0)},
      {"of norm 5", 20, random(10.0)},
      {"of norm 30", 200, random(60.0)},
      {"skew-Hermitian", 10, skew_hermitian(1.0)},
      {"skew-Hermitian, large", 200, skew_hermitian(40.0)},
      {"far from the origin", 40,
       [](std::size_t, std::size_t i, std::size_t j) { return Complex(i == j ? -30.0 : 0.1 * uniform(i, j, 5)); }},
      {"nilpotent", 30, [](std::size_t, std::size_t i, std::size_t j) { return Complex(j == i + 1 ? 30.0 : 0.0); }},
      {"triangular", 1e4,
       [](std::size_t n, std::size_t i, std::size_t j) {
         return Complex(j > i ? 8.0 / static_cast<double>(n) : j == i ? -0.2 * static_cast<double>(i) : 0.0);
       }},
      {"with a large corner", 1e3,
       [](std::size_t n, std::size_t i, std::size_t j) {
         return Complex(i == 0 && j + 1 == n && n > 1 ? 1e5 : i == j ? 0.1 * static_cast<double>(i % 3) : 0.0);
       }},
  };
}

// exp(A_b) for the given elements.
template <Scalar T> test::WideMatrix expected_of(const HostBatch<T>& A, std::size_t b) {
  const std::size_t n = A.extent(0);
  test::WideMatrix wide(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) wide.set(i, j, widen(A(i, j, b)));
  }
  return test::wide_exponential(std::move(wide));
}

// ||E_b - expected||_1 / ||expected||_1.
template <Scalar T> double error_of(const HostBatch<T>& E, std::size_t b, const test::WideMatrix& expected) {
  double largest = 0.0;
  for (std::size_t j = 0; j < expected.size(); ++j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < expected.size(); ++i) sum += std::abs(widen(E(i, j, b)) - expected.get(i, j));
    largest = !(sum <= largest) ? sum : largest;
  }
  return largest / expected.norm1();
}

template <class T> class ExpmBatched : public ::testing::Test {};
TYPED_TEST_SUITE(ExpmBatched, test::AllScalars);

// The accuracy required of expm() itself, on the same matrices.
TYPED_TEST(ExpmBatched, HardMatricesAreWithinTheCondition) {
  using T = TypeParam;
  for (const test::HardMatrix& matrix : test::hard_matrices()) {
    const bool real =
        std::all_of(matrix.entries.begin(), matrix.entries.end(), [](Complex z) { return z.imag() == 0; });
    const double bound = static_cast<double>(matrix.n) * unit_roundoff<T> * matrix.condition;
    if ((!real && !is_complex<T>) || bound >= 1.0) continue;
    // Each matrix, and its transpose.
    const Batch<T> A("heddle::test::A", matrix.n, matrix.n, 2);
    const Batch<T> E("heddle::test::E", matrix.n, matrix.n, 2);
    const auto given = Kokkos::create_mirror(A);
    for (std::size_t k = 0; k < matrix.entries.size(); ++k) {
      given(k / matrix.n, k % matrix.n, 0) = narrow<T>(matrix.entries[k]);
      given(k % matrix.n, k / matrix.n, 1) = narrow<T>(matrix.entries[k]);
    }
    Kokkos::deep_copy(A, given);
    expm_batched(ExecutionSpace(), A, E);
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), E);
    EXPECT_LE(test::relative_error<T>([&](std::size_t i, std::size_t j) { return found(i, j, 0); }, matrix), bound)
        << matrix.name;
    EXPECT_LE(test::relative_error<T>([&](std::size_t i, std::size_t j) { return found(j, i, 1); }, matrix), bound)
        << matrix.name << ", transposed";
  }
}

TYPED_TEST(ExpmBatched, AgreesWith256Bits) {
  using T = TypeParam;
  for (const Index n : {1, 2, 3, 8, 17, 33, 64}) {
    std::vector<Kind> all = kinds<T>();
    // Fewer cases, since 256 bits are slow.
    if (n > 17) std::rotate(all.begin(), all.begin() + 4, all.end());
    if (n > 17) all.resize(n == 64 ? 1 : 3);
    const std::size_t count = all.size();
    const Batch<T> A("heddle::test::A", n, n, count);
    const Batch<T> E("heddle::test::E", n, n, count);
    const Kokkos::View<int*, MemorySpace> info("heddle::test::info", count);
    const auto given = Kokkos::create_mirror(A);
    std::vector<test::WideMatrix> expected;
    for (std::size_t b = 0; b < count; ++b) {
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) given(i, j, b) = narrow<T>(all[b].entry(n, i, j));
      }
      expected.push_back(expected_of<T>(given, b));
    }
    Kokkos::deep_copy(A, given);
    for (const double tolerance : {0.0, 1e-3}) {
      expm_batched(ExecutionSpace(), A, E, info, {.tolerance = tolerance});
      const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), E);
      const auto infos = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), info);
      for (std::size_t b = 0; b < count; ++b) {
        SCOPED_TRACE(all[b].name + ", n = " + std::to_string(n) + ", tolerance " + std::to_string(tolerance));
        EXPECT_EQ(infos(b), static_cast<int>(ExpmBatchedInfo::done));
        const double rounding = 4.0 * static_cast<double>(n + 4) * static_cast<double>(unit_roundoff<T>);
        EXPECT_LE(error_of<T>(found, b, expected[b]), (rounding + tolerance) * all[b].condition);
      }
    }
  }
}

TYPED_TEST(ExpmBatched, IsExactWhereTheMathematicsIs) {
  using T = TypeParam;
  using R = Real<T>;
  for (const Index n : {1, 2, 5, 64}) {
    const Batch<T> A("heddle::test::A", n, n, 3);
    const auto given = Kokkos::create_mirror(A);
    // Zero, diagonal, and a shift of order two with a power of two: exp is I + A.
    for (Index i = 0; i < n; ++i) {
      given(i, i, 1) = narrow<T>(Complex(static_cast<double>(i) - 3.0, is_complex<T> ? 0.5 : 0.0));
      if (i >= (n + 1) / 2) given(0, i, 2) = T(R(0x1p20));
    }
    Kokkos::deep_copy(A, given);
    // In place, row-major.
    const Kokkos::View<T***, Kokkos::LayoutRight, MemorySpace> E("heddle::test::E", n, n, 3);
    expm_batched(ExecutionSpace(), A, E);
    expm_batched(ExecutionSpace(), A, A);
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), E);
    const auto in_place = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A);
    for (Index b = 0; b < 3; ++b) {
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          const T one = T(i == j ? R(1) : R(0));
          const T expected = b == 0   ? one
                             : b == 1 ? (i == j ? Kokkos::exp(given(i, i, 1)) : T(0))
                                      : one + given(i, j, 2);
          EXPECT_EQ(in_place(i, j, b), found(i, j, b));
          if (b == 2 && n == 1) continue;  // The matrix is diagonal in this case.
          EXPECT_LE(Kokkos::abs(found(i, j, b) - expected),
                    b == 1 ? 2 * unit_roundoff<T> * Kokkos::abs(expected) : R(0))
              << b << ": " << i << ", " << j;
        }
      }
    }
  }
}

TYPED_TEST(ExpmBatched, KeepsTroubleToTheMatrixThatHasIt) {
  using T = TypeParam;
  using R = Real<T>;
  const Index n = 9;
  const std::size_t count = 1000;
  const Batch<T> A("heddle::test::A", n, n, count);
  const Batch<T> clean("heddle::test::clean", n, n, count);
  const Batch<T> E("heddle::test::E", n, n, count);
  const Batch<T> expected("heddle::test::expected", n, n, count);
  const Kokkos::View<int*, MemorySpace> info("heddle::test::info", count);
  const auto given = Kokkos::create_mirror(clean);
  for (std::size_t b = 0; b < count; ++b) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        given(i, j, b) = test::RandomEntries<T>{static_cast<int>(b)}(i, j) * static_cast<R>(b % 10) / R(4);
      }
    }
  }
  Kokkos::deep_copy(clean, given);
  expm_batched(ExecutionSpace(), clean, expected);
  given(2, 3, 17) = T(std::numeric_limits<R>::quiet_NaN());
  given(0, 8, 500) = T(-std::numeric_limits<R>::infinity());
  for (Index i = 0; i < n; ++i) given(i, i, 999) = T(R(1e4));
  Kokkos::deep_copy(A, given);
  expm_batched(ExecutionSpace(), A, E, info);
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), E);
  const auto right = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected);
  const auto infos = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), info);
  for (std::size_t b = 0; b < count; ++b) {
    const ExpmBatchedInfo wanted = b == 17 || b == 500 ? ExpmBatchedInfo::not_finite
                                   : b == 999          ? ExpmBatchedInfo::overflow
                                                       : ExpmBatchedInfo::done;
    EXPECT_EQ(infos(b), static_cast<int>(wanted)) << b;
    bool same = true;
    bool all_nan = true;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        same = same && found(i, j, b) == right(i, j, b);
        all_nan = all_nan && Kokkos::isnan(Kokkos::real(found(i, j, b)));
      }
    }
    EXPECT_TRUE(wanted == ExpmBatchedInfo::done ? same : all_nan) << b;
  }
}

TYPED_TEST(ExpmBatched, ReachesTheEndsOfTheRange) {
  using T = TypeParam;
  using R = Real<T>;
  const R large = std::numeric_limits<R>::max() / 4;
  const double log_of_largest = std::log(static_cast<double>(std::numeric_limits<R>::max()));
  const Batch<T> A("heddle::test::A", 2, 2, 4);
  const auto given = Kokkos::create_mirror(A);
  given(0, 1, 0) = T(large);  // Nilpotent: I + A.
  given(0, 1, 1) = T(std::numeric_limits<R>::denorm_min());
  // Eigenvalues m + 1 and m - 1, near the largest exponential and near the least.
  for (const Index b : {2, 3}) {
    const double middle = (b == 2 ? 1.0 : -1.0) * (log_of_largest - 3.0);
    given(0, 0, b) = given(1, 1, b) = T(static_cast<R>(middle));
    given(0, 1, b) = given(1, 0, b) = T(R(1));
  }
  Kokkos::deep_copy(A, given);
  expm_batched(ExecutionSpace(), A, A);
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A);
  for (const Index b : {0, 1}) {
    EXPECT_EQ(found(0, 0, b), T(1));
    EXPECT_EQ(found(1, 0, b), T(0));
    EXPECT_EQ(found(0, 1, b), given(0, 1, b));
  }
  for (const Index b : {2, 3}) {
    const double middle = static_cast<double>(Kokkos::real(given(0, 0, b)));
    const double bound = 20.0 * unit_roundoff<T>;
    EXPECT_NEAR(Kokkos::real(found(0, 0, b)) / (std::exp(middle) * std::cosh(1.0)), 1.0, bound * log_of_largest);
    EXPECT_NEAR(Kokkos::real(found(1, 0, b)) / (std::exp(middle) * std::sinh(1.0)), 1.0, bound * log_of_largest);
  }
}

// exp(D B D^-1) = D exp(B) D^-1 to the bit, for D of powers of two: D B D^-1 has the error of B, element by element,
// although its norm says nothing about its exponential.
TYPED_TEST(ExpmBatched, BadlyScaledMatricesAreAsGoodAsOthers) {
  using T = TypeParam;
  using R = Real<T>;
  const auto all = kinds<T>();
  for (const Index n : {2, 3, 8, 17}) {
    // Beyond the last spread, exponentials leave float's range.
    for (const int spread : {20, 30, std::numeric_limits<R>::max_exponent / 4}) {
      for (const Kind& kind : all) {
        // Only matrices whose elements matter at this scale; tiny ones would not.
        if (kind.name == "tiny" || kind.name == "with a large corner") continue;
        std::vector<int> exponents;
        for (Index i = 0; i < n; ++i) {
          exponents.push_back(i == 0 ? spread : static_cast<int>(spread * uniform(static_cast<std::size_t>(i), 3, 7)));
        }
        const Batch<T> A("heddle::test::A", n, n, 1);
        const auto given = Kokkos::create_mirror(A);
        const HostBatch<T> B("heddle::test::B", n, n, 1);
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) {
            const Complex b = widen(narrow<T>(kind.entry(n, i, j)));
            B(i, j, 0) = narrow<T>(b);
            given(i, j, 0) = narrow<T>(b * std::ldexp(1.0, exponents[i] - exponents[j]));
          }
        }
        Kokkos::deep_copy(A, given);
        const Kokkos::View<int*, MemorySpace> info("heddle::test::info", 1);
        expm_batched(ExecutionSpace(), A, A, info);
        const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A);
        const auto infos = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), info);
        SCOPED_TRACE(kind.name + ", n = " + std::to_string(n) + ", spread " + std::to_string(spread));
        ASSERT_EQ(infos(0), static_cast<int>(ExpmBatchedInfo::done));
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) {
            found(i, j, 0) = narrow<T>(widen(found(i, j, 0)) * std::ldexp(1.0, exponents[j] - exponents[i]));
          }
        }
        const double rounding = 4.0 * static_cast<double>(n + 4) * static_cast<double>(unit_roundoff<T>);
        EXPECT_LE(error_of<T>(found, 0, expected_of<T>(B, 0)), rounding * kind.condition);
      }
    }
  }
}

// A case from random search: eigenvalues of ordinary size despite huge elements.
TYPED_TEST(ExpmBatched, EigenvaluesBehindHugeElements) {
  using T = TypeParam;
  using R = Real<T>;
  const R huge = std::numeric_limits<R>::max() / 2;
  const R tiny = std::numeric_limits<R>::min() * 8;
  const Batch<T> A("heddle::test::A", 3, 3, 3);
  const auto given = Kokkos::create_mirror(A);
  // exp = [[cosh s, huge / s sinh s], [..., cosh s]], s^2 = huge tiny.
  given(0, 1, 0) = T(huge);
  given(1, 0, 0) = T(tiny);
  // A^2 = A: exp = I + (e - 1) A, in one case with an element that overflows.
  given(0, 1, 1) = given(1, 1, 1) = given(0, 1, 2) = given(1, 1, 2) = T(R(1));
  given(2, 1, 1) = T(-huge / 4);
  given(2, 1, 2) = T(-2 * huge);
  Kokkos::deep_copy(A, given);
  const Kokkos::View<int*, MemorySpace> info("heddle::test::info", 3);
  expm_batched(ExecutionSpace(), A, A, info);
  const auto E = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A);
  const auto infos = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), info);
  EXPECT_EQ(infos(0), static_cast<int>(ExpmBatchedInfo::overflow));
  EXPECT_EQ(infos(1), static_cast<int>(ExpmBatchedInfo::done));
  EXPECT_EQ(infos(2), static_cast<int>(ExpmBatchedInfo::overflow));
  const double bound = 100 * static_cast<double>(unit_roundoff<T>);
  EXPECT_NEAR(static_cast<double>(Kokkos::real(E(1, 1, 1))) / std::exp(1.0), 1, bound);
  EXPECT_NEAR(static_cast<double>(Kokkos::real(E(0, 1, 1))) / std::expm1(1.0), 1, bound);
  EXPECT_NEAR(static_cast<double>(Kokkos::real(E(2, 1, 1)) / (-huge / 4)) / std::expm1(1.0), 1, bound);
  EXPECT_NEAR(static_cast<double>(Kokkos::real(E(0, 0, 1))), 1, bound);
  EXPECT_EQ(E(1, 2, 1), T(0));
}

// The mean of the diagonal is -M / 3.
TYPED_TEST(ExpmBatched, OverflowsWhereAnElementLessTheMeanDoes) {
  using T = TypeParam;
  using R = Real<T>;
  const R most = std::numeric_limits<R>::max();
  const Batch<T> A("heddle::test::A", 3, 3, 1);
  const auto given = Kokkos::create_mirror(A);
  given(0, 0, 0) = T(most);
  given(1, 1, 0) = given(2, 2, 0) = T(-most);
  given(0, 1, 0) = T(R(1));
  Kokkos::deep_copy(A, given);
  const Kokkos::View<int*, MemorySpace> info("heddle::test::info", 1);
  expm_batched(ExecutionSpace(), A, A, info);
  const auto infos = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), info);
  EXPECT_EQ(infos(0), static_cast<int>(ExpmBatchedInfo::overflow));
}

TYPED_TEST(ExpmBatched, TakesMatricesOfDifferentSizes) {
  using T = TypeParam;
  std::vector<Index> sizes = {0, 1, 64, 3, 17, 2, 8};
  std::vector<LocalMatrix<T>> matrices, results;
  std::vector<MatrixView<const T>> A;
  std::vector<MatrixView<T>> E;
  for (const Index n : sizes) {
    // The results have a leading dimension beyond n.
    matrices.push_back(LocalMatrix<T>("heddle::test::A", n, n));
    results.push_back(LocalMatrix<T>("heddle::test::E", n + 3, n));
    const auto given = Kokkos::create_mirror_view(matrices.back());
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) given(i, j) = test::RandomEntries<T>{static_cast<int>(n)}(i, j);
    }
    Kokkos::deep_copy(matrices.back(), given);
    A.push_back(matrices.back());
    E.push_back(Kokkos::subview(results.back(), Kokkos::make_pair(Index{0}, n), Kokkos::ALL));
  }
  const Kokkos::View<int*, MemorySpace> info("heddle::test::info", sizes.size());
  Kokkos::deep_copy(info, -1);
  expm_batched<T>(ExecutionSpace(), A, E, info);
  const auto infos = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), info);
  for (std::size_t b = 0; b < sizes.size(); ++b) {
    EXPECT_EQ(infos(b), 0);
    const Index n = sizes[b];
    // The same bits as in a batch of one.
    const Batch<T> one("heddle::test::one", n, n, 1);
    const auto only = Kokkos::subview(one, Kokkos::ALL, Kokkos::ALL, 0);
    Kokkos::deep_copy(only, matrices[b]);
    expm_batched(ExecutionSpace(), one, one);
    const auto expected = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), one);
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), results[b]);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) EXPECT_EQ(found(i, j), expected(i, j, 0)) << n << ": " << i << ", " << j;
    }
    for (Index j = 0; j < n; ++j) EXPECT_EQ(found(n, j), T(0)) << "beyond the matrix";
  }
}

TEST(ExpmBatch, RefusesWhatDoesNotFitAndTakesNothing) {
  constexpr int argument = static_cast<int>(ErrorKind::argument);
  const auto run = [](Index rows, Index columns, Index n, Index count, Index infos, double tolerance = 0.0) {
    const Batch<double> A("heddle::test::A", rows, columns, 3);
    const Batch<double> E("heddle::test::E", n, n, count);
    const Kokkos::View<int*, MemorySpace> info("heddle::test::info", infos);
    return kind_of([&] { expm_batched(ExecutionSpace(), A, E, info, {.tolerance = tolerance}); });
  };
  EXPECT_EQ(run(4, 4, 4, 3, 3), -1);
  EXPECT_EQ(run(4, 4, 4, 3, 0), -1);
  EXPECT_EQ(run(0, 0, 0, 3, 3), -1);
  EXPECT_EQ(run(4, 5, 4, 3, 3), argument);
  EXPECT_EQ(run(4, 4, 5, 3, 3), argument);
  EXPECT_EQ(run(4, 4, 4, 2, 3), argument);
  EXPECT_EQ(run(4, 4, 4, 3, 2), argument);
  EXPECT_EQ(run(65, 65, 65, 3, 3), argument);
  EXPECT_EQ(run(4, 4, 4, 3, 3, -1.0), argument);
  EXPECT_EQ(run(4, 4, 4, 3, 3, std::numeric_limits<double>::quiet_NaN()), argument);
  const Batch<double> none("heddle::test::none", 5, 5, 0);
  EXPECT_EQ(kind_of([&] { expm_batched(ExecutionSpace(), none, none); }), -1);
  EXPECT_EQ(kind_of([] { expm_batched<double>(ExecutionSpace(), {}, {}); }), -1);
}

TEST(ExpmBatch, IsOrderedOnItsInstanceAndLabelled) {
  const auto instances = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1, 1);
  const Batch<double> A(Kokkos::view_alloc(instances[0], "heddle::test::A"), 6, 6, 4);
  const std::vector<MatrixView<double>> E(12, Kokkos::subview(A, Kokkos::ALL, Kokkos::ALL, 0));
  const std::vector<MatrixView<const double>> from(E.begin(), E.end());
  test::listen();
  for (int i = 0; i < 12; ++i) expm_batched(instances[0], A, A);
  expm_batched<double>(instances[0], std::span(from).first(1), std::span(E).first(1));
  instances[0].fence("heddle::test::end");
  test::stop_listening();
  for (const std::string& name : test::seen.names) {
    EXPECT_TRUE(name.starts_with("heddle::") || name.starts_with("Kokkos::") || name.starts_with("HostSpace")) << name;
  }
  EXPECT_TRUE(
      test::seen.kernels.contains({"heddle::expm::batched", Kokkos::Tools::Experimental::device_id(instances[0])}));
  if (!test::on_host) {
    EXPECT_FALSE(test::seen.kernels.contains(
        {"heddle::expm::batched", Kokkos::Tools::Experimental::device_id(ExecutionSpace{})}));
  }
}

}  // namespace
}  // namespace heddle::batched_test
