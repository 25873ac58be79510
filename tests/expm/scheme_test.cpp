#include "expm/scheme.hpp"

#include "support/multiprecision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heddle::impl {
namespace {

using test::Number;

// |log(exp(-x) T_m(x))| / |x| for a number x, which the bound must cover at theta = |x|.
double scalar_backward_error(int degree, double x) {
  Number sum(1.0);
  Number term(1.0);
  for (int k = 1; k <= degree; ++k) {
    term *= Number(x);
    term /= Number(k);
    sum += term;
  }
  // log(1 + d) = d - d^2 / 2 to far below the tolerance of the test, for d this small.
  Number d = Number::exp(Number(-x));
  d *= sum;
  d -= Number(1.0);
  const double value = d.to_double();
  return std::abs(value - value * value / 2.0) / std::abs(x);
}

TEST(Scheme, BackwardErrorBoundsTheScalarOneAndIsSharpBelowZero) {
  for (const int degree : {1, 2, 4, 9, 16, 25, 36}) {
    for (const double theta : {1e-3, 0.05, 0.3, 1.0, 2.0}) {
      const double bound = backward_error(degree, theta);
      // exp(t) under the integral: sharp at x = -theta.
      const double reached = scalar_backward_error(degree, -theta);
      // Below that, 256 bits don't resolve the scalar error.
      if (bound < 1e-2 && bound > 1e-70) {
        EXPECT_GE(bound * (1 + 1e-12), reached) << degree << ' ' << theta;
        EXPECT_GE(bound * (1 + 1e-12), scalar_backward_error(degree, theta));
        EXPECT_LE(bound, 1.02 * reached) << degree << ' ' << theta;
      }
    }
  }
}

TEST(Scheme, BackwardErrorAtTheEdges) {
  EXPECT_EQ(backward_error(5, 0.0), 0.0);
  EXPECT_EQ(backward_error(5, 50.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(backward_error(5, std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
  EXPECT_GT(backward_error(1, 1e-300), 0.0);
}

TEST(Scheme, ChosenSchemeMeetsTheToleranceAndSavesProducts) {
  for (const double tolerance : {0x1p-53, 0x1p-24, 1e-2}) {
    for (const double norm : {0.0, 1e-300, 1e-8, 0.1, 1.0, 7.0, 1e3, 1e10}) {
      for (const ProductCosts costs : {ProductCosts{1, 1, 1}, ProductCosts{1, 2, 3}, ProductCosts{4, 4, 4}}) {
        const Scheme scheme = choose_scheme(PowerNorms(norm), tolerance, costs);
        EXPECT_EQ(scheme.degree, scheme.powers * scheme.blocks);
        EXPECT_LE(backward_error(scheme.degree, std::ldexp(norm, -scheme.squarings)), tolerance);
        // Never worse than the plain series, term by term, without scaling.
        if (norm <= 1.0) {
          int degree = 1;
          while (backward_error(degree, norm) > tolerance) {
            ++degree;
          }
          EXPECT_LE(products_of(scheme, costs), (degree - 1) * costs.horner);
        }
      }
    }
  }
}

TEST(Scheme, TheZeroMatrixCostsNothing) {
  const Scheme scheme = choose_scheme(PowerNorms(0.0), 0x1p-53, {1, 1, 1});
  EXPECT_EQ(products_of(scheme, {1, 1, 1}), 0);
}

}  // namespace
}  // namespace heddle::impl
