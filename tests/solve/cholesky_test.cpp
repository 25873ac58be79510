// Cholesky over all ranks: bit by bit against its definition, residuals, matrices that are not positive definite, and
// the same bits for any number of ranks.
#include "over_ranks.hpp"
#include "solve/lu/schedule.hpp"
#include "wide.hpp"
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace heddle::cholesky_test {
namespace {

// Hermitian and diagonally dominant: random numbers with parts up to 1, and 2 n on the diagonal.
template <Scalar T> HostMatrix<T> positive_definite(Index n, int seed) {
  return test::host_matrix<T>(n, n, [&](Index i, Index j) {
    const T one = test::RandomEntries<T>{seed}(std::max(i, j), std::min(i, j));
    if (i == j) return T(real_of<Real<T>>(one) + static_cast<Real<T>>(2 * n));
    return i > j ? one : conjugate(one);
  });
}

// The definition of emulated factors, written as plainly as possible.
template <Scalar T> class Definition {
 public:
  Definition(const HostMatrix<T>& A, Index block, Index group)
      : A_(A),
        schedule_{static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(0)), block, group},
        moduli_(emulation_moduli<T>(std::max<Index>(1, std::min(block * group, schedule_.steps()))) + 2) {}

  void factor() {
    const Index n = schedule_.rows;
    for (Index p = 0; p < schedule_.panels(); ++p) {
      const Range panel = schedule_.panel(p);
      for (Index j = panel.begin; j < panel.end; ++j) {
        for (Index i = j; i < n; ++i) chain(i, j, {panel.begin, j});
        const Real<T> root = std::sqrt(real_of<Real<T>>(at(j, j)));
        at(j, j) = T(root);
        for (Index i = j + 1; i < n; ++i) {
          if constexpr (is_complex<T>) {
            at(i, j) = T(at(i, j).real() / root, at(i, j).imag() / root);
          } else {
            at(i, j) /= root;
          }
        }
      }
      const impl::LuSchedule::Update update = schedule_.update_after(p);
      subtract(schedule_.rows_of(update), update.columns);
    }
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < j; ++i) at(i, j) = T(0);
    }
  }

 private:
  T& at(Index i, Index j) { return A_(static_cast<std::size_t>(i), static_cast<std::size_t>(j)); }
  void chain(Index i, Index j, Range inner) {
    for (Index k = inner.begin; k < inner.end; ++k)
      at(i, j) = multiply_add(T(-at(i, k)), conjugate(at(j, k)), at(i, j));
  }
  void subtract(Range inner, Range columns) {
    const Index n = schedule_.rows;
    if (columns.empty()) return;
    if (inner.size() <= schedule_.block) {
      for (Index j = columns.begin; j < columns.end; ++j) {
        for (Index i = j; i < n; ++i) chain(i, j, inner);
      }
      return;
    }
    const auto on_device = [&](Index rows, Index cols, const auto& element) {
      return test::padded_on_device<T>(test::host_matrix<T>(rows, cols, element));
    };
    const Index rows = n - columns.begin;
    const MatrixView<T> L =
        on_device(rows, inner.size(), [&](Index i, Index k) { return at(columns.begin + i, inner.begin + k); });
    const MatrixView<T> U = on_device(inner.size(), columns.size(), [&](Index k, Index j) {
      return conjugate(at(columns.begin + j, inner.begin + k));
    });
    const MatrixView<T> C =
        on_device(rows, columns.size(), [&](Index i, Index j) { return at(columns.begin + i, columns.begin + j); });
    EmulatedGemm<T> multiply(ExecutionSpace(), rows, columns.size(), inner.size(), {.moduli = moduli_});
    multiply(Operation::none, Operation::none, T(-1), L, U, T(1), C);
    const HostMatrix<T> found = test::to_host<T>(C);
    for (Index j = 0; j < columns.size(); ++j) {
      for (Index i = j; i < rows; ++i) {
        at(columns.begin + i, columns.begin + j) = found(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      }
    }
  }

  HostMatrix<T> A_;
  impl::LuSchedule schedule_;
  int moduli_;
};

using test::same_bits;

// max |A - L L^H| / (|L| |L^H|) below the diagonal and on it, over the bound of theorem 10.3 for so many terms.
template <Scalar T> double residual(const HostMatrix<T>& A, const HostMatrix<T>& L) {
  using test::wide;
  using Wide = test::Wide<T>;
  const double unit = static_cast<double>(unit_roundoff<T>) * (is_complex<T> ? 3 : 1);
  double worst = 0;
  for (std::size_t j = 0; j < A.extent(0); ++j) {
    for (std::size_t i = j; i < A.extent(0); ++i) {
      Wide sum = -wide(A(i, j));
      long double sizes = 0;
      for (std::size_t k = 0; k <= j; ++k) {
        sum += wide(L(i, k)) * wide(conjugate(L(j, k)));
        sizes += std::abs(wide(L(i, k))) * std::abs(wide(L(j, k)));
      }
      const double off = static_cast<double>(std::abs(sum));
      if (off != 0) worst = std::max(worst, off / (unit * static_cast<double>(j + 4) * static_cast<double>(sizes)));
    }
  }
  return worst;
}

