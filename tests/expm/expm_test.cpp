// expm against exponentials in 256 bits.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/multiprecision.hpp"
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

namespace heddle::expm_test {
namespace {

using test::Complex;
using test::narrow;
using test::widen;

struct Problem {
  std::string name;
  std::size_t n;
  std::function<Complex(std::size_t, std::size_t)> entry;
  double condition;  // Upper bound of the relative condition number of exp at A, by hand or from the structure.
};

double uniform(std::size_t i, std::size_t j, int seed) {
  return test::random_number(static_cast<Index>(i), static_cast<Index>(j), seed);
}

// Normal and non-normal, real and complex, norms from 1e-8 to 1e3. For normal matrices the condition number of exp is
// ||A||_2 (Higham 2008, 10.2); for the others it is a generous bound.
std::vector<Problem> problems() {
  const auto symmetric = [](double size) {
    return [size](std::size_t i, std::size_t j) {
      return Complex(size * uniform(std::min(i, j), std::max(i, j), 7) / 12.0, 0.0);
    };
  };
  const auto skew_hermitian = [](double size) {
    return [size](std::size_t i, std::size_t j) {
      const double real = i == j ? 0.0 : (i < j ? 1.0 : -1.0) * uniform(std::min(i, j), std::max(i, j), 8);
      return size / 24.0 * Complex(real, uniform(std::min(i, j), std::max(i, j), 9));
    };
  };
  std::vector<Problem> all = {
      {"zero", 5, [](std::size_t, std::size_t) { return Complex(0.0); }, 1.0},
      {"one by one", 1, [](std::size_t, std::size_t) { return Complex(-2.5, 1.25); }, 3.0},
      {"tiny", 12, symmetric(1e-8), 1.0},
      {"symmetric", 24, symmetric(1.0), 2.0},
      {"symmetric, norm 30", 24, symmetric(30.0), 60.0},
      {"skew-Hermitian", 24, skew_hermitian(1.0), 2.0},
      {"skew-Hermitian, norm 1000", 16, skew_hermitian(1000.0), 2000.0},
      {"random real", 20, [](std::size_t i, std::size_t j) { return Complex(uniform(i, j, 1), 0.0); }, 40.0},
      {"random complex", 20, [](std::size_t i, std::size_t j) { return Complex(uniform(i, j, 2), uniform(i, j, 3)); },
       100.0},
      {"nilpotent", 12, [](std::size_t i, std::size_t j) { return Complex(j > i ? 1.0 + uniform(i, j, 4) : 0.0); },
       100.0},
      {"nilpotent, norm 500", 12,
       [](std::size_t i, std::size_t j) { return Complex(j > i ? 80.0 * uniform(i, j, 4) : 0.0); }, 1e7},
      // Its square is 1/4 I: exp(A) = cosh(1/2) I + 2 sinh(1/2) A, with condition about ||A||^2 / 6.
      {"large beside its square", 12,
       [](std::size_t i, std::size_t j) {
         return i == j            ? Complex(i < 6 ? 0.5 : -0.5)
                : i < 6 && j >= 6 ? Complex(20.0 * uniform(i, j, 5))
                                  : Complex(0.0);
       },
       2e3},
      // Upper triangular with large off-diagonals (after Moler and Van Loan).
      {"triangular", 10,
       [](std::size_t i, std::size_t j) {
         return Complex(j > i ? 4.0 : j == i ? -0.5 * static_cast<double>(i) : 0.0);
       },
       1e4},
      {"Jordan block", 10, [](std::size_t i, std::size_t j) { return Complex(i == j       ? 0.5
                                                                             : j == i + 1 ? 1.0
                                                                                          : 0.0); },
       20.0},
  };
  return all;
}

template <Scalar T>
DistributedMatrix<T> matrix_of(const Communicator& comm, const Problem& problem, const Placement& placement) {
  const HostMatrix<T> whole("heddle::test::whole", comm.rank() == 0 ? problem.n : 0, comm.rank() == 0 ? problem.n : 0);
  for (std::size_t i = 0; i < whole.extent(0); ++i) {
    for (std::size_t j = 0; j < whole.extent(1); ++j) {
      whole(i, j) = narrow<T>(problem.entry(i, j));
    }
  }
  DistributedMatrix<T> A(comm, placement);
  scatter(whole, 0, A);
  return A;
}

// ||found - exp(A)||_1 / ||exp(A)||_1 for the given A, rounded to T; on rank 0.
template <Scalar T> double relative_error(const HostMatrix<T>& found, const Problem& problem) {
  test::WideMatrix wide(problem.n);
  for (std::size_t i = 0; i < problem.n; ++i) {
    for (std::size_t j = 0; j < problem.n; ++j) {
      wide.set(i, j, widen(narrow<T>(problem.entry(i, j))));
    }
  }
  const test::WideMatrix expected = test::wide_exponential(std::move(wide));
  double largest = 0.0;
  for (std::size_t j = 0; j < problem.n; ++j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < problem.n; ++i) {
      sum += std::abs(widen(found(i, j)) - expected.get(i, j));
    }
    largest = std::max(largest, sum);
  }
  return largest / expected.norm1();
}

template <Scalar T> bool fits(const Problem& problem) {
  for (std::size_t i = 0; i < problem.n; ++i) {
    for (std::size_t j = 0; j < problem.n; ++j) {
      if (!is_complex<T> && problem.entry(i, j).imag() != 0.0) {
        return false;
      }
    }
  }
  return true;
}

template <class T> class Expm : public ::testing::Test {
 protected:
  Communicator comm = test::world();
};
TYPED_TEST_SUITE(Expm, test::AllScalars);

TYPED_TEST(Expm, AgreesWith256Bits) {
  using T = TypeParam;
  for (const Problem& problem : problems()) {
    if (!fits<T>(problem)) {
      continue;
    }
    const auto n = static_cast<Index>(problem.n);
    const auto A = matrix_of<T>(this->comm, problem, Placement::row_bands(n, n, this->comm.size()));
    DistributedMatrix<T> E(this->comm, Placement::on_rank(n, n, 0));
    ExpmOptions options;
    options.gemm.tile = 8;
    const ExpmReport report = expm(this->comm, A, E, options);
    EXPECT_NEAR(report.norm1, norm(A, Norm::one), (is_complex<T> ? 0.5 : 1e-6) * report.norm1);
    const auto found = gather(E, 0);
    if (this->comm.rank() == 0) {
      // n u cond for the products and squarings, as for any scaling and squaring.
      const double bound = 4.0 * static_cast<double>(n + 4) * unit_roundoff<T> * std::max(problem.condition, 1.0);
      EXPECT_LE(relative_error(found, problem), bound)
          << problem.name << ", degree " << report.degree << ", " << report.squarings << " squarings";
    }
  }
}

// Functors, since nvcc accepts no KOKKOS_LAMBDA in the body of a test, a private member function.
template <Scalar T> struct DiagonalOfQuarters {
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const { return i == j ? T(static_cast<Real<T>>(i) / 4) : T(0); }
};

// With an imaginary part if T has one.
template <Scalar T> struct DiagonalOfEighths {
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    if (i != j) return T(0);
    if constexpr (is_complex<T>) {
      return T(static_cast<Real<T>>(i) / 4, static_cast<Real<T>>(3 - i) / 8);
    } else {
      return static_cast<T>(i) / 4;
    }
  }
};

