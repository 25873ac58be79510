// Autocorrelation and dipole spectra of a complete run.
#pragma once

#include "drivers/tdse/record/hdf5.hpp"
#include "drivers/tdse/record/record.hpp"

#include <optional>
#include <vector>

namespace heddle::driver {

/// Write the group /spectrum of a complete run; see write_record(). Without output.spectrum_from and output.spectrum_to
/// energies range from the lowest V at t = 0 to four times as far above it as <H>. Frequencies of the dipole moment go
/// up to output.harmonics times the carrier frequency of the first pulse that has one. Both are within pi/dt of <H> or
/// of 0, and spaced by an eighth of 2 pi/T.
void write_spectra(Hdf5Writer& file, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                   const Record& record);

/// The frequencies of a harmonic spectrum, in hartree: from 0 to `highest`, spaced by `apart` or a little less.
struct HarmonicRange {
  double carrier;  ///< Frequency of the first pulse that has one; order 1.
  double highest;
  double apart;
};
/// Return the range of a run of `deck` that takes `duration`; none without a carrier or for less than two steps.
[[nodiscard]] std::optional<HarmonicRange> harmonic_range(const Deck& deck, Index steps, double duration);

/// Return numbers from `from` to `to`, evenly spaced by `apart` or less, but in at most `most` intervals.
[[nodiscard]] std::vector<double> evenly(double from, double to, double apart, double most = 100'000);

/// Return the harmonic spectrum of a wave function with these times, positions and norms. The dipole moment is not
/// divided by the norm: the absorbed part of the electron no longer radiates.
[[nodiscard]] std::vector<double> harmonic_spectrum(const std::vector<double>& time,
                                                    const std::vector<double>& position,
                                                    const std::vector<double>& norm,
                                                    const std::vector<double>& frequencies, schrodinger::Window window);

}  // namespace heddle::driver
