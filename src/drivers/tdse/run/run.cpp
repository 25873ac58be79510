// A deck's run in time.
#include "drivers/tdse/run/run.hpp"

#include "drivers/support/matrices/certificates.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/tdse/record/record.hpp"
#include "drivers/tdse/run/accuracy.hpp"
#include "drivers/tdse/run/course.hpp"
#include "drivers/tdse/run/initial.hpp"
#include "drivers/tdse/run/interruption.hpp"
#include "drivers/tdse/run/keeper.hpp"
#include "drivers/tdse/run/outputs.hpp"
#include "drivers/tdse/run/problem.hpp"
#include "drivers/tdse/run/stability.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::driver {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::Observables;
using schrodinger::Simulation;
using schrodinger::State;

void add_times(Report& report, const Simulation& simulation, const Keeper& keeper, Index steps) {
  const auto& times = simulation.times();
  auto& out = report.times();
  out["steps"] = times.total;
  out["hamiltonian"] = times.hamiltonian;
  out["expm"] = times.expm;
  out["gemm"] = times.gemm;
  out["apply"] = times.apply;
  out["solve"] = times.solve;
  out["errors"] = times.errors;
  if (times.certificate > 0) out["certificate"] = times.certificate;
  out["eigenstates"] = times.eigenstates;
  out["observables"] = times.observables;
  out["output_wait"] = keeper.waited();
  // Times of concurrent threads (eigenstates only if a device computes).
  out["eigenstates_computed"] = times.eigenstates_computed;
  out["output"] = keeper.seconds();
  if (steps > 0) {
    for (const char* part : {"steps", "hamiltonian", "expm", "gemm", "apply", "solve", "errors", "eigenstates",
                             "observables", "output_wait", "eigenstates_computed", "output"}) {
      out[std::string(part) + "_per_step"] = out[part].get<double>() / static_cast<double>(steps);
    }
    report.results()["gemm_share"] = times.total > 0 ? times.gemm / times.total : 0.0;
  }
}

// A reported quantity of a wave function with its error.
struct Reported {
  const char* name;
  double value;
  double error;
};
std::vector<Reported> reported(const Simulation& simulation, const Observables& last, Index k, const Deck& deck) {
  std::vector<Reported> all = {{"energy", last.energy, last.energy_error()},
                               {"position", last.position, last.position_error()},
                               {"dipole", last.dipole, last.position_error()}};
  const auto add = [&](const char* name, double probability) {
    all.push_back({name, probability, last.error_of_probability(probability)});
  };
  if (records_absorbed(deck)) add("absorbed", last.absorbed());
  if (records_ionisation(deck)) add("ionisation", last.ionisation());
  if (deck.output_radius > 0) {
    add("outside", schrodinger::probability_outside(deck.grid, simulation.state(k), deck.output_radius));
  }
  return all;
}

// Enter the errors of the results (null if unknown), the names of results below their errors, and the grid's errors.
void add_errors(nlohmann::ordered_json& results, Simulation& simulation, Index k, const Deck& deck) {
  const Observables& last = simulation.observables(k);
  results["psi_error"] = last.error;
  auto below = nlohmann::ordered_json::array();
  for (const Reported& one : reported(simulation, last, k, deck)) {
    results[std::string(one.name) + "_error"] = one.error;
    if (!(std::abs(one.value) > one.error)) below.push_back(one.name);
  }
  auto& populations = results["populations_error"] = nlohmann::ordered_json::array();
  for (const double p : last.populations) populations.push_back(last.error_of_probability(p));
  results["below_error"] = below;
  const auto grid = grid_resolution(schrodinger::Hamiltonian(deck.grid, deck.potential), simulation.state(k));
  results["dx_kinetic_error"] = grid.kinetic > 0 ? grid.kinetic_error / grid.kinetic : 0.0;
  results["dx_tail"] = grid.tail;
}

