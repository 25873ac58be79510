// Writing and reading of a run's HDF5 record.
#include "drivers/tdse/record/record.hpp"

#include "drivers/support/provenance.hpp"
#include "drivers/tdse/deck/keys.hpp"
#include "drivers/tdse/record/hdf5.hpp"
#include "drivers/tdse/record/spectra.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace heddle::driver {

namespace {

using schrodinger::Grid;
using schrodinger::Hamiltonian;
using schrodinger::State;

using Extents = std::vector<hsize_t>;

// Prepend the dimension of wave functions if there are several.
Extents each_of(const Record& record, Extents extents = {}) {
  if (record.count > 1) extents.insert(extents.begin(), static_cast<hsize_t>(record.count));
  return extents;
}

// Visit the arrays with one row per step or per frame: dataset, values, extents of a row, unit, description.
template <class AnyRecord, class Visitor> void visit_rows(AnyRecord& record, const Deck& deck, Visitor&& visit) {
  const auto states = static_cast<hsize_t>(deck.output_states);
  const Extents each = each_of(record);
  visit("/time/t", record.time, Extents{}, "atomic unit of time", "time of each step");
  visit("/nuclei/position", record.nuclei, Extents{2}, "bohr", "positions of the two nuclei at each step");
  visit("/observables/norm", record.norm, each, "1", "sqrt(sum |psi|^2 dx)");
  visit("/observables/energy", record.energy, each, "hartree", "<psi|H(t)|psi>/<psi|psi>");
  visit("/observables/position", record.position, each, "bohr", "<x>");
  visit("/observables/dipole", record.dipole, each, "e bohr", "Z (X1 + X2) - <x>, electron charge -1");
  visit("/observables/nodes", record.nodes, each, "1", "number of nodes");
  visit("/observables/edge_probability", record.edge_probability, each, "1", "probability at the two end points");
  visit("/observables/energies", record.energies, Extents{states}, "hartree",
        "energies of the lowest eigenstates of H(t), no pulse");
  visit("/observables/populations", record.populations, each_of(record, {states}), "1",
        "|<phi_k(t)|psi>|^2 of these eigenstates");
  if (!deck.pulses.empty()) {
    visit("/observables/field", record.field, Extents{}, "hartree/(e bohr)", "E(t) of all pulses");
  }
  if (records_absorbed(deck)) {
    visit("/observables/absorbed", record.absorbed, each, "1", "1 - ||psi||^2: probability that was absorbed");
  }
  if (records_ionisation(deck)) {
    visit("/observables/ionisation", record.ionisation, each, "1",
          "1 - sum of the populations of eigenstates with negative energy");
  }
  if (deck.output_radius > 0) {
    visit("/observables/outside", record.outside, each, "1", "1 - probability at |x| <= output.radius");
  }
  if (deck.output_autocorrelation) {
    visit("/observables/autocorrelation", record.autocorrelation, each, "1", "<psi(0)|psi(t)>");
  }
  if (record.count > 1) {
    visit("/observables/largest_overlap", record.largest_overlap, Extents{}, "1", "largest |<psi_j|psi_k>|, j < k");
  }
}

// Visit the arrays of estimated errors likewise; files of earlier versions lack them.
template <class AnyRecord, class Visitor> void visit_errors(AnyRecord& record, const Deck& deck, Visitor&& visit) {
  const auto states = static_cast<hsize_t>(deck.output_states);
  const Extents each = each_of(record);
  visit("/errors/psi", record.psi_error, Extents{}, "1", "estimated ||psi - exact psi||/||psi|| on this grid");
  visit("/errors/energy", record.energy_error, each, "hartree", "estimated error of /observables/energy");
  visit("/errors/position", record.position_error, each, "bohr", "estimated error of position, and of dipole");
  visit("/errors/populations", record.populations_error, each_of(record, {states}), "1",
        "estimated error of /observables/populations");
  if (records_absorbed(deck)) {
    visit("/errors/absorbed", record.absorbed_error, each, "1", "estimated error of /observables/absorbed");
  }
  if (records_ionisation(deck)) {
    visit("/errors/ionisation", record.ionisation_error, each, "1", "estimated error of /observables/ionisation");
  }
  if (deck.output_radius > 0) {
    visit("/errors/outside", record.outside_error, each, "1", "estimated error of /observables/outside");
  }
}

constexpr const char* state_of_errors = "/errors/state";

std::vector<double> numbers_of(const schrodinger::ErrorEstimate& errors) {
  return {errors.psi,         errors.probability,    errors.psi_of_step, errors.probability_of_step,
          errors.steps_since, errors.steps_looked_at};
}

template <class AnyRecord, class Visitor> void visit_frames(AnyRecord& record, const Deck& deck, Visitor&& visit) {
  const Extents each = each_of(record, {static_cast<hsize_t>(deck.grid.points)});
  visit("/frames/step", record.frame_step, Extents{}, "1", "step of each stored density");
  visit("/frames/t", record.frame_time, Extents{}, "atomic unit of time", "time of each stored density");
  visit("/density", record.density, each, "1/bohr", "|psi|^2, one row for each entry of /frames/t, columns as /grid/x");
  if (deck.output_state) {
    visit("/psi", record.frame_state, each, "bohr^(-1/2)", "wave function, rows and columns as /density");
  }
}

template <class AnyRecord, class Visitor> void visit_restart(AnyRecord& record, const Deck& deck, Visitor&& visit) {
  const Extents each = each_of(record, {static_cast<hsize_t>(deck.grid.points)});
  visit("/restart/psi", record.last, each, "bohr^(-1/2)", "wave function after the last step");
  if (deck.output_autocorrelation) {
    visit("/restart/first", record.first, each, "bohr^(-1/2)", "wave function at t = 0");
  }
}

constexpr const char* positions_of_nodes = "/observables/node_positions";

std::size_t product_of(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
}

std::vector<State> split(const std::vector<std::complex<double>>& all, Index count) {
  const auto points = static_cast<std::ptrdiff_t>(all.size()) / count;
  std::vector<State> states;
  states.reserve(static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k) states.emplace_back(all.begin() + k * points, all.begin() + (k + 1) * points);
  return states;
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

// Return the number of wave functions in a file.
Index states_in(const Hdf5Reader& file, const Grid& grid, const std::filesystem::path& path) {
  const Extents extents = file.extents("/restart/psi");
  const auto points = static_cast<hsize_t>(grid.points);
  if (extents == Extents{points}) return 1;
  if (extents.size() == 2 && extents[0] > 0 && extents[1] == points) return static_cast<Index>(extents[0]);
  throw Error(ErrorKind::input, path.string() + ": /restart/psi does not fit its grid");
}

void write_absorber(Hdf5Writer& file, const Deck& deck, const Hamiltonian& hamiltonian) {
  const auto mask = mask_of_step(deck.grid, deck.absorber, deck.absorber.time);
  if (!mask.empty()) {
    file.write<double>("/potential/absorber", {mask.size()}, mask, "1", "what psi is multiplied by in absorber.time");
  } else {
    const auto absorption = hamiltonian.absorption();
    file.write<double>("/potential/absorber", {absorption.size()}, absorption, "hartree", "W(x) of H - i W");
  }
}

// Read as many positions as nodes; counts are checked before they are added, so that the sum cannot overflow.
void read_nodes(const std::filesystem::path& path, const Hdf5Reader& file, Record& record) {
  record.node_positions = file.read<double>(positions_of_nodes);
  auto left = static_cast<std::int64_t>(record.node_positions.size());
  for (const std::int64_t count : record.nodes) left = count < 0 || count > left ? -1 : left - count;
  if (left != 0) {
    throw Error(ErrorKind::input,
                message_of(path.string(), ": dataset ", positions_of_nodes, " has ", record.node_positions.size(),
                           " values, which /observables/nodes does ", "not add up to"));
  }
}

// Read the estimated errors; NaN if an earlier version wrote the file.
void read_errors(const std::filesystem::path& path, const Hdf5Reader& file, const Deck& deck, std::size_t rows,
                 Record& record) {
  const bool known = file.has(state_of_errors);
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  visit_errors(record, deck,
               [&](const char* name, std::vector<double>& values, const Extents& row, const char*, const char*) {
                 const std::size_t expected = rows * product_of(row);
                 values = known ? file.read<double>(name) : std::vector<double>(expected, none);
                 if (values.size() == expected) return;
                 throw Error(ErrorKind::input, message_of(path.string(), ": dataset ", name, " has ", values.size(),
                                                          " values; expected ", expected));
               });
  if (!known) {
    record.errors.psi = record.errors.probability = none;
    return;
  }
  const std::vector<double> numbers = file.read<double>(state_of_errors);
  const std::size_t expected = numbers_of({}).size();
  if (numbers.size() != expected) {
    throw Error(ErrorKind::input, message_of(path.string(), ": dataset ", state_of_errors, " has ", numbers.size(),
                                             " values; expected ", expected));
  }
  record.errors = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
}

schrodinger::PropagatorChoice read_choice(const std::filesystem::path& path, const Hdf5Reader& file) {
  const auto refuse = [&](const char* attribute, const auto& found, const std::string& expected) {
    throw Error(ErrorKind::input, message_of(path.string(), ": attribute ", attribute, " = ", found, ": ", expected));
  };
  schrodinger::PropagatorOptions options;
  const std::string kind = file.text_attribute("propagator");
  try {
    options.kind = schrodinger::propagator_kind_from(kind);
  } catch (const Error& error) {
    refuse("propagator", kind, error.what());
  }
  const auto whole = [&](const char* attribute, std::int64_t least) {
    const std::int64_t value = file.integer_attribute(attribute);
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (value < least || value > most) refuse(attribute, value, message_of("expected ", least, " to ", most));
    return static_cast<int>(value);
  };
  options.order = whole("propagator_order", 2);
  options.substeps = whole("propagator_substeps", 1);
  const std::string text = file.text_attribute("propagator_tolerance");
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, options.tolerance);
  if (code != std::errc() || stop != end) refuse("propagator_tolerance", text, "expected a number");
  try {
    validate(options);
  } catch (const Error& error) {
    throw Error(ErrorKind::input, path.string() + ": its attributes: " + error.what());
  }
  schrodinger::PropagatorChoice choice;
  choice.kind = options.kind;
  choice.order = options.order;
  choice.substeps = options.substeps;
  choice.tolerance = options.tolerance;
  return choice;
}

}  // namespace

