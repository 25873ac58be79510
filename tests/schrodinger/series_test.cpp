// Parts of the propagators: Chebyshev series, Fourier transforms, kinetic energies in sines.
#include "problems.hpp"
#include "schrodinger/hamiltonian/kinetic_symbol.hpp"
#include "schrodinger/propagators/chebyshev.hpp"
#include "schrodinger/propagators/split_operator.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace heddle::test::series_test {
namespace {

using Complex = std::complex<double>;

TEST(Series, BesselFunctions) {
  mpfr_t exact;
  mpfr_init2(exact, 120);
  for (const double x : {0.0, 1e-12, 1e-7, 0.1, 1.0, 7.3, 40.0, 200.0}) {
    const std::vector<double> values = impl::bessel_coefficients(x, 300);
    for (int k = 0; k < 300; ++k) {
      mpfr_set_d(exact, x, MPFR_RNDN);
      mpfr_jn(exact, k, exact, MPFR_RNDN);
      EXPECT_NEAR(values[k], (k == 0 ? 1 : 2) * mpfr_get_d(exact, MPFR_RNDN), 1e-15) << k << ' ' << x;
    }
  }
  mpfr_clear(exact);
}

// sum_k c_k (-i)^k T_k(x)
Complex value_of(const std::vector<double>& coefficients, Complex x) {
  Complex last = 0.0;
  Complex here = 1.0;
  Complex sum = coefficients[0];
  Complex power = 1.0;
  for (std::size_t k = 1; k < coefficients.size(); ++k) {
    const Complex next = (k == 1 ? 1.0 : 2.0) * x * here - last;
    last = here;
    here = next;
    power *= Complex(0.0, -1.0);
    sum += coefficients[k] * power * here;
  }
  return sum;
}

TEST(Series, ExponentialsWithinTheTolerance) {
  for (const double tolerance : {1e-3, 1e-8, 1e-15}) {
    for (const double absorption : {0.0, 0.5, 100.0}) {
      for (const double duration : {1e-4, 0.02, 2.0, 30.0}) {
        const double radius = 100.0;
        const auto series = impl::chebyshev_series(radius, absorption, duration, tolerance);
        const double part = duration / series.repeats;
        double worst = 0.0;
        for (int k = -20; k <= 20; ++k) {
          for (const double loss : {-1.0, 0.0, 1.0}) {
            const Complex x(k / 20.0, -loss * absorption / radius);
            const Complex exact = std::exp(Complex(0.0, -1.0) * x * radius * part);
            worst = std::max(worst, std::abs(value_of(series.coefficients, x) - exact));
          }
        }
        EXPECT_LT(worst * series.repeats, tolerance + 2e-13 * series.repeats)
            << tolerance << ' ' << absorption << ' ' << duration;
      }
    }
  }
}

TEST(Series, ShortAsTheToleranceAllows) {
  const auto loose = impl::chebyshev_series(100, 0, 0.1, 1e-4);
  const auto tight = impl::chebyshev_series(100, 0, 0.1, 1e-15);
  EXPECT_EQ(loose.repeats, 1);
  EXPECT_LT(loose.coefficients.size(), 21U);
  EXPECT_LT(tight.coefficients.size(), 37U);
  EXPECT_LT(loose.coefficients.size() + 10, tight.coefficients.size());
}

TEST(Series, RefusesWhatWouldNotEnd) {
  for (const double radius : {1e9, 1e12, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(kind_of([&] { (void)impl::chebyshev_series(radius, 0, 1.0, 1e-15); }),
              static_cast<int>(ErrorKind::argument))
        << radius;
  }
  EXPECT_GT(impl::chebyshev_series(1e6, 0, 1.0, 1e-15).repeats, 1000);
}

TEST(Fourier, LengthsThatLibrariesTake) {
  EXPECT_EQ(impl::checked_length(1), 1);
  for (const Index length : {Index{0}, Index{-1}, Index{1} << 31, Index{1} << 32}) {
    SCOPED_TRACE(::testing::Message() << length);
    test::expect_refusal(ErrorKind::argument, "Fourier transform of", [&] { (void)impl::checked_length(length); });
  }
}

impl::DeviceComplexes on_device(const std::vector<Complex>& values) {
  const impl::DeviceComplexes device("heddle::schrodinger::test", values.size());
  const auto host = Kokkos::create_mirror_view(device);
  for (std::size_t i = 0; i < values.size(); ++i) host(i) = Kokkos::complex<double>(values[i].real(), values[i].imag());
  Kokkos::deep_copy(device, host);
  return device;
}

std::vector<Complex> on_host(const impl::DeviceComplexes& device) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  std::vector<Complex> values;
  for (std::size_t i = 0; i < host.extent(0); ++i) values.emplace_back(host(i).real(), host(i).imag());
  return values;
}

TEST(Fourier, FastLengths) {
  for (Index least = 1; least < 3000; ++least) {
    const Index length = impl::fast_length(least);
    EXPECT_GE(length, least);
    EXPECT_LT(length, least + least / 6 + 2) << least;
    Index odd = length;
    while (odd % 2 == 0) odd /= 2;
    EXPECT_LE(odd, 15) << least;
  }
}

TEST(Fourier, OfOneWave) {
  if (!impl::has_fourier()) GTEST_SKIP() << "no Fourier transforms in this build";
  for (const Index length : {2, 12, 101, 404}) {
    const impl::Fourier fourier(world().space(), length);
    std::vector<Complex> wave;
    for (Index j = 0; j < length; ++j) {
      wave.push_back(std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(length)));
    }
    const auto x = on_device(wave);
    fourier.forward(x);
    world().space().fence("heddle::schrodinger::test");
    const std::vector<Complex> spectrum = on_host(x);
    for (Index k = 0; k < length; ++k) {
      EXPECT_NEAR(std::abs(spectrum[k] - (k == 1 ? static_cast<double>(length) : 0.0)), 0.0, 1e-12 * length) << length;
    }
    fourier.backward(x);
    world().space().fence("heddle::schrodinger::test");
    const std::vector<Complex> back = on_host(x);
    for (Index j = 0; j < length; ++j) EXPECT_NEAR(std::abs(back[j] / Complex(length) - wave[j]), 0.0, 1e-13);
  }
}

