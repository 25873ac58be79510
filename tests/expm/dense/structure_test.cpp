// Exponentials of matrices with a structure, which the result preserves to the bit.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/multiprecision.hpp"
#include "support/on_host.hpp"
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>

namespace heddle::structure_test {
namespace {

using test::Complex;
using test::narrow;
using test::widen;

constexpr Index size = 20;

double random(Index i, Index j, int seed) {
  return test::random_number(i, j, seed);
}

template <class T> class Structured : public ::testing::Test {
 protected:
  template <class Entry> DistributedMatrix<T> matrix(Index n, const Entry& entry) const {
    const bool root = comm.rank() == 0;
    const HostMatrix<T> whole("heddle::test::whole", root ? n : 0, root ? n : 0);
    for (Index i = 0; root && i < n; ++i) {
      for (Index j = 0; j < n; ++j) whole(i, j) = narrow<T>(entry(i, j));
    }
    const DistributedMatrix<T> A(comm, Placement::row_bands(n, n, comm.size()));
    scatter(whole, 0, A);
    return A;
  }
  struct Found {
    HostMatrix<T> E;
    ExpmReport report;
    double error = 0.0;  // Relative error in the 1-norm, against 256 bits; on rank 0.
  };
  Found exponential(const DistributedMatrix<T>& A, ExpmOptions options = {}) {
    options.gemm.tile = 8;
    const DistributedMatrix<T> E(comm, A.placement());
    Found found;
    found.report = expm(comm, A, E, options);
    found.E = gather(E, 0);
    const auto given = gather(A, 0);
    const auto n = given.extent(0);
    if (comm.rank() == 0 && n > 0) {
      // The previous reference is used as long as A is the same.
      if (!expected_ || !test::same_bits(given_, given)) {
        given_ = given;
        test::WideMatrix wide(n);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < n; ++j) wide.set(i, j, widen(given(i, j)));
        }
        expected_.emplace(test::wide_exponential(std::move(wide)));
      }
      const test::WideMatrix& expected = *expected_;
      double largest = 0.0;
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) sum += std::abs(widen(found.E(i, j)) - expected.get(i, j));
        largest = std::max(largest, sum);
      }
      found.error = largest / expected.norm1();
    }
    return found;
  }
  // n u cond, cond = ||A||_2 <= `condition` for normal matrices (Higham 2008, 10.2), with a constant for the products.
  static double bound(Index n, double condition) {
    return 4.0 * static_cast<double>(n + 4) * static_cast<double>(unit_roundoff<T>) * std::max(condition, 1.0);
  }

  Communicator comm = test::world();

 private:
  HostMatrix<T> given_;
  std::optional<test::WideMatrix> expected_;
};
TYPED_TEST_SUITE(Structured, test::AllScalars);

TYPED_TEST(Structured, HermitianStaysHermitian) {
  for (const double norm : {0.3, 25.0}) {
    const auto A = this->matrix(size, [&](Index i, Index j) {
      const Index low = std::min(i, j);
      const Index high = std::max(i, j);
      const double imaginary = i == j ? 0.0 : (i < j ? 1.0 : -1.0) * random(low, high, 2);
      return norm / 8.0 * Complex(random(low, high, 1), imaginary);
    });
    for (const ExpmMethod method : {ExpmMethod::automatic, ExpmMethod::paterson_stockmeyer, ExpmMethod::few_products}) {
      EXPECT_LE(this->exponential(A, {.method = ExpmMethod::pade}).error, this->bound(size, norm));
      const auto found = this->exponential(A, {.method = method});
      EXPECT_EQ(found.report.structure, ExpmStructure::hermitian);
      Index wrong = 0;
      for (std::size_t i = 0; i < found.E.extent(0); ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
          wrong += widen(found.E(i, j)) == std::conj(widen(found.E(j, i))) ? 0 : 1;
        }
      }
      EXPECT_EQ(wrong, 0);
      EXPECT_LE(found.error, this->bound(size, found.report.alpha)) << to_string(found.report.method);
      const auto taken_at_its_word = this->exponential(A, {.method = method, .structure = ExpmStructure::hermitian});
      EXPECT_TRUE(test::same_bits(taken_at_its_word.E, found.E));
      // Without structure the result is the same to round-off, at twice the flops unless products are small.
      const auto general = this->exponential(A, {.method = method, .structure = ExpmStructure::general});
      EXPECT_EQ(general.report.structure, ExpmStructure::general);
      EXPECT_LE(general.error, this->bound(size, found.report.alpha));
      EXPECT_GT(general.report.flops, 1.2 * found.report.flops * general.report.products / found.report.products);
    }
  }
}