bool records_absorbed(const Deck& deck) {
  return deck.absorber.kind != schrodinger::AbsorberKind::none;
}

bool records_ionisation(const Deck& deck) {
  return deck.output_states > 0 && (records_absorbed(deck) || !deck.pulses.empty());
}

std::vector<State> Record::states() const {
  return split(last, count);
}

std::vector<std::vector<double>> Record::last_nodes() const {
  std::vector<std::vector<double>> each(static_cast<std::size_t>(count));
  auto end = node_positions.end();
  for (std::size_t k = each.size(); k-- > 0;) {
    const auto begin = end - nodes[nodes.size() - each.size() + k];
    each[k].assign(begin, end);
    end = begin;
  }
  return each;
}

void Record::append(const Deck& deck, const Snapshot& now) {
  errors = now.errors;
  psi_error.push_back(now.seen.front().error);
  count = static_cast<Index>(now.states.size());
  propagator = now.propagator;
  const schrodinger::Observables& common = now.seen.front();
  const bool is_frame = common.step % deck.output_every == 0;
  time.push_back(common.time);
  field.push_back(common.field);
  largest_overlap.push_back(now.largest_overlap);
  energies.insert(energies.end(), common.energies.begin(), common.energies.end());
  nuclei.insert(nuclei.end(), common.nuclei.begin(), common.nuclei.end());
  if (is_frame) {
    frame_step.push_back(common.step);
    frame_time.push_back(common.time);
  }
  last.clear();
  for (const State& state : now.states) last.insert(last.end(), state.begin(), state.end());
  if (common.step == 0) first = last;
  for (std::size_t k = 0; k < now.states.size(); ++k) {
    const schrodinger::Observables& seen = now.seen[k];
    const State& state = now.states[k];
    norm.push_back(seen.norm);
    energy.push_back(seen.energy);
    position.push_back(seen.position);
    dipole.push_back(seen.dipole);
    nodes.push_back(seen.nodes);
    node_positions.insert(node_positions.end(), seen.node_positions.begin(), seen.node_positions.end());
    edge_probability.push_back(seen.edge_probability);
    populations.insert(populations.end(), seen.populations.begin(), seen.populations.end());
    absorbed.push_back(seen.absorbed());
    ionisation.push_back(seen.ionisation());
    energy_error.push_back(seen.energy_error());
    position_error.push_back(seen.position_error());
    for (const double p : seen.populations) populations_error.push_back(seen.error_of_probability(p));
    absorbed_error.push_back(seen.error_of_probability(seen.absorbed()));
    ionisation_error.push_back(seen.error_of_probability(seen.ionisation()));
    if (deck.output_radius > 0) {
      outside.push_back(schrodinger::probability_outside(deck.grid, state, deck.output_radius));
      outside_error.push_back(seen.error_of_probability(outside.back()));
    }
    if (deck.output_autocorrelation) {
      const std::span<const std::complex<double>> begun(first);
      autocorrelation.push_back(schrodinger::overlap(deck.grid, begun.subspan(k * state.size(), state.size()), state));
    }
    if (!is_frame) continue;
    for (const auto& value : state) density.push_back(std::norm(value));
    if (deck.output_state) frame_state.insert(frame_state.end(), state.begin(), state.end());
  }
}