TYPED_TEST(Expm, TaylorOfTheGivenDegree) {
  using T = TypeParam;
  const Index n = 6;
  // exp(diag(x)) truncated: the sum itself.
  DistributedMatrix<T> A(this->comm, Placement::column_bands(n, n, this->comm.size()));
  DistributedMatrix<T> E(this->comm, A.placement());
  fill(A, DiagonalOfQuarters<T>{});
  ExpmOptions options{.method = ExpmMethod::taylor, .degree = 5};
  options.gemm.tile = 4;
  int calls = 0;
  int total = 0;
  options.progress = [&](int done, int all) {
    EXPECT_EQ(done, ++calls);
    total = all;
  };
  const ExpmReport report = expm(this->comm, A, E, options);
  EXPECT_EQ(report.degree, 5);
  EXPECT_EQ(report.squarings, 0);
  const int each = is_complex<T> ? 3 : 1;
  EXPECT_EQ(report.products, 4 * each);
  EXPECT_EQ(calls, total);
  EXPECT_EQ(total, 4 * each);
  const auto whole = gather(E, 0);
  for (std::size_t i = 0; i < whole.extent(0); ++i) {
    double term = 1.0;
    double sum = 1.0;
    for (int k = 1; k <= 5; ++k) {
      term *= static_cast<double>(i) / 4 / k;
      sum += term;
    }
    EXPECT_NEAR(Kokkos::abs(whole(i, i)), sum, 10 * unit_roundoff<T> * sum);
    EXPECT_EQ(whole(i, (i + 1) % 6), T(0));
  }
}

