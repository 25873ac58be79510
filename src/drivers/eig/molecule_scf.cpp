// heddle eig --scf --molecule: the electrons of a molecule to self-consistency.
#include "drivers/eig/molecule_scf.hpp"

#include "drivers/eig/molecule_file.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>
#include <heddle/eigen/generalised.hpp>
#include <heddle/models/gaussian_field.hpp>
#include <heddle/models/soft_coulomb_field.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

namespace heddle::driver {
namespace {

using models::FieldResult;

// The eigensolver's work in one step.
struct SolverStep {
  models::FieldStep step;
  Index rotations;
  double seconds;
};

HostMatrix<double> square_matrix(std::span<const double> elements) {
  return matrix_from<double>(elements, std::llround(std::sqrt(static_cast<double>(elements.size()))));
}

// Solve H C = S C diag(w) by the library; each spin starts from its own previous vectors.
class OrbitalSolver {
 public:
  OrbitalSolver(const ExecutionSpace& space, std::span<const double> overlap, const eigen::JacobiOptions& options,
                bool warm)
      : space_(space),
        options_(options),
        warm_(warm),
        plain_{JacobiSolver(space, options, warm), JacobiSolver(space, options, warm)} {
    if (!overlap.empty()) overlap_ = on_device<double>(square_matrix(overlap));
  }

  void operator()(int spin, std::span<const double> H, std::vector<double>& w, std::vector<double>& C) {
    const auto start = std::chrono::steady_clock::now();
    if (overlap_.size() == 0) {
      JacobiSolver& solver = plain_[static_cast<std::size_t>(spin)];
      solver(H, w, C);
      rotations_ += solver.report().rotations;
    } else {
      solve_pencil(static_cast<std::size_t>(spin), H, w, C);
    }
    seconds_ += seconds_since(start);
  }

  // Return the rotations and seconds since the last call.
  [[nodiscard]] std::pair<Index, double> taken() {
    return {std::exchange(rotations_, 0), std::exchange(seconds_, 0.0)};
  }

 private:
  void solve_pencil(std::size_t spin, std::span<const double> H, std::vector<double>& w, std::vector<double>& C) {
    const LocalMatrix<double> matrix = on_device<double>(square_matrix(H));
    LocalMatrix<double>& vectors = vectors_[spin];
    eigen::JacobiOptions options = options_;
    options.warm_start = warm_ && vectors.size() != 0;
    const std::size_t n = matrix.extent(0);
    if (vectors.size() == 0) vectors = LocalMatrix<double>("heddle::driver::C", n, n);
    const Kokkos::View<double*, MemorySpace> values("heddle::driver::w", n);
    const eigen::JacobiGeneralisedReport report = eigen::jacobi(space_, matrix, overlap_, values, vectors, options);
    if (!report.converged) throw Error(ErrorKind::computation, "eigensolver " + unconverged(report));
    rotations_ += report.rotations;
    const auto host_values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
    w.assign(host_values.data(), host_values.data() + n);
    const HostMatrix<double> host("heddle::driver::host", n, n);
    Kokkos::deep_copy(flat(host), flat(vectors));
    C.assign(host.data(), host.data() + n * n);
  }

