// The results of a run so far, and their file.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>
#include <heddle/schrodinger/observables.hpp>
#include <heddle/schrodinger/simulation.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace heddle::driver {

/// All wave functions of a run after one step.
struct Snapshot {
  std::vector<schrodinger::Observables> seen;
  std::vector<schrodinger::State> states;
  double largest_overlap = 0.0;
  schrodinger::PropagatorChoice propagator;
  schrodinger::ErrorEstimate errors;
};
/// Return the current state of a simulation. Collective.
[[nodiscard]] Snapshot snapshot_of(schrodinger::Simulation& simulation);

/// One row of observables for each step from 0 on, one frame every output.every steps, and the latest psi. A row has a
/// value for each of m wave functions unless the observable is common to them.
struct Record {
  std::vector<double> time, norm, energy, position, dipole, edge_probability;
  std::vector<std::int64_t> nodes;
  std::vector<double> node_positions;  ///< Positions for each entry of `nodes` in turn.
  std::vector<double> energies;        ///< steps x states
  std::vector<double> populations;     ///< steps x m x states
  std::vector<double> nuclei;          ///< steps x 2
  std::vector<double> field, absorbed, ionisation, outside, largest_overlap;
  std::vector<std::complex<double>> autocorrelation;
  /// Estimated errors of psi and of the observables; NaN if an earlier version recorded none.
  std::vector<double> psi_error, energy_error, position_error, populations_error, absorbed_error, ionisation_error,
      outside_error;
  schrodinger::ErrorEstimate errors;  ///< Estimate after the last step.
  std::vector<std::int64_t> frame_step;
  std::vector<double> frame_time;
  std::vector<double> density;                    ///< frames x m x points
  std::vector<std::complex<double>> frame_state;  ///< frames x m x points, with output.state
  std::vector<std::complex<double>> first;        ///< psi(0), m x points, with output.autocorrelation
  std::vector<std::complex<double>> last;         ///< psi after the last step, m x points
  Index count = 1;                                ///< m
  Index tile = 0;
  schrodinger::PropagatorChoice propagator;  ///< Automatic if the deck's is and no step is done yet.

  [[nodiscard]] Index steps_done() const { return static_cast<Index>(time.size()) - 1; }
  /// Return each psi after the last step.
  [[nodiscard]] std::vector<schrodinger::State> states() const;
  /// Return the positions of nodes of each wave function after the last step.
  [[nodiscard]] std::vector<std::vector<double>> last_nodes() const;
  void append(const Deck& deck, const Snapshot& now);
};

/// Return whether a run of the deck records norms that an absorber or a pulse changes.
[[nodiscard]] bool records_absorbed(const Deck& deck);
[[nodiscard]] bool records_ionisation(const Deck& deck);

/// An array of a record: its name in the file, and `extents`, its dimensions.
struct RecordArray {
  std::string name;
  std::vector<std::size_t> extents;
  std::variant<const std::vector<double>*, const std::vector<std::int64_t>*, const std::vector<std::complex<double>>*>
      values;
};
/// Return the arrays of a record, which must outlive them unchanged.
[[nodiscard]] std::vector<RecordArray> arrays_of(const Record& record, const Deck& deck);

/// Write `record` as an HDF5 file that appears at `path` complete or not at all. For one rank. `complete`: whether this
/// is the end of the run.
///
/// /grid/x [n]; /potential/initial [n]; /time/t [steps + 1]; /nuclei/position [steps + 1, 2]; /observables/norm,
/// energy, position, dipole, nodes, edge_probability [steps + 1], energies, populations [steps + 1, states],
/// node_positions [sum of nodes], those of each step in turn;
/// /frames/step, /frames/t [frames]; /density [frames, n]; /psi [frames, n] with output.state; /restart/psi [n].
///
/// With pulses /observables/field; with an absorber /observables/absorbed; with either and output.states
/// /observables/ionisation; with output.radius /observables/outside; all [steps + 1]. /errors/psi [steps + 1] and, for
/// each of energy, position (and dipole), populations, absorbed, ionisation and outside that is recorded, its estimated
/// error in an array of its size; /errors/state [6], the start of the next step's estimates. With an absorber
/// /potential/absorber [n]. With output.autocorrelation /observables/autocorrelation [steps + 1] and /restart/first
/// [n].
///
/// At the end of a run of at least two steps: /spectrum/energy and /spectrum/autocorrelation if output.autocorrelation
/// is set and H is constant; /spectrum/frequency and /spectrum/dipole if a pulse has a carrier.
///
/// With m > 1 wave functions, arrays that depend on psi (not field or energies) have one more dimension of m after the
/// first ([steps + 1, m], [frames, m, n], populations [steps + 1, m, states]); it is the first in /restart/* and
/// /spectrum/autocorrelation, dipole. /observables/largest_overlap [steps + 1] is added.
///
/// Each array has attributes `unit` and `description`; the file has `title`, `deck` (TOML), `deck_folder` (absolute;
/// the base of relative file names), `heddle_version`, `git_hash`, `host`, `date`, `command_line`, `steps_done`,
/// `steps_planned`, `complete`, `tile`, `propagator`, `propagator_order`, `propagator_substeps`, `propagator_tolerance`
/// (as text, to the last bit).
///
/// Throw Error(output).
void write_record(const std::filesystem::path& path, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                  const Record& record, bool complete);

/// Read the record in `path` for a run of `deck` that continues it. For one rank. Throw Error(input) if it is
/// unreadable, is not a record of this deck, or has more steps than the deck asks for.
[[nodiscard]] Record read_record(const std::filesystem::path& path, const Deck& deck,
                                 const schrodinger::Hamiltonian& hamiltonian);

/// The deck that a record was computed with, and the base of relative file names in it: the record's own folder if it
/// stores none. For one rank. Reading throws Error(input).
struct StoredDeck {
  std::string text;
  std::filesystem::path folder;
};
[[nodiscard]] StoredDeck read_stored_deck(const std::filesystem::path& path);

/// Return each last psi of the record in `path`, whose grid must be `grid`. For one rank. Throw Error(input).
[[nodiscard]] std::vector<schrodinger::State> read_last_states(const std::filesystem::path& path,
                                                               const schrodinger::Grid& grid);

/// Write the record's observables as text, a row for each step: time, field, and those of each wave function. For one
/// rank. Throw Error(output).
void write_table(const std::filesystem::path& path, const Deck& deck, const Record& record);

/// Return the file of an unfinished run's latest record: "run.h5" gives "run.partial.h5".
[[nodiscard]] std::filesystem::path partial_path(const std::filesystem::path& path);

}  // namespace heddle::driver
