// Choice of schemes and bounds of backward errors against 256 bits and the literature.
#include "expm/dense/scheme.hpp"

#include "support/multiprecision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::impl::scheme_test {
namespace {

using test::Number;

// |log(exp(-x) T_m(x))| / |x| for a number x; the bound must cover it at theta = |x|.
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
        const PowerNorms norms(norm);
        const Scheme scheme = choose_scheme(norms, tolerance, costs);
        EXPECT_EQ(scheme.degree, scheme.few != nullptr ? scheme.few->degree : scheme.powers * scheme.blocks);
        EXPECT_LE(backward_error(scheme, norms), tolerance);
        for (const Evaluations evaluations : {Evaluations::paterson_stockmeyer, Evaluations::few_products}) {
          const Scheme one = choose_scheme(norms, tolerance, costs, evaluations);
          EXPECT_LE(backward_error(one, norms), tolerance);
          EXPECT_GE(products_of(one, costs), products_of(scheme, costs));
          EXPECT_TRUE(evaluations == Evaluations::few_products || one.few == nullptr);
        }
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

// ||A^k|| of [d b; 0 -d]: d^k for even k, and d^(k-1) ||A|| for odd k.
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

TEST(Scheme, HalvingsAreUndoneWhereThePowersAreSmall) {
  for (const ProductCosts costs : {ProductCosts{1, 1, 1}, ProductCosts{3, 3, 3}}) {
    for (const Evaluations evaluations :
         {Evaluations::all, Evaluations::paterson_stockmeyer, Evaluations::few_products}) {
      // A norm of 2^100, halved to 2^80: A^2 = 0.
      PowerNorms norms(0x1p80);
      EXPECT_GT(choose_scheme(norms, 0x1p-53, costs, evaluations, Wanted::exponential, 20).squarings, 60);
      norms.add(0.0);
      const Scheme scheme = choose_scheme(norms, 0x1p-53, costs, evaluations, Wanted::exponential, 20);
      EXPECT_EQ(scheme.squarings, -20);
      EXPECT_EQ(scheme.blocks, 1);
      EXPECT_EQ(scheme.few, nullptr);
      // A D A is a nonzero derivative of a power.
      const Scheme derivative = choose_scheme(norms, 0x1p-53, costs, evaluations, Wanted::derivative, 20);
      EXPECT_EQ(derivative.powers, 3);
      EXPECT_EQ(derivative.squarings, -20);
      // Powers of an A of norm 2^100 are those of one of norm 2: at most half of the excess halvings may stay.
      PowerNorms small(0x1p80);
      for (int k = 2; k <= 6; ++k) small.add(std::ldexp(1.0, k - 20 * k));
      const Scheme undone = choose_scheme(small, 0x1p-53, costs, evaluations, Wanted::exponential, 20);
      EXPECT_LE(undone.squarings, -16);
      EXPECT_LE(backward_error(undone, small), 0x1p-53);
    }
  }
}

TEST(Scheme, FewerSquaringsWhereTheyWouldCostDigits) {
  PowerNorms norms(0x1p40);
  for (int k = 2; k <= 6; ++k) norms.add(std::ldexp(1.0, k));
  for (const double tolerance : {0x1p-53, 1e-6}) {
    const Scheme safe = choose_scheme(norms, tolerance, {1, 1, 1});
    EXPECT_EQ(safe.few, nullptr);
    EXPECT_LE(backward_error(safe, norms), tolerance);
    EXPECT_LE(safe.squarings, choose_scheme(norms, tolerance, {1, 1, 1}, Evaluations::few_products).squarings);
  }
}

// Computing the next power as long as the current scheme wants it never costs more than the first scheme.
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
            EXPECT_LE(products_of(scheme, costs, norms.known()), before);
            EXPECT_LE(backward_error(scheme, norms), tolerance);
          }
        }
      }
    }
  }
}

// Return the coefficients of the polynomial, multiplied out in 256 bits.
std::vector<Number> expanded(const FewProducts& polynomial) {
  using Series = std::vector<Number>;
  const auto times = [](const Series& a, const Series& b) {
    Series product(a.size() + b.size() - 1, Number(0.0));
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) {
        Number term = a[i];
        term *= b[j];
        product[i + j] += term;
      }
    }
    return product;
  };
  const auto plus = [](Series a, double factor, const Series& b) {
    a.resize(std::max(a.size(), b.size()), Number(0.0));
    for (std::size_t i = 0; i < b.size(); ++i) {
      Number term = b[i];
      term *= Number(factor);
      a[i] += term;
    }
    return a;
  };
  const auto series = [](const std::array<double, 4>& coefficients) {
    return Series(coefficients.begin(), coefficients.end());
  };
  Series power(static_cast<std::size_t>(polynomial.powers) + 1, Number(0.0));
  power.back() = Number(1.0);
  const Series y0 = times(series(polynomial.first), power);
  const FewProducts::Step& middle = polynomial.middle;
  Series y1 =
      plus(plus(times(plus(series(middle.left), 1.0, y0), plus(series(middle.right), 1.0, y0)), middle.of_y0, y0), 1.0,
           series(middle.rest));
  if (polynomial.products == 2) {
    return y1;
  }
  const FewProducts::Step& last = polynomial.last;
  return plus(
      plus(plus(times(plus(series(last.left), 1.0, y1), plus(plus(series(last.right), 1.0, y1), last.of_y0_right, y0)),
                last.of_y1, y1),
           last.of_y0, y0),
      1.0, series(last.rest));
}