TYPED_TEST(Structured, SkewHermitianIsUnitary) {
  for (const double norm : {0.01, 1.0, 40.0}) {
    const auto A = this->matrix(size, [&](Index i, Index j) {
      const Index low = std::min(i, j);
      const Index high = std::max(i, j);
      const double real = i == j ? 0.0 : (i < j ? 1.0 : -1.0) * random(low, high, 3);
      return norm / 8.0 * Complex(real, random(low, high, 4));
    });
    double cheapest = 1e300;
    for (const ExpmMethod method :
         {ExpmMethod::automatic, ExpmMethod::chebyshev, ExpmMethod::paterson_stockmeyer, ExpmMethod::few_products}) {
      const auto found = this->exponential(A, {.method = method, .certificate = true});
      EXPECT_EQ(found.report.structure, ExpmStructure::skew_hermitian);
      EXPECT_LE(found.error, this->bound(size, found.report.alpha)) << to_string(found.report.method);
      EXPECT_LE(*found.report.certificate, 8 * this->bound(size, found.report.alpha));
      if (method == ExpmMethod::automatic) {
        EXPECT_EQ(found.report.method, ExpmMethod::chebyshev);
        cheapest = found.report.flops;
      }
      // No other method is much cheaper, for real and complex matrices; for -i H the others cost far more.
      EXPECT_GE(found.report.flops * 1.1, cheapest) << to_string(method) << ", norm " << norm;
    }
  }
}

TYPED_TEST(Structured, MinusITimesARealSymmetricMatrixTakesRealProducts) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    for (const double norm : {0.2, 3.0, 50.0, 400.0}) {
      const auto H = [&](Index i, Index j) {
        return Complex(0.0, -norm / 8.0 * (random(std::min(i, j), std::max(i, j), 5) + (i == j ? 8.0 : 0.0)));
      };
      const auto A = this->matrix(size, H);
      // The matrix given by its imaginary part alone.
      const Placement bands = A.placement();
      const SplitMatrix<Real<T>> parts = split(A);
      const SplitMatrix<Real<T>> E{DistributedMatrix<Real<T>>(this->comm, bands),
                                   DistributedMatrix<Real<T>>(this->comm, bands)};
      ExpmOptions options{.certificate = true};
      options.gemm.tile = 8;
      // Halves in tiles, and in the form that one rank chooses.
      options.gemm.tile = 0;
      const SplitMatrix<Real<T>> chosen{DistributedMatrix<Real<T>>(this->comm, bands),
                                        DistributedMatrix<Real<T>>(this->comm, bands)};
      ExpmPlan<Real<T>> free(this->comm, options);
      EXPECT_LE(*free.execute({std::nullopt, parts.imaginary}, chosen).certificate, 8 * this->bound(size, norm));
      options.gemm.tile = 8;
      ExpmPlan<Real<T>> plan(this->comm, options);
      const ExpmReport report = plan.execute({std::nullopt, parts.imaginary}, E);
      EXPECT_EQ(report.method, ExpmMethod::chebyshev);
      if (norm == 400.0) {
        EXPECT_GT(report.quintuplings, 0);
      }
      EXPECT_NEAR(report.shift_imaginary, -norm, 0.3 * norm);
      EXPECT_EQ(report.shift_real, 0.0);
      EXPECT_LE(*report.certificate, 8 * this->bound(size, norm));
      Index wrong = 0;
      for (const auto& part :
           {gather(*E.real, 0), gather(*E.imaginary, 0), gather(*chosen.real, 0), gather(*chosen.imaginary, 0)}) {
        for (std::size_t i = 0; i < part.extent(0); ++i) {
          for (std::size_t j = 0; j < i; ++j) wrong += part(i, j) == part(j, i) ? 0 : 1;
        }
      }
      EXPECT_EQ(wrong, 0) << "both parts are symmetric";
      const auto complex = this->exponential(A);
      EXPECT_LE(complex.error, this->bound(size, norm));
      // Both parts given, one zero: that is detected.
      EXPECT_EQ(complex.report.products, report.products);
      EXPECT_EQ(complex.report.shift_imaginary, report.shift_imaginary);
      const DistributedMatrix<T> joined(this->comm, bands);
      join(E, joined);
      const auto real_products = gather(joined, 0);
      for (std::size_t k = 0; k < real_products.size(); ++k) {
        EXPECT_NEAR(std::abs(widen(real_products.data()[k]) - widen(complex.E.data()[k])), 0.0,
                    this->bound(size, norm));
      }
    }
  }
}

