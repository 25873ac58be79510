// Local functionals: published values, and potentials that are derivatives of the energies.
#include "support/errors.hpp"
#include <heddle/models/functionals.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

namespace heddle::test::functionals_test {
namespace {

using models::Functional;
using models::LocalTerms;

double density_of(double radius) {
  return 3 / (4 * std::numbers::pi * radius * radius * radius);
}

TEST(Functionals, ExchangeOfTheElectronGasIsSlaters) {
  for (const double radius : {0.1, 1.0, 7.0}) {
    const double n = density_of(radius);
    const LocalTerms plain = models::local_terms_3d(Functional::lda_x, n / 2, n / 2);
    // Exchange is -0.458165/r_s hartree an electron, times 2^(1/3) with one spin alone.
    EXPECT_NEAR(plain.exchange / n * radius, -0.4581652932831429, 1e-14);
    EXPECT_NEAR(models::local_terms_3d(Functional::lda_x, n, 0).exchange / n * radius,
                -0.4581652932831429 * std::cbrt(2.0), 1e-14);
    EXPECT_EQ(plain.correlation, 0);
  }
}

// All three functionals fit D. M. Ceperley, B. J. Alder, Phys. Rev. Lett. 45, 566 (1980), as S. H. Vosko, L. Wilk, M.
// Nusair, Can. J. Phys. 58, 1200 (1980) list it, in rydberg.
TEST(Functionals, CorrelationIsThatOfQuantumMonteCarlo) {
  constexpr std::array<std::array<double, 2>, 5> listed = {
      {{2, 0.0902}, {5, 0.0563}, {10, 0.0372}, {20, 0.0230}, {50, 0.0114}}};
  for (const Functional functional : {Functional::lda_pz, Functional::lda_pw92, Functional::lda_vwn}) {
    for (const auto& [radius, rydberg] : listed) {
      const double n = density_of(radius);
      EXPECT_NEAR(models::local_terms_3d(functional, n / 2, n / 2).correlation / n, -rydberg / 2, 4e-4)
          << models::to_string(functional) << " r_s = " << radius;
    }
  }
}

TEST(Functionals, PotentialsAreDerivatives) {
  for (const Functional functional :
       {Functional::lda_x, Functional::lda_pz, Functional::lda_pw92, Functional::lda_vwn}) {
    const auto energy = [&](double up, double down) {
      const LocalTerms terms = models::local_terms_3d(functional, up, down);
      return terms.exchange + terms.correlation;
    };
    for (const double up : {1e-4, 0.02, 0.31, 40.0}) {
      for (const double share : {0.02, 0.5, 1.0, 1.7}) {
        const double down = share * up;
        const double step = 1e-4 * up;
        const LocalTerms terms = models::local_terms_3d(functional, up, down);
        EXPECT_NEAR((energy(up + step, down) - energy(up - step, down)) / (2 * step), terms.up, 2e-7 * (1 - terms.up));
        const double other = 1e-4 * down;
        EXPECT_NEAR((energy(up, down + other) - energy(up, down - other)) / (2 * other), terms.down,
                    2e-7 * (1 - terms.down));
      }
    }
  }
}

TEST(Functionals, PotentialsInOneDimensionAreDerivatives) {
  for (const Functional functional : {Functional::lda_x, Functional::lda_csc}) {
    const auto energy = [&](double up, double down) {
      const LocalTerms terms = models::local_terms_1d(functional, up, down);
      return terms.exchange + terms.correlation;
    };
    for (const double up : {0.01, 0.3, 2.0}) {
      for (const double share : {0.1, 1.0, 1.5}) {
        const double down = share * up;
        const LocalTerms terms = models::local_terms_1d(functional, up, down);
        const double step = 1e-4 * up;
        EXPECT_NEAR((energy(up + step, down) - energy(up - step, down)) / (2 * step), terms.up, 1e-6);
        EXPECT_NEAR((energy(up, down + step) - energy(up, down - step)) / (2 * step), terms.down, 1e-6);
      }
    }
  }
}

TEST(Functionals, NothingComesOfNoDensity) {
  for (const Functional functional :
       {Functional::lda_x, Functional::lda_pz, Functional::lda_pw92, Functional::lda_vwn}) {
    const LocalTerms terms = models::local_terms_3d(functional, 0, 0);
    EXPECT_EQ(terms.exchange + terms.correlation + terms.up + terms.down, 0);
    const LocalTerms polarised = models::local_terms_3d(functional, 0.3, 0);
    EXPECT_TRUE(std::isfinite(polarised.up) && std::isfinite(polarised.down));
  }
}

TEST(Functionals, OthersAreRefused) {
  EXPECT_THROW((void)models::local_terms_3d(Functional::hf, 1, 1), Error);
  EXPECT_THROW((void)models::local_terms_3d(Functional::lda_csc, 1, 1), Error);
  EXPECT_THROW((void)models::local_terms_1d(Functional::lda_pz, 1, 1), Error);
  EXPECT_THROW((void)models::local_terms_1d(Functional::lda_csc, 1, 1, 0.5), Error);
}

}  // namespace
}  // namespace heddle::test::functionals_test