// Enter each wave function in turn, the first again.
void add_others(nlohmann::ordered_json& results, Simulation& simulation, const Deck& deck) {
  results["largest_overlap"] = simulation.largest_overlap();
  auto& all = results["wave_functions"] = nlohmann::ordered_json::array();
  for (Index k = 0; k < simulation.count(); ++k) {
    const Observables& last = simulation.observables(k);
    all.push_back({{"norm", last.norm},
                   {"energy", last.energy},
                   {"position", last.position},
                   {"dipole", last.dipole},
                   {"nodes", last.nodes},
                   {"populations", last.populations}});
    if (records_ionisation(deck)) all.back()["ionisation"] = last.ionisation();
    add_errors(all.back(), simulation, k, deck);
  }
}

void add_results(Report& report, Simulation& simulation, const Course& course, const Deck& deck) {
  const Observables& last = simulation.observables();
  auto& results = report.results();
  results["steps"] = simulation.steps_done();
  results["time"] = simulation.time();
  results["norm_error"] = course.norm_error;
  results["norm_change_per_step"] = course.norm_change;
  results["energy"] = last.energy;
  results["energy_drift"] = course.energy_drift;
  results["position"] = last.position;
  results["dipole"] = last.dipole;
  results["nodes"] = last.nodes;
  results["populations"] = last.populations;
  results["energies"] = last.energies;
  results["edge_probability"] = course.edge;
  if (!deck.pulses.empty()) results["field"] = last.field;
  if (records_absorbed(deck)) results["absorbed"] = last.absorbed();
  if (records_ionisation(deck)) results["ionisation"] = last.ionisation();
  if (deck.output_radius > 0) {
    results["outside"] = schrodinger::probability_outside(deck.grid, simulation.state(), deck.output_radius);
  }
  add_errors(results, simulation, 0, deck);
  results["error_steps"] = static_cast<Index>(simulation.errors().steps_looked_at);
  if (simulation.count() > 1) add_others(results, simulation, deck);
  results["output"] = deck.output_file;
  results["tile"] = simulation.tile();
  results["propagator"] = simulation.propagator_description();
  if (const auto& expm = simulation.expm_report()) {
    results["method"] = to_string(expm->method);
    results["degree"] = expm->degree;
    results["squarings"] = expm->squarings;
    results["products"] = expm->products;
    results["norm1"] = expm->norm1;
    if (expm->method == ExpmMethod::automatic) results["alpha"] = expm->alpha;
    if (expm->certificate) results["certificate"] = *expm->certificate;
  }
}

void say_state(const Context& context, Simulation& simulation, Index k, const Deck& deck) {
  const Observables& last = simulation.observables(k);
  context.say(format("t = %.6g after %lld steps: norm 1 %+.1e, energy %s, <x> = %s, dipole %s, %lld nodes", last.time,
                     static_cast<long long>(last.step), last.norm - 1.0,
                     with_error(last.energy, last.energy_error()).c_str(),
                     with_error(last.position, last.position_error()).c_str(),
                     with_error(last.dipole, last.position_error()).c_str(), static_cast<long long>(last.nodes)));
  if (!last.populations.empty()) {
    std::string text = "populations of the lowest eigenstates:";
    double worst = 0.0;
    for (const double population : last.populations) {
      text += format(" %.6g", population);
      worst = std::max(worst, last.error_of_probability(population));
    }
    context.say(text + (std::isfinite(last.error) ? format("; each +- %.0e or less", worst) : ""));
  }
  if (records_absorbed(deck)) {
    context.say("absorbed " + with_error(last.absorbed(), last.error_of_probability(last.absorbed())));
  }
  if (records_ionisation(deck)) {
    context.say(format("ionised %s: in none of the %lld bound states that are followed",
                       with_error(last.ionisation(), last.error_of_probability(last.ionisation())).c_str(),
                       static_cast<long long>(std::count_if(last.energies.begin(), last.energies.end(),
                                                            [](double energy) { return energy < 0; }))));
    if (last.energies.back() < 0) {
      context.say("note: the highest of them is bound too, so there may be more: see output.states");
    }
  }
  const std::string note =
      note_on_grid(deck, grid_resolution(Hamiltonian(deck.grid, deck.potential), simulation.state(k)));
  if (!note.empty()) context.say("note: " + note);
}

