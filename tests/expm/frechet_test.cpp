// Derivatives of the exponential against the exponential of [A D; 0 A] in 256 bits, and against their identities.
#include "expm/dense/scheme.hpp"
#include "expm/hard_matrices.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/multiprecision.hpp"
#include <heddle/expm/frechet.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace heddle::frechet_test {
namespace {

using test::Complex;
using test::HardMatrix;
using test::narrow;
using test::WideMatrix;
using test::widen;

double uniform(std::size_t i, std::size_t j, int seed) {
  return test::random_number(static_cast<Index>(i), static_cast<Index>(j), seed);
}

HardMatrix made(const std::string& name, std::size_t n, const std::function<Complex(std::size_t, std::size_t)>& entry) {
  HardMatrix matrix{name, 0.0, n, {}};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) matrix.entries.push_back(entry(i, j));
  }
  return matrix;
}

std::vector<HardMatrix> problems() {
  std::vector<HardMatrix> all = test::hard_matrices();
  all.push_back(made("zero", 3, [](std::size_t, std::size_t) { return Complex(0.0); }));
  all.push_back(made("one by one", 1, [](std::size_t, std::size_t) { return Complex(-2.5); }));
  all.push_back(made("diagonal", 5, [](std::size_t i, std::size_t j) {
    return i == j ? Complex(3.0 - 2.0 * static_cast<double>(i)) : Complex(0.0);
  }));
  all.push_back(made("tiny", 7, [](std::size_t i, std::size_t j) { return Complex(1e-9 * uniform(i, j, 11)); }));
  all.push_back(made("random", 10, [](std::size_t i, std::size_t j) { return Complex(uniform(i, j, 1)); }));
  all.push_back(made("random complex", 9,
                     [](std::size_t i, std::size_t j) { return Complex(uniform(i, j, 2), uniform(i, j, 3)); }));
  all.push_back(made("imaginary", 8, [](std::size_t i, std::size_t j) {
    return Complex(0.0, uniform(std::min(i, j), std::max(i, j), 4));
  }));
  all.push_back(made("symmetric, norm 30", 10, [](std::size_t i, std::size_t j) {
    return Complex(4.0 * uniform(std::min(i, j), std::max(i, j), 5));
  }));
  // A^3 = 0, though no lower power is small: the derivative of A^5 is not 0.
  all.push_back(made("nilpotent", 6, [](std::size_t i, std::size_t j) {
    return Complex(j / 2 > i / 2 ? 20.0 * uniform(i, j, 6) : 0.0);
  }));
  all.push_back(made("graded", 8, [](std::size_t i, std::size_t j) {
    return Complex(std::ldexp(uniform(i, j, 7), 4 * (static_cast<int>(j) - static_cast<int>(i))));
  }));
  return all;
}

template <Scalar T> bool fits(const HardMatrix& matrix) {
  return is_complex<T> || std::all_of(matrix.entries.begin(), matrix.entries.end(),
                                      [](const Complex& entry) { return entry.imag() == 0.0; });
}

template <Scalar T> Complex direction_entry(std::size_t i, std::size_t j) {
  return {uniform(i, j, 21), is_complex<T> ? uniform(i, j, 22) : 0.0};
}

/// exp(A) and L(A, D) as complex doubles, from 256 bits, for row-major matrices.
struct Reference {
  std::vector<Complex> exponential, derivative;
};
Reference reference_of(std::size_t n, const std::vector<Complex>& A, const std::vector<Complex>& D) {
  WideMatrix both(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      both.set(i, j, A[i * n + j]);
      both.set(n + i, n + j, A[i * n + j]);
      both.set(i, n + j, D[i * n + j]);
    }
  }
  const WideMatrix found = test::wide_exponential(std::move(both));
  Reference result;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      result.exponential.push_back(found.get(i, j));
      result.derivative.push_back(found.get(i, n + j));
    }
  }
  return result;
}

double frobenius(const std::vector<Complex>& X) {
  double squares = 0.0;
  for (const Complex& x : X) squares += std::norm(x);
  return std::sqrt(squares);
}

double distance(const std::vector<Complex>& X, const std::vector<Complex>& Y) {
  double squares = 0.0;
  for (std::size_t k = 0; k < X.size(); ++k) squares += std::norm(X[k] - Y[k]);
  return std::sqrt(squares);
}

