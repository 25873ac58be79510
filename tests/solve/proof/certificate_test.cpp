// Proven error bounds of solutions: compared with known errors, and infinite if nothing can be proven.
#include "solve/over_ranks.hpp"
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heddle::certificate_test {
namespace {

template <class T> class Certificates : public test::OverRanks<T> {
 protected:
  using test::OverRanks<T>::comm;

  // The largest |x - expected| / |x| over the columns, in norms of infinity, for numbers in the range of double.
  [[nodiscard]] double error_of(const DistributedMatrix<T>& X, const HostMatrix<T>& expected) const {
    const HostMatrix<T> x = gather(X, 0);
    double worst = 0;
    comm.on_rank(0, [&] {
      for (std::size_t j = 0; j < x.extent(1); ++j) {
        double off = 0;
        double size = 0;
        for (std::size_t i = 0; i < x.extent(0); ++i) {
          off = std::max(off, std::hypot(real_of<double>(x(i, j)) - real_of<double>(expected(i, j)),
                                         imaginary_of<double>(x(i, j)) - imaginary_of<double>(expected(i, j))));
          size = std::max(size, std::hypot(real_of<double>(x(i, j)), imaginary_of<double>(x(i, j))));
        }
        worst = std::max(worst, off / size);
      }
    });
    comm.broadcast(std::span<double>(&worst, 1), 0);
    return worst;
  }
};
TYPED_TEST_SUITE(Certificates, test::AllScalars);

// Small whole numbers, whose products and sums are exact.
template <Scalar T> HostMatrix<T> whole_numbers(Index rows, Index columns, int seed, int most) {
  return test::host_matrix<T>(rows, columns, [&](Index i, Index j) {
    const auto number = [&](Index salt) {
      return static_cast<Real<T>>((i * 7919 + j * 104729 + seed * 31 + salt * 17 + i * j * 13) % (2 * most + 1) - most);
    };
    if constexpr (is_complex<T>) {
      return T(number(0), number(1));
    } else {
      return number(0);
    }
  });
}
template <Scalar T> HostMatrix<T> product(const HostMatrix<T>& A, const HostMatrix<T>& X) {
  return test::host_matrix<T>(static_cast<Index>(A.extent(0)), static_cast<Index>(X.extent(1)), [&](Index i, Index j) {
    T sum(0);
    for (std::size_t k = 0; k < A.extent(1); ++k) {
      sum += A(static_cast<std::size_t>(i), k) * X(k, static_cast<std::size_t>(j));
    }
    return sum;
  });
}

// Systems of least squares whose first unknowns are residuals: for solutions V of S V = I, V S is off by more than u
// times the square of their condition, which does not hinder a bound up to conditions of some 1 / (n u).
TYPED_TEST(Certificates, AreProvenOfIllConditionedAugmentedSystems) {
  using T = TypeParam;
  const double unit = static_cast<double>(unit_roundoff<T>);
  const int bits = std::numeric_limits<Real<T>>::digits / 2;
  HostMatrix<T> tall = test::host_random<T>(8, 3, 5);
  for (std::size_t i = 0; i < 8; ++i)
    tall(i, 2) = tall(i, 0) + tall(i, 1) + tall(i, 2) * T(std::ldexp(Real<T>(1), -bits));
  const HostMatrix<T> S = test::host_matrix<T>(11, 11, [&](Index i, Index j) {
    if (i < 8 && j < 8) return i == j ? T(std::ldexp(Real<T>(1), -bits)) : T(0);
    if (i < 8) return tall(static_cast<std::size_t>(i), static_cast<std::size_t>(j - 8));
    return j < 8 ? conjugate(tall(static_cast<std::size_t>(j), static_cast<std::size_t>(i - 8))) : T(0);
  });
  const DistributedMatrix<T> X(this->comm, Placement::row_bands(11, 2, this->comm.size()), "X");
  const SolveReport report = solve(this->comm, this->spread(S), this->spread(test::host_random<T>(11, 2, 6)), X,
                                   {.certificate = true, .rounding = Rounding::correct});
  EXPECT_GT(report.condition * report.condition * unit, 100.0);
  EXPECT_LT(report.condition, 0.5 / (11 * unit));
  EXPECT_LT(report.error_bound, 4 * unit);
  EXPECT_TRUE(report.correctly_rounded) << report;
}

TYPED_TEST(Certificates, ErrorsAreBelowTheirBounds) {
  using T = TypeParam;
  const auto unit = static_cast<double>(unit_roundoff<T>);
  for (const Index n : {1, 5, 40, 90}) {
    HostMatrix<T> A = whole_numbers<T>(n, n, 3, 9);
    for (std::size_t i = 0; i < A.extent(0); ++i) A(i, i) += T(static_cast<Real<T>>(n % 2 == 0 ? 11 : 100));
    const HostMatrix<T> X = whole_numbers<T>(n, 3, 4, 5);
    for (std::size_t j = 0; j < 3; ++j) X(0, j) = T(7);  // No column may be zero.
    const HostMatrix<T> B = product<T>(A, X);
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      for (const int refinements : {0, 1}) {
        SCOPED_TRACE(message_of("n = ", n, ", ", to_string(arithmetic), ", ", refinements, " refinements"));
        const DistributedMatrix<T> a = this->spread(A);
        const DistributedMatrix<T> x = this->spread(whole_numbers<T>(n, 3, 5, 5));
        const SolveReport report = solve(this->comm, a, this->spread(B), x,
                                         {.factorization = {.arithmetic = arithmetic, .block = 16},
                                          .refinements = refinements,
                                          .certificate = true});
        ASSERT_EQ(report.factorization.info, 0);
        const double error = this->error_of(x, X);
        EXPECT_LE(error, report.error_bound);
        // The bounds are also useful.
        EXPECT_LE(report.error_bound, 4e3 * static_cast<double>(n) * unit);
      }
    }
  }
}

// Bounds are relative: a solution of any size has the same one.
TYPED_TEST(Certificates, DoNotKnowTheSizeOfASolution) {
  using T = TypeParam;
  const Index n = 12;
  HostMatrix<T> A = whole_numbers<T>(n, n, 3, 9);
  for (std::size_t i = 0; i < A.extent(0); ++i) A(i, i) += T(Real<T>(11));
  const HostMatrix<T> B = product<T>(A, whole_numbers<T>(n, 2, 4, 5));
  const auto bound_at = [&](int exponent) {
    const HostMatrix<T> scaled = test::host_matrix<T>(n, 2, [&](Index i, Index j) {
      return B(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) * T(std::ldexp(Real<T>(1), exponent));
    });
    const DistributedMatrix<T> x = this->spread(scaled);
    return solve(this->comm, this->spread(A), this->spread(scaled), x, {.refinements = 0, .certificate = true})
        .error_bound;
  };
  const double bound = bound_at(0);
  EXPECT_GT(bound, 0.0);
  EXPECT_LE(bound, 1e4 * static_cast<double>(unit_roundoff<T>));
  const int far = std::numeric_limits<Real<T>>::max_exponent / 2;
  for (const int exponent : {-far, -20, -1, 1, 20, far}) EXPECT_DOUBLE_EQ(bound_at(exponent), bound) << exponent;
}

// Hilbert's matrix times the least common multiple of its denominators is a matrix of whole numbers, and its first
// column is the right-hand side of the first unit vector.
TYPED_TEST(Certificates, NothingIsProvenOfWhatCannotBeTold) {
  using T = TypeParam;
  bool proven_once = false;
  bool refused_once = false;
  const bool wide = sizeof(Real<T>) == 8;
  for (Index n = 1; n <= (wide ? 16 : 8); ++n) {
    SCOPED_TRACE(message_of("n = ", n));
    std::int64_t multiple = 1;
    for (std::int64_t k = 2; k < 2 * n; ++k) multiple = std::lcm(multiple, k);
    const HostMatrix<T> A =
        test::host_matrix<T>(n, n, [&](Index i, Index j) { return T(static_cast<Real<T>>(multiple / (i + j + 1))); });
    const HostMatrix<T> B =
        test::host_matrix<T>(n, 1, [&](Index i, Index) { return A(static_cast<std::size_t>(i), 0); });
    const HostMatrix<T> expected = test::host_matrix<T>(n, 1, [](Index i, Index) { return T(i == 0 ? 1 : 0); });
    const DistributedMatrix<T> x = this->spread(expected);
    const SolveReport report = solve(this->comm, this->spread(A), this->spread(B), x, {.certificate = true});
    if (report.factorization.info != 0) continue;
    EXPECT_LE(this->error_of(x, expected), report.error_bound);
    EXPECT_FALSE(std::isnan(report.error_bound));
    (std::isfinite(report.error_bound) ? proven_once : refused_once) = true;
  }
  EXPECT_TRUE(proven_once);
  EXPECT_TRUE(refused_once);
}

TYPED_TEST(Certificates, OfNoughtAndOfWhatIsNoNumber) {
  using T = TypeParam;
  const Index n = 6;
  const HostMatrix<T> A = whole_numbers<T>(n, n, 3, 9);
  for (std::size_t i = 0; i < A.extent(0); ++i) A(i, i) += T(40);
  const DistributedMatrix<T> x = this->spread(whole_numbers<T>(n, 1, 1, 3));
  const HostMatrix<T> zero = test::host_matrix<T>(n, 1, [](Index, Index) { return T(0); });
  EXPECT_EQ(solve(this->comm, this->spread(A), this->spread(zero), x, {.certificate = true}).error_bound, 0.0);
  const HostMatrix<T> none = test::host_matrix<T>(
      n, 1, [](Index i, Index) { return i == 2 ? T(std::numeric_limits<Real<T>>::quiet_NaN()) : T(1); });
  EXPECT_EQ(solve(this->comm, this->spread(A), this->spread(none), x, {.certificate = true}).error_bound,
            std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(solve(this->comm, this->spread(A), this->spread(zero), x).error_bound));
  // By Cholesky, and with sizes near the ends of the range.
  const int power = std::numeric_limits<Real<T>>::max_exponent - 20;
  for (const int by : {-power, -10, 10, power}) {
    SCOPED_TRACE(by);
    const auto scale = static_cast<Real<T>>(std::ldexp(1.0, by));
    const HostMatrix<T> scaled = test::host_matrix<T>(
        n, n, [&](Index i, Index j) { return T((i == j ? Real<T>(8) : Real<T>((i * j) % 3)) * scale); });
    const HostMatrix<T> b =
        test::host_matrix<T>(n, 1, [&](Index i, Index) { return scaled(static_cast<std::size_t>(i), 1); });
    const HostMatrix<T> expected = test::host_matrix<T>(n, 1, [](Index i, Index) { return T(i == 1 ? 1 : 0); });
    const SolveReport report = solve(this->comm, this->spread(scaled), this->spread(b), x,
                                     {.method = SolveMethod::cholesky, .certificate = true});
    ASSERT_EQ(report.factorization.info, 0);
    EXPECT_LE(this->error_of(x, expected), report.error_bound);
    EXPECT_LE(report.error_bound, 1e3 * static_cast<double>(unit_roundoff<T>));
  }
}

}  // namespace
}  // namespace heddle::certificate_test