void say_summary(const Context& context, Simulation& simulation, const Course& course, const Deck& deck) {
  for (Index k = 0; k < simulation.count(); ++k) {
    if (simulation.count() > 1) context.say(format("wave function %lld:", static_cast<long long>(k)));
    say_state(context, simulation, k, deck);
  }
  if (simulation.count() > 1) context.say(format("largest |<psi_j|psi_k>|: %.1e", simulation.largest_overlap()));
  context.say("propagator: " + simulation.propagator_description());
  const double error = simulation.observables().error;
  context.say(std::isfinite(error) ? format("error of psi: %.0e, by estimates in %lld of the steps", error,
                                            static_cast<long long>(simulation.errors().steps_looked_at))
                                   : std::string("error of psi: not known"));
  if (const auto& expm = simulation.expm_report()) {
    context.say(format("exp(-i H dt): %s of degree %d, %d squarings, %d products, ||H dt||_1 = %.3g, tile %lld",
                       std::string(to_string(expm->method)).c_str(), expm->degree, expm->squarings, expm->products,
                       expm->norm1, static_cast<long long>(simulation.tile())));
  }
  if (course.edge > 1e-6) {
    context.say(
        format("note: up to %.1e of the probability was at the ends of the grid, which reflect it", course.edge));
  }
  context.say("wrote " + deck.output_file + (deck.output_table.empty() ? "" : " and " + deck.output_table));
}

// The starting point of a run: the deck's initial states, or the results of an earlier run.
struct Beginning {
  Record record;
  std::vector<State> states;
  std::vector<std::vector<double>> nodes;  // Of each state; empty if the states are new.
  Index steps_done = 0;
  std::vector<Course> courses;  // So far, of each state.
};

// Return the starting point; states, nodes and record are on rank 0, the rest is on all ranks.
Beginning beginning_of(Context& context, const Deck& deck, const Hamiltonian& hamiltonian, const RunOptions& options) {
  const Communicator& comm = context.comm();
  Beginning begin;
  Index tile = options.tile.value_or(schrodinger::default_tile(deck.grid.points));
  if (options.restart.empty()) {
    begin.states = initial_states(comm, deck, hamiltonian, tile, [&](const std::string& line) { context.say(line); });
  } else {
    comm.on_rank(0, [&] {
      begin.record = read_record(options.restart, deck, hamiltonian);
      require(!options.tile || *options.tile == begin.record.tile, "--tile ", tile, ": ", options.restart,
              " was computed with tile ", begin.record.tile);
      tile = begin.record.tile;
      begin.states = begin.record.states();
      begin.nodes = begin.record.last_nodes();
      begin.steps_done = begin.record.steps_done();
    });
    comm.broadcast(std::span(&begin.steps_done, 1), 0);
    comm.broadcast(std::span(&tile, 1), 0);
  }
  auto count = static_cast<Index>(begin.states.size());
  comm.broadcast(std::span(&count, 1), 0);
  begin.courses.resize(static_cast<std::size_t>(count));
  const Record& record = begin.record;
  for (std::size_t k = 0; k < record.norm.size(); ++k) {
    begin.courses[k % begin.courses.size()].add(record.norm[k], record.energy[k], record.edge_probability[k]);
  }
  comm.broadcast(std::span(begin.courses), 0);
  begin.record.tile = tile;
  return begin;
}

// A continued run keeps its last propagator instead of choosing again.
void keep_choice(const Communicator& comm, const schrodinger::PropagatorChoice& earlier,
                 schrodinger::PropagatorOptions& propagator) {
  if (propagator.kind != schrodinger::PropagatorKind::automatic) return;
  std::vector<double> found = {static_cast<double>(earlier.kind), static_cast<double>(earlier.order),
                               static_cast<double>(earlier.substeps), earlier.tolerance};
  comm.broadcast(std::span(found), 0);
  const auto kind = static_cast<schrodinger::PropagatorKind>(static_cast<int>(found[0]));
  if (kind == schrodinger::PropagatorKind::automatic) return;
  propagator.resumed =
      schrodinger::PropagatorChoice{kind, static_cast<int>(found[1]), static_cast<int>(found[2]), found[3], {}};
}