TYPED_TEST(Expm, TermsOfTheSeriesAreReported) {
  using T = TypeParam;
  const Index n = 6;
  DistributedMatrix<T> A(this->comm, Placement::column_bands(n, n, this->comm.size()));
  DistributedMatrix<T> E(this->comm, A.placement());
  fill(A, DiagonalOfEighths<T>{});
  ExpmOptions options{.method = ExpmMethod::taylor, .residual = true, .terms = true};
  options.gemm.tile = 4;
  for (const int degree : {1, 2, 9}) {
    options.degree = degree;
    const ExpmReport report = expm(this->comm, A, E, options);
    ASSERT_EQ(report.terms.size(), static_cast<std::size_t>(degree) + 1);
    const auto whole = gather(A, 0);
    std::vector<Complex> powers(whole.extent(0), 1.0);
    double factorial = 1.0;
    for (int k = 0; k <= degree && this->comm.rank() == 0; ++k) {
      if (k > 0) factorial *= k;
      Complex trace = 0.0;
      Complex largest = 0.0;  // Largest real and imaginary parts, of any element.
      for (std::size_t i = 0; i < whole.extent(0); ++i) {
        const Complex power = powers[i] / factorial;
        trace += power;
        largest = {std::max(largest.real(), std::abs(power.real())), std::max(largest.imag(), std::abs(power.imag()))};
        powers[i] *=
            Complex(static_cast<double>(Kokkos::real(whole(i, i))), static_cast<double>(Kokkos::imag(whole(i, i))));
      }
      const ExpmTerm& term = report.terms[static_cast<std::size_t>(k)];
      const double size = std::max(1.0, largest.real() + largest.imag());
      EXPECT_NEAR(term.norm1, largest.real() + largest.imag(), 40 * unit_roundoff<T> * size) << k;
      EXPECT_NEAR(term.trace_real, trace.real(), 100 * unit_roundoff<T> * size) << k;
      EXPECT_NEAR(term.trace_imaginary, trace.imag(), 100 * unit_roundoff<T> * size) << k;
    }
  }
  options.terms = false;
  EXPECT_TRUE(expm(this->comm, A, E, options).terms.empty());
  options.terms = true;
  const DistributedMatrix<T> none(this->comm, Placement::on_rank(0, 0, 0));
  const DistributedMatrix<T> nothing(this->comm, Placement::on_rank(0, 0, 0));
  for (const ExpmTerm& term : expm(this->comm, none, nothing, options).terms) {
    EXPECT_EQ(term.norm1, 0.0);
    EXPECT_EQ(term.trace_real, 0.0);
  }
  options.method = ExpmMethod::pade;
  test::expect_refusal(ErrorKind::argument, "terms are those of the method taylor, not of pade",
                       [&] { (void)expm(this->comm, A, E, options); });
}

