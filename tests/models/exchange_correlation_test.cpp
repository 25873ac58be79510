// Functionals of libxc beside this library's own, and their derivatives and those of basis functions by differences.
#include "support/errors.hpp"
#include <heddle/models/exchange_correlation.hpp>
#include <heddle/models/gaussian_basis.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace heddle::test::exchange_correlation_test {
namespace {

using models::ExchangeCorrelation;
using models::Functional;
using models::FunctionalTerms;
using models::SpinDensities;

FunctionalTerms terms_of(const ExchangeCorrelation& functional, const SpinDensities& at) {
  std::array<FunctionalTerms, 1> terms;
  functional.evaluate(std::array{at}, terms);
  return terms[0];
}

class OfLibxc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ExchangeCorrelation::has_libxc()) GTEST_SKIP() << "this build has no libxc";
  }
};

TEST(ExchangeCorrelation, NamesAreTheLibrarysOwn) {
  for (const Functional own : {Functional::hf, Functional::lda_x, Functional::lda_pz, Functional::lda_vwn}) {
    const ExchangeCorrelation found((std::string(to_string(own))));
    EXPECT_EQ(found.own(), own);
    EXPECT_EQ(found.name(), to_string(own));
    EXPECT_EQ(found.orbital_exchange(), own == Functional::hf ? 1.0 : 0.0);
    EXPECT_EQ(found.of_densities(), own != Functional::hf);
    EXPECT_FALSE(found.of_gradients());
  }
  expect_refusal(ErrorKind::argument, "lda-csc is for one dimension", [] { ExchangeCorrelation("lda-csc"); });
  expect_refusal(ErrorKind::argument, "is of orbitals alone", [] { terms_of(Functional::hf, {1, 1}); });
}

TEST(ExchangeCorrelation, WithoutLibxcItsNamesAreRefused) {
  if (ExchangeCorrelation::has_libxc()) GTEST_SKIP() << "this build has libxc";
  expect_refusal(ErrorKind::argument, "libxc-dev", [] { ExchangeCorrelation("pbe"); });
}

// Two programs of the same fits. libxc raises spin densities below 1e-15 to 1e-15.
TEST_F(OfLibxc, LocalFunctionalsAreThisLibrarys) {
  for (const auto& [own, names] :
       {std::pair(Functional::lda_x, "lda_x"), std::pair(Functional::lda_pw92, "lda_x+lda_c_pw"),
        std::pair(Functional::lda_vwn, "lda_x+lda_c_vwn"), std::pair(Functional::lda_pz, "lda_x+lda_c_pz")}) {
    const ExchangeCorrelation other(names);
    for (const double up : {1e-5, 3e-4, 0.02, 0.7, 55.0}) {
      for (const double share : {1.0, 0.6, 0.0}) {
        const FunctionalTerms a = terms_of(own, {up, share * up});
        const FunctionalTerms b = terms_of(other, {up, share * up});
        const double scale = std::abs(a.exchange);
        EXPECT_NEAR(a.exchange, b.exchange, 1e-9 * scale) << names << ", " << up << ", " << share;
        EXPECT_NEAR(a.correlation, b.correlation, 1e-7 * scale) << names << ", " << up << ", " << share;
        EXPECT_NEAR(a.up, b.up, 1e-7 * std::abs(a.up)) << names << ", " << up << ", " << share;
        if (share > 0) {
          EXPECT_NEAR(a.down, b.down, 1e-7 * std::abs(a.down)) << names << ", " << up << ", " << share;
        }
      }
    }
  }
}

