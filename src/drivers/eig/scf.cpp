// heddle eig --scf: a chain of atoms to self-consistency.
#include "drivers/eig/scf.hpp"

#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

namespace heddle::driver {
namespace {

constexpr std::string_view first_words = "# heddle eig --scf";

struct Step {
  eigen::ScfStep step;
  int sweeps;
  Index rotations;
  double seconds;
};

nlohmann::ordered_json as_json(const eigen::KohnShamEnergies& energies) {
  return {{"kinetic", energies.kinetic},   {"external", energies.external}, {"hartree", energies.hartree},
          {"exchange", energies.exchange}, {"nuclear", energies.nuclear},   {"total", energies.total()}};
}

void write_table(const ScfSettings& settings, const eigen::KohnSham& model, const eigen::ScfResult& result,
                 const std::vector<Step>& steps) {
  PendingStream out(settings.output);
  out.precision(17);
  out << first_words << ", heddle " << version() << " (" << git_hash() << ")\n# points: " << model.points()
      << "\n# atoms: " << settings.chain.atoms << "\n# spacing: " << settings.chain.spacing
      << " bohr\n# electrons: " << model.electrons() << "\n# start: " << (settings.cold ? "cold" : "warm")
      << "\n# energy: " << result.energies.total() << " hartree\n# converged: " << (result.converged ? "yes" : "no")
      << "\niteration,energy,residual,sweeps,rotations,seconds\n";
  for (const Step& one : steps) {
    out << one.step.iteration << ',' << one.step.energy << ',' << one.step.residual << ',' << one.sweeps << ','
        << one.rotations << ',' << one.seconds << '\n';
  }
  out << "\nx,density,external\n";
  for (std::size_t i = 0; i < model.grid().size(); ++i) {
    out << model.grid()[i] << ',' << result.density[i] << ',' << model.external()[i] << '\n';
  }
  out.commit();
}

}  // namespace

void require_scf_files(Context& context, const ScfSettings& settings, const std::vector<Output>& inputs,
                       const std::vector<Output>& matrices) {
  const Output table{"--output", settings.output};
  const Output picture{"--plot", settings.plot};
  require_outputs(context, inputs, matrices, table);
  require_outputs(context, inputs, matrices, picture);
  context.comm().on_rank(0, [&] { require_distinct_outputs({table, picture}); });
}

void draw_scf(Context& context, const ScfSettings& settings, nlohmann::ordered_json& results) {
  if (settings.plot.empty()) return;
  context.comm().on_rank(0, [&] { draw(scf_picture, settings.output, settings.plot); });
  results["plot"] = settings.plot;
  context.say("picture written to " + settings.plot);
}

bool looks_like_scf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line.starts_with(first_words);
}

std::vector<double> chain_hamiltonian(Context& context, const Chain& chain, bool reproducible) {
  const eigen::KohnSham model(model_options(chain));
  JacobiSolver solver(context.comm().space(), {.reproducible = reproducible}, false);
  Progress progress = context.progress("self-consistency");
  double first = 0;
  const eigen::ScfOptions options;
  const eigen::ScfResult result = eigen::self_consistent(
      model, options,
      [&](std::span<const double> H, std::vector<double>& w, std::vector<double>& V) { solver(H, w, V); },
      [&](const eigen::ScfStep& step) {
        first = step.iteration == 1 ? step.residual : first;
        progress.update(std::log(first / step.residual) / std::log(first / options.tolerance),
                        format("residual %.1e", step.residual));
      });
  if (!result.converged) {
    throw Error(ErrorKind::computation,
                format("--generate kohn-sham: the density did not converge: residual %.3g after %d iterations; more "
                       "points (--size) may help",
                       result.steps.back().residual, options.iterations));
  }
  progress.finish();
  return model.hamiltonian(result.density);
}

int run_scf(Context& context, const ScfSettings& settings, const nlohmann::ordered_json& asked_for) {
  require_scf_files(context, settings, {}, {});
  auto report = context.report("eig");
  auto& inputs = report.inputs();
  inputs.update(asked_for);
  inputs["size"] = settings.chain.points;
  inputs["tolerance"] = settings.scf.tolerance;
  const eigen::KohnSham model(model_options(settings.chain));
  inputs["electrons"] = model.electrons();

  context.say(format("%d atoms, %d electrons, %d points %.4g bohr apart; %s starts", settings.chain.atoms,
                     model.electrons(), model.points(), model.spacing(), settings.cold ? "cold" : "warm"));
  context.say("iteration     energy [hartree]   residual  sweeps  rotations  seconds");
  JacobiSolver solver(context.comm(), settings.solver, !settings.cold);
  std::vector<Step> steps;
  const eigen::ScfResult result = eigen::self_consistent(
      model, settings.scf,
      [&](std::span<const double> H, std::vector<double>& w, std::vector<double>& V) { solver(H, w, V); },
      [&](const eigen::ScfStep& step) {
        steps.push_back({step, solver.report().sweeps, solver.report().rotations, solver.seconds()});
        context.say(format("%9d  %19.12f  %9.2e  %6d  %9lld  %7.3g", step.iteration, step.energy, step.residual,
                           steps.back().sweeps, static_cast<long long>(steps.back().rotations), steps.back().seconds));
      });

  const eigen::KohnShamEnergies& energies = result.energies;
  context.say(format("energy %.12f hartree: kinetic %.9f, external %.9f, hartree %.9f, exchange %.9f, nuclear %.9f",
                     energies.total(), energies.kinetic, energies.external, energies.hartree, energies.exchange,
                     energies.nuclear));
  const auto occupied = static_cast<std::size_t>(model.occupied());
  const std::size_t shown = std::min(occupied + 1, result.eigenvalues.size());
  std::string levels;
  for (std::size_t k = 0; k < shown; ++k) levels += format(" %.9f", result.eigenvalues[k]);
  context.say(format("%d occupied %s:", model.occupied(), shown > occupied ? "levels and the next" : "levels") +
              levels);
  auto& results = report.results();
  results["energy"] = energies.total();
  results["energies"] = as_json(energies);
  results["iterations"] = steps.size();
  results["converged"] = result.converged;
  results["residual"] = steps.back().step.residual;
  results["eigenvalues"] =
      std::vector<double>(result.eigenvalues.begin(), result.eigenvalues.begin() + static_cast<std::ptrdiff_t>(shown));
  auto& list = results["steps"] = nlohmann::ordered_json::array();
  for (const Step& one : steps) {
    list.push_back({{"iteration", one.step.iteration},
                    {"energy", one.step.energy},
                    {"residual", one.step.residual},
                    {"sweeps", one.sweeps},
                    {"rotations", one.rotations},
                    {"seconds", one.seconds}});
  }
  enter_solver_totals(context, results, steps);
  context.comm().on_rank(0, [&] { write_table(settings, model, result, steps); });
  context.say("convergence and density written to " + settings.output);
  draw_scf(context, settings, results);
  const int code = context.finish(report);
  if (result.converged || code != exit_done) return code;
  complain(
      format("the density did not converge in %zu iterations: residual %.3g, tolerance %.3g; allow more "
             "--iterations or less --mixing",
             steps.size(), steps.back().step.residual, settings.scf.tolerance));
  return exit_failed;
}

}  // namespace heddle::driver
