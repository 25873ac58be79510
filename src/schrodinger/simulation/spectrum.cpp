// Spectra by the trapezoidal rule.
#include "core/complex_exponential.hpp"
#include "core/names.hpp"
#include "libm/functions.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/spectrum.hpp>

#include <cmath>
#include <numbers>

namespace heddle::schrodinger {

namespace {

constexpr impl::Names<Window, 2> window_names = {{{Window::hann, "hann"}, {Window::rectangular, "rectangular"}}};

void validate(std::span<const double> times, std::size_t values) {
  require(times.size() >= 2, "spectrum of ", times.size(), " times: expected at least 2");
  require(values == times.size(), "spectrum: ", values, " values for ", times.size(), " times");
  const double last = times.back();
  require(std::isfinite(last) && last > 0, "spectrum: the last time, ", last, ", must be finite and positive");
  const double step = last / static_cast<double>(times.size() - 1);
  for (std::size_t k = 0; k < times.size(); ++k) {
    require(std::abs(times[k] - static_cast<double>(k) * step) <= 1e-9 * last, "spectrum: time ", k, " is ", times[k],
            "; expected ", static_cast<double>(k) * step, ", evenly from 0");
  }
}

// Sum of values exp(i omega t) by the trapezoidal rule. Each factor follows from the previous one by a rotation; at
// intervals it is computed again, before round-off accumulates.
std::complex<double> transform(std::span<const double> times, std::span<const std::complex<double>> values,
                               double omega) {
  constexpr std::size_t anew = 64;
  const double step = times.back() / static_cast<double>(times.size() - 1);
  const std::complex<double> advance = impl::exponential({0.0, omega * step});
  std::complex<double> sum = 0.5 * (values.front() + values.back() * impl::exponential({0.0, omega * times.back()}));
  std::complex<double> turn = 1.0;
  for (std::size_t k = 1; k + 1 < times.size(); ++k) {
    turn = k % anew == 0 ? impl::exponential({0.0, omega * times[k]}) : turn * advance;
    sum += values[k] * turn;
  }
  return step * sum;
}

}  // namespace

std::string_view to_string(Window window) {
  return impl::name_of(window_names, window, "window");
}

Window window_from(std::string_view text) {
  return impl::value_of(window_names, text, "window");
}

std::vector<double> autocorrelation_spectrum(std::span<const double> times,
                                             std::span<const std::complex<double>> autocorrelation,
                                             std::span<const double> energies, Window window) {
  validate(times, autocorrelation.size());
  std::vector<std::complex<double>> values(autocorrelation.begin(), autocorrelation.end());
  if (window == Window::hann) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] *= libm::pow(libm::cos(std::numbers::pi / 2 * times[k] / times.back()), 2);
    }
  }
  std::vector<double> spectrum;
  for (const double energy : energies) spectrum.push_back(transform(times, values, energy).real() / std::numbers::pi);
  return spectrum;
}

std::vector<double> dipole_spectrum(std::span<const double> times, std::span<const double> dipole,
                                    std::span<const double> frequencies, Window window) {
  validate(times, dipole.size());
  std::vector<std::complex<double>> values(dipole.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double sine = libm::sin(std::numbers::pi * times[k] / times.back());
    values[k] = (dipole[k] - dipole[0]) * (window == Window::hann ? sine * sine : 1.0);
  }
  std::vector<double> spectrum;
  for (const double omega : frequencies) {
    spectrum.push_back(libm::pow(omega, 4) * std::norm(transform(times, values, omega)));
  }
  return spectrum;
}

}  // namespace heddle::schrodinger