TEST(FewProducts, AreTheSeriesOfExp) {
  for (const FewProducts& polynomial : few_products()) {
    const std::vector<Number> found = expanded(polynomial);
    double factorial = 1.0;
    for (int k = 0; k < static_cast<int>(found.size()); ++k) {
      factorial *= k == 0 ? 1 : k;
      const double ratio = found[static_cast<std::size_t>(k)].to_double() * factorial;
      const int beyond = k - polynomial.degree - 1;
      const double expected = beyond < 0                   ? 1.0
                              : beyond < polynomial.beyond ? polynomial.ratios[static_cast<std::size_t>(beyond)]
                                                           : 0.0;
      // Coefficients are rounded to double, with about twenty of them in a product.
      EXPECT_NEAR(ratio, expected, 1e-14 * std::max(1.0, std::abs(expected)) * 10) << polynomial.degree << ' ' << k;
    }
  }
}

// |log(exp(-x) p(x))| / |x| on a circle is below the bound everywhere, and the bound is not much larger.
TEST(FewProducts, BackwardErrorBoundsTheScalarOne) {
  for (const FewProducts& polynomial : few_products()) {
    const std::vector<Number> series = expanded(polynomial);
    for (const double theta : {0.3, 0.7, 1.5}) {
      const double bound = backward_error(polynomial, theta);
      double largest = 0.0;
      for (const double x : {-theta, theta}) {
        Number sum(0.0);
        Number term(1.0);
        double factorial = 1.0;
        for (std::size_t k = 0; k < series.size(); ++k) {
          // Use exp's own coefficients, and the ratio of those beyond: the rounded ones differ from exp below
          // round-off.
          if (k > 0) {
            term *= Number(x);
            term /= Number(static_cast<double>(k));
            factorial *= static_cast<double>(k);
          }
          Number exact = term;
          const int beyond = static_cast<int>(k) - polynomial.degree - 1;
          if (beyond >= 0) {
            exact *= Number(beyond < polynomial.beyond ? polynomial.ratios[static_cast<std::size_t>(beyond)] : 0.0);
          }
          sum += exact;
        }
        Number d = Number::exp(Number(-x));
        d *= sum;
        d -= Number(1.0);
        largest = std::max(largest, std::abs(std::log1p(d.to_double())) / theta);
      }
      EXPECT_GE(bound * (1 + 1e-9), largest) << polynomial.degree << ' ' << theta;
      EXPECT_LE(bound, 3 * largest) << polynomial.degree << ' ' << theta;
    }
  }
}

// The numbers in the literature and in the documentation.
TEST(FewProducts, ReachAsFarAsDocumented) {
  const std::array<double, 3> thetas = {0.0499, 0.676, 1.758};
  for (std::size_t k = 0; k < thetas.size(); ++k) {
    EXPECT_LE(backward_error(few_products()[k], 0.999 * thetas[k]), 0x1p-53);
    EXPECT_GT(backward_error(few_products()[k], 1.005 * thetas[k]), 0x1p-53);
  }
  // 5 products reach 1.09 (Bader, Blanes, Casas), 6 and a linear system 5.37 (Higham).
  const auto products = [](double norm) {
    return products_of(choose_scheme(PowerNorms(norm), 0x1p-53, {1, 1, 1}), {1, 1, 1});
  };
  EXPECT_LE(products(1.09), 5);
  EXPECT_LE(products(5.37), 7);
}

TEST(Scheme, EstimatesOfHigherPowersCount) {
  PowerNorms norms(100.0);
  norms.add(100.0);
  norms.learn(8, 1e4);
  // 17 = 8 + 8 + 1, 19 = 8 + 8 + 2 + 1, ...: the larger odd ones are the worst.
  EXPECT_LT(norms.alpha(16), 10.0);
  EXPECT_EQ(norms.known(), 2);
  EXPECT_EQ(PowerNorms(100.0).alpha(16), 100.0);
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
}  // namespace heddle::impl::scheme_test