// Relative changes of L and exp for relative changes of A and D: by changes of 2^-20 in random directions; the size of
// `change` is small enough for linearity and large enough for the digits of doubles.
struct Sensitivity {
  double exponential = 1.0, derivative = 1.0;
};
Sensitivity sensitivity_of(std::size_t n, const std::vector<Complex>& A, const std::vector<Complex>& D,
                           const Reference& at) {
  Sensitivity found;
  const double size = frobenius(A);
  const double change = 0x1p-20 / std::max(size, 1.0);
  for (const int seed : {31, 32, 33, 34}) {
    std::vector<Complex> moved = A;
    double squares = 0.0;
    for (std::size_t k = 0; k < moved.size(); ++k) {
      squares += uniform(k / n, k % n, seed) * uniform(k / n, k % n, seed);
    }
    for (std::size_t k = 0; k < moved.size(); ++k) {
      moved[k] += change * size / std::sqrt(squares) * uniform(k / n, k % n, seed);
    }
    const Reference there = reference_of(n, moved, D);
    found.exponential =
        std::max(found.exponential, distance(there.exponential, at.exponential) / change / frobenius(at.exponential));
    found.derivative =
        std::max(found.derivative, distance(there.derivative, at.derivative) / change / frobenius(at.derivative));
  }
  return found;
}

template <Scalar T> std::vector<Complex> by_rows(const HostMatrix<T>& X) {
  std::vector<Complex> entries;
  for (std::size_t i = 0; i < X.extent(0); ++i) {
    for (std::size_t j = 0; j < X.extent(1); ++j) entries.push_back(widen(X(i, j)));
  }
  return entries;
}

template <Scalar T, class Entry>
DistributedMatrix<T> matrix_of(const Communicator& comm, const Placement& placement, const Entry& entry) {
  const HostMatrix<T> whole = test::host_matrix<T>(placement.rows(), placement.columns(), [&](Index i, Index j) {
    return narrow<T>(entry(static_cast<std::size_t>(i), static_cast<std::size_t>(j)));
  });
  DistributedMatrix<T> X(comm, placement);
  scatter(comm.rank() == 0 ? whole : HostMatrix<T>(), 0, X);
  return X;
}

// sum of conj(x) y, on every rank.
template <Scalar T> Complex inner_product(const DistributedMatrix<T>& X, const DistributedMatrix<T>& Y) {
  const auto x = by_rows(gather(X, 0));
  const auto y = by_rows(gather(Y, 0));
  Complex sum;
  for (std::size_t k = 0; k < x.size(); ++k) sum += std::conj(x[k]) * y[k];
  return sum;
}

template <class T> class Frechet : public ::testing::Test {
 protected:
  Communicator comm = test::world();
  [[nodiscard]] Placement bands(Index n) const { return Placement::row_bands(n, n, comm.size()); }
  [[nodiscard]] DistributedMatrix<T> random(Index n, int seed, double size) const {
    return matrix_of<T>(comm, bands(n), [&](std::size_t i, std::size_t j) {
      return size * Complex(uniform(i, j, seed), uniform(i, j, seed + 1));
    });
  }
};
TYPED_TEST_SUITE(Frechet, test::AllScalars);

