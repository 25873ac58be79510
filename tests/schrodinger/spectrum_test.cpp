// Spectra of autocorrelations and dipole moments against lines of known place, area and width.
#include "problems.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/spectrum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

namespace heddle::test::spectrum_test {
namespace {

using schrodinger::autocorrelation_spectrum;
using schrodinger::dipole_spectrum;
using schrodinger::Window;

std::vector<double> evenly(double from, double to, int count) {
  std::vector<double> values;
  for (int k = 0; k < count; ++k) values.push_back(from + k * (to - from) / (count - 1));
  return values;
}

TEST(Spectrum, LineHasItsPlaceAreaAndWidth) {
  const auto times = evenly(0.0, 80.0, 1601);
  std::vector<std::complex<double>> record;
  for (const double t : times) record.push_back(0.7 * std::polar(1.0, 0.6 * t) + 0.3 * std::polar(1.0, -1.9 * t));
  for (const auto window : {Window::hann, Window::rectangular}) {
    const auto energies = evenly(-4.0, 5.0, 9001);
    const auto spectrum = autocorrelation_spectrum(times, record, energies, window);
    const auto top = std::max_element(spectrum.begin(), spectrum.end()) - spectrum.begin();
    EXPECT_NEAR(energies[top], -0.6, 2e-3) << to_string(window);
    double area = 0.0;
    double half_width = 0.0;
    for (std::size_t k = 0; k < energies.size(); ++k) {
      if (energies[k] < 0.6) area += spectrum[k] * 1e-3;
      if (std::abs(energies[k] + 0.6) < 0.1 && spectrum[k] > spectrum[top] / 2) half_width += 0.5e-3;
    }
    EXPECT_NEAR(area, 0.7, window == Window::hann ? 1e-4 : 2e-2);
    const double expected = (window == Window::hann ? 2.0 : 1.207) * std::numbers::pi / 80.0;
    EXPECT_NEAR(2 * half_width, expected, 3e-3);
    EXPECT_EQ(schrodinger::window_from(to_string(window)), window);
  }
}

TEST(Spectrum, PeaksOfAnOscillatorAreItsLevels) {
  const Communicator comm(MPI_COMM_SELF);
  const Grid grid{-8, 8, 65, Kinetic::sinc};
  const Hamiltonian hamiltonian(grid, harmonic(1));
  const auto initial = schrodinger::gaussian_packet(grid, 1.2, 0.0, std::sqrt(0.5));
  auto options = options_of(0.1);
  options.states = 0;
  Simulation simulation(comm, hamiltonian, options, initial);
  std::vector<double> times = {0.0};
  std::vector<std::complex<double>> record = {schrodinger::overlap(grid, initial, initial)};
  for (int k = 0; k < 800; ++k) {
    simulation.step();
    times.push_back(simulation.time());
    record.push_back(schrodinger::overlap(grid, initial, simulation.state()));
  }
  EXPECT_NEAR(std::abs(record[0] - 1.0), 0.0, 1e-14);
  const double resolution = 2 * std::numbers::pi / times.back();
  double weight = std::exp(-0.72);  // Poisson's distribution with mean x0^2/2
  for (int level = 0; level < 5; ++level) {
    const auto energies = evenly(level + 0.5 - 3 * resolution, level + 0.5 + 3 * resolution, 601);
    const auto spectrum = autocorrelation_spectrum(times, record, energies);
    const auto top = std::max_element(spectrum.begin(), spectrum.end()) - spectrum.begin();
    EXPECT_NEAR(energies[top], level + 0.5, 0.05 * resolution);
    double area = 0.0;
    for (const double value : spectrum) area += value * 6 * resolution / 600;
    EXPECT_NEAR(area, weight, 5e-3 * weight + 1e-5) << level;
    weight *= 0.72 / (level + 1);
  }
}

TEST(Spectrum, DipoleShowsItsHarmonics) {
  const auto times = evenly(0.0, 200.0, 4001);
  std::vector<double> dipole;
  for (const double t : times) dipole.push_back(2.0 + std::sin(0.5 * t) + 1e-3 * std::sin(1.5 * t));
  const auto frequencies = evenly(0.05, 2.0, 3901);
  const auto spectrum = dipole_spectrum(times, dipole, frequencies);
  const auto at = [&](double omega) {
    const auto nearest = std::lower_bound(frequencies.begin(), frequencies.end(), omega - 1e-9) - frequencies.begin();
    return spectrum[nearest];
  };
  EXPECT_NEAR(at(1.5) / at(0.5), 81 * 1e-6, 1e-6);
  // A Hann window of length T has the area T/2; half of the sine is at +omega.
  EXPECT_NEAR(at(0.5) / (std::pow(0.5, 4) * 50.0 * 50.0), 1.0, 1e-3);
  EXPECT_LT(at(1.0), 1e-4 * at(1.5));
}

TEST(Spectrum, RefusesRecordsThatHaveGaps) {
  const std::vector<double> energies = {0.0};
  const std::vector<std::complex<double>> record(3, 1.0);
  EXPECT_NO_THROW((void)autocorrelation_spectrum(std::vector{0.0, 1.0, 2.0}, record, energies));
  test::expect_refusal(ErrorKind::argument, "spectrum: time 1 is 1; expected 1.5, evenly from 0", [&] {
    (void)autocorrelation_spectrum(std::vector{0.0, 1.0, 3.0}, record, energies);
  });
  test::expect_refusal(ErrorKind::argument, "spectrum: time 0 is 1; expected 0, evenly from 0", [&] {
    (void)autocorrelation_spectrum(std::vector{1.0, 2.0, 3.0}, record, energies);
  });
  test::expect_refusal(ErrorKind::argument, "spectrum: 3 values for 2 times", [&] {
    (void)autocorrelation_spectrum(std::vector{0.0, 1.0}, record, energies);
  });
  test::expect_refusal(ErrorKind::argument, "spectrum of 1 times: expected at least 2",
                       [&] { (void)autocorrelation_spectrum(std::vector{0.0}, std::span(record).first(1), energies); });
  test::expect_refusal(ErrorKind::argument, "spectrum: the last time, 0, must be finite and positive", [&] {
    (void)dipole_spectrum(std::vector{0.0, 0.0}, std::vector{1.0, 1.0}, energies);
  });
  test::expect_refusal(ErrorKind::argument, "window 'hamming': expected one of hann, rectangular",
                       [&] { (void)schrodinger::window_from("hamming"); });
}

}  // namespace
}  // namespace heddle::test::spectrum_test
