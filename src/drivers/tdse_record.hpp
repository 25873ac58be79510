// What a run has produced so far, and the file it is kept in.
#pragma once

#include "tdse_deck.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>
#include <heddle/schrodinger/observables.hpp>

#include <array>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace heddle::driver {

/// One row of observables for each step from 0 on, one frame every output.every steps, and the latest psi.
struct Record {
  std::vector<double> time, norm, energy, position, dipole, edge_probability;
  std::vector<std::int64_t> nodes;
  std::vector<double> energies, populations;  ///< steps x states
  std::vector<double> nuclei;                 ///< steps x 2
  std::vector<std::int64_t> frame_step;
  std::vector<double> frame_time;
  std::vector<double> density;                    ///< frames x points
  std::vector<std::complex<double>> frame_state;  ///< frames x points, with output.state
  schrodinger::State state;                       ///< psi after the last step
  Index tile = 0;

  [[nodiscard]] Index steps_done() const { return static_cast<Index>(time.size()) - 1; }
  void append(const Deck& deck, const schrodinger::Observables& seen, const schrodinger::State& now);
};

/// Writes `record` as an HDF5 file that appears at `path` complete or not at all. For one rank. `complete`: whether
/// this is the end of the run.
///
/// /grid/x [n]; /potential/initial [n]; /time/t [steps + 1]; /nuclei/position [steps + 1, 2]; /observables/norm,
/// energy, position, dipole, nodes, edge_probability [steps + 1], energies, populations [steps + 1, states];
/// /frames/step, /frames/t [frames]; /density [frames, n]; /psi [frames, n] with output.state; /restart/psi [n]. Each
/// has attributes `unit` and `description`; the file has `title`, `deck` (TOML), `heddle_version`, `git_hash`,
/// `steps_done`, `steps_planned`, `complete`, `tile`.
///
/// Throws Error(output).
void write_record(const std::filesystem::path& path, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                  const Record& record, bool complete);

/// The record in `path`, for a run of `deck` that continues it. For one rank. Throws Error(input) where it can't be
/// read, has other contents than a record of this deck, or more steps than the deck asks for.
[[nodiscard]] Record read_record(const std::filesystem::path& path, const Deck& deck,
                                 const schrodinger::Hamiltonian& hamiltonian);

/// Last psi of the record in `path`, whose grid must be `grid`. For one rank. Throws Error(input).
[[nodiscard]] schrodinger::State read_last_state(const std::filesystem::path& path, const schrodinger::Grid& grid);

/// Where an unfinished run keeps its latest record: "run.h5" gives "run.partial.h5".
[[nodiscard]] std::filesystem::path partial_path(const std::filesystem::path& path);

}  // namespace heddle::driver
