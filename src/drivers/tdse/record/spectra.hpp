// Spectra of a run, from what its record has of each step.
#pragma once

#include "drivers/tdse/record/hdf5.hpp"
#include "drivers/tdse/record/record.hpp"

namespace heddle::driver {

/// The group /spectrum of a complete run; see write_record(). Without output.spectrum_from and output.spectrum_to the
/// energies are those from the lowest V at t = 0 to four times as far above it as <H>. A dipole moment's frequencies go
/// to 40 times the carrier's of the first pulse that has one. Either are at most pi/dt from <H> or from 0, and an
/// eighth of 2 pi/T from one another.
void write_spectra(Hdf5Writer& file, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                   const Record& record);

}  // namespace heddle::driver
