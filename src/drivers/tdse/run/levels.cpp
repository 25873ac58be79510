// The lowest energies of a deck's Hamiltonian at t = 0, as a table and a picture.
#include "drivers/tdse/run/levels.hpp"

#include "drivers/support/outputs.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/tdse/run/problem.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>
#include <heddle/schrodinger/eigenstates.hpp>

#include <cmath>
#include <fstream>
#include <memory>
#include <vector>

namespace heddle::driver {

namespace {

using schrodinger::Eigenstates;
using schrodinger::Hamiltonian;

constexpr const char* first_words = "# heddle tdse --eigen";

// Write the energies, then V and |phi_k|^2 at each point.
void write_levels(const std::filesystem::path& path, const Deck& deck, const Hamiltonian& hamiltonian,
                  const Eigenstates& states) {
  PendingStream out(path);
  out << first_words << ", heddle " << version() << " (" << git_hash() << ")\n";
  out << "# units: bohr, hartree; densities 1/bohr\n";
  out << "# potential: " << to_string(deck.potential.kind);
  if (deck.potential.kind == schrodinger::PotentialKind::soft_core) {
    out << format(", Z = %g, a = %g, R = %g", deck.potential.charge, deck.potential.softening, deck.nuclei.separation);
  } else if (deck.potential.kind == schrodinger::PotentialKind::harmonic) {
    out << format(", omega = %g", deck.potential.omega);
  }
  out << "\nlevel,energy\n";
  for (std::size_t k = 0; k < states.energies.size(); ++k) out << k << format(",%.17g\n", states.energies[k]);
  out << "\nx,potential";
  for (std::size_t k = 0; k < states.energies.size(); ++k) out << ",density_" << k;
  out << '\n';
  const auto potential = hamiltonian.potential_at(0.0);
  for (Index i = 0; i < deck.grid.points; ++i) {
    out << format("%.17g,%.17g", deck.grid.x(i), potential[static_cast<std::size_t>(i)]);
    for (Index k = 0; k < static_cast<Index>(states.energies.size()); ++k) {
      const double value = states.state(k)[static_cast<std::size_t>(i)];
      out << format(",%.17g", value * value);
    }
    out << '\n';
  }
  out.commit();
}

// Return the largest || H phi - E phi ||.
double residual_of(const Hamiltonian& hamiltonian, const Eigenstates& states) {
  const auto potential = hamiltonian.potential_at(0.0);
  std::vector<double> result(potential.size());
  double residual = 0.0;
  for (Index k = 0; k < static_cast<Index>(states.energies.size()); ++k) {
    const auto state = states.state(k);
    hamiltonian.apply(potential, state, result);
    double sum = 0.0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      sum += std::pow(result[i] - states.energies[static_cast<std::size_t>(k)] * state[i], 2);
    }
    residual = worse(residual, std::sqrt(sum * hamiltonian.grid().spacing()));
  }
  return residual;
}

// Write the table, or a temporary one beside the picture, and draw. For rank 0.
void write_and_draw(const LevelsOptions& options, const Deck& deck, const Hamiltonian& hamiltonian,
                    const Eigenstates& states) {
  if (!options.output.empty()) write_levels(options.output, deck, hamiltonian, states);
  if (options.plot.empty()) return;
  if (!options.output.empty()) return draw(levels_picture, options.output, options.plot);
  const PendingFile passing(options.plot + ".csv");
  write_levels(passing.path(), deck, hamiltonian, states);
  draw(levels_picture, passing.path(), options.plot);
}

}  // namespace

bool looks_like_levels(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line.starts_with(first_words);
}

int run_eigenstates(Context& context, const Deck& deck, const Hamiltonian& hamiltonian, const LevelsOptions& options,
                    const nlohmann::ordered_json& inputs) {
  const Index count = options.count;
  require(count <= deck.grid.points, "--eigen ", count, ": the grid has ", deck.grid.points, " states");
  Report report = context.report("tdse");
  report.inputs().update(inputs);
  context.comm().on_rank(0, [&] {
    require_distinct_outputs(
        {{"--json", context.options().json_file()}, {"--output", options.output}, {"--plot", options.plot}});
    for (const std::string& name : {options.output, options.plot}) {
      if (!name.empty()) const PendingFile probe(name);
    }
  });
  say_problem(context, deck);
  std::vector<double> energies(static_cast<std::size_t>(count));
  double residual = 0.0;
  context.comm().on_rank(0, [&] {
    const auto states = schrodinger::lowest_eigenstates(hamiltonian, 0.0, count);
    energies = states.energies;
    residual = residual_of(hamiltonian, states);
    write_and_draw(options, deck, hamiltonian, states);
  });
  context.comm().broadcast(std::span(energies), 0);
  context.comm().broadcast(std::span(&residual, 1), 0);
  for (Index k = 0; k < count; ++k) {
    context.say(format("E%-3lld %20.12f hartree", static_cast<long long>(k), energies[static_cast<std::size_t>(k)]));
  }
  report.results()["energies"] = energies;
  report.results()["residual"] = residual;
  if (!options.output.empty()) {
    report.results()["output"] = options.output;
    context.say("levels, potential and densities written to " + options.output);
  }
  if (!options.plot.empty()) {
    report.results()["plot"] = options.plot;
    context.say("picture written to " + options.plot);
  }
  // || H phi - E phi || bounds the distance of E to an exact eigenvalue of H.
  report.check_at_most("residual", residual, 1e-10 * norm_bound(hamiltonian));
  return context.finish(report);
}

}  // namespace heddle::driver
