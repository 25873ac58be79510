// LU over all ranks: bit by bit against its definition, residuals, pivots, and the same bits for any number of ranks.
#include "over_ranks.hpp"
#include "solve/lu/pivot.hpp"
#include "solve/lu/schedule.hpp"
#include "support/matrices.hpp"
#include "wide.hpp"
#include <heddle/solve/lu.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace heddle::lu_test {
namespace {

template <Scalar T> MatrixView<T> on_device(const HostMatrix<T>& host) {
  return test::padded_on_device<T>(host);
}

// The definition of emulated factors, written as plainly as possible.
template <Scalar T> class Definition {
 public:
  Definition(const HostMatrix<T>& A, Index block, Index group)
      : A_(A),
        schedule_{static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)), block, group},
        moduli_(emulation_moduli<T>(std::max<Index>(1, std::min(block * group, schedule_.steps()))) + 2) {}

  void factor() {
    for (Index p = 0; p < schedule_.panels(); ++p) {
      factor_panel(schedule_.panel(p));
      const impl::LuSchedule::Update update = schedule_.update_after(p);
      const Range inner = schedule_.rows_of(update);
      solve(inner, update.columns);
      subtract({inner.end, schedule_.rows}, inner, update.columns);
    }
  }
  std::vector<Index> pivots;
  Index info = 0;

 private:
  T& at(Index i, Index j) { return A_(static_cast<std::size_t>(i), static_cast<std::size_t>(j)); }
  void chain(Index i, Index j, Range inner) {
    for (Index k = inner.begin; k < inner.end; ++k) at(i, j) = multiply_add(T(-at(i, k)), at(k, j), at(i, j));
  }
  void factor_panel(Range panel) {
    for (Index k = panel.begin; k < panel.end; ++k) {
      Index best = k;
      for (Index i = k + 1; i < schedule_.rows; ++i) {
        if (exact::impl::pivot_rank(at(i, k)) > exact::impl::pivot_rank(at(best, k))) best = i;
      }
      pivots.push_back(best);
      for (Index j = 0; j < schedule_.columns && best != k; ++j) std::swap(at(k, j), at(best, j));
      const T pivot = at(k, k);
      if (pivot == T(0) && info == 0) info = k + 1;
      for (Index i = k + 1; i < schedule_.rows; ++i) {
        if (pivot != T(0)) at(i, k) = quotient(at(i, k), pivot);
        for (Index j = k + 1; j < panel.end; ++j) chain(i, j, {k, k + 1});
      }
    }
  }
  static T quotient(const T& x, const T& pivot) {
    if constexpr (is_complex<T>) {
      const double size =
          std::max(std::abs(static_cast<double>(pivot.real())), std::abs(static_cast<double>(pivot.imag())));
      const int exponent = std::clamp(std::ilogb(size), -1023, 1023);
      const int most = sizeof(Real<T>) == 8 ? 500 : 60;
      const int shift = exponent > -most && exponent < most ? 0 : -exponent;
      const auto scaled = [&](Real<T> part) {
        return static_cast<Real<T>>(std::ldexp(static_cast<double>(part), shift));
      };
      const T p(scaled(pivot.real()), scaled(pivot.imag()));
      const Real<T> square = std::fma(p.real(), p.real(), Real<T>(p.imag() * p.imag()));
      return multiply_add(T(scaled(x.real()), scaled(x.imag())), T(p.real() / square, -p.imag() / square), T(0));
    } else {
      return x / pivot;
    }
  }
  // Solve for U in rows and columns, by halves of whole blocks.
  void solve(Range rows, Range columns) {
    const Index block = schedule_.block;
    if (rows.size() <= block) {
      for (Index j = columns.begin; j < columns.end; ++j) {
        for (Index i = rows.begin; i < rows.end; ++i) chain(i, j, {rows.begin, i});
      }
      return;
    }
    const Index half = rows.begin + ((rows.size() + block - 1) / block + 1) / 2 * block;
    solve({rows.begin, half}, columns);
    subtract({half, rows.end}, {rows.begin, half}, columns);
    solve({half, rows.end}, columns);
  }
  void subtract(Range rows, Range inner, Range columns) {
    if (rows.empty() || columns.empty() || inner.empty()) return;
    if (inner.size() <= schedule_.block) {
      for (Index j = columns.begin; j < columns.end; ++j) {
        for (Index i = rows.begin; i < rows.end; ++i) chain(i, j, inner);
      }
      return;
    }
    const auto part = [&](Range of_rows, Range of_columns) {
      return on_device<T>(test::host_matrix<T>(of_rows.size(), of_columns.size(), [&](Index i, Index j) {
        return at(of_rows.begin + i, of_columns.begin + j);
      }));
    };
    const MatrixView<T> C = part(rows, columns);
    EmulatedGemm<T> multiply(ExecutionSpace(), rows.size(), columns.size(), inner.size(), {.moduli = moduli_});
    multiply(Operation::none, Operation::none, T(-1), part(rows, inner), part(inner, columns), T(1), C);
    const HostMatrix<T> found = test::to_host<T>(C);
    for (Index j = 0; j < columns.size(); ++j) {
      for (Index i = 0; i < rows.size(); ++i) {
        at(rows.begin + i, columns.begin + j) = found(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      }
    }
  }

  HostMatrix<T> A_;
  impl::LuSchedule schedule_;
  int moduli_;
};

