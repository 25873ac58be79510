// Savings of expm if the powers of A are smaller than its norm suggests, and no losses otherwise.
#include "expm/dense/scheme.hpp"
#include "support/matrices.hpp"
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

namespace heddle::powers_test {
namespace {

// The scheme for the norm alone.
impl::Scheme scheme_of_norm(double norm, double tolerance, const impl::ProductCosts& costs) {
  return impl::choose_scheme(impl::PowerNorms(norm), tolerance, costs);
}

// The same for Paterson and Stockmeyer's own shapes only, with as many blocks as powers or one less.
impl::Scheme square_scheme_of_norm(double norm, double tolerance, const impl::ProductCosts& costs) {
  impl::Scheme best;
  int least = std::numeric_limits<int>::max();
  for (int powers = 1; powers <= impl::Scheme::most_powers; ++powers) {
    for (int blocks = std::max(powers - 1, 1); blocks <= powers; ++blocks) {
      impl::Scheme scheme{.degree = powers * blocks, .powers = powers, .blocks = blocks};
      while (impl::backward_error(scheme.degree, std::ldexp(norm, -scheme.squarings)) > tolerance) {
        ++scheme.squarings;
      }
      const int products = impl::products_of(scheme, costs);
      best = products < least ? scheme : best;
      least = std::min(least, products);
    }
  }
  return best;
}

template <Scalar T> impl::ProductCosts costs_of() {
  return is_complex<T> ? impl::ProductCosts{3, 3, 3} : impl::ProductCosts{1, 1, 1};
}

ExpmOptions with_tile(Index tile, double tolerance = 0.0) {
  ExpmOptions options{.tolerance = tolerance};
  options.gemm.tile = tile;
  return options;
}

// Functors, since nvcc accepts no KOKKOS_LAMBDA in the body of a test.

// [0 B; 0 0]: the square is zero in any arithmetic.
template <Scalar T> struct UpperRightBlock {
  Index half;
  double size;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    return i < half && j >= half ? T(static_cast<Real<T>>(size * test::random_number(i, j, 3))) : T(0);
  }
};

// [M M; -M -M]: the square is zero, except for rounding.
template <Scalar T> struct Cancelling {
  Index half;
  double size;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    const T entry = test::RandomEntries<T>{4}(i % half, j % half);
    return static_cast<Real<T>>(i < half ? size : -size) * entry;
  }
};

// [d B; 0 -d]: the square is d^2 I.
template <Scalar T> struct Involution {
  Index half;
  double diagonal;
  double size;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    if (i == j) {
      return T(static_cast<Real<T>>(i < half ? diagonal : -diagonal));
    }
    return UpperRightBlock<T>{half, size}(i, j);
  }
};

struct PositiveSymmetric {
  double size;
  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const {
    return size * (1.0 + 0.5 * test::SymmetricEntries{5}(i, j));
  }
};

// max |found - (identity I + factor A)|, relative to the largest element of A and to 1.
template <Scalar T>
double distance_from_linear(const DistributedMatrix<T>& found, const DistributedMatrix<T>& A, double identity,
                            double factor) {
  const DistributedMatrix<T> difference(found.communicator(), found.placement());
  copy(found, difference);
  add(T(static_cast<Real<T>>(-factor)), A, difference);
  add_identity(T(static_cast<Real<T>>(-identity)), difference);
  const auto scale = std::max(1.0, static_cast<double>(norm(A, Norm::maximum)));
  return static_cast<double>(norm(difference, Norm::maximum)) / scale;
}

template <class T> class ExpmOfPowers : public ::testing::Test {
 protected:
  Communicator comm = test::world();
  Index n = 18;
  Placement bands = Placement::row_bands(n, n, comm.size());
  DistributedMatrix<T> A{comm, bands};
  DistributedMatrix<T> E{comm, bands};
  [[nodiscard]] int products_by_norm(const ExpmReport& report, double tolerance = 0.0) const {
    const double wanted = tolerance > 0.0 ? tolerance : static_cast<double>(unit_roundoff<T>);
    return impl::products_of(scheme_of_norm(report.norm1, wanted, costs_of<T>()), costs_of<T>());
  }
};
TYPED_TEST_SUITE(ExpmOfPowers, test::AllScalars);

TYPED_TEST(ExpmOfPowers, AZeroSquareEndsTheSeries) {
  using T = TypeParam;
  for (const double size : {1.0, 20.0, 100.0}) {
    for (const double tolerance : {0.0, 1e-3}) {
      fill(this->A, UpperRightBlock<T>{9, size});
      const ExpmReport report = expm(this->comm, this->A, this->E, with_tile(7, tolerance));
      EXPECT_EQ(report.alpha, 0.0);
      EXPECT_EQ(report.degree, 2);
      // For a complex A whose imaginary part is zero, only the real part is computed.
      EXPECT_EQ(report.products, 1) << size;
      EXPECT_LT(report.products, this->products_by_norm(report, tolerance));
      EXPECT_EQ(distance_from_linear(this->E, this->A, 1.0, 1.0), 0.0) << "I + A, exactly";
    }
  }
}