// A null vector is preserved through any number of steps to larger angles.
TYPED_TEST(Structured, LargeAnglesKeepSmallEigenvaluesAccurate) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    const double largest = sizeof(Real<T>) == 8 ? 1e6 : 1e3;
    for (double norm = 10.0; norm <= largest; norm *= 10.0) {
      const auto A = this->matrix(size, [&](Index i, Index j) {
        const double entry = i == j || i == 0 || j == 0 ? 0.0 : random(std::min(i, j), std::max(i, j), 9);
        return Complex(0.0, -norm / 4.0 * entry);
      });
      const auto found = this->exponential(A);
      EXPECT_LE(found.report.quintuplings, 2);
      EXPECT_LE(found.error, this->bound(size, norm)) << norm;
      if (found.E.size() > 0) {
        EXPECT_LE(std::abs(widen(found.E(0, 0)) - 1.0), this->bound(size, norm)) << norm;
      }
    }
  }
}

TYPED_TEST(Structured, TriangularAndBlockDiagonalKeepTheirZerosAndDiagonals) {
  using T = TypeParam;
  for (const bool upper : {true, false}) {
    // Large off the diagonal: the norm would overscale it (Al-Mohy and Higham 2009).
    const auto A = this->matrix(12, [&](Index i, Index j) {
      if (i == j) return Complex(-0.5 * static_cast<double>(i), 0.25 * static_cast<double>(i % 3));
      return (upper ? j > i : i > j) ? Complex(30.0 * random(i, j, 6), 0.0) : Complex(0.0);
    });
    const auto found = this->exponential(A);
    for (std::size_t i = 0; i < found.E.extent(0); ++i) {
      for (std::size_t j = 0; j < found.E.extent(1); ++j) {
        if (upper ? i > j : i < j) {
          EXPECT_EQ(found.E(i, j), T(0));
        }
      }
      const Complex entry = widen(narrow<T>(Complex(-0.5 * static_cast<double>(i), 0.25 * static_cast<double>(i % 3))));
      EXPECT_LE(std::abs(widen(found.E(i, i)) - std::exp(entry)), 4 * unit_roundoff<T> * std::abs(std::exp(entry)));
    }
    EXPECT_LT(found.report.squarings, std::log2(found.report.norm1)) << "norm " << found.report.norm1;
    EXPECT_LE(found.error, 1e4 * this->bound(12, 1.0));
  }
  const auto blocks = this->matrix(size, [&](Index i, Index j) {
    return i / 9 == j / 9 ? Complex(random(i, j, 7), random(i, j, 8)) : Complex(0.0);
  });
  const auto found = this->exponential(blocks);
  Index wrong = 0;
  for (std::size_t i = 0; i < found.E.extent(0); ++i) {
    for (std::size_t j = 0; j < found.E.extent(1); ++j) wrong += i / 9 != j / 9 && found.E(i, j) != T(0) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(found.error, this->bound(size, 100.0));
}

TYPED_TEST(Structured, WhatTakesNoProduct) {
  using T = TypeParam;
  const auto nothing = this->exponential(this->matrix(0, [](Index, Index) { return Complex(0.0); }));
  EXPECT_EQ(nothing.E.size(), 0U);
  const auto one = this->exponential(this->matrix(1, [](Index, Index) { return Complex(-2.5, 1.25); }));
  const auto zero = this->exponential(this->matrix(9, [](Index, Index) { return Complex(0.0); }));
  const auto diagonal = this->exponential(this->matrix(
      9, [](Index i, Index j) { return i == j ? Complex(static_cast<double>(i) - 4.5, 2.0) : Complex(0.0); }));
  for (const auto* found : {&one, &zero, &diagonal}) {
    EXPECT_EQ(found->report.products, 0);
    EXPECT_LE(found->error, 4 * unit_roundoff<T>);
  }
  for (std::size_t i = 0; i < zero.E.extent(0); ++i) {
    for (std::size_t j = 0; j < zero.E.extent(1); ++j) {
      EXPECT_EQ(zero.E(i, j), T(i == j ? 1 : 0));
      EXPECT_TRUE(i == j || diagonal.E(i, j) == T(0));
    }
  }
}

TYPED_TEST(Structured, AMeanThatIsLargeIsTakenOff) {
  for (const double mean : {-30.0, 30.0}) {
    const auto entry = [&](Index i, Index j) {
      return Complex((i == j ? mean : 0.0) + random(i, j, 9) / 16, random(i, j, 10) / 16);
    };
    const auto found = this->exponential(this->matrix(size, entry));
    EXPECT_NEAR(found.report.shift_real, mean, 1.0);
    EXPECT_LE(found.report.squarings, 3) << found.report.norm1;
    EXPECT_LE(found.error, this->bound(size, 10.0));
  }
}

TYPED_TEST(Structured, EachMethodReportsItselfAndBalancingHelpsWhatIsBadlyScaled) {
  using T = TypeParam;
  const auto A = this->matrix(size, [](Index i, Index j) {
    return std::ldexp(1.0, static_cast<int>(i - j)) * Complex(random(i, j, 11), random(i, j, 12)) / 4.0;
  });
  for (const ExpmMethod method :
       {ExpmMethod::automatic, ExpmMethod::paterson_stockmeyer, ExpmMethod::few_products, ExpmMethod::pade}) {
    const auto plain = this->exponential(A, {.method = method});
    const auto balanced = this->exponential(A, {.method = method, .balance = true, .certificate = true});
    // Without a request, balanced only if far from 1.
    EXPECT_EQ(plain.report.balanced,
              plain.report.norm1 > std::ldexp(1.0, std::numeric_limits<Real<T>>::max_exponent / 8));
    EXPECT_TRUE(balanced.report.balanced);
    if (method == ExpmMethod::pade) {
      EXPECT_EQ(balanced.report.method, method);
    }
    // As if it had not been scaled.
    EXPECT_LT(balanced.report.alpha, 16.0);
    // Few products on a GPU are cheaper than estimates of norms, which would save a squaring or two.
    EXPECT_LE(balanced.report.squarings, plain.report.squarings + (test::on_host ? 0 : 2));
    EXPECT_LE(balanced.error, this->bound(size, 100.0)) << to_string(method);
    EXPECT_LE(*balanced.report.certificate, this->bound(size, 100.0));
    EXPECT_LE(balanced.report.backward_error, static_cast<double>(unit_roundoff<T>));
  }
}

TEST(StructuredErrors, ChebyshevIsForSkewHermitianMatrices) {
  const Communicator comm = test::world();
  const Placement bands = Placement::row_bands(8, 8, comm.size());
  const auto A = test::random_matrix<double>(comm, bands, 1);
  const DistributedMatrix<double> E(comm, bands);
  ExpmOptions options{.method = ExpmMethod::chebyshev};
  options.gemm.tile = 4;
  test::expect_refusal(ErrorKind::argument, "expm: the method chebyshev is for skew-Hermitian matrices,",
                       [&] { expm(comm, A, E, options); });
  // Zero is skew-Hermitian, and so is a matrix without elements.
  for (const Index n : {0, 5}) {
    const Placement small = Placement::row_bands(n, n, comm.size());
    const DistributedMatrix<double> zero(comm, small);
    fill(zero, 0.0);
    const DistributedMatrix<double> one(comm, small);
    fill(one, 0);
    expm(comm, zero, one, options);
    const auto found = gather(one, 0);
    if (comm.rank() != 0) continue;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) EXPECT_EQ(found(i, j), i == j ? 1.0 : 0.0);
    }
  }
}

TEST(StructuredErrors, OptionsThatDifferBetweenRanksAreRefusedOnEachOfThem) {
  const Communicator comm = test::world();
  const ExpmOptions options{.tolerance = comm.rank() == 0 ? 1e-6 : 1e-7};
  const auto plan = [&] { const ExpmPlan<double> made(comm, options); };
  if (comm.size() > 1) {
    test::expect_refusal(ErrorKind::argument, "expm: tolerance is", [&] { plan(); });
  } else {
    EXPECT_NO_THROW(plan());
  }
}

}  // namespace
}  // namespace heddle::structure_test