// Compute and record all remaining steps, and the initial states if they are new. Return the worst over all states.
Course run_to_the_end(Context& context, const Deck& deck, Simulation& simulation, Keeper& keeper,
                      std::vector<Course> courses, bool is_new) {
  const auto take = [&] {
    for (std::size_t k = 0; k < courses.size(); ++k) {
      courses[k].add(simulation.observables(static_cast<Index>(k)));
    }
    keeper.add([&] { return snapshot_of(simulation); });
  };
  if (is_new) take();
  const Interruption interruption;
  Progress progress = context.progress("tdse");
  while (simulation.steps_done() < deck.time_steps) {
    simulation.step();
    take();
    const Observables& seen = simulation.observables();
    progress.update(seen.step, deck.time_steps, format("t = %.4g, norm 1 %+.0e", seen.time, seen.norm - 1.0));
    if (interruption.asked(context.comm()) && seen.step < deck.time_steps) {
      keeper.interrupt();
      throw Error(ErrorKind::computation,
                  message_of("interrupted after step ", seen.step, " of ", deck.time_steps, "; --restart ",
                             partial_path(deck.output_file).string(), " continues it"));
    }
  }
  progress.finish();
  keeper.finish();
  return worst_of(courses);
}

}  // namespace

int run_dynamics(Context& context, const Deck& deck, const Hamiltonian& hamiltonian, const RunOptions& options,
                 const nlohmann::ordered_json& inputs) {
  const Communicator& comm = context.comm();
  schrodinger::PropagatorOptions propagator = propagator_of(deck, 0);
  propagator.certificate = options.certificate;
  schrodinger::validate(propagator);
  if (!options.allow_growth) require_stable_step(deck, hamiltonian, "--allow-growth");
  Report report = context.report("tdse");
  report.inputs().update(inputs);
  OutputLocks locks;
  comm.on_rank(0, [&] { locks = require_free_outputs(deck, context.options().json_file(), options); });
  say_problem(context, deck);
  for (const std::string& note : notes_on_pulses(deck)) context.say("note: " + note);
  Keeper keeper(comm, deck, hamiltonian, options.force);
  Beginning beginning = beginning_of(context, deck, hamiltonian, options);
  propagator.tile = beginning.record.tile;
  if (!options.restart.empty()) keep_choice(comm, beginning.record.propagator, propagator);
  std::vector<double> errors = {beginning.record.errors.psi,         beginning.record.errors.probability,
                                beginning.record.errors.psi_of_step, beginning.record.errors.probability_of_step,
                                beginning.record.errors.steps_since, beginning.record.errors.steps_looked_at};
  comm.broadcast(std::span(errors), 0);
  keeper.begin(std::move(beginning.record));
  Simulation simulation(comm, hamiltonian,
                        {.time_step = deck.time_step,
                         .propagator = propagator,
                         .states = deck.output_states,
                         .errors = {errors[0], errors[1], errors[2], errors[3], errors[4], errors[5]}},
                        beginning.states, beginning.steps_done, beginning.nodes);
  if (!options.restart.empty()) {
    context.say(
        format("continues %s after step %lld", options.restart.c_str(), static_cast<long long>(beginning.steps_done)));
  }
  const Course course =
      run_to_the_end(context, deck, simulation, keeper, std::move(beginning.courses), options.restart.empty());
  add_results(report, simulation, course, deck);
  for (const CourseCheck& check : checks_of(deck, hamiltonian, course)) {
    report.check_at_most(check.name, check.value, check.bound);
  }
  if (const auto& expm = simulation.expm_report(); expm && expm->certificate) {
    check_certificate(
        context, report, *expm->certificate,
        options.certificate_tolerance.value_or(expm_certificate_tolerance<double>(deck.grid.points, expm->norm1)));
  }
  add_times(report, simulation, keeper, simulation.steps_done() - beginning.steps_done);
  say_summary(context, simulation, course, deck);
  return context.finish(report);
}

}  // namespace heddle::driver