using test::same_bits;

// max |P A - L U| / (|L| |U|), over the bound of theorem 9.3 for `steps` terms.
template <Scalar T> double residual(const HostMatrix<T>& A, const HostMatrix<T>& LU, const std::vector<Index>& pivots) {
  using test::wide;
  using Wide = test::Wide<T>;
  const std::size_t m = A.extent(0);
  const std::size_t n = A.extent(1);
  std::vector<std::size_t> order(m);
  for (std::size_t i = 0; i < m; ++i) order[i] = i;
  for (std::size_t k = 0; k < pivots.size(); ++k) std::swap(order[k], order[static_cast<std::size_t>(pivots[k])]);
  const double unit = static_cast<double>(unit_roundoff<T>) * (is_complex<T> ? 3 : 1);
  double worst = 0;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < m; ++i) {
      Wide sum = -wide(A(order[i], j));
      long double sizes = 0;
      for (std::size_t k = 0; k <= std::min({i, j, pivots.size() - 1}); ++k) {
        const Wide l = k == i ? Wide(1) : wide(LU(i, k));
        sum += l * wide(LU(k, j));
        sizes += std::abs(l) * std::abs(wide(LU(k, j)));
      }
      const double bound = unit * static_cast<double>(std::min(i, j) + 4) * static_cast<double>(sizes);
      const double off = static_cast<double>(std::abs(sum));
      worst = std::max(worst, off == 0 ? 0.0 : off / bound);
    }
  }
  return worst;
}

template <class T> class LuFactors : public test::OverRanks<T> {
 protected:
  using test::OverRanks<T>::comm;

  // Factor over the ranks and return the factors on every rank.
  HostMatrix<T> factored(const HostMatrix<T>& A, const Placement& placement, const FactorOptions& options,
                         LuReport& report) {
    const DistributedMatrix<T> distributed = this->spread(A, placement);
    report = lu(comm, distributed, options);
    return this->everywhere(distributed);
  }
};
TYPED_TEST_SUITE(LuFactors, test::AllScalars);

