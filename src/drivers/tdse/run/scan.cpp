// A deck's runs for many values of one of its keys.
#include "drivers/tdse/run/scan.hpp"

#include "drivers/support/outputs.hpp"
#include "drivers/support/process/file_lock.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/tdse/deck/keys.hpp"
#include "drivers/tdse/record/record.hpp"
#include "drivers/tdse/record/scan_file.hpp"
#include "drivers/tdse/record/spectra.hpp"
#include "drivers/tdse/run/accuracy.hpp"
#include "drivers/tdse/run/course.hpp"
#include "drivers/tdse/run/initial.hpp"
#include "drivers/tdse/run/interruption.hpp"
#include "drivers/tdse/run/problem.hpp"
#include "drivers/tdse/run/scan_results.hpp"
#include "drivers/tdse/run/stability.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <ranges>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heddle::driver {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::Observables;
using schrodinger::Simulation;

constexpr std::size_t most_values = 10'000;

std::vector<std::string> parts_of_text(const std::string& text, char between) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == between) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Return whether a key takes text, a list, or one of some words.
bool is_no_number(const std::string& key) {
  Deck deck;
  deck.pulses.resize(1);
  bool found = false;
  visit_keys(deck, [&](const std::string& name, const auto& value, const char*) {
    using Value = std::remove_cvref_t<decltype(value)>;
    constexpr bool numeric =
        std::is_same_v<Value, double> || std::is_same_v<Value, Index> || std::is_same_v<Value, int>;
    found = found || (!numeric && without_number(name) == without_number(key));
  });
  return found;
}

// Round to 12 digits, as a user would write the value.
double rounded(double value) {
  return std::stod(format("%.12g", value));
}

// Return the given output name, or one derived from the run's.
std::filesystem::path output_of(const Deck& deck, const ScanFiles& files) {
  return files.output.empty() ? std::filesystem::path(deck.output_file).replace_extension(".scan.h5")
                              : std::filesystem::path(files.output);
}

// Check that the outputs may be written, and lock the file. For rank 0.
std::unique_ptr<FileLock> require_free(const std::filesystem::path& output, const ScanFiles& files,
                                       const std::string& json, const RunOptions& options) {
  const auto partial = partial_path(output);
  require_distinct_outputs({{"--json", json},
                            {"--output", output},
                            {"--plot", files.plot},
                            {"what an interrupted scan leaves (--output with .partial)", partial}});
  for (const std::filesystem::path& name : {output, std::filesystem::path(files.plot)}) {
    if (!name.empty()) const PendingFile probe(name);
  }
  auto lock = std::make_unique<FileLock>(output, "wait for it, or write another file");
  std::error_code error;
  const auto in_the_way = [&](const std::filesystem::path& name) {
    return !options.force && std::filesystem::is_regular_file(name, error) &&
           !(!options.restart.empty() && std::filesystem::equivalent(name, options.restart, error));
  };
  require(!in_the_way(output), output.string(), ": is there already; --force replaces it, --output names another file");
  require(!in_the_way(partial), partial.string(), ": holds the points of an interrupted scan; --restart ",
          partial.string(), " continues it, --force begins anew");
  return lock;
}

// Weighted means and maxima of the populations over a run.
class Averages {
 public:
  void add(const Observables& seen, double weight) {
    sums_.resize(seen.populations.size(), 0.0);
    largest_.resize(seen.populations.size(), 0.0);
    for (std::size_t s = 0; s < sums_.size(); ++s) {
      sums_[s] += weight * seen.populations[s];
      largest_[s] = std::max(largest_[s], seen.populations[s]);
    }
    weights_ += weight;
  }
  [[nodiscard]] double mean(std::size_t state) const { return sums_[state] / weights_; }
  [[nodiscard]] double largest(std::size_t state) const { return largest_[state]; }

 private:
  std::vector<double> sums_;
  std::vector<double> largest_;
  double weights_ = 0.0;
};