TEST_F(OfLibxc, TermsAreTheDerivatives) {
  for (const char* const name : {"pbe", "pbesol", "blyp", "pbe0", "b3lyp", "lda_x+lda_c_pw", "gga_x_b88+gga_c_p86"}) {
    const ExchangeCorrelation functional{std::string_view(name)};
    EXPECT_EQ(functional.of_gradients(), std::string_view(name) != "lda_x+lda_c_pw");
    const SpinDensities at = {0.3, 0.2, 0.08, 0.03, 0.05};
    const FunctionalTerms terms = terms_of(functional, at);
    const auto slope = [&](double SpinDensities::*by) {
      const double step = 1e-5;
      SpinDensities above = at;
      SpinDensities below = at;
      above.*by += step;
      below.*by -= step;
      const FunctionalTerms a = terms_of(functional, above);
      const FunctionalTerms b = terms_of(functional, below);
      return (a.exchange + a.correlation - b.exchange - b.correlation) / (2 * step);
    };
    EXPECT_NEAR(terms.up, slope(&SpinDensities::up), 1e-7) << name;
    EXPECT_NEAR(terms.down, slope(&SpinDensities::down), 1e-7) << name;
    EXPECT_NEAR(terms.by_up_up, slope(&SpinDensities::up_up), 1e-7) << name;
    EXPECT_NEAR(terms.by_up_down, slope(&SpinDensities::up_down), 1e-7) << name;
    EXPECT_NEAR(terms.by_down_down, slope(&SpinDensities::down_down), 1e-7) << name;
  }
}

TEST_F(OfLibxc, HybridsHaveTheirShareOfOrbitalExchange) {
  EXPECT_EQ(ExchangeCorrelation("pbe").orbital_exchange(), 0.0);
  EXPECT_EQ(ExchangeCorrelation("pbe0").orbital_exchange(), 0.25);
  EXPECT_EQ(ExchangeCorrelation("b3lyp").orbital_exchange(), 0.2);
}

TEST_F(OfLibxc, OthersAreRefused) {
  for (const auto& [name, message] :
       {std::pair("gga_x_pbe+nothing", "'nothing' is unknown"), std::pair("", "'' is unknown"),
        std::pair("pbe+", "'pbe' is unknown"), std::pair("mgga_x_tpss", "is of more than densities"),
        std::pair("hyb_gga_xc_hse06", "depends on their distance"), std::pair("gga_k_vw", "kinetic energy"),
        std::pair("hyb_gga_xc_wb97x_v", "pairs of points"), std::pair("lda_c_1d_csc", "not for three dimensions")}) {
    expect_refusal(ErrorKind::argument, message, [&] { ExchangeCorrelation{std::string_view(name)}; });
  }
}

TEST(GaussianGradients, AreThoseOfTheFunctions) {
  const std::array<double, 3> centre = {0.1, -0.2, 0.3};
  std::vector<models::Shell> shells;
  for (int l = 0; l <= 4; ++l) shells.push_back({centre, l, {0.7, 2.0}, {1.0, 0.5}});
  const models::GaussianBasis basis(shells);
  const std::size_t n = basis.size();
  for (const std::array<double, 3>& point : {std::array{0.9, 0.4, -0.5}, centre, std::array{0.1, 0.6, 0.3}}) {
    std::vector<double> values(n);
    std::vector<double> gradients(3 * n);
    basis.evaluate(point, values, gradients);
    std::vector<double> alone(n);
    basis.evaluate(point, alone);
    EXPECT_EQ(values, alone);
    for (std::size_t d = 0; d < 3; ++d) {
      const double step = 1e-5;
      std::array<double, 3> shifted = point;
      std::vector<double> above(n);
      std::vector<double> below(n);
      shifted[d] = point[d] + step;
      basis.evaluate(shifted, above);
      shifted[d] = point[d] - step;
      basis.evaluate(shifted, below);
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(gradients[d * n + i], (above[i] - below[i]) / (2 * step), 1e-8) << i << " by axis " << d;
      }
    }
  }
  std::vector<double> values(n);
  std::vector<double> few(n);
  expect_refusal(ErrorKind::argument, "derivatives of 25 functions", [&] { basis.evaluate(centre, values, few); });
}

}  // namespace
}  // namespace heddle::test::exchange_correlation_test
