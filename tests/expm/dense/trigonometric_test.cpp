// Chebyshev series of cos and sin, their errors, and the reach of their schemes.
#include "expm/dense/trigonometric.hpp"

#include "expm/arithmetic/bessel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::impl::trigonometric_test {
namespace {

TEST(Trigonometric, BesselFunctionsAreTheLibrarys) {
  for (const double x : {1e-12, 1e-5, 0.3, 1.0, 3.5, 12.0, 60.0, 400.0}) {
    const std::vector<double> values = bessel_functions(x, 90);
    ASSERT_EQ(values.size(), 91U);
    for (int k = 0; k <= 90; ++k) {
      EXPECT_NEAR(values[static_cast<std::size_t>(k)], std::cyl_bessel_j(k, x), 4e-13) << k << ' ' << x;
    }
  }
  // Far beyond x, values keep their relative accuracy: (x/2)^k / k!.
  EXPECT_NEAR(bessel_functions(0.5, 30)[30] / 3.2e-51, 1.0, 0.1);
}

TEST(Trigonometric, ModifiedBesselFunctionsAreTheLibrarys) {
  for (const double x : {0.0, 1e-12, 1e-5, 0.3, 3.5, 60.0, 400.0}) {
    const std::vector<double> values = bessel_functions(x, 90, Bessel::modified);
    ASSERT_EQ(values.size(), 91U);
    for (int k = 0; k <= 90; ++k) {
      EXPECT_NEAR(values[static_cast<std::size_t>(k)], std::exp(-x) * std::cyl_bessel_i(k, x), 4e-13) << k << ' ' << x;
    }
  }
}

double chebyshev(double z, int k) {
  return std::cos(k * std::acos(std::clamp(z, -1.0, 1.0)));
}

// Sum of the blocks by Horner's rule in T_powers, in the order of matrices.
double by_blocks(const std::vector<double>& series, int powers, double z) {
  const auto blocks = horner_blocks(series, powers);
  double result = 0.0;
  for (std::size_t block = blocks.size(); block-- > 0;) {
    double sum = 0.0;
    for (std::size_t k = 0; k < blocks[block].size(); ++k) sum += blocks[block][k] * chebyshev(z, static_cast<int>(k));
    result = result * chebyshev(z, powers) + sum;
  }
  return result;
}

TEST(Trigonometric, ChosenSchemesGiveCosAndSinToTheTolerance) {
  for (const double tolerance : {0x1p-53, 0x1p-24, 1e-6, 1e-2}) {
    for (const double norm : {1e-9, 1e-4, 0.1, 0.9, 2.2, 5.0, 13.0, 40.0, 1e4}) {
      for (const TrigonometricCosts costs :
           {TrigonometricCosts{1, 2, 4}, TrigonometricCosts{1, 2, 0}, TrigonometricCosts{3, 6, 0}}) {
        const TrigonometricScheme scheme = choose_trigonometric(norm, tolerance, costs);
        EXPECT_DOUBLE_EQ(scheme.theta * scheme.angles(), norm);
        EXPECT_TRUE(costs.quintuple > 0 || scheme.quintuplings == 0);
        EXPECT_LE(trigonometric_error(scheme.degree(), scheme.theta), tolerance);
        const TrigonometricSeries series = trigonometric_series(scheme.degree(), scheme.theta);
        ASSERT_EQ(series.cosine.size(), static_cast<std::size_t>(scheme.degree()) + 1);
        for (int i = -40; i <= 40; ++i) {
          const double t = i / 40.0;
          const double z = 2 * t * t - 1;
          const int powers = std::max(scheme.powers, 1);
          // Coefficients of several blocks grow a little.
          const double rounding = 40 * std::numeric_limits<double>::epsilon();
          EXPECT_NEAR(by_blocks(series.cosine, powers, z), std::cos(scheme.theta * t),
                      tolerance * std::max(1.0, scheme.theta) + rounding);
          EXPECT_NEAR(t * by_blocks(series.sine, powers, z), std::sin(scheme.theta * t),
                      (tolerance + rounding) * scheme.theta);
        }
      }
    }
  }
}

TEST(Trigonometric, AndNoneThatCostsLessWouldDo) {
  for (const double norm : {0.05, 0.5, 3.0, 9.0, 70.0}) {
    const TrigonometricCosts costs{};
    const int products = products_of(choose_trigonometric(norm, 0x1p-53, costs), costs);
    for (int powers = 0; powers <= TrigonometricScheme::most_powers; ++powers) {
      for (int blocks = 1; blocks <= TrigonometricScheme::most_blocks; ++blocks) {
        for (int squarings = 0; squarings < 12; ++squarings) {
          for (int quintuplings = 0; quintuplings <= TrigonometricScheme::most_quintuplings; ++quintuplings) {
            TrigonometricScheme scheme{
                .powers = powers, .blocks = blocks, .squarings = squarings, .quintuplings = quintuplings};
            scheme.theta = norm / scheme.angles();
            if (products_of(scheme, costs) < products) {
              EXPECT_GT(trigonometric_error(scheme.degree(), scheme.theta), 0x1p-53);
            }
          }
        }
      }
    }
  }
}

// 5 complex products up to 2.2 (Bader, Blanes, Seydaoglu) are 15 real ones, of whole matrices.
TEST(Trigonometric, ReachesAsFarAsDocumented) {
  const double thetas[] = {4e-4, 0.012, 0.070, 0.21, 0.834, 1.96, 3.50, 5.33, 8.49, 12.0, 14.4};
  int products = 2;
  for (const double theta : thetas) {
    EXPECT_LE(products_of(choose_trigonometric(0.95 * theta, 0x1p-53, {}), {}), products) << theta;
    // Four more products multiply the angle by five.
    EXPECT_LE(products_of(choose_trigonometric(5 * 0.95 * theta, 0x1p-53, {}), {}), products + 4) << theta;
    ++products;
  }
}

TEST(Trigonometric, TheErrorBoundAtTheEdges) {
  EXPECT_EQ(trigonometric_error(3, 0.0), 0.0);
  EXPECT_EQ(trigonometric_error(3, 100.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(trigonometric_error(3, std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
  // Size of the first omitted term at t = 1.
  for (const double theta : {0.5, 2.0, 6.0}) {
    for (const int degree : {4, 8, 12}) {
      const TrigonometricSeries series = trigonometric_series(degree, theta);
      double sum = 0.0;
      for (const double coefficient : series.cosine) sum += coefficient;
      const double off = std::abs(sum - std::cos(theta));
      if (off > 1e-14) {
        EXPECT_LE(off, trigonometric_error(degree, theta) * std::max(1.0, theta));
      }
    }
  }
}

}  // namespace
}  // namespace heddle::impl::trigonometric_test