TYPED_TEST(Frechet, AgreesWithTheEmbeddingIn256Bits) {
  using T = TypeParam;
  const double u = unit_roundoff<T>;
  for (const HardMatrix& problem : problems()) {
    if (!fits<T>(problem)) continue;
    const auto n = static_cast<Index>(problem.n);
    const auto entry = [&](std::size_t i, std::size_t j) { return problem.entries[i * problem.n + j]; };
    const auto A = matrix_of<T>(this->comm, Placement::column_bands(n, n, this->comm.size()), entry);
    const auto D = matrix_of<T>(this->comm, this->bands(n), direction_entry<T>);
    const DistributedMatrix<T> E(this->comm, this->bands(n));
    const DistributedMatrix<T> L(this->comm, A.placement());
    const auto a = by_rows(gather(A, 0));
    const auto d = by_rows(gather(D, 0));
    for (const bool adjoint : {false, true}) {
      std::vector<Complex> of = a;
      for (std::size_t k = 0; adjoint && k < of.size(); ++k) {
        of[k] = std::conj(a[k % problem.n * problem.n + k / problem.n]);
      }
      Reference expected;
      Sensitivity sensitivity;
      if (this->comm.rank() == 0) {
        expected = reference_of(problem.n, of, d);
        sensitivity = sensitivity_of(problem.n, of, d, expected);
        if (frobenius(expected.derivative) > std::sqrt(std::numeric_limits<Real<T>>::max())) expected = {};
      }
      int skipped = expected.exponential.empty() && this->comm.rank() == 0 ? 1 : 0;
      if (this->comm.all_reduce(skipped, Reduction::maximum) == 1) continue;
      for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
        ExpmFrechetOptions options{.adjoint = adjoint};
        options.gemm.arithmetic = arithmetic;
        options.gemm.tile = 4;
        const ExpmFrechetReport report = expm_frechet(this->comm, A, D, E, L, options);
        EXPECT_LE(report.backward_error, u) << problem.name;
        const auto e = by_rows(gather(E, 0));
        const auto l = by_rows(gather(L, 0));
        if (this->comm.rank() != 0) continue;
        std::vector<Complex> exponential = expected.exponential;
        for (std::size_t k = 0; adjoint && k < e.size(); ++k) {
          exponential[k] = std::conj(expected.exponential[k % problem.n * problem.n + k / problem.n]);
        }
        // A few roundings for each element in the sum of a product; changes in few directions find most of the
        // condition.
        const double allowed = 30.0 * static_cast<double>(problem.n) * u;
        EXPECT_LE(distance(e, exponential), allowed * sensitivity.exponential * frobenius(exponential))
            << problem.name << (adjoint ? ", adjoint, " : ", ") << to_string(arithmetic);
        EXPECT_LE(distance(l, expected.derivative), allowed * sensitivity.derivative * frobenius(expected.derivative))
            << problem.name << (adjoint ? ", adjoint, " : ", ") << to_string(arithmetic) << ", degree " << report.degree
            << ", " << report.squarings << " squarings";
      }
    }
  }
}

TYPED_TEST(Frechet, TheAdjointIsAdjoint) {
  using T = TypeParam;
  const Index n = 61;
  const auto A = this->random(n, 41, 1.0);
  const auto D = this->random(n, 43, 1.0);
  const auto F = this->random(n, 45, 1.0);
  const DistributedMatrix<T> of_D(this->comm, Placement::block_cyclic(n, n, 16, 8, 1, this->comm.size()));
  const DistributedMatrix<T> of_F(this->comm, of_D.placement());
  expm_frechet(this->comm, A, D, of_D);
  const ExpmFrechetReport report = expm_frechet(this->comm, A, F, of_F, {.adjoint = true});
  const Complex one = inner_product(of_D, F);
  const Complex other = inner_product(D, of_F);
  const double scale = static_cast<double>(norm(of_D, Norm::frobenius)) * static_cast<double>(norm(F, Norm::frobenius));
  if (this->comm.rank() == 0) {
    EXPECT_LE(std::abs(one - other), 1000.0 * static_cast<double>(unit_roundoff<T>) * scale);
    EXPECT_GT(std::abs(one), 1e-6 * scale);
  }
  EXPECT_GT(report.squarings, 0);
}

TYPED_TEST(Frechet, BlocksOfTheExponentialOfTheEmbedding) {
  using T = TypeParam;
  const Index n = 70;
  const auto entry = [](int seed, double size) {
    return [=](std::size_t i, std::size_t j) { return size * Complex(uniform(i, j, seed), uniform(i, j, seed + 1)); };
  };
  const auto a = entry(51, 0.3);
  const auto d = entry(53, 2.0);
  const auto A = matrix_of<T>(this->comm, this->bands(n), a);
  const auto D = matrix_of<T>(this->comm, this->bands(n), d);
  const auto both = matrix_of<T>(this->comm, this->bands(2 * n), [&](std::size_t i, std::size_t j) {
    const std::size_t half = n;
    return i < half ? (j < half ? a(i, j) : d(i, j - half)) : j < half ? Complex(0.0) : a(i - half, j - half);
  });
  const DistributedMatrix<T> E(this->comm, this->bands(n));
  const DistributedMatrix<T> L(this->comm, this->bands(n));
  const DistributedMatrix<T> expected(this->comm, this->bands(2 * n));
  const ExpmFrechetReport report = expm_frechet(this->comm, A, D, E, L);
  expm(this->comm, both, expected);
  const auto whole = gather(expected, 0);
  const auto e = gather(E, 0);
  const auto l = gather(L, 0);
  double largest = 0.0;
  double off = 0.0;
  for (std::size_t i = 0; i < e.extent(0); ++i) {
    for (std::size_t j = 0; j < e.extent(1); ++j) {
      largest = std::max({largest, std::abs(widen(whole(i, j))), std::abs(widen(whole(i, n + j)))});
      off = std::max(
          {off, std::abs(widen(whole(i, j)) - widen(e(i, j))), std::abs(widen(whole(i, n + j)) - widen(l(i, j)))});
    }
  }
  EXPECT_LE(off, 2000.0 * static_cast<double>(unit_roundoff<T>) * largest);
  // Three products of n x n matrices for each of the exponential's.
  const int each = 3 * (is_complex<T> ? 3 : 1);
  EXPECT_EQ(report.products % each, 0);
  EXPECT_EQ(report.flops, 2.0 * std::pow(static_cast<double>(n), 3) * report.products);
}