TYPED_TEST(LuFactors, EmulatedAreTheirDefinitionToTheBit) {
  using T = TypeParam;
  struct Case {
    Index rows, columns, block, group;
  };
  for (const Case& shape : {Case{1, 1, 0, 0},
                            {7, 7, 8, 4},
                            {33, 33, 8, 1},
                            {70, 70, 8, 4},
                            {97, 97, 16, 8},
                            {90, 41, 8, 4},
                            {40, 93, 8, 2},
                            {130, 130, 4, 2},
                            {64, 64, 4, 16}}) {
    SCOPED_TRACE(
        message_of(shape.rows, " x ", shape.columns, ", blocks of ", shape.block, ", groups of ", shape.group));
    const HostMatrix<T> A = test::host_random<T>(shape.rows, shape.columns, 5);
    const HostMatrix<T> expected("expected", A.extent(0), A.extent(1));
    Kokkos::deep_copy(expected, A);
    Definition<T> definition(expected, shape.block == 0 ? 256 : shape.block, shape.group == 0 ? 16 : shape.group);
    definition.factor();
    LuReport report;
    const HostMatrix<T> found =
        this->factored(A, Placement::row_bands(shape.rows, shape.columns, this->comm.size()),
                       {.arithmetic = Arithmetic::emulated, .block = shape.block, .group = shape.group}, report);
    EXPECT_EQ(report.pivots, definition.pivots);
    EXPECT_EQ(report.info, 0);
    EXPECT_TRUE(same_bits<T>(found, expected));
  }
}

TYPED_TEST(LuFactors, BackwardErrorsAreWithinTheBound) {
  using T = TypeParam;
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    for (const auto& [rows, columns] :
         {std::pair<Index, Index>{1, 5}, {5, 1}, {64, 64}, {65, 65}, {150, 150}, {150, 70}, {70, 150}}) {
      SCOPED_TRACE(message_of(to_string(arithmetic), ", ", rows, " x ", columns));
      const HostMatrix<T> A = test::host_random<T>(rows, columns, 9);
      LuReport report;
      const HostMatrix<T> found = this->factored(A, Placement::block_cyclic(rows, columns, 16, 8, 1, this->comm.size()),
                                                 {.arithmetic = arithmetic, .block = 16}, report);
      EXPECT_EQ(report.info, 0);
      EXPECT_LE(residual<T>(A, found, report.pivots), 1.0);
      for (std::size_t j = 0; j < A.extent(1); ++j) {
        for (std::size_t i = j + 1; i < A.extent(0); ++i) ASSERT_LE(Kokkos::abs(found(i, j)), 1.5);
      }
    }
  }
}

TYPED_TEST(LuFactors, AnyRanksAndPlacementsHaveTheBitsOfOneRank) {
  using T = TypeParam;
  const Index n = 301;
  const HostMatrix<T> A = test::host_random<T>(n, n, 11);
  for (const FactorOptions& options : {FactorOptions{.arithmetic = Arithmetic::native},
                                       {.arithmetic = Arithmetic::native, .block = 16, .group = 2},
                                       {.arithmetic = Arithmetic::emulated},
                                       {.arithmetic = Arithmetic::emulated, .block = 32, .group = 4}}) {
    const MatrixView<T> alone = on_device<T>(A);
    const LuReport expected = lu(this->comm.space(), alone, options);
    for (const Placement& placement :
         {Placement::on_rank(n, n, this->comm.size() - 1), Placement::row_bands(n, n, this->comm.size()),
          LuPlan<T>(this->comm, n, n, options).placement()}) {
      SCOPED_TRACE(placement.describe());
      LuReport report;
      const HostMatrix<T> found = this->factored(A, placement, options, report);
      EXPECT_EQ(report.pivots, expected.pivots);
      EXPECT_EQ(report.growth, expected.growth);
      EXPECT_TRUE(same_bits<T>(found, test::to_host<T>(alone)));
    }
  }
}