TYPED_TEST(Expm, ALooseToleranceIsCheaperAndMet) {
  using T = TypeParam;
  const Problem problem{
      "symmetric", 24,
      [](std::size_t i, std::size_t j) { return Complex(uniform(std::min(i, j), std::max(i, j), 7) / 4.0, 0.0); }, 1.0};
  const Index n = 24;
  const auto A = matrix_of<T>(this->comm, problem, Placement::row_bands(n, n, this->comm.size()));
  DistributedMatrix<T> E(this->comm, Placement::on_rank(n, n, 0));
  int last = std::numeric_limits<int>::max();
  for (const double tolerance : {0.0, 1e-4, 1e-2}) {
    ExpmOptions options{.tolerance = tolerance};
    options.gemm.tile = 8;
    const ExpmReport report = expm(this->comm, A, E, options);
    EXPECT_LE(report.products, last);
    last = report.products;
    const auto found = gather(E, 0);
    if (this->comm.rank() == 0) {
      // Forward error of a symmetric matrix: ||A|| times the backward error, and rounding.
      EXPECT_LE(relative_error(found, problem), (tolerance + 400 * unit_roundoff<T>)*report.norm1);
    }
  }
}

// The tolerance is relative to ||A||, even if that is small beside exp(A).
TYPED_TEST(Expm, ALooseToleranceIsMetByMatricesNearZero) {
  using T = TypeParam;
  for (const double size : {1e-3, 7e-3, 0.1, 0.9}) {
    const Problem problem{"skew-symmetric", 2,
                          [size](std::size_t i, std::size_t j) {
                            return Complex(i < j ? size : i > j ? -size : 0.0, 0.0);
                          },
                          1.0};
    const auto A = matrix_of<T>(this->comm, problem, Placement::row_bands(2, 2, this->comm.size()));
    DistributedMatrix<T> E(this->comm, Placement::on_rank(2, 2, 0));
    for (const double tolerance : {1e-4, 1e-2, 0.3}) {
      for (const ExpmMethod method : {ExpmMethod::automatic, ExpmMethod::few_products, ExpmMethod::chebyshev}) {
        static_cast<void>(expm(this->comm, A, E, {.method = method, .tolerance = tolerance}));
        const auto found = gather(E, 0);
        if (this->comm.rank() == 0) {
          // sqrt(2) is between the norms.
          EXPECT_LE(relative_error(found, problem), 1.5 * tolerance * size + 40 * unit_roundoff<T>)
              << to_string(method) << ", " << size << ", tolerance " << tolerance;
        }
      }
    }
  }
}

TEST(ExpmParts, MayLiveOnDifferentRanksAndBeLeftOut) {
  const Communicator comm = test::world();
  const Index n = 18;
  const int last = comm.size() - 1;
  // A = -i H, H real symmetric: unitary, and half the products.
  DistributedMatrix<double> H(comm, Placement::on_rank(n, n, last));
  fill(H, test::SymmetricEntries{5});
  DistributedMatrix<double> zero(comm, Placement::on_rank(n, n, 0));
  fill(zero, 0.0);
  const SplitMatrix<double> pure{DistributedMatrix<double>(comm, Placement::on_rank(n, n, 0)),
                                 DistributedMatrix<double>(comm, Placement::on_rank(n, n, last))};
  const SplitMatrix<double> full{DistributedMatrix<double>(comm, Placement::row_bands(n, n, comm.size())),
                                 DistributedMatrix<double>(comm, Placement::row_bands(n, n, comm.size()))};
  ExpmOptions options{.method = ExpmMethod::taylor, .degree = 8};
  options.gemm.tile = 7;
  ExpmPlan<double> plan(comm, options);
  const ExpmReport without = plan.execute({std::nullopt, H}, pure);
  EXPECT_EQ(without.products, 7);
  options.complex_products = 4;
  const ExpmReport with = ExpmPlan<double>(comm, options).execute({zero, H}, full);
  EXPECT_EQ(with.products, 4 * 7);
  const auto real = gather(*pure.real, 0);
  const auto expected = gather(*full.real, 0);
  for (std::size_t k = 0; k < real.size(); ++k) {
    EXPECT_NEAR(real.data()[k], expected.data()[k], 1e-14 * std::pow(without.norm1, 8) / 1000);
  }
}