TYPED_TEST(Frechet, IsLinearWhateverTheSizeOfTheDirection) {
  using T = TypeParam;
  const Index n = 13;
  const auto A = this->random(n, 61, 0.7);
  const auto D = this->random(n, 63, 1.0);
  const DistributedMatrix<T> scaled(this->comm, this->bands(n));
  const DistributedMatrix<T> one(this->comm, this->bands(n));
  const DistributedMatrix<T> L(this->comm, this->bands(n));
  expm_frechet(this->comm, A, D, one);
  // The exponents leave room for the factor exp(A), and no element is denormal.
  const int most = std::numeric_limits<Real<T>>::max_exponent - 12;
  for (const int exponent : {-most + 24, -40, 40, most}) {
    copy(D, scaled);
    scale(T(std::ldexp(Real<T>(1), exponent)), scaled);
    expm_frechet(this->comm, A, scaled, L);
    scale(T(std::ldexp(Real<T>(1), -exponent)), L);
    add(T(-1), one, L);
    EXPECT_EQ(norm(L, Norm::maximum), Real<T>(0)) << exponent;
  }
  fill(scaled, T(0));
  expm_frechet(this->comm, A, scaled, L);
  EXPECT_EQ(norm(L, Norm::maximum), Real<T>(0));
}

TYPED_TEST(Frechet, InTheDirectionOfAIsATimesTheExponential) {
  using T = TypeParam;
  const Index n = 24;
  const auto A = this->random(n, 71, 0.5);
  const DistributedMatrix<T> E(this->comm, this->bands(n));
  const DistributedMatrix<T> L(this->comm, this->bands(n));
  expm_frechet(this->comm, A, A, E, L);
  const Real<T> size = norm(L, Norm::one);
  gemm<T>(this->comm, Operation::none, Operation::none, T(-1), A, E, T(1), L, {.tile = 16});
  EXPECT_LE(norm(L, Norm::one), 100 * n * unit_roundoff<T> * size);
}

TYPED_TEST(Frechet, EmulatedBitsAreTheSameOnAnyRanks) {
  using T = TypeParam;
  const Index n = 90;
  const auto compute = [&](const Communicator& ranks, Index tile) {
    const auto bands = Placement::row_bands(n, n, ranks.size());
    const auto matrix = [&](int seed, double size) {
      return matrix_of<T>(ranks, bands, [&](std::size_t i, std::size_t j) {
        return size * Complex(uniform(i, j, seed), uniform(i, j, seed + 1));
      });
    };
    const DistributedMatrix<T> L(ranks, bands);
    ExpmFrechetOptions options;
    options.gemm.arithmetic = Arithmetic::emulated;
    options.gemm.tile = tile;
    expm_frechet(ranks, matrix(81, 0.2), matrix(83, 1.0), L, options);
    return gather(L, 0);
  };
  const auto alone = compute(Communicator(MPI_COMM_SELF), 0);
  const auto together = compute(test::world(), 32);
  if (test::world().rank() == 0) {
    EXPECT_TRUE(test::same_bits(alone, together));
  }
}