TYPED_TEST(ExpmOfPowers, ASquareOfRoundingErrorsCostsLittle) {
  using T = TypeParam;
  for (const double size : {0.25, 4.0}) {
    fill(this->A, Cancelling<T>{9, size});
    const ExpmReport report = expm(this->comm, this->A, this->E, with_tile(7));
    EXPECT_LT(report.alpha, 0.05 * report.norm1);
    EXPECT_LE(2 * report.products, this->products_by_norm(report)) << report.alpha << ' ' << report.norm1;
    // exp has condition ||A||^2 / 6 here: a change of A by X changes it by X + (A X + X A) / 2 + A X A / 6.
    const double condition = 1.0 + report.norm1 + report.norm1 * report.norm1 / 6;
    EXPECT_LE(distance_from_linear(this->E, this->A, 1.0, 1.0),
              static_cast<double>(this->n) * unit_roundoff<T> * condition);
  }
}

TYPED_TEST(ExpmOfPowers, ALargeBlockBesideASmallSpectrum) {
  using T = TypeParam;
  for (const double size : {10.0, 100.0}) {
    const double d = 0.75;
    fill(this->A, Involution<T>{9, d, size});
    const ExpmReport report = expm(this->comm, this->A, this->E, with_tile(7));
    EXPECT_LT(report.alpha, 4.0);
    EXPECT_LT(report.products, this->products_by_norm(report));
    EXPECT_LE(distance_from_linear(this->E, this->A, std::cosh(d), std::sinh(d) / d),
              static_cast<double>(this->n) * unit_roundoff<T> * report.norm1);
  }
}

TYPED_TEST(ExpmOfPowers, NormsUpToTheLargestNumber) {
  using T = TypeParam;
  // Powers would overflow, but exp(A) = I + A does not.
  fill(this->A, UpperRightBlock<T>{9, static_cast<double>(std::numeric_limits<Real<T>>::max()) / 64});
  const ExpmReport report = expm(this->comm, this->A, this->E, with_tile(7));
  EXPECT_EQ(report.alpha, 0.0);
  EXPECT_EQ(report.squarings, 0);
  EXPECT_LE(report.products, this->products_by_norm(report));
  EXPECT_LE(distance_from_linear(this->E, this->A, 1.0, 1.0), 1024 * unit_roundoff<T>);
}

TYPED_TEST(ExpmOfPowers, ScalingOfCoefficientsIsThatOfTheMatrix) {
  using T = TypeParam;
  // A^2 = 900 I: exp(A) = cosh(30) I + sinh(30) / 30 A.
  fill(this->A, Involution<T>{9, 30.0, 200.0});
  const ExpmReport report = expm(this->comm, this->A, this->E, with_tile(7));
  EXPECT_GT(report.squarings, 1);
  EXPECT_LT(report.alpha, report.norm1);
  EXPECT_LE(report.products, this->products_by_norm(report));
  const DistributedMatrix<T> scaled(this->comm, this->bands);
  copy(this->E, scaled);
  scale(T(static_cast<Real<T>>(std::exp(-30.0))), scaled);
  EXPECT_LE(distance_from_linear(scaled, this->A, std::exp(-30.0) * std::cosh(30.0),
                                 std::exp(-30.0) * std::sinh(30.0) / 30.0),
            static_cast<double>(this->n) * unit_roundoff<T> * report.norm1);
}

TYPED_TEST(ExpmOfPowers, ARandomMatrixIsCheaperThanItsNormAndAsAccurate) {
  using T = TypeParam;
  const Index size = 128;
  const Placement placement = Placement::row_bands(size, size, this->comm.size());
  const auto random = test::random_matrix<T>(this->comm, placement, 21);
  scale(T(static_cast<Real<T>>(10.0 / static_cast<double>(norm(random, Norm::one)))), random);
  const DistributedMatrix<T> result(this->comm, placement);
  const DistributedMatrix<T> series(this->comm, placement);
  for (const double tolerance : {0.0, 1e-4}) {
    const ExpmReport report = expm(this->comm, random, result, with_tile(48, tolerance));
    EXPECT_LE(report.products + (is_complex<T> ? 3 : 1), this->products_by_norm(report, tolerance))
        << report.products << ' ' << this->products_by_norm(report, tolerance);
    ExpmOptions by_terms = with_tile(48);
    by_terms.method = ExpmMethod::taylor;
    by_terms.degree = 60;
    EXPECT_EQ(expm(this->comm, random, series, by_terms).alpha, 0.0);
    const auto whole = static_cast<double>(norm(series, Norm::one));
    add(T(-1), result, series);
    EXPECT_LE(static_cast<double>(norm(series, Norm::one)),
              (tolerance + static_cast<double>(size) * unit_roundoff<T>)*report.norm1 * whole);
  }
}

