// Autocorrelation and dipole spectra of a complete run.
#pragma once

#include "drivers/tdse/record/hdf5.hpp"
#include "drivers/tdse/record/record.hpp"

namespace heddle::driver {

/// Write the group /spectrum of a complete run; see write_record(). Without output.spectrum_from and output.spectrum_to
/// energies range from the lowest V at t = 0 to four times as far above it as <H>. Frequencies of the dipole moment go
/// up to output.harmonics times the carrier frequency of the first pulse that has one. Both are within pi/dt of <H> or
/// of 0, and spaced by an eighth of 2 pi/T.
void write_spectra(Hdf5Writer& file, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                   const Record& record);

}  // namespace heddle::driver