TYPED_TEST(Frechet, SaysWhatIsWrong) {
  using T = TypeParam;
  using R = Real<T>;
  const DistributedMatrix<T> A(this->comm, this->bands(4));
  const DistributedMatrix<T> other(this->comm, this->bands(5));
  const DistributedMatrix<T> flat(this->comm, Placement::row_bands(4, 5, this->comm.size()));
  const DistributedMatrix<T> L(this->comm, this->bands(4));
  fill(A, T(0));
  fill(other, T(0));
  fill(flat, T(0));
  test::expect_refusal(ErrorKind::argument, "expected square", [&] { expm_frechet(this->comm, flat, flat, flat); });
  test::expect_refusal(ErrorKind::argument, "D is 5 x 5", [&] { expm_frechet(this->comm, A, other, L); });
  test::expect_refusal(ErrorKind::argument, "L is 5 x 5", [&] { expm_frechet(this->comm, A, A, other); });
  test::expect_refusal(ErrorKind::argument, "method pade",
                       [&] { expm_frechet(this->comm, A, A, L, {.method = ExpmMethod::pade}); });
  test::expect_refusal(ErrorKind::argument, "tolerance", [&] { expm_frechet(this->comm, A, A, L, {.tolerance = -1}); });
  test::expect_refusal(ErrorKind::argument, "complex_products",
                       [&] { expm_frechet(this->comm, A, A, L, {.complex_products = 2}); });
  const DistributedMatrix<T> bad(this->comm, this->bands(4));
  fill(bad, T(std::numeric_limits<R>::quiet_NaN()));
  test::expect_refusal(ErrorKind::computation, "A holds NaN", [&] { expm_frechet(this->comm, bad, A, L); });
  test::expect_refusal(ErrorKind::computation, "the direction holds NaN", [&] { expm_frechet(this->comm, A, bad, L); });
  fill(bad, T(R(1000)));
  test::expect_refusal(ErrorKind::computation, "overflows", [&] { expm_frechet(this->comm, bad, bad, L); });
}

TYPED_TEST(Frechet, OfNothingIsNothing) {
  using T = TypeParam;
  const DistributedMatrix<T> A(this->comm, this->bands(0));
  const DistributedMatrix<T> L(this->comm, this->bands(0));
  EXPECT_EQ(expm_frechet(this->comm, A, A, L).norm1, 0.0);
}

// P(x) = exp(x + h(x)) for numbers: P' / P = 1 + h', in long double.
TEST(FrechetScheme, TheBoundHoldsForNumbers) {
  using namespace impl;
  for (int degree = 2; degree <= 12; ++degree) {
    for (const double theta : {0.05, 0.3, 0.9}) {
      const double bound = derivative_error({degree, 1, 1, nullptr, 0}, theta);
      EXPECT_GE(bound, backward_error(degree, theta));
      for (const double x : {-theta, theta}) {
        long double value = 0.0L;
        long double derivative = 0.0L;
        long double term = 1.0L;
        for (int k = 0; k <= degree; ++k) {
          value += term;
          if (k < degree) derivative += term;
          term *= static_cast<long double>(x) / (k + 1);
        }
        const auto found = static_cast<double>(std::abs(derivative / value - 1.0L));
        EXPECT_LE(found, bound * (1 + 1e-9) + 1e-18) << degree << " at " << x;
        // It is only a few times too large if the series' first term dominates.
        if (found > 1e-15) {
          EXPECT_GE(found * std::exp(3.0 * theta), bound) << degree << " at " << x;
        }
      }
    }
  }
}

TEST(FrechetScheme, BetasBoundProductsOfPowers) {
  using namespace impl;
  // ||A|| = 8, ||A^2|| = 2, ||A^3|| = 0: words of two powers may be as large as 2 * 2.
  PowerNorms norms(8.0);
  norms.add(2.0);
  norms.add(0.0);
  const std::vector<double> betas = norms.betas();
  const double power[] = {1.0, 8.0, 2.0};
  for (std::size_t degree = 0; degree < betas.size(); ++degree) {
    EXPECT_GE(betas[degree], norms.alpha(static_cast<int>(degree)));
    EXPECT_LE(betas[degree], 8.0);
    for (int k = static_cast<int>(degree) + 1; k <= 5; ++k) {
      double sum = 0.0;
      for (int j = 0; j < k; ++j) sum += j < 3 && k - 1 - j < 3 ? power[j] * power[k - 1 - j] : 0.0;
      EXPECT_LE(sum, k * std::pow(betas[degree], k - 1) * (1 + 1e-12)) << degree << ", " << k;
    }
  }
  // Beyond A^2 times A^2 all words are zero.
  EXPECT_EQ(betas[5], 0.0);
  EXPECT_GT(betas[4], 0.0);
}

}  // namespace
}  // namespace heddle::frechet_test