// Without a potential a step of the split operator is exp(-i T dt): by sines for fd2, for any psi at the walls.
TEST(SplitOperator, KineticStepIsTheExponentialOfTheMatrix) {
  if (!impl::has_fourier()) GTEST_SKIP() << "no Fourier transforms in this build";
  for (const Index points : {3, 40, 101}) {
    const Grid grid{-2, 2, points, Kinetic::fd2};
    const Hamiltonian hamiltonian(grid, harmonic(0));
    State initial;
    for (Index i = 0; i < points; ++i) initial.emplace_back(std::cos(1.0 + static_cast<double>(i)), 0.1 * i);
    const double size = distance(grid, initial, State(initial.size()));
    const double step = 0.7 * grid.spacing() * grid.spacing();
    SimulationOptions options = options_of(step);
    options.states = 0;
    const State dense = state_after(world(), hamiltonian, options, initial, 1);
    options.propagator.kind = PropagatorKind::split_operator;
    EXPECT_LT(distance(grid, state_after(world(), hamiltonian, options, initial, 1), dense), 1e-13 * size) << points;
  }
}

// For wider differences the sines are eigenvectors of T less t_(i+j+2) near each wall.
TEST(SplitOperator, WallsOfWiderDifferences) {
  for (const Kinetic kinetic : {Kinetic::fd2, Kinetic::fd4, Kinetic::fd6}) {
    const Grid grid{-2, 2, 30, kinetic};
    const Hamiltonian hamiltonian(grid, harmonic(0));
    const auto band = hamiltonian.kinetic();
    const std::size_t n = 30;
    const std::vector<double> none(n, 0.0);
    for (int mode = 1; mode <= 30; ++mode) {
      const double theta = std::numbers::pi * mode / 31;
      std::vector<double> sine;
      for (std::size_t i = 0; i < n; ++i) sine.push_back(std::sin(theta * static_cast<double>(i + 1)));
      std::vector<double> product(n);
      hamiltonian.apply(none, std::span<const double>(sine), std::span<double>(product));
      for (std::size_t i = 0; i < band.size(); ++i) {
        for (std::size_t j = 0; i + j + 2 < band.size(); ++j) {
          product[i] -= band[i + j + 2] * sine[j];
          product[n - 1 - i] -= band[i + j + 2] * sine[n - 1 - j];
        }
      }
      const double value = impl::kinetic_symbol(hamiltonian, theta);
      EXPECT_LE(value, impl::largest_kinetic(hamiltonian));
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(product[i], value * sine[i], 1e-10);
    }
  }
}

}  // namespace
}  // namespace heddle::test::series_test