TYPED_TEST(LuFactors, PivotsAreTheFirstOfTheLargest) {
  using T = TypeParam;
  const Index n = 40;
  const auto of_one_size = [](Index i, Index j) { return T((i * j) % 3 == 0 ? 1 : -1); };
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    LuReport report;
    this->factored(test::host_matrix<T>(n, 1, of_one_size), Placement::on_rank(n, 1, 0), {.arithmetic = arithmetic},
                   report);
    EXPECT_EQ(report.pivots, std::vector<Index>{0});
    // The largest element occurs twice.
    this->factored(test::host_matrix<T>(n, 1, [](Index i, Index) { return T(i == 17 || i == 23 ? -2 : 1); }),
                   Placement::on_rank(n, 1, 0), {.arithmetic = arithmetic}, report);
    EXPECT_EQ(report.pivots, std::vector<Index>{17});
    const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
    this->factored(test::host_matrix<T>(n, 1, [&](Index i, Index) { return i < 5 ? nan : T(i == 30 ? 3 : 1); }),
                   Placement::on_rank(n, 1, 0), {.arithmetic = arithmetic}, report);
    EXPECT_EQ(report.pivots, std::vector<Index>{30});
  }
}

TYPED_TEST(LuFactors, SingularMatricesAreFactoredToTheEnd) {
  using T = TypeParam;
  const Index n = 50;
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    LuReport report;
    const HostMatrix<T> zero("zero", n, n);
    this->factored(zero, Placement::row_bands(n, n, this->comm.size()), {.arithmetic = arithmetic, .block = 8}, report);
    EXPECT_EQ(report.info, 1);
    EXPECT_EQ(report.growth, 1.0);
    // A column of zeros, and a column that depends on another.
    const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
      return j == 33 ? T(0) : j == i ? T(4) : T(j == 41 && i == 12 ? 1 : 0);
    });
    const HostMatrix<T> found = this->factored(A, Placement::row_bands(n, n, this->comm.size()),
                                               {.arithmetic = arithmetic, .block = 8}, report);
    EXPECT_EQ(report.info, 34);
    EXPECT_EQ(found(33, 33), T(0));
    EXPECT_EQ(found(49, 49), T(4));
  }
}

TYPED_TEST(LuFactors, EdgesOfTheRange) {
  using T = TypeParam;
  using R = Real<T>;
  const Index n = 24;
  for (const R size : {std::numeric_limits<R>::denorm_min() * R(1 << 12), std::numeric_limits<R>::max() / R(1 << 10)}) {
    const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
      return T(size * static_cast<R>(std::round(8 * test::random_number(i, j, 3)))) +
             (i == (7 * j) % n ? T(size * R(64)) : T(0));
    });
    LuReport report;
    const HostMatrix<T> found = this->factored(A, Placement::row_bands(n, n, this->comm.size()),
                                               {.arithmetic = Arithmetic::emulated, .block = 4, .group = 2}, report);
    for (Index k = 0; k < n; ++k) {
      EXPECT_TRUE(std::isfinite(real_of<R>(found(static_cast<std::size_t>(k), static_cast<std::size_t>(k)))));
    }
    EXPECT_LT(report.growth, 8.0);
    EXPECT_EQ(report.info, 0);
  }
}

TYPED_TEST(LuFactors, EmptyMatrices) {
  using T = TypeParam;
  for (const auto& [rows, columns] : {std::pair<Index, Index>{0, 0}, {0, 4}, {4, 0}}) {
    LuReport report;
    this->factored(HostMatrix<T>("empty", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)),
                   Placement::row_bands(rows, columns, this->comm.size()), {}, report);
    EXPECT_TRUE(report.pivots.empty());
    EXPECT_EQ(report.info, 0);
  }
}

TYPED_TEST(LuFactors, RefusesWhatCannotBe) {
  using T = TypeParam;
  EXPECT_THROW(LuPlan<T>(this->comm, 4, 4, {.block = -1}), Error);
  EXPECT_THROW(LuPlan<T>(this->comm, 4, 4, {.group = 3}), Error);
  LuPlan<T> plan(this->comm, 4, 4);
  const DistributedMatrix<T> A(this->comm, Placement::row_bands(4, 5, this->comm.size()), "A");
  EXPECT_THROW(plan.execute(A), Error);
}

}  // namespace
}  // namespace heddle::lu_test
