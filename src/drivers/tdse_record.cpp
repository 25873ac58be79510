#include "tdse_record.hpp"

#include "tdse_hdf5.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/version.hpp>
#include <heddle/io/pending_file.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::driver {

namespace {

using schrodinger::Grid;
using schrodinger::Hamiltonian;
using schrodinger::State;

// Columns of an array that has one dimension only.
constexpr Index vector = -1;

// Visits the arrays that have one row per step, or one per frame: dataset, values, columns, unit, what they are.
template <class AnyRecord, class Visitor> void visit_rows(AnyRecord& record, Index states, Visitor&& visit) {
  visit("/time/t", record.time, vector, "atomic unit of time", "time of each step");
  visit("/nuclei/position", record.nuclei, 2, "bohr", "positions of the two nuclei at each step");
  visit("/observables/norm", record.norm, vector, "1", "sqrt(sum |psi|^2 dx)");
  visit("/observables/energy", record.energy, vector, "hartree", "<psi|H(t)|psi>/<psi|psi>");
  visit("/observables/position", record.position, vector, "bohr", "<x>");
  visit("/observables/dipole", record.dipole, vector, "e bohr", "Z (X1 + X2) - <x>, electron charge -1");
  visit("/observables/nodes", record.nodes, vector, "1", "number of nodes");
  visit("/observables/edge_probability", record.edge_probability, vector, "1", "probability at the two end points");
  visit("/observables/energies", record.energies, states, "hartree", "energies of the lowest eigenstates of H(t)");
  visit("/observables/populations", record.populations, states, "1", "|<phi_k(t)|psi>|^2 of these eigenstates");
}

template <class AnyRecord, class Visitor>
void visit_frames(AnyRecord& record, Index points, bool with_state, Visitor&& visit) {
  visit("/frames/step", record.frame_step, vector, "1", "step of each stored density");
  visit("/frames/t", record.frame_time, vector, "atomic unit of time", "time of each stored density");
  visit("/density", record.density, points, "1/bohr",
        "|psi|^2, one row for each entry of /frames/t, columns as /grid/x");
  if (with_state) {
    visit("/psi", record.frame_state, points, "bohr^(-1/2)", "wave function, rows and columns as /density");
  }
}

std::vector<hsize_t> extents_of(std::size_t size, Index columns, std::size_t rows) {
  if (columns == vector) return {size};
  return {rows, static_cast<hsize_t>(columns)};
}

void require_grid(const std::filesystem::path& path, const Hdf5Reader& file, const Grid& grid) {
  const auto x = file.read<double>("/grid/x");
  const auto expected = grid.positions();
  if (x.size() != expected.size()) {
    throw Error(ErrorKind::input,
                message_of(path.string(), ": its grid has ", x.size(), " points; the deck's has ", expected.size()));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i] - expected[i]) <= 1e-9 * grid.spacing())) {
      throw Error(ErrorKind::input, message_of(path.string(), ": point ", i + 1, " of its grid is x = ", x[i],
                                               "; the deck's is ", expected[i]));
    }
  }
}

}  // namespace

void Record::append(const Deck& deck, const schrodinger::Observables& seen, const State& now) {
  time.push_back(seen.time);
  norm.push_back(seen.norm);
  energy.push_back(seen.energy);
  position.push_back(seen.position);
  dipole.push_back(seen.dipole);
  nodes.push_back(seen.nodes);
  edge_probability.push_back(seen.edge_probability);
  energies.insert(energies.end(), seen.energies.begin(), seen.energies.end());
  populations.insert(populations.end(), seen.populations.begin(), seen.populations.end());
  nuclei.insert(nuclei.end(), seen.nuclei.begin(), seen.nuclei.end());
  if (seen.step % deck.output_every == 0) {
    frame_step.push_back(seen.step);
    frame_time.push_back(seen.time);
    for (const auto& value : now) density.push_back(std::norm(value));
    if (deck.output_state) frame_state.insert(frame_state.end(), now.begin(), now.end());
  }
  state = now;
}