template <class T> class CholeskyFactor : public test::OverRanks<T> {
 protected:
  using test::OverRanks<T>::comm;

  HostMatrix<T> factored(const HostMatrix<T>& A, const Placement& placement, const FactorOptions& options,
                         CholeskyReport& report) const {
    const DistributedMatrix<T> distributed = this->spread(A, placement);
    report = cholesky(comm, distributed, options);
    return this->everywhere(distributed);
  }
};
TYPED_TEST_SUITE(CholeskyFactor, test::AllScalars);

TYPED_TEST(CholeskyFactor, EmulatedIsItsDefinitionToTheBit) {
  using T = TypeParam;
  struct Case {
    Index n, block, group;
  };
  for (const Case& shape : {Case{1, 0, 0},
                            {7, 8, 4},
                            {33, 8, 1},
                            {70, 8, 4},
                            {97, 16, 8},
                            {64, 4, 16},
                            {90, 40, 2},
                            {130, 4, 2},
                            {200, 16, 1}}) {
    SCOPED_TRACE(message_of("n = ", shape.n, ", blocks of ", shape.block, ", groups of ", shape.group));
    const HostMatrix<T> A = positive_definite<T>(shape.n, 5);
    const HostMatrix<T> expected("expected", A.extent(0), A.extent(1));
    Kokkos::deep_copy(expected, A);
    Definition<T>(expected, shape.block == 0 ? 256 : shape.block, shape.group == 0 ? 16 : shape.group).factor();
    CholeskyReport report;
    const HostMatrix<T> found =
        this->factored(A, Placement::row_bands(shape.n, shape.n, this->comm.size()),
                       {.arithmetic = Arithmetic::emulated, .block = shape.block, .group = shape.group}, report);
    EXPECT_EQ(report.info, 0);
    EXPECT_TRUE(same_bits<T>(found, expected));
  }
}

TYPED_TEST(CholeskyFactor, ErrorsAreWithinTheBoundAndTheUpperTriangleIsNotRead) {
  using T = TypeParam;
  const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    for (const Index n : {1, 2, 64, 65, 150, 300}) {
      SCOPED_TRACE(message_of(to_string(arithmetic), ", n = ", n));
      const HostMatrix<T> A = positive_definite<T>(n, 9);
      const HostMatrix<T> lower = test::host_matrix<T>(n, n, [&](Index i, Index j) {
        return i < j ? nan : A(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      });
      CholeskyReport report;
      const HostMatrix<T> L = this->factored(lower, Placement::block_cyclic(n, n, 16, 8, 1, this->comm.size()),
                                             {.arithmetic = arithmetic, .block = 16}, report);
      EXPECT_EQ(report.info, 0);
      EXPECT_EQ(report.arithmetic, arithmetic);
      EXPECT_LE(residual<T>(A, L), 1.0);
      for (std::size_t j = 0; j < L.extent(1); ++j) {
        ASSERT_EQ(imaginary_of<double>(L(j, j)), 0.0);
        for (std::size_t i = 0; i < j; ++i) ASSERT_EQ(L(i, j), T(0));
      }
    }
  }
}

// Rows and columns have sizes 2^-k to 2^k: errors are bounded by row and column.
TYPED_TEST(CholeskyFactor, GradedMatricesKeepTheirDigits) {
  using T = TypeParam;
  const Index n = 120;
  const HostMatrix<T> even = positive_definite<T>(n, 21);
  const auto size_of = [&](Index i) { return static_cast<Real<T>>(std::ldexp(1.0, static_cast<int>(i % 21) - 10)); };
  const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
    return even(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) * T(size_of(i) * size_of(j));
  });
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    SCOPED_TRACE(to_string(arithmetic));
    CholeskyReport report;
    const HostMatrix<T> L = this->factored(A, Placement::row_bands(n, n, this->comm.size()),
                                           {.arithmetic = arithmetic, .block = 16, .group = 4}, report);
    ASSERT_EQ(report.info, 0);
    // Sizes of rows are powers of two, which only change exponents: the bound is that of the matrix without them.
    EXPECT_LE(residual<T>(A, L), arithmetic == Arithmetic::native ? 1.0 : 4.0);
  }
}

TYPED_TEST(CholeskyFactor, AnyRanksAndPlacementsHaveTheBitsOfOneRank) {
  using T = TypeParam;
  const Index n = 301;
  const HostMatrix<T> A = positive_definite<T>(n, 11);
  for (const FactorOptions& options : {FactorOptions{.arithmetic = Arithmetic::native},
                                       {.arithmetic = Arithmetic::native, .block = 16, .group = 2},
                                       {.arithmetic = Arithmetic::emulated},
                                       {.arithmetic = Arithmetic::emulated, .block = 32, .group = 4}}) {
    const MatrixView<T> alone = test::padded_on_device<T>(A);
    EXPECT_EQ(cholesky(this->comm.space(), alone, options).info, 0);
    for (const Placement& placement :
         {Placement::on_rank(n, n, this->comm.size() - 1), Placement::row_bands(n, n, this->comm.size()),
          CholeskyPlan<T>(this->comm, n, options).placement()}) {
      SCOPED_TRACE(placement.describe());
      CholeskyReport report;
      EXPECT_TRUE(same_bits<T>(this->factored(A, placement, options, report), test::to_host<T>(alone)));
    }
  }
}