  ExecutionSpace space_;
  eigen::JacobiOptions options_;
  bool warm_;
  LocalMatrix<double> overlap_;
  std::array<JacobiSolver, 2> plain_;
  std::array<LocalMatrix<double>, 2> vectors_;
  Index rotations_ = 0;
  double seconds_ = 0;
};

void write_square(Context& context, const std::string& path, std::span<const double> elements) {
  if (path.empty()) return;
  const HostMatrix<double> host = square_matrix(elements);
  const auto n = static_cast<Index>(host.extent(0));
  const DistributedMatrix<double> out(context.comm(), Placement::on_rank(n, n, 0));
  scatter(host, 0, out);
  write_result(path, out);
}

void write_steps(const ScfSettings& scf, const MoleculeSettings& settings, const FieldResult& result, bool paired,
                 const std::vector<SolverStep>& steps) {
  PendingStream out(scf.output);
  out.precision(17);
  out << "# heddle eig --scf --molecule " << settings.file << ", heddle " << version() << " (" << git_hash()
      << ")\n# functional: " << settings.functional << "\n# shells: " << (paired ? "closed" : "open")
      << "\n# electrons: " << result.up.occupied << " + " << result.down.occupied
      << "\n# energy: " << result.energies.total() << " hartree\n# converged: " << (result.converged ? "yes" : "no")
      << "\niteration,energy,residual,rotations,seconds\n";
  for (const SolverStep& one : steps) {
    out << one.step.iteration << ',' << one.step.energy << ',' << one.step.residual << ',' << one.rotations << ','
        << one.seconds << '\n';
  }
  out << "\norbital,energy_up,energy_down\n";
  const std::size_t count = std::min(result.up.energies.size(), result.down.energies.size());
  for (std::size_t k = 0; k < count; ++k) {
    out << k + 1 << ',' << result.up.energies[k] << ',' << result.down.energies[k] << '\n';
  }
  out.commit();
}

nlohmann::ordered_json as_json(const models::FieldEnergies& energies) {
  return {{"kinetic", energies.kinetic},   {"external", energies.external},       {"coulomb", energies.coulomb},
          {"exchange", energies.exchange}, {"correlation", energies.correlation}, {"nuclear", energies.nuclear},
          {"total", energies.total()}};
}

models::FieldOptions field_options(const MoleculeSettings& settings, const ScfSettings& scf,
                                   const models::Electrons& electrons, double tolerance) {
  models::FieldOptions options;
  options.electrons = electrons;
  require(settings.shells != "closed" || electrons.up == electrons.down, settings.file, ": --shells closed with ",
          electrons.up, electrons.up == 1 ? " electron" : " electrons", " of spin up and ", electrons.down,
          " of spin down; expected as many of each, or --shells open");
  options.paired = settings.shells == "closed" || (settings.shells == "auto" && electrons.up == electrons.down);
  options.tolerance = tolerance < 0 ? 1e-7 : tolerance;
  options.iterations = scf.scf.iterations;
  options.history = std::max(1, static_cast<int>(scf.scf.history));
  if (options.history == 1) options.mixing = scf.scf.mixing;
  return options;
}

models::Functional functional_of_a_line(const MoleculeSettings& settings) {
  using models::Functional;
  for (const Functional one : {Functional::hf, Functional::lda_x, Functional::lda_csc}) {
    if (to_string(one) == settings.functional) return one;
  }
  throw Error(ErrorKind::argument, settings.file + ": '" + settings.functional +
                                       "' is no functional of one dimension; expected hf, lda-x or lda-csc");
}

// How far energies in the default basis are above the limit of a complete one: docs/notes/molecules.md has the figures.
std::string words_on_basis(const models::EvenTemperedOptions& basis) {
  return format(
      "even-tempered functions, --ratio %g --angular %d: energies are above the limit of a complete basis, with "
      "the defaults by 3e-6 to 3e-5 hartree for H to LiH, 3e-3 for N2",
      basis.ratio, basis.angular);
}

std::string levels_of(const models::FieldOrbitals& orbitals) {
  const std::size_t shown = std::min(static_cast<std::size_t>(orbitals.occupied) + 1, orbitals.energies.size());
  std::string text;
  for (std::size_t k = 0; k < shown; ++k) text += format(" %.9f", orbitals.energies[k]);
  return format("%d occupied, and the next:", orbitals.occupied) + text;
}

// Advice for an iteration that did not converge. If an occupied level and the next are nearly equal, they change places
// from step to step.
std::string advice_for(const FieldResult& result, bool paired) {
  constexpr double near = 0.05;
  for (const models::FieldOrbitals* const one : {&result.up, &result.down}) {
    const auto occupied = static_cast<std::size_t>(one->occupied);
    if (occupied == 0 || occupied >= one->energies.size()) continue;
    const double gap = one->energies[occupied] - one->energies[occupied - 1];
    if (gap > near) continue;
    return format(
        "levels %zu and %zu%s are %.2g hartree apart, and only the first is occupied: another multiplicity may "
        "converge; try 'multiplicity %d' in the file",
        occupied, occupied + 1,
        paired              ? ""
        : one == &result.up ? " of spin up"
                            : " of spin down",
        gap, result.up.occupied - result.down.occupied + 3);
  }
  return "allow more --iterations, or less --mixing with --history 1";
}

void enter_results(Context& context, const FieldResult& result, const std::vector<SolverStep>& steps, bool paired,
                   bool of_coulomb, Report& report) {
  const models::FieldEnergies& energies = result.energies;
  context.say(
      format("energy %.12f hartree: kinetic %.9f, external %.9f, coulomb %.9f, exchange %.9f, correlation %.9f, "
             "nuclear %.9f",
             energies.total(), energies.kinetic, energies.external, energies.coulomb, energies.exchange,
             energies.correlation, energies.nuclear));
  // The virial theorem holds for Coulomb interactions; softened ones have no such ratio.
  context.say((of_coulomb ? format("virial %.6f, ", energies.virial()) : std::string()) +
              format("<S^2> %.6f", result.spin_squared));
  context.say((paired ? "levels: " : "spin up: ") + levels_of(result.up));
  if (!paired) context.say("spin down: " + levels_of(result.down));
  auto& results = report.results();
  results["energy"] = energies.total();
  results["energies"] = as_json(energies);
  if (of_coulomb) results["virial"] = energies.virial();
  results["spin_squared"] = result.spin_squared;
  results["iterations"] = steps.size();
  results["converged"] = result.converged;
  results["residual"] = steps.back().step.residual;
  results["eigenvalues"] = result.up.energies;
  if (!paired) results["eigenvalues_down"] = result.down.energies;
  auto& list = results["steps"] = nlohmann::ordered_json::array();
  for (const SolverStep& one : steps) {
    list.push_back({{"iteration", one.step.iteration},
                    {"energy", one.step.energy},
                    {"residual", one.step.residual},
                    {"rotations", one.rotations},
                    {"seconds", one.seconds}});
  }
  enter_solver_totals(context, results, steps);
}

}  // namespace

void require_molecule_files(Context& context, const MoleculeSettings& settings, const ScfSettings& scf,
                            const std::string& save) {
  if (settings.file.empty()) return;
  require_scf_files(context, scf, {{"--molecule", settings.file}},
                    {{"--save-down", settings.save_down}, {"--save-overlap", settings.save_overlap}, {"--save", save}});
}

int run_molecule(Context& context, const MoleculeSettings& settings, const ScfSettings& scf, const std::string& save,
                 int points, double tolerance, const nlohmann::ordered_json& asked_for) {
  const MoleculeFile file = read_molecule(settings.file);
  const models::Electrons electrons = electrons_of(file.molecule, file.dimensions);
  const models::FieldOptions options = field_options(settings, scf, electrons, tolerance);
  require(options.paired || !save.empty() || settings.save_down.empty(), "--save-down goes with --save");
  require(!options.paired || settings.save_down.empty(), "--save-down: both spins have one matrix, that of --save");
  require(file.dimensions == 3 || settings.save_overlap.empty(), settings.file,
          ": --save-overlap: the grid of one dimension is orthonormal, and has no overlaps");
  auto report = context.report("eig");
  report.inputs().update(asked_for);
  report.inputs()["dimensions"] = file.dimensions;
  report.inputs()["electrons"] = {electrons.up, electrons.down};

  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<models::MeanField> field;
  const models::GaussianField* gaussian = nullptr;
  if (file.dimensions == 1) {
    field = std::make_unique<models::SoftCoulombField>(file.molecule, points, functional_of_a_line(settings));
  } else {
    const auto shells = file.shells.empty() ? even_tempered(file.molecule, settings.basis) : file.shells;
    auto made = std::make_unique<models::GaussianField>(
        file.molecule, shells, models::ExchangeCorrelation(settings.functional), settings.grid);
    gaussian = made.get();
    field = std::move(made);
  }
  report.inputs()["size"] = field->size();
  report.times()["integrals"] = seconds_since(start);
  context.say(format("%zu nuclei, %d + %d electrons, %zu functions, %s, %s shells; integrals in %.3g s",
                     file.molecule.atoms.size(), electrons.up, electrons.down, field->size(),
                     settings.functional.c_str(), options.paired ? "closed" : "open", seconds_since(start)));
  if (gaussian != nullptr && file.shells.empty()) context.say(words_on_basis(settings.basis));
  context.say("iteration     energy [hartree]   residual  rotations  seconds");
  OrbitalSolver solver(context.comm().space(), field->overlap(), scf.solver, !scf.cold);
  std::vector<SolverStep> steps;
  const FieldResult result = models::self_consistent(
      *field, options,
      [&](int spin, std::span<const double> H, std::vector<double>& w, std::vector<double>& C) {
        solver(spin, H, w, C);
      },
      [&](const models::FieldStep& step) {
        const auto [rotations, seconds] = solver.taken();
        steps.push_back({step, rotations, seconds});
        context.say(format("%9d  %19.12f  %9.2e  %9lld  %7.3g", step.iteration, step.energy, step.residual,
                           static_cast<long long>(rotations), seconds));
      });
  enter_results(context, result, steps, options.paired, file.dimensions == 3, report);
  const double seconds = seconds_since(start) - report.times()["integrals"].get<double>();
  const double in_solver = report.results()["seconds"].get<double>();
  report.times()["fields"] = seconds - in_solver;
  context.say(format("times: integrals %.3g s, fields of orbitals %.3g s, eigensolver %.3g s",
                     report.times()["integrals"].get<double>(), seconds - in_solver, in_solver));
  if (gaussian != nullptr && gaussian->points() > 0) {
    const double found = gaussian->electrons_on_grid(result.occupied);
    report.check_at_most("electrons_on_grid", std::abs(found - electrons.total()), 1e-4 * electrons.total());
  }
  write_steps(scf, settings, result, options.paired, steps);
  write_square(context, save, result.up.matrix);
  write_square(context, settings.save_down, result.down.matrix);
  write_square(context, settings.save_overlap, field->overlap());
  context.say("convergence and levels written to " + scf.output);
  draw_scf(context, scf, report.results());
  const int code = context.finish(report);
  if (result.converged || code != exit_done) return code;
  complain(format("the field did not converge in %zu iterations: residual %.3g, tolerance %.3g; ", steps.size(),
                  steps.back().step.residual, options.tolerance) +
           advice_for(result, options.paired));
  return exit_failed;
}

}  // namespace heddle::driver