TEST(ExpmErrors, AreThrownOnEveryRank) {
  const Communicator comm = test::world();
  const auto bands = [&](Index rows, Index columns) { return Placement::row_bands(rows, columns, comm.size()); };
  ExpmOptions options;
  options.gemm.tile = 4;
  const DistributedMatrix<double> tall(comm, bands(4, 3));
  const DistributedMatrix<double> A(comm, bands(4, 4));
  const DistributedMatrix<double> small(comm, bands(3, 3));
  const DistributedMatrix<double> E(comm, bands(4, 4));
  const auto kind_of = [&](const DistributedMatrix<double>& from, const DistributedMatrix<double>& to) {
    return test::kind_of([&] { expm(comm, from, to, options); });
  };
  fill(A, 1.0);
  EXPECT_EQ(kind_of(tall, E), static_cast<int>(ErrorKind::argument));
  EXPECT_EQ(kind_of(A, small), static_cast<int>(ErrorKind::argument));
  EXPECT_EQ(kind_of(A, E), -1);
  for (const double poison : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    test::fill_ones_but(A, 3, 0, poison);
    EXPECT_EQ(kind_of(A, E), static_cast<int>(ErrorKind::computation));
  }
  fill(A, 1000.0);
  EXPECT_EQ(kind_of(A, E), static_cast<int>(ErrorKind::computation)) << "exp(4000) overflows";
  test::expect_refusal(ErrorKind::argument, "expm: degree = 0; expected 1 to 10000",
                       [&] { ExpmPlan<double>(comm, {.degree = 0}); });
  test::expect_refusal(ErrorKind::argument, "expm: degree = 10001; expected 1 to 10000",
                       [&] { ExpmPlan<double>(comm, {.degree = 10001}); });
  test::expect_refusal(ErrorKind::argument, "expm: tolerance -0.001; expected at least 0 (0: unit round-off)",
                       [&] { ExpmPlan<double>(comm, {.tolerance = -1e-3}); });
  test::expect_refusal(ErrorKind::argument, "expm: tolerance nan; expected at least 0 (0: unit round-off)",
                       [&] { ExpmPlan<double>(comm, {.tolerance = std::numeric_limits<double>::quiet_NaN()}); });
  test::expect_refusal(ErrorKind::argument, "expm: gemm.layers 2; products of an exponential have 1",
                       [&] { ExpmPlan<double>(comm, {.gemm = {.layers = 2}}); });
  test::expect_refusal(ErrorKind::argument, "expm: complex_products 2; expected 3 or 4",
                       [&] { ExpmPlan<double>(comm, {.complex_products = 2}); });
  test::expect_refusal(ErrorKind::argument, "expm: A has neither a real nor an imaginary part", [&] {
    ExpmPlan<double>(comm).execute(SplitMatrix<double>{}, {E, E});
  });
  test::expect_refusal(ErrorKind::argument, "expm method 'newton': expected one of automatic, taylor,",
                       [&] { static_cast<void>(expm_method_from("newton")); });
  for (const ExpmMethod method : {ExpmMethod::automatic, ExpmMethod::taylor, ExpmMethod::paterson_stockmeyer,
                                  ExpmMethod::few_products, ExpmMethod::pade, ExpmMethod::chebyshev}) {
    EXPECT_EQ(expm_method_from(to_string(method)), method);
  }
  test::expect_refusal(ErrorKind::argument, "structure 'sparse': expected one of automatic, general,",
                       [&] { static_cast<void>(expm_structure_from("sparse")); });
  for (const ExpmStructure structure :
       {ExpmStructure::automatic, ExpmStructure::general, ExpmStructure::hermitian, ExpmStructure::skew_hermitian}) {
    EXPECT_EQ(expm_structure_from(to_string(structure)), structure);
  }
}

}  // namespace
}  // namespace heddle::expm_test