TYPED_TEST(CholeskyFactor, TheFirstPivotThatIsNotPositiveIsNamed) {
  using T = TypeParam;
  const Index n = 70;
  const auto nan = std::numeric_limits<Real<T>>::quiet_NaN();
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    for (const Index k : {0, 1, 15, 16, 43, 69}) {
      for (const Real<T> bad : {Real<T>(-1), Real<T>(0), nan}) {
        SCOPED_TRACE(message_of(to_string(arithmetic), ", column ", k, ", ", bad));
        const HostMatrix<T> A = positive_definite<T>(n, 13);
        const auto at = static_cast<std::size_t>(k);
        // An exactly zero pivot: a row and column of zeros.
        for (std::size_t i = 0; i < A.extent(0) && bad == 0; ++i) A(i, at) = A(at, i) = T(0);
        A(at, at) = T(bad);
        CholeskyReport report;
        this->factored(A, Placement::row_bands(n, n, this->comm.size()), {.arithmetic = arithmetic, .block = 16},
                       report);
        EXPECT_EQ(report.info, k + 1);
      }
    }
  }
}

TYPED_TEST(CholeskyFactor, SystemsAreSolved) {
  using T = TypeParam;
  const Index n = 140;
  const HostMatrix<T> A = positive_definite<T>(n, 15);
  const HostMatrix<T> B = test::host_random<T>(n, 3, 16);
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    SCOPED_TRACE(to_string(arithmetic));
    const FactorOptions options{.arithmetic = arithmetic, .block = 16, .group = 4};
    const Placement bands = Placement::row_bands(n, n, this->comm.size());
    const Placement right = Placement::row_bands(n, 3, this->comm.size());
    const DistributedMatrix<T> a = this->spread(A, bands);
    const DistributedMatrix<T> b = this->spread(B, right);
    const DistributedMatrix<T> x(this->comm, right);
    const SolveReport report = solve(this->comm, a, b, x, {.method = SolveMethod::cholesky, .factorization = options});
    EXPECT_EQ(report.factorization.info, 0);
    EXPECT_TRUE(report.factorization.pivots.empty());
    EXPECT_LE(report.componentwise_error, 3 * static_cast<double>(unit_roundoff<T>));
    // The same without refinement, step by step.
    const DistributedMatrix<T> factor = this->spread(A, bands);
    EXPECT_EQ(cholesky(this->comm, factor, options).info, 0);
    const DistributedMatrix<T> y = this->spread(B, right);
    cholesky_solve(this->comm, factor, y, options);
    const SolveReport plain =
        solve(this->comm, a, b, x, {.method = SolveMethod::cholesky, .factorization = options, .refinements = 0});
    EXPECT_TRUE(same_bits<T>(this->everywhere(y), this->everywhere(x)));
    EXPECT_LE(plain.normwise_error, 10 * static_cast<double>(unit_roundoff<T>));
    // X is unchanged if the matrix is not positive definite.
    fill(x, T(7));
    const DistributedMatrix<T> negative = this->spread(A, bands);
    scale(T(-1), negative);
    EXPECT_EQ(solve(this->comm, negative, b, x, {.method = SolveMethod::cholesky, .factorization = options})
                  .factorization.info,
              1);
    EXPECT_EQ(this->everywhere(x)(0, 0), T(7));
  }
}

TEST(Cholesky, EdgesAndMistakes) {
  const Communicator comm = test::world();
  const Placement none = Placement::row_bands(0, 0, comm.size());
  const CholeskyReport empty = cholesky(comm, DistributedMatrix<double>(comm, none));
  EXPECT_EQ(empty.info, 0);
  const DistributedMatrix<double> wide(comm, Placement::row_bands(3, 4, comm.size()));
  EXPECT_THROW(cholesky(comm, wide), Error);
  CholeskyPlan<double> plan(comm, 5);
  EXPECT_THROW(plan.execute(wide), Error);
  EXPECT_THROW(CholeskyPlan<double>(comm, 5, {.group = 3}), Error);
  EXPECT_THROW(CholeskyPlan<double>(comm, 5, {.block = -1}), Error);
  const DistributedMatrix<double> five(comm, Placement::row_bands(5, 5, comm.size()));
  const DistributedMatrix<double> four(comm, Placement::row_bands(4, 1, comm.size()));
  EXPECT_THROW(cholesky_solve(comm, five, four), Error);
}

}  // namespace
}  // namespace heddle::cholesky_test
