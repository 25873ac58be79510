// Autocorrelation and dipole spectra of a complete run.
#include "drivers/tdse/record/spectra.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heddle::driver {

namespace {

// Return the values of wave function k at each step.
template <class Value> std::vector<Value> column(const Record& record, const std::vector<Value>& values, Index k) {
  std::vector<Value> chosen;
  for (auto i = static_cast<std::size_t>(k); i < values.size(); i += static_cast<std::size_t>(record.count)) {
    chosen.push_back(values[i]);
  }
  return chosen;
}

std::vector<hsize_t> extents_of(const Record& record, std::size_t size) {
  if (record.count == 1) return {size};
  return {static_cast<hsize_t>(record.count), size};
}

void write_autocorrelation(Hdf5Writer& file, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                           const Record& record, double apart) {
  double from = deck.output_spectrum_from;
  double to = deck.output_spectrum_to;
  if (from == 0 && to == 0) {
    const auto potential = hamiltonian.potential_at(0.0);
    const double lowest = *std::min_element(potential.begin(), potential.end());
    const double mean = *std::max_element(record.energy.begin(), record.energy.begin() + record.count);
    const double above_lowest = std::max(mean - lowest, 8 * apart);
    const double most = std::numbers::pi / deck.time_step;
    from = std::max(lowest, mean - most);
    to = std::min(lowest + 4 * above_lowest, mean + most);
  }
  const auto energies = evenly(from, to, apart);
  std::vector<double> spectra;
  for (Index k = 0; k < record.count; ++k) {
    const auto spectrum = schrodinger::autocorrelation_spectrum(record.time, column(record, record.autocorrelation, k),
                                                                energies, deck.output_window);
    spectra.insert(spectra.end(), spectrum.begin(), spectrum.end());
  }
  file.write<double>("/spectrum/energy", {energies.size()}, energies, "hartree", "energies of the spectrum");
  file.write<double>("/spectrum/autocorrelation", extents_of(record, energies.size()), spectra, "1/hartree",
                     "1/pi Re int <psi(0)|psi(t)> w(t) exp(i E t) dt");
}

void write_dipole(Hdf5Writer& file, const Deck& deck, const Record& record) {
  const auto range = harmonic_range(deck, record.steps_done(), record.time.back());
  if (!range) return;
  const auto frequencies = evenly(0.0, range->highest, range->apart);
  std::vector<double> spectra;
  for (Index k = 0; k < record.count; ++k) {
    const auto spectrum = harmonic_spectrum(record.time, column(record, record.position, k),
                                            column(record, record.norm, k), frequencies, deck.output_window);
    spectra.insert(spectra.end(), spectrum.begin(), spectrum.end());
  }
  file.write<double>("/spectrum/frequency", {frequencies.size()}, frequencies, "hartree", "frequencies of the dipole");
  file.write<double>("/spectrum/dipole", extents_of(record, frequencies.size()), spectra, "1",
                     "omega^4 |int (d(t) - d(0)) w(t) exp(i omega t) dt|^2, d = -<psi|x|psi>");
}

}  // namespace

std::vector<double> evenly(double from, double to, double apart, double most) {
  const double intervals = std::clamp(std::ceil((to - from) / apart), 1.0, most);
  std::vector<double> values;
  for (double k = 0; k <= intervals; ++k) values.push_back(from + k * (to - from) / intervals);
  return values;
}

std::optional<HarmonicRange> harmonic_range(const Deck& deck, Index steps, double duration) {
  const auto carrier = std::find_if(deck.pulses.begin(), deck.pulses.end(),
                                    [](const schrodinger::Pulse& pulse) { return pulse.omega > 0; });
  if (carrier == deck.pulses.end() || steps < 2) return std::nullopt;
  return HarmonicRange{carrier->omega,
                       std::min(deck.output_harmonics * carrier->omega, std::numbers::pi / deck.time_step),
                       std::numbers::pi / (4 * duration)};
}

std::vector<double> harmonic_spectrum(const std::vector<double>& time, const std::vector<double>& position,
                                      const std::vector<double>& norm, const std::vector<double>& frequencies,
                                      schrodinger::Window window) {
  std::vector<double> dipole(position);
  for (std::size_t i = 0; i < dipole.size(); ++i) dipole[i] *= -norm[i] * norm[i];
  return schrodinger::dipole_spectrum(time, dipole, frequencies, window);
}

void write_spectra(Hdf5Writer& file, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                   const Record& record) {
  if (record.steps_done() < 2) return;
  const double apart = std::numbers::pi / (4 * record.time.back());
  if (deck.output_autocorrelation && !hamiltonian.moves()) {
    write_autocorrelation(file, deck, hamiltonian, record, apart);
  }
  write_dipole(file, deck, record);
}

}  // namespace heddle::driver
