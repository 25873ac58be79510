// Energies against closed forms and an independent method, and all implementations against each other.
#include "problems.hpp"
#include "schrodinger/hamiltonian/davidson.hpp"
#include "schrodinger/propagators/toeplitz.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/eigenstates.hpp>
#include <heddle/schrodinger/observables.hpp>

#include <gtest/gtest.h>

#include <numbers>

namespace heddle::test::eigenstates_test {
namespace {

using schrodinger::lowest_eigenstates;

// Numerov's method, an integration from one wall to the other: the number of zeros of the solution at energy E is the
// number of levels below E. It uses no matrix.
template <class PotentialFunction>
int levels_below(double energy, double half_width, int intervals, const PotentialFunction& potential) {
  const double h = 2 * half_width / intervals;
  const auto f = [&](int i) { return 1.0 + h * h / 6 * (energy - potential(-half_width + i * h)); };
  double before = 0.0;
  double now = 1e-30;
  int zeros = 0;
  for (int i = 1; i < intervals; ++i) {
    double next = ((12.0 - 10.0 * f(i)) * now - f(i - 1) * before) / f(i + 1);
    if ((next < 0) != (now < 0)) ++zeros;
    if (std::abs(next) > 1e100) {
      next *= 1e-100;
      now *= 1e-100;
    }
    before = now;
    now = next;
  }
  return zeros;
}

template <class PotentialFunction>
double numerov_level(int level, double low, double half_width, int intervals, const PotentialFunction& potential) {
  double high = 0.0;
  for (int k = 0; k < 200 && high - low > 1e-14 * std::abs(low); ++k) {
    const double middle = 0.5 * (low + high);
    (levels_below(middle, half_width, intervals, potential) > level ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

// The error is of fourth order in h: Richardson's extrapolation of two steps leaves the sixth.
template <class PotentialFunction>
double converged_level(int level, double low, double half_width, int intervals, const PotentialFunction& potential) {
  const double coarse = numerov_level(level, low, half_width, intervals, potential);
  const double fine = numerov_level(level, low, half_width, 2 * intervals, potential);
  return fine + (fine - coarse) / 15;
}

TEST(Energies, SoftCoreHydrogenIsMinusOneHalf) {
  // -1/sqrt(x^2 + 2): psi = (1 + sqrt(x^2 + 2)) exp(-sqrt(x^2 + 2)), E = -1/2. Two half charges in one place.
  Nuclei together;
  together.separation = 0.0;
  const auto energy = [&](Kinetic kinetic, Index points) {
    return lowest_eigenstates({{-40, 40, points, kinetic}, soft_core(0.5, 2), together}, 0, 1).energies[0];
  };
  EXPECT_NEAR(energy(Kinetic::sinc, 401), -0.5, 1e-11);
  // Orders 2, 4 and 6 converge to the same limit.
  for (const auto& [kinetic, order] :
       {std::pair(Kinetic::fd2, 2), std::pair(Kinetic::fd4, 4), std::pair(Kinetic::fd6, 6)}) {
    const double ratio = (energy(kinetic, 201) + 0.5) / (energy(kinetic, 401) + 0.5);
    EXPECT_NEAR(ratio, std::pow(2, order), 0.2 * std::pow(2, order)) << to_string(kinetic);
  }
}

TEST(Energies, HarmonicLevelsAreEquallySpaced) {
  const auto states = lowest_eigenstates({{-12, 12, 193, Kinetic::sinc}, harmonic(1.5)}, 0, 8);
  for (int k = 0; k < 8; ++k) EXPECT_NEAR(states.energies[k], 1.5 * (k + 0.5), 1e-10);
}

TEST(Energies, BoxHasItsClosedForm) {
  // fd2 between walls: E_k = (1 - cos(k pi/(n + 1)))/dx^2, k = 1 ... n.
  const Grid grid{0, 1, 50, Kinetic::fd2};
  const auto states = lowest_eigenstates({grid, harmonic(0)}, 0, 50);
  for (int k = 1; k <= 50; ++k) {
    const double exact = (1 - std::cos(k * std::numbers::pi / 51)) / (grid.spacing() * grid.spacing());
    EXPECT_NEAR(states.energies[k - 1], exact, 1e-11 * exact + 1e-11);
  }
}

TEST(Energies, IonsAgreeWithNumerov) {
  struct Ion {
    double charge, softening, separation, half_width;
    int intervals;
    double tolerance;
  };
  for (const Ion& ion : {Ion{1, 1, 2, 25, 5000, 1e-9}, Ion{30, 0.1, 2, 6, 12000, 1e-7}}) {
    const auto potential = [&](double x) {
      double sum = 0.0;
      for (const double centre : {-ion.separation / 2, ion.separation / 2}) {
        sum -= ion.charge / std::sqrt((x - centre) * (x - centre) + ion.softening);
      }
      return sum;
    };
    Nuclei nuclei;
    nuclei.separation = ion.separation;
    const double deepest = -2 * ion.charge / std::sqrt(ion.softening);
    const Grid grid{-ion.half_width, ion.half_width, 601, Kinetic::sinc};
    const auto states = lowest_eigenstates({grid, soft_core(ion.charge, ion.softening), nuclei}, 0, 4);
    for (int level = 0; level < 4; ++level) {
      const double expected = converged_level(level, deepest, ion.half_width, ion.intervals, potential);
      EXPECT_NEAR(states.energies[level], expected, ion.tolerance) << "Z = " << ion.charge << ", level " << level;
    }
  }
}

class EveryKinetic : public ::testing::TestWithParam<Kinetic> {};

TEST_P(EveryKinetic, StatesAreOrthonormalEigenvectorsWithTheirNodes) {
  for (const Index n : {40, 301}) {
    const Grid grid{-9, 9, n, GetParam()};
    const Hamiltonian hamiltonian(grid, soft_core(3, 0.5), {});
    const auto states = lowest_eigenstates(hamiltonian, 0, 6);
    const auto potential = hamiltonian.potential_at(0);
    std::vector<double> product(n);
    for (Index k = 0; k < 6; ++k) {
      hamiltonian.apply(potential, states.state(k), product);
      for (Index i = 0; i < n; ++i) EXPECT_NEAR(product[i], states.energies[k] * states.state(k)[i], 1e-8);
      for (Index other = 0; other <= k; ++other) {
        double overlap = 0.0;
        for (Index i = 0; i < n; ++i) overlap += states.state(k)[i] * states.state(other)[i] * grid.spacing();
        EXPECT_NEAR(overlap, k == other ? 1.0 : 0.0, 1e-12);
      }
      const State state(states.state(k).begin(), states.state(k).end());
      EXPECT_EQ(schrodinger::observe(hamiltonian, 0, state, {}).nodes, k);
    }
  }
}

TEST_P(EveryKinetic, IsTheSameEachTime) {
  const Hamiltonian hamiltonian({-9, 9, 301, GetParam()}, soft_core(3, 0.5), {});
  const auto first = lowest_eigenstates(hamiltonian, 0, 5);
  const auto second = lowest_eigenstates(hamiltonian, 0, 5);
  EXPECT_EQ(first.energies, second.energies);
  EXPECT_EQ(first.values, second.values);
}

TEST_P(EveryKinetic, AllStatesCanBeHad) {
  const Index n = 24;
  const Hamiltonian hamiltonian({-3, 3, n, GetParam()}, harmonic(1));
  const auto states = lowest_eigenstates(hamiltonian, 0, n);
  double sum = 0.0;
  double trace = 0.0;
  for (const double energy : states.energies) sum += energy;
  for (const double value : hamiltonian.potential_at(0)) trace += value + hamiltonian.kinetic()[0];
  EXPECT_NEAR(sum, trace, 1e-10 * trace);
  test::expect_refusal(ErrorKind::argument, "0 eigenstates of a Hamiltonian on 24 points: expected 1 to 24",
                       [&] { (void)lowest_eigenstates(hamiltonian, 0, 0); });
  test::expect_refusal(ErrorKind::argument, "25 eigenstates of a Hamiltonian on 24 points: expected 1 to 24",
                       [&] { (void)lowest_eigenstates(hamiltonian, 0, n + 1); });
}

INSTANTIATE_TEST_SUITE_P(Kinetic, EveryKinetic,
                         ::testing::Values(Kinetic::fd2, Kinetic::fd4, Kinetic::fd6, Kinetic::sinc),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

// Wells so far apart that pairs of levels nearly coincide: the block contains both.
TEST(Davidson, AgreesWithReflectorsForNearlyEqualLevels) {
  for (const auto kinetic : {Kinetic::fd4, Kinetic::fd6, Kinetic::sinc}) {
    Nuclei apart;
    apart.separation = 5.0;
    const Index n = 320;
    const Hamiltonian hamiltonian({-8, 8, n, kinetic}, soft_core(30, 0.1), apart);
    const auto potential = hamiltonian.potential_at(0);
    std::vector<double> energies;
    std::vector<double> vectors;
    ASSERT_TRUE(impl::davidson_lowest(hamiltonian, potential, 6, energies, vectors));
    // Reflectors compute so many states.
    const auto expected = lowest_eigenstates(hamiltonian, 0, 40).energies;
    EXPECT_LT(expected[1] - expected[0], 1e-9);
    for (int k = 0; k < 6; ++k) EXPECT_NEAR(energies[k], expected[k], 1e-10);
  }
}

TEST(Davidson, LeavesSmallGridsToReflectors) {
  const Hamiltonian differences({-8, 8, 100, Kinetic::fd4}, soft_core(1, 1));
  const Hamiltonian sinc({-8, 8, 100, Kinetic::sinc}, soft_core(1, 1));
  std::vector<double> energies;
  std::vector<double> vectors;
  EXPECT_FALSE(impl::davidson_lowest(differences, differences.potential_at(0), 2, energies, vectors));
  EXPECT_FALSE(impl::davidson_lowest(sinc, sinc.potential_at(0), 2, energies, vectors));
}

// A coarse grid with a poor first guess, and a fine one, where ||H|| is far above every requested level.
TEST(Davidson, HarmonicLevelsOnAnyGrid) {
  for (const Index n : {130, 700, 6000}) {
    const Hamiltonian hamiltonian({-13, 13, n, Kinetic::sinc}, harmonic(1.5));
    std::vector<double> energies;
    std::vector<double> vectors;
    ASSERT_TRUE(impl::davidson_lowest(hamiltonian, hamiltonian.potential_at(0), 8, energies, vectors)) << n;
    for (int k = 0; k < 8; ++k) EXPECT_NEAR(energies[k], 1.5 * (k + 0.5), 1e-9 + 1e-15 * hamiltonian.kinetic()[0]);
    for (std::size_t first = 0; first < 8; ++first) {
      for (std::size_t second = 0; second <= first; ++second) {
        double overlap = 0.0;
        for (Index i = 0; i < n; ++i) overlap += vectors[first * n + i] * vectors[second * n + i];
        EXPECT_NEAR(overlap, first == second ? 1.0 : 0.0, 1e-12) << n;
      }
    }
  }
}

TEST(Toeplitz, IsTheMatrix) {
  for (const std::size_t n : {1, 2, 3, 8, 37}) {
    std::vector<double> band(n);
    for (std::size_t d = 0; d < n; ++d) band[d] = std::cos(1.0 + 3.0 * static_cast<double>(d));
    for (const std::size_t width : {n, (n + 1) / 2}) {
      impl::Toeplitz matrix(n, std::span<const double>(band).first(width));
      std::vector<double> x(n);
      std::vector<double> y(n);
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = std::sin(0.7 * static_cast<double>(i) + 0.1);
        y[i] = 1e-3 * static_cast<double>(i) - 0.5;
      }
      const auto plain = [&](const std::vector<double>& from) {
        std::vector<double> result(n, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            const std::size_t d = i < j ? j - i : i - j;
            result[i] += d < width ? band[d] * from[j] : 0.0;
          }
        }
        return result;
      };
      const auto expected_x = plain(x);
      const auto expected_y = plain(y);
      matrix.apply(x, y);
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(x[i], expected_x[i], 1e-14 * static_cast<double>(n));
        EXPECT_NEAR(y[i], expected_y[i], 1e-14 * static_cast<double>(n));
      }
    }
  }
}

// A narrow hole in the potential far below all levels: the shift follows the levels, not the hole.
TEST(Davidson, DeepNarrowHoleIsSolvedAllTheSame) {
  Nuclei together;
  together.separation = 0.0;
  const Grid grid{-30, 30, 300, Kinetic::fd6};
  const Hamiltonian hamiltonian(grid, soft_core(0.5, 1e-8), together);
  const auto states = lowest_eigenstates(hamiltonian, 0, 3);
  std::vector<double> product(300);
  for (Index k = 0; k < 3; ++k) {
    hamiltonian.apply(hamiltonian.potential_at(0), states.state(k), product);
    for (Index i = 0; i < 300; ++i) EXPECT_NEAR(product[i], states.energies[k] * states.state(k)[i], 1e-6);
  }
}

}  // namespace
}  // namespace heddle::test::eigenstates_test