TEST(ExpmOfPowersParts, ImaginaryPartsGainAsRealOnesDo) {
  const Communicator comm = test::world();
  const Index n = 18;
  const Placement bands = Placement::row_bands(n, n, comm.size());
  const DistributedMatrix<double> H(comm, bands);
  const SplitMatrix<double> E{DistributedMatrix<double>(comm, bands), DistributedMatrix<double>(comm, bands)};
  fill(H, UpperRightBlock<double>{9, 20.0});
  ExpmPlan<double> plan(comm, with_tile(7));
  EXPECT_EQ(plan.execute({std::nullopt, H}, E).products, 1);
  EXPECT_EQ(distance_from_linear(*E.imaginary, H, 0.0, 1.0), 0.0);
  EXPECT_EQ(distance_from_linear(*E.real, H, 1.0, 0.0), 0.0);
  // exp(i A) = cos(d) I + i sin(d) / d A.
  const double d = 0.75;
  fill(H, Involution<double>{9, d, 10.0});
  const ExpmReport report = plan.execute({std::nullopt, H}, E);
  EXPECT_LT(report.products, impl::products_of(scheme_of_norm(report.norm1, 0x1p-53, {1, 2, 3}), {1, 2, 3}));
  EXPECT_LE(distance_from_linear(*E.imaginary, H, 0.0, std::sin(d) / d), 18 * 0x1p-53 * report.norm1);
  EXPECT_LE(distance_from_linear(*E.real, H, std::cos(d), 0.0), 18 * 0x1p-53 * report.norm1);
}

TEST(ExpmOfPowersParts, NothingIsLostWhereNothingIsGained) {
  const Communicator comm = test::world();
  const Index n = 24;
  const Placement bands = Placement::row_bands(n, n, comm.size());
  const DistributedMatrix<double> H(comm, bands);
  const SplitMatrix<double> E{DistributedMatrix<double>(comm, bands), DistributedMatrix<double>(comm, bands)};
  for (const double size : {1e-20, 1e-3, 0.1, 1.0, 10.0, 300.0}) {
    fill(H, PositiveSymmetric{1.0});
    scale(size / norm(H, Norm::one), H);
    for (const bool is_real : {true, false}) {
      int last = 0;
      int least_total = std::numeric_limits<int>::max();
      ExpmOptions options = with_tile(8);
      options.progress = [&](int done, int total) {
        EXPECT_EQ(done, ++last);
        EXPECT_LE(done, total);
        EXPECT_LE(total, least_total);
        least_total = total;
      };
      ExpmPlan<double> plan(comm, options);
      const ExpmReport report = is_real ? plan.execute({H, std::nullopt}, E) : plan.execute({std::nullopt, H}, E);
      const impl::ProductCosts costs = is_real ? impl::ProductCosts{1, 1, 1} : impl::ProductCosts{1, 2, 3};
      EXPECT_LE(report.products, impl::products_of(square_scheme_of_norm(report.norm1, 0x1p-53, costs), costs)) << size;
      EXPECT_EQ(report.products, last);
      EXPECT_LE(report.alpha, report.norm1 * (1 + 1e-9));
    }
  }
}

TEST(ExpmOfPowersParts, SameBitsAndSchemeOnAnyRanks) {
  const Communicator comm = test::world();
  const Communicator alone(MPI_COMM_SELF);
  const Index n = 45;
  for (const double size : {0.01, 0.2, 3.0}) {
    const auto exponential = [&](const Communicator& on) {
      const Placement bands = Placement::row_bands(n, n, on.size());
      const SplitMatrix<double> A{test::random_matrix<double>(on, bands, 1), test::random_matrix<double>(on, bands, 2)};
      scale(size, *A.real);
      scale(size, *A.imaginary);
      const SplitMatrix<double> E{DistributedMatrix<double>(on, bands), DistributedMatrix<double>(on, bands)};
      const ExpmReport report = ExpmPlan<double>(on, with_tile(16)).execute(A, E);
      return std::tuple(gather(*E.real, 0), gather(*E.imaginary, 0), report);
    };
    const auto [real, imaginary, report] = exponential(comm);
    const auto [real_alone, imaginary_alone, report_alone] = exponential(alone);
    EXPECT_EQ(report.alpha, report_alone.alpha);
    EXPECT_EQ(report.degree, report_alone.degree);
    EXPECT_EQ(report.squarings, report_alone.squarings);
    EXPECT_EQ(report.products, report_alone.products);
    EXPECT_LT(report.alpha, report.norm1);
    if (comm.rank() == 0) {
      EXPECT_TRUE(test::same_bits(real, real_alone)) << size;
      EXPECT_TRUE(test::same_bits(imaginary, imaginary_alone)) << size;
    }
  }
}

}  // namespace
}  // namespace heddle::powers_test