void write_record(const std::filesystem::path& path, const Deck& deck, const Hamiltonian& hamiltonian,
                  const Record& record, bool complete) {
  PendingFile pending(path);
  {
    Hdf5Writer file(pending.path(), path.string());
    file.attribute("title", "Heddle: one-dimensional time-dependent Schroedinger equation, atomic units");
    file.attribute("deck", resolved_text(deck));
    file.attribute("heddle_version", std::string(version()));
    file.attribute("git_hash", std::string(git_hash()));
    file.attribute("steps_done", record.steps_done());
    file.attribute("steps_planned", deck.time_steps);
    file.attribute("complete", complete ? 1 : 0);
    file.attribute("tile", record.tile);

    const auto x = hamiltonian.grid().positions();
    const auto potential = hamiltonian.potential_at(0.0);
    file.write<double>("/grid/x", {x.size()}, x, "bohr", "points of the grid");
    file.write<double>("/potential/initial", {potential.size()}, potential, "hartree", "V(x, t = 0)");
    const auto write = [&](std::size_t rows) {
      return [&file, rows](const char* name, const auto& values, Index columns, const char* unit,
                           const char* description) {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        file.write<Value>(name, extents_of(values.size(), columns, rows), values, unit, description);
      };
    };
    visit_rows(record, deck.output_states, write(record.time.size()));
    visit_frames(record, deck.grid.points, deck.output_state, write(record.frame_step.size()));
    file.write<std::complex<double>>("/restart/psi", {record.state.size()}, record.state, "bohr^(-1/2)",
                                     "wave function after the last step");
    file.close();
  }
  pending.commit();
}

Record read_record(const std::filesystem::path& path, const Deck& deck, const Hamiltonian& hamiltonian) {
  const auto refuse = [&](const std::string& message) {
    throw Error(ErrorKind::input, path.string() + ": " + message);
  };
  const Hdf5Reader file(path);
  const Deck old = read_deck(file.text_attribute("deck"), path, {});
  if (const auto difference = first_difference(old, deck))
    refuse("it was computed with " + *difference + " in the deck");
  require_grid(path, file, deck.grid);
  if (file.read<double>("/potential/initial") != hamiltonian.potential_at(0.0)) {
    refuse("it was computed with another potential");
  }
  Record record;
  record.tile = file.integer_attribute("tile");
  const auto rows = static_cast<std::size_t>(file.integer_attribute("steps_done")) + 1;
  const auto read = [&](std::size_t expected_rows) {
    return [&, expected_rows](const char* name, auto& values, Index columns, const char*, const char*) {
      using Value = typename std::decay_t<decltype(values)>::value_type;
      values = file.read<Value>(name);
      const std::size_t expected = expected_rows * static_cast<std::size_t>(columns == vector ? 1 : columns);
      if (values.size() != expected) {
        refuse(message_of("dataset ", name, " has ", values.size(), " values; expected ", expected));
      }
    };
  };
  visit_rows(record, deck.output_states, read(rows));
  const std::size_t frames = (rows - 1) / static_cast<std::size_t>(deck.output_every) + 1;
  visit_frames(record, deck.grid.points, deck.output_state, read(frames));
  record.state = file.read<std::complex<double>>("/restart/psi");
  if (record.state.size() != static_cast<std::size_t>(deck.grid.points)) refuse("/restart/psi does not fit its grid");
  if (record.steps_done() > deck.time_steps) {
    refuse(message_of("it has ", record.steps_done(), " steps already; time.steps is ", deck.time_steps));
  }
  return record;
}

State read_last_state(const std::filesystem::path& path, const Grid& grid) {
  const Hdf5Reader file(path);
  require_grid(path, file, grid);
  State state = file.read<std::complex<double>>("/restart/psi");
  if (state.size() != static_cast<std::size_t>(grid.points)) {
    throw Error(ErrorKind::input, path.string() + ": /restart/psi does not fit its grid");
  }
  return state;
}

std::filesystem::path partial_path(const std::filesystem::path& path) {
  auto partial = path;
  partial.replace_filename(path.stem().string() + ".partial" + path.extension().string());
  return partial;
}

}  // namespace heddle::driver