std::vector<RecordArray> arrays_of(const Record& record, const Deck& deck) {
  std::vector<RecordArray> arrays;
  const auto add = [&](const char* name, const auto& values, const Extents& extents) {
    arrays.push_back({name, {extents.begin(), extents.end()}, &values});
  };
  const auto rows_of = [&](std::size_t rows) {
    return [&add, rows](const char* name, const auto& values, Extents row, const char* /*unit*/, const char* /*what*/) {
      row.insert(row.begin(), rows);
      add(name, values, row);
    };
  };
  visit_rows(record, deck, rows_of(record.time.size()));
  add(positions_of_nodes, record.node_positions, {record.node_positions.size()});
  visit_errors(record, deck, rows_of(record.time.size()));
  visit_frames(record, deck, rows_of(record.frame_step.size()));
  visit_restart(record, deck,
                [&](const char* name, const auto& values, const Extents& extents, const char* /*unit*/,
                    const char* /*what*/) { add(name, values, extents); });
  return arrays;
}

void write_record(const std::filesystem::path& path, const Deck& deck, const Hamiltonian& hamiltonian,
                  const Record& record, bool complete) {
  Hdf5Writer file(path);
  file.attribute("title", "Heddle: one-dimensional time-dependent Schroedinger equation, atomic units");
  file.attribute("deck", resolved_text(deck));
  const auto folder = deck.potential_folder.empty() ? std::filesystem::current_path() : deck.potential_folder;
  file.attribute("deck_folder", std::filesystem::absolute(folder).string());
  for (const auto& [name, value] : provenance_attributes()) file.attribute(name, value);
  file.attribute("steps_done", record.steps_done());
  file.attribute("steps_planned", deck.time_steps);
  file.attribute("complete", complete ? 1 : 0);
  file.attribute("tile", record.tile);
  file.attribute("propagator", std::string(to_string(record.propagator.kind)));
  file.attribute("propagator_order", record.propagator.order);
  file.attribute("propagator_substeps", record.propagator.substeps);
  file.attribute("propagator_tolerance", value_text(record.propagator.tolerance));

  const auto x = hamiltonian.grid().positions();
  const auto potential = hamiltonian.potential_at(0.0);
  file.write<double>("/grid/x", {x.size()}, x, "bohr", "points of the grid");
  file.write<double>("/potential/initial", {potential.size()}, potential, "hartree",
                     "V(x, t = 0), the pulses' x E(0) included");
  if (records_absorbed(deck)) write_absorber(file, deck, hamiltonian);
  const auto write = [&](std::size_t rows) {
    return [&file, rows](const char* name, const auto& values, Extents row, const char* unit, const char* description) {
      using Value = typename std::decay_t<decltype(values)>::value_type;
      row.insert(row.begin(), rows);
      file.write<Value>(name, row, values, unit, description);
    };
  };
  visit_rows(record, deck, write(record.time.size()));
  file.write<double>(positions_of_nodes, {record.node_positions.size()}, record.node_positions, "bohr",
                     "positions of all nodes, from left to right, of each entry of /observables/nodes in turn");
  visit_errors(record, deck, write(record.time.size()));
  const std::vector<double> errors = numbers_of(record.errors);
  file.write<double>(state_of_errors, {errors.size()}, errors, "1", "what the estimates of the next step begin with");
  visit_frames(record, deck, write(record.frame_step.size()));
  visit_restart(
      record, deck,
      [&](const char* name, const auto& values, const Extents& extents, const char* unit, const char* description) {
        file.write<std::complex<double>>(name, extents, values, unit, description);
      });
  if (complete) write_spectra(file, deck, hamiltonian, record);
  file.commit();
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
  if (deck.propagator.kind == schrodinger::PropagatorKind::automatic) {
    record.propagator = read_choice(path, file);
  }
  const auto rows = static_cast<std::size_t>(file.integer_attribute("steps_done")) + 1;
  record.count = states_in(file, deck.grid, path);
  const auto read = [&](std::size_t expected_rows) {
    return [&, expected_rows](const char* name, auto& values, const Extents& row, const char*, const char*) {
      using Value = typename std::decay_t<decltype(values)>::value_type;
      values = file.read<Value>(name);
      const std::size_t expected = expected_rows * product_of(row);
      if (values.size() != expected) {
        refuse(message_of("dataset ", name, " has ", values.size(), " values; expected ", expected));
      }
    };
  };
  visit_rows(record, deck, read(rows));
  read_nodes(path, file, record);
  read_errors(path, file, deck, rows, record);
  visit_frames(record, deck, read((rows - 1) / static_cast<std::size_t>(deck.output_every) + 1));
  visit_restart(record, deck, read(1));
  if (record.steps_done() > deck.time_steps) {
    refuse(message_of("it has ", record.steps_done(), " steps already; time.steps is ", deck.time_steps));
  }
  return record;
}

StoredDeck read_stored_deck(const std::filesystem::path& path) {
  const Hdf5Reader file(path);
  StoredDeck deck{file.text_attribute("deck"), path.parent_path()};
  if (file.has_attribute("deck_folder")) deck.folder = file.text_attribute("deck_folder");
  return deck;
}

std::vector<State> read_last_states(const std::filesystem::path& path, const Grid& grid) {
  const Hdf5Reader file(path);
  require_grid(path, file, grid);
  const Index count = states_in(file, grid, path);
  return split(file.read<std::complex<double>>("/restart/psi"), count);
}

std::filesystem::path partial_path(const std::filesystem::path& path) {
  auto partial = path;
  partial.replace_filename(path.stem().string() + ".partial" + path.extension().string());
  return partial;
}

}  // namespace heddle::driver
