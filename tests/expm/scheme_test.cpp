#include "expm/scheme.hpp"

#include "support/multiprecision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Scheme, AlphaOfTheNormAloneIsTheNorm) {
  for (const double norm : {0.0, 1e-300, 0.3, 7.0, 1e300}) {
    for (const int degree : {1, 2, 9, 36}) {
      EXPECT_EQ(PowerNorms(norm).alpha(degree), norm);
    }
  }
}

// ||A^k|| of [d b; 0 -d]: d^k for even k, and for odd ones d^(k-1) ||A||.
TEST(Scheme, AlphaCoversEachPowerBeyondTheDegreeAndIsAtMostThatOfTwoPowers) {
  for (const double d : {0.25, 1.5}) {
    for (const double b : {0.0, 1.0, 1e3, 1e15}) {
      const auto norm_of_power = [&](int k) { return k % 2 == 0 ? std::pow(d, k) : std::pow(d, k - 1) * (d + b); };
      PowerNorms norms(norm_of_power(1));
      double last[37] = {};
      for (int m = 1; m <= 36; ++m) {
        last[m] = norms.alpha(m);
      }
      for (int known = 2; known <= Scheme::most_powers; ++known) {
        norms.add(norm_of_power(known));
        EXPECT_EQ(norms.known(), known);
        for (int m = 1; m <= 36; ++m) {
          const double alpha = norms.alpha(m);
          EXPECT_LE(alpha, last[m] * (1 + 1e-12)) << "more is known";
          last[m] = alpha;
          for (int k = m + 1; k <= 150; ++k) {
            EXPECT_LE(std::log(norm_of_power(k)), k * std::log(alpha) + 1e-9) << k;
          }
          // Al-Mohy and Higham (2009), theorem 4.2.
          for (int p = 1; p < known; ++p) {
            if (p * (p - 1) <= m + 1) {
              EXPECT_LE(alpha, (1 + 1e-12) * std::max(std::pow(norm_of_power(p), 1.0 / p),
                                                      std::pow(norm_of_power(p + 1), 1.0 / (p + 1))));
            }
          }
        }
      }
    }
  }
}

TEST(Scheme, PowersThatVanishOrOverflow) {
  PowerNorms nilpotent(1e9);
  nilpotent.add(1e15);
  nilpotent.add(0.0);
  EXPECT_NEAR(nilpotent.alpha(1), std::sqrt(1e15), 1e-12 * std::sqrt(1e15)) << "A^2 counts";
  EXPECT_GE(nilpotent.alpha(1), std::sqrt(1e15));
  EXPECT_EQ(nilpotent.alpha(2), 0.0);
  const Scheme scheme = choose_scheme(nilpotent, 0x1p-53, {1, 1, 1});
  EXPECT_EQ(scheme.degree, 3);
  EXPECT_EQ(scheme.squarings, 0);
  PowerNorms unknown(8.0);
  unknown.add(std::numeric_limits<double>::infinity());
  unknown.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_DOUBLE_EQ(unknown.alpha(9), 8.0);
}

// Making the next power as long as the scheme of the moment wants it never comes to more than the first scheme.
TEST(Scheme, LearningNeverCostsAProduct) {
  for (const ProductCosts costs : {ProductCosts{1, 1, 1}, ProductCosts{1, 2, 3}, ProductCosts{3, 3, 3}}) {
    for (const double norm : {1e-3, 0.2, 1.0, 10.0, 1e4}) {
      for (const double spectral : {1.0, 0.9, 0.5, 0.1}) {
        for (const double tolerance : {0x1p-53, 0x1p-24, 1e-2}) {
          PowerNorms norms(norm);
          Scheme scheme = choose_scheme(norms, tolerance, costs);
          const int before = products_of(scheme, costs);
          while (norms.known() < scheme.powers) {
            norms.add(norm * std::pow(norm * spectral, norms.known()));
            scheme = choose_scheme(norms, tolerance, costs);
            EXPECT_GE(scheme.powers, norms.known());
            EXPECT_LE(products_of(scheme, costs), before);
            EXPECT_LE(backward_error(scheme.degree, std::ldexp(norms.alpha(scheme.degree), -scheme.squarings)),
                      tolerance);
          }
        }
      }
    }
  }
}

TEST(Scheme, ScalingBeforePowersKeepsThemInRange) {
  EXPECT_EQ(scaling_before_powers(0.0, 128), 0);
  EXPECT_EQ(scaling_before_powers(1000.0, 128), 0);
  EXPECT_EQ(scaling_before_powers(1e20, 1024), 0);
  for (const double norm : {1e4, 1e38, 1e300}) {
    for (const int max_exponent : {128, 1024}) {
      const double left = std::ldexp(norm, -scaling_before_powers(norm, max_exponent));
      EXPECT_LE(12 * std::log2(left), max_exponent);
    }
  }
}

TEST(Scheme, TheZeroMatrixCostsNothing) {
  const Scheme scheme = choose_scheme(PowerNorms(0.0), 0x1p-53, {1, 1, 1});
  EXPECT_EQ(products_of(scheme, {1, 1, 1}), 0);
}

}  // namespace
}  // namespace heddle::impl