// Energies, worst values, averages and the course of the dipole of a point's run, for each wave function.
struct Followed {
  std::vector<double> first_energies;
  std::vector<Course> courses;
  std::vector<Averages> averages;
  std::vector<double> time;
  std::vector<std::vector<double>> positions;
  std::vector<std::vector<double>> norms;
};

// Return the duration of the deck's run.
double duration_of(const Deck& deck) {
  return deck.time_step * static_cast<double>(deck.time_steps);
}

// Return the orders at which the harmonic spectra of all points are stored: up to the highest of any point, and spaced
// as closely as any needs, but no more than fit a file of a reasonable size. Empty if no pulse has a carrier.
std::vector<double> orders_of(const std::vector<Deck>& decks, Index waves) {
  constexpr double most_numbers = 2e7;
  double highest = 0.0;
  double apart = std::numeric_limits<double>::infinity();
  for (const Deck& deck : decks) {
    if (const auto range = harmonic_range(deck, deck.time_steps, duration_of(deck))) {
      highest = std::max(highest, range->highest / range->carrier);
      apart = std::min(apart, range->apart / range->carrier);
    }
  }
  if (!(highest > 0)) return {};
  const double most = std::floor(most_numbers / static_cast<double>(decks.size()) / static_cast<double>(waves));
  return evenly(0.0, highest, apart, std::clamp(most, 100.0, 100'000.0));
}

// Fill the harmonic spectra of a point at the orders that its time step resolves.
void fill_spectra(ScanTable& table, std::size_t point, const Deck& deck, const Followed& followed) {
  const auto range = harmonic_range(deck, deck.time_steps, duration_of(deck));
  if (!range) return;
  table.at(point, ScanTable::Of::carrier) = range->carrier;
  std::vector<double> frequencies;
  for (const double order : table.orders()) {
    const double frequency = order * range->carrier;
    if (frequency <= range->highest * (1 + 1e-12)) frequencies.push_back(frequency);
  }
  for (std::size_t w = 0; w < followed.positions.size(); ++w) {
    const auto spectrum =
        harmonic_spectrum(followed.time, followed.positions[w], followed.norms[w], frequencies, deck.output_window);
    std::ranges::copy(spectrum, table.spectrum(point, static_cast<Index>(w)).begin());
  }
}

void fill_point(ScanTable& table, std::size_t point, const Deck& deck, const Hamiltonian& hamiltonian,
                Simulation& simulation, const Followed& followed) {
  table.leave_out(point);
  table.at(point, ScanTable::Of::steps) = static_cast<double>(simulation.steps_done());
  table.at(point, ScanTable::Of::time) = simulation.time();
  table.at(point, ScanTable::Of::norm_excess) = 0.0;
  table.at(point, ScanTable::Of::energy_excess) = 0.0;
  for (const CourseCheck& check : checks_of(deck, hamiltonian, worst_of(followed.courses))) {
    const bool of_energy = std::string_view(check.name) == "energy_drift";
    table.at(point, of_energy ? ScanTable::Of::energy_excess : ScanTable::Of::norm_excess) = check.value / check.bound;
  }
  for (std::size_t s = 0; s < followed.first_energies.size(); ++s) {
    table.energy(point, static_cast<Index>(s)) = followed.first_energies[s];
  }
  table.at(point, ScanTable::Of::psi_error) = simulation.observables().error;
  for (Index w = 0; w < simulation.count(); ++w) {
    const Observables& last = simulation.observables(w);
    const Averages& average = followed.averages[static_cast<std::size_t>(w)];
    table.at(point, w, ScanTable::OfWave::norm) = last.norm;
    table.at(point, w, ScanTable::OfWave::energy) = last.energy;
    table.at(point, w, ScanTable::OfWave::position) = last.position;
    table.at(point, w, ScanTable::OfWave::dipole) = last.dipole;
    table.at(point, w, ScanTable::OfWave::nodes) = static_cast<double>(last.nodes);
    table.at(point, w, ScanTable::OfWave::absorbed) = last.absorbed();
    table.at(point, w, ScanTable::OfWave::energy_error) = last.energy_error();
    table.at(point, w, ScanTable::OfWave::position_error) = last.position_error();
    table.at(point, w, ScanTable::OfWave::absorbed_error) = last.error_of_probability(last.absorbed());
    if (records_ionisation(deck)) {
      table.at(point, w, ScanTable::OfWave::ionisation) = last.ionisation();
      table.at(point, w, ScanTable::OfWave::ionisation_error) = last.error_of_probability(last.ionisation());
    }
    if (deck.output_radius > 0) {
      const double outside = schrodinger::probability_outside(deck.grid, simulation.state(w), deck.output_radius);
      table.at(point, w, ScanTable::OfWave::outside) = outside;
      table.at(point, w, ScanTable::OfWave::outside_error) = last.error_of_probability(outside);
    }
    for (std::size_t s = 0; s < last.populations.size(); ++s) {
      const auto state = static_cast<Index>(s);
      table.population(point, w, ScanTable::Populations::last, state) = last.populations[s];
      table.population(point, w, ScanTable::Populations::mean, state) = average.mean(s);
      table.population(point, w, ScanTable::Populations::largest, state) = average.largest(s);
      table.population(point, w, ScanTable::Populations::error, state) = last.error_of_probability(last.populations[s]);
    }
  }
  if (!table.orders().empty()) fill_spectra(table, point, deck, followed);
}

// Run one point on this rank alone. Return false if asked to end.
bool run_point(const Context& alone, const Deck& deck, const RunOptions& options, const Interruption& interruption,
               ScanTable& table, std::size_t point) {
  const Hamiltonian hamiltonian(deck.grid, deck.potential, deck.nuclei, deck.pulses, deck.absorber);
  const schrodinger::PropagatorOptions propagator =
      propagator_of(deck, options.tile.value_or(schrodinger::default_tile(deck.grid.points)));
  const auto initial = initial_states(alone.comm(), deck, hamiltonian, propagator.tile,
                                      [&](const std::string& line) { alone.say(line); });
  Simulation simulation(
      alone.comm(), hamiltonian,
      {.time_step = deck.time_step, .propagator = propagator, .states = deck.output_states, .errors = {}}, initial);
  Followed followed{{},
                    std::vector<Course>(initial.size()),
                    std::vector<Averages>(initial.size()),
                    {},
                    std::vector<std::vector<double>>(initial.size()),
                    std::vector<std::vector<double>>(initial.size())};
  const bool has_spectra = !table.orders().empty();
  // Trapezoidal rule: the ends of the run have half the weight.
  const auto take = [&](double weight) {
    for (std::size_t w = 0; w < followed.courses.size(); ++w) {
      const Observables& seen = simulation.observables(static_cast<Index>(w));
      followed.courses[w].add(seen);
      followed.averages[w].add(seen, weight);
      if (!has_spectra) continue;
      if (w == 0) followed.time.push_back(seen.time);
      followed.positions[w].push_back(seen.position);
      followed.norms[w].push_back(seen.norm);
    }
  };
  take(deck.time_steps > 0 ? 0.5 : 1.0);
  followed.first_energies = simulation.observables().energies;
  while (simulation.steps_done() < deck.time_steps) {
    if (interruption.asked(alone.comm())) return false;
    simulation.step();
    take(simulation.steps_done() == deck.time_steps ? 0.5 : 1.0);
  }
  fill_point(table, point, deck, hamiltonian, simulation, followed);
  return true;
}

// Return the deck without the names of its output files.
std::string physics_of(Deck deck) {
  deck.output_file.clear();
  deck.output_table.clear();
  return resolved_text(deck);
}

// Copy the points of an earlier scan of the same deck whose spectra are at the same orders; the same on every rank.
void take_over(const Context& context, const Scan& scan, const Deck& deck, const std::string& earlier,
               ScanTable& table) {
  const Communicator& comm = context.comm();
  comm.on_rank(0, [&] {
    StoredScan stored = read_scan_file(earlier, table.states(), table.waves());
    if (stored.key != scan.key) {
      throw Error(ErrorKind::input, earlier + ": is a scan of " + stored.key + ", not of " + scan.key);
    }
    if (physics_of(read_deck(stored.deck, earlier, {scan.setting(0)})) != physics_of(deck)) {
      throw Error(ErrorKind::input, earlier + ": was computed with another deck");
    }
    if (stored.table.orders() != table.orders()) {
      context.say("note: " + earlier + " has harmonic spectra at other orders, or none; all points are computed");
      return;
    }
    for (std::size_t k = 0; k < table.points(); ++k) {
      for (std::size_t j = 0; j < stored.table.points(); ++j) {
        if (stored.table.values()[j] == table.values()[k] && stored.table.done(j)) table.take(k, stored.table, j);
      }
    }
  });
  comm.broadcast(table.numbers(), 0);
}

// Run this rank's points. Throw the error of the first that fails, naming its point.
void run_points(Context& context, const Scan& scan, const std::vector<Deck>& decks, const RunOptions& options,
                ScanTable& table) {
  const Communicator& comm = context.comm();
  const Communicator self(MPI_COMM_SELF);
  CommonOptions silent = context.options();
  silent.quiet = true;
  silent.json.clear();
  const Context alone(self, context.device(), silent);
  const Interruption interruption;
  Progress progress = context.progress("tdse --scan");
  comm.on_each([&] {
    bool asked = false;
    const auto ranks = static_cast<std::size_t>(comm.size());
    const auto mine = static_cast<std::size_t>(comm.rank());
    // Zero unfinished points, and all points on ranks other than 0, so that the sum over ranks has each once.
    std::vector<std::size_t> left;
    for (std::size_t k = 0; k < table.points(); ++k) {
      if (!table.done(k)) left.push_back(k);
      if (!table.done(k) || mine != 0) table.clear(k);
    }
    for (std::size_t j = mine; j < left.size(); j += ranks) {
      const std::size_t k = left[j];
      progress.update(static_cast<double>(j) / static_cast<double>(left.size()), scan.setting(k));
      try {
        asked = asked || interruption.asked(self) || !run_point(alone, decks[k], options, interruption, table, k);
      } catch (const Error& error) {
        throw Error(error.kind(), scan.setting(k) + ": " + error.what());
      }
      if (asked) table.leave_out(k);
    }
  });
  progress.finish();
  comm.all_reduce(table.numbers(), Reduction::sum);
}

// Return the number of wave functions at each point.
Index waves_of(const Communicator& comm, const Deck& deck) {
  auto count = static_cast<Index>(deck.levels().size());
  if (deck.initial == InitialKind::file && std::filesystem::path(deck.initial_file).extension() == ".h5") {
    comm.on_rank(0, [&] { count = static_cast<Index>(read_last_states(deck.initial_file, deck.grid).size()); });
    comm.broadcast(std::span(&count, 1), 0);
  }
  return count;
}

}  // namespace

std::string Scan::setting(std::size_t point) const {
  // Print whole numbers without an exponent, which integer keys do not accept.
  const double value = values[point];
  const bool is_whole = value == std::round(value) && std::abs(value) < 1e15;
  return key + '=' + (is_whole ? format("%.0f", value) : shortest(value));
}

Scan read_scan(const std::string& text) {
  Scan scan{text, {}, {}};
  const auto equals = text.find('=');
  const auto refuse = [&](const std::string& why) { throw Error(ErrorKind::argument, "--scan " + text + ": " + why); };
  const char* form = "expected KEY=FIRST:LAST:STEP or KEY=A,B,...";
  if (equals == std::string::npos || equals == 0) refuse(form);
  scan.key = text.substr(0, equals);
  if (is_no_number(scan.key)) refuse(scan.key + " is no number");
  const std::string given = text.substr(equals + 1);
  const bool is_range = given.find(':') != std::string::npos;
  std::vector<double> numbers;
  for (const std::string& part : parts_of_text(given, is_range ? ':' : ',')) {
    const auto number = finite_number(part);
    if (!number) refuse("'" + part + "' is no finite number; " + form);
    numbers.push_back(*number);
  }
  if (!is_range) {
    scan.values = numbers;
  } else {
    if (numbers.size() != 3) refuse(form);
    const double first = numbers[0];
    const double last = numbers[1];
    const double step = numbers[2];
    const double count = step == 0 ? -1.0 : std::floor((last - first) / step + 1e-9);
    if (!(count >= 0)) refuse(message_of("a step of ", step, " does not lead from ", first, " to ", last));
    if (count >= static_cast<double>(most_values)) refuse(message_of("more than ", most_values, " values"));
    for (double k = 0; k <= count; ++k) scan.values.push_back(rounded(first + k * step));
  }
  if (scan.values.size() > most_values) refuse(message_of("more than ", most_values, " values"));
  return scan;
}

int run_scan(Context& context, const Scan& scan, const std::vector<Deck>& decks, const RunOptions& options,
             const ScanFiles& files, const nlohmann::ordered_json& inputs) {
  const Communicator& comm = context.comm();
  Index states = 0;
  for (std::size_t k = 0; k < decks.size(); ++k) {
    const Deck& deck = decks[k];
    states = std::max(states, deck.output_states);
    if (options.allow_growth) continue;
    const Hamiltonian hamiltonian(deck.grid, deck.potential, deck.nuclei, deck.pulses, deck.absorber);
    try {
      require_stable_step(deck, hamiltonian, "--allow-growth");
    } catch (const Error& error) {
      throw Error(error.kind(), scan.setting(k) + ": " + error.what());
    }
  }
  Report report = context.report("tdse");
  report.inputs().update(inputs);
  const std::filesystem::path output = output_of(decks.front(), files);
  std::unique_ptr<FileLock> lock;
  comm.on_rank(0, [&] { lock = require_free(output, files, context.options().json_file(), options); });
  say_problem(context, decks.front());
  for (std::size_t k = 0; k < decks.size(); ++k) {
    for (const std::string& note : notes_on_pulses(decks[k])) context.say("note: " + scan.setting(k) + ": " + note);
  }
  context.say(format("%zu values of %s from %g to %g%s, on %d rank%s", decks.size(), scan.key.c_str(),
                     scan.values.front(), scan.values.back(), unit_behind(scan).c_str(), comm.size(),
                     comm.size() == 1 ? "" : "s"));
  const Index waves = waves_of(comm, decks.front());
  ScanTable table(scan.values, states, waves, orders_of(decks, waves));
  for (std::size_t k = 0; k < table.points(); ++k) table.leave_out(k);
  if (!options.restart.empty()) take_over(context, scan, decks.front(), options.restart, table);
  run_points(context, scan, decks, options, table);
  std::size_t done = 0;
  for (std::size_t k = 0; k < table.points(); ++k) done += table.done(k) ? 1 : 0;
  const bool complete = done == table.points();
  const auto partial = partial_path(output);
  comm.on_rank(0, [&] { write_scan(complete ? output : partial, decks.front(), scan.key, scan.text, table); });
  if (!complete) {
    throw Error(ErrorKind::computation, message_of("interrupted after ", done, " of ", table.points(),
                                                   " points; --restart ", partial.string(), " continues the scan"));
  }
  comm.on_rank(0, [&] {
    std::error_code error;
    std::filesystem::remove(partial, error);
    if (!files.plot.empty()) draw(scan_picture, output, files.plot);
  });
  add_results(report, scan, decks, output, files, table);
  say_points(context, scan, decks, table);
  context.say("wrote " + output.string() + (files.plot.empty() ? "" : " and " + files.plot));
  return context.finish(report);
}

}  // namespace heddle::driver
