// heddle eig: eigenvalues and eigenvectors by Jacobi rotations.
#include "drivers/commands.hpp"
#include "drivers/eig/matrices.hpp"
#include "drivers/eig/scf.hpp"
#include "drivers/eig/solution.hpp"
#include "drivers/eig/spectrum.hpp"
#include "drivers/support/clock.hpp"
#include "drivers/support/matrices.hpp"
#include "drivers/support/scalars.hpp"
#include "drivers/support/sha256.hpp"
#include "drivers/support/text.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/io/matrix_file.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <memory>
#include <span>
#include <vector>

namespace heddle::driver {
namespace {

struct Options {
  std::string input, generate;
  bool scf = false;
  Index n = -1;
  int dimensions = 1;
  std::uint64_t seed = 1;
  std::string scalar, method = "automatic", accuracy = "automatic";
  double tolerance = -1;
  double symmetry = -1;
  bool values_only = false;
  std::string save, vectors, values;
  eigen::JacobiOptions solver;
  ScfSettings settings;
};

// A column of numbers: one a line in plain text, a matrix of one column otherwise.
void write_values(const Communicator& comm, const std::string& path, const std::vector<double>& values) {
  if (path.empty()) return;
  if (path.ends_with(".txt")) {
    comm.on_rank(0, [&] {
      PendingFile pending(path);
      std::ofstream out(pending.path());
      out.precision(17);
      for (const double value : values) out << value << '\n';
      out.close();
      if (!out) throw Error(ErrorKind::output, message_of(path, ": could not be written"));
      pending.commit();
    });
    return;
  }
  const DistributedMatrix<double> column(comm, Placement::on_rank(static_cast<Index>(values.size()), 1, 0));
  HostMatrix<double> host("heddle::driver::host", values.size(), 1);
  std::copy(values.begin(), values.end(), host.data());
  scatter(host, 0, column);
  write_matrix(path, column);
}
// A is n x n on rank 0.
template <Scalar T>
void write_dense(const Communicator& comm, const std::string& path, Index n, const HostMatrix<T>& A) {
  if (path.empty()) return;
  const DistributedMatrix<T> out(comm, Placement::on_rank(n, n, 0));
  scatter(A, 0, out);
  write_matrix(path, out);
}

// The density that the Hamiltonian makes, or a message on why not.
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
                       "points (--n) may help",
                       result.steps.back().residual, options.iterations));
  }
  progress.finish();
  return model.hamiltonian(result.density);
}

template <Scalar T> HostMatrix<T> generated(Context& context, const Options& options) {
  const Index n = options.n;
  if (options.generate == "thesis") return thesis_matrix<T>(n);
  if (options.generate == "random") return random_hermitian<T>(n, options.seed);
  if (options.dimensions == 1) {
    Chain chain = options.settings.chain;
    chain.points = static_cast<int>(n);
    return matrix_from<T>(chain_hamiltonian(context, chain, options.solver.reproducible), n);
  }
  Index points = std::llround(std::cbrt(static_cast<double>(n)));
  points -= points * points * points > n ? 1 : 0;
  require(points * points * points == n, "--n ", n, ": a grid of three dimensions has m x m x m points, as ",
          points * points * points, " or ", (points + 1) * (points + 1) * (points + 1));
  return matrix_from<T>(eigen::kohn_sham_matrix_3d(static_cast<int>(points)), n);
}

const char* reason(eigen::JacobiEnd end) {
  switch (end) {
    case eigen::JacobiEnd::diagonal:
      return "there was nothing to rotate";
    case eigen::JacobiEnd::tolerance:
      return "a whole sweep found nothing above the tolerance";
    case eigen::JacobiEnd::quadratic:
      return "the last sweep leaves less than the tolerance";
    case eigen::JacobiEnd::sweep_limit:
      return "the limit of sweeps was reached";
    case eigen::JacobiEnd::rotation_limit:
      return "the limit of rotations was reached";
  }
  return "";
}

std::string few(const std::vector<double>& values) {
  constexpr std::size_t low = 4;
  constexpr std::size_t high = 2;
  std::string text;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k == low && values.size() > low + high) {
      text += " ...";
      k = values.size() - high;
    }
    text += format(" %.12g", values[k]);
  }
  return text;
}

// The matrix, on rank 0; n on every rank.
template <Scalar T> HostMatrix<T> matrix_of(Context& context, const Options& options, Report& report, Index& n) {
  const Communicator& comm = context.comm();
  auto& inputs = report.inputs();
  const auto start = std::chrono::steady_clock::now();
  HostMatrix<T> A;
  if (!options.input.empty()) {
    A = gather(read_placed<T>(comm, options.input, "rank:0"), 0);
    const double usual = std::is_same_v<Real<T>, float> ? 1e-5 : 1e-12;
    comm.on_rank(0, [&] {
      require_hermitian<T>(options.input, A, options.symmetry < 0 ? usual : options.symmetry);
      mirror<T>(A, options.solver.upper);
    });
    inputs["input"] = options.input;
  } else {
    comm.on_rank(0, [&] { A = generated<T>(context, options); });
    inputs["generate"] = options.generate;
    if (options.generate == "random") inputs["seed"] = options.seed;
    if (options.generate == "kohn-sham") {
      inputs["dimensions"] = options.dimensions;
      if (options.dimensions == 1) inputs["atoms"] = options.settings.chain.atoms;
    }
  }
  n = comm.all_reduce(static_cast<Index>(A.extent(0)), Reduction::maximum);
  inputs["n"] = n;
  inputs["scalar"] = options.scalar;
  report.times()["matrix"] = seconds_since(start);
  write_dense<T>(comm, options.save, n, A);
  return A;
}

// By what the matrix has without eigenvalues: found on rank 0, which has it, and entered on all.
template <Scalar T>
void check_spectrum(Context& context, const HostMatrix<T>& A, const std::vector<double>& values, double factor,
                    bool relative, Report& report) {
  std::array<double, 7> found = {};
  context.comm().on_rank(0, [&] {
    const SpectrumErrors errors = spectrum_errors<T>(A, values, relative, factor);
    const Compared determinant = errors.determinant.value_or(Compared());
    found = {errors.trace.value, errors.trace.bound, errors.frobenius.value,        errors.frobenius.bound,
             determinant.value,  determinant.bound,  errors.determinant ? 1.0 : 0.0};
  });
  context.comm().broadcast(std::span<double>(found), 0);
  report.check_at_most("trace", found[0], found[1]);
  report.check_at_most("frobenius_norm", found[2], found[3]);
  if (found[6] != 0) report.check_at_most("determinant", found[4], found[5]);
}

template <Scalar T> int solve_as(Context& context, const Options& options) {
  auto report = context.report("eig");
  Index n = 0;
  const HostMatrix<T> A = matrix_of<T>(context, options, report, n);
  auto& inputs = report.inputs();
  inputs["method"] = options.method;
  inputs["accuracy"] = options.accuracy;
  inputs["sweeps"] = options.solver.sweeps;
  inputs["reproducible"] = options.solver.reproducible;
  const EigenSolution<T> solution = eigen_solution<T>(context.comm(), n, A, options.solver, options.values_only);
  const eigen::JacobiReport& outcome = solution.report;
  const std::vector<double> values(solution.values.begin(), solution.values.end());
  auto& results = report.results();
  results["method"] = to_string(outcome.method);
  results["accuracy"] = to_string(outcome.accuracy);
  results["converged"] = outcome.converged;
  results["end"] = to_string(outcome.end);
  results["sweeps"] = outcome.sweeps;
  results["rotations"] = outcome.rotations;
  results["off_norm"] = outcome.off_norm();
  results["off_norms"] = outcome.off_norms;
  results["seconds"] = solution.seconds;
  results["eigenvalues"] = values;
  const int ranks = context.comm().size();
  context.say(format("eig: n = %lld, %s%s: method %s, accuracy %s, %.4g s", static_cast<long long>(n),
                     options.scalar.c_str(), ranks == 1 ? "" : format(", %d ranks", ranks).c_str(),
                     std::string(to_string(outcome.method)).c_str(), std::string(to_string(outcome.accuracy)).c_str(),
                     solution.seconds));
  context.say(format("%d sweep%s, %lld rotations, %.3g left off the diagonal: %s", outcome.sweeps,
                     outcome.sweeps == 1 ? "" : "s", static_cast<long long>(outcome.rotations), outcome.off_norm(),
                     reason(outcome.end)));
  context.say("eigenvalues" + few(values));
  if (!outcome.converged) {
    const int code = context.finish(report);
    if (context.root()) complain(unconverged(outcome));
    return std::max<int>(code, exit_failed);
  }
  write_values(context.comm(), options.values, values);
  // A tolerance of the user's leaves as much.
  const double factor = std::max(1.0, options.solver.tolerance / static_cast<double>(unit_roundoff<T>));
  if (solution.errors) {
    write_dense<T>(context.comm(), options.vectors, n, solution.vectors);
    results["residual"] = solution.errors->residual;
    results["orthogonality"] = solution.errors->orthogonality;
    report.check_at_most("residual", solution.errors->residual, 10 * factor);
    report.check_at_most("orthogonality", solution.errors->orthogonality, 10 * factor);
  }
  check_spectrum<T>(context, A, values, factor, outcome.accuracy == eigen::JacobiAccuracy::relative, report);
  if (context.root()) {
    Sha256 hash;
    hash.add(solution.values.data(), solution.values.size() * sizeof(Real<T>));
    hash.add(solution.vectors.data(), solution.vectors.size() * sizeof(T));
    results["sha256"] = hash.digest();
  }
  return context.finish(report);
}

int run(Context& context, Options options) {
  const int ranks = context.comm().size();
  const int sources = (options.input.empty() ? 0 : 1) + (options.generate.empty() ? 0 : 1) + (options.scf ? 1 : 0);
  require(sources == 1, "give the matrix with --input, make one with --generate, or ask for --scf; one of them");
  require(options.n <= 1 << 16, "--n ", options.n, ": expected at most ", 1 << 16);
  options.solver.method = eigen::jacobi_method_from(options.method);
  options.solver.accuracy = eigen::jacobi_accuracy_from(options.accuracy);
  if (options.scf) {
    require(ranks == 1, "--scf runs on one rank, and all threads or the GPU of it; there are ", ranks);
    require(
        options.dimensions == 1, "--scf --dimensions ", options.dimensions,
        ": self-consistency is for the row of atoms in one dimension; of three there is the first matrix, --generate "
        "kohn-sham --dimensions 3");
    require(options.save.empty() && options.vectors.empty() && options.values.empty() && !options.values_only,
            "--scf writes its own table (--output), not --save, --vectors or --values");
    require(options.scalar.empty() || options.scalar == "double", "--scf computes in double");
    ScfSettings settings = options.settings;
    if (options.n >= 0) settings.chain.points = static_cast<int>(options.n);
    if (options.tolerance >= 0) settings.scf.tolerance = options.tolerance;
    settings.solver = options.solver;
    if (options.method == "automatic") settings.solver.method = eigen::JacobiMethod::blocked;
    // A warm start has no such promise.
    settings.cold = settings.cold || options.solver.reproducible;
    return run_scf(context, settings);
  }
  if (ranks > 1) require_over_ranks(ranks, options.solver);
  require(options.dimensions == 1 || options.generate == "kohn-sham", "--dimensions ", options.dimensions,
          " is for --generate kohn-sham");
  require(options.settings.plot.empty(), "--plot draws what --scf finds");
  require(options.generate.empty() || options.n >= 0, "--generate needs the order of the matrix: --n");
  require(options.input.empty() || options.n < 0, "--n is for --generate; --input has its own");
  require(!options.values_only || options.vectors.empty(), "--values-only leaves no --vectors to write");
  for (const std::string& path : {options.save, options.vectors, options.values})
    require_writable_matrix(context, path);
  if (options.tolerance > 0) options.solver.tolerance = options.tolerance;
  if (options.scalar.empty()) options.scalar = scalar_of_input(context, options.input);
  for (const std::string& path : {options.save, options.vectors}) {
    require(!path.ends_with(".txt") || !options.scalar.starts_with("complex"), path,
            ": plain text holds real matrices; choose .mtx or .h5");
  }
  return with_scalar(options.scalar, [&]<class T>() { return solve_as<T>(context, options); });
}

void add_matrix_options(CLI::App& command, Options& options) {
  command
      .add_option("--input", options.input,
                  "File of the matrix: .txt (its order, then its rows), .mtx Matrix Market or .h5 HDF5")
      ->type_name("FILE");
  command
      .add_option("--generate", options.generate,
                  "Make one: kohn-sham (a row of atoms at its self-consistent density, or a molecule of water), thesis "
                  "(n/2 - |i - j|) or random")
      ->type_name("KIND")
      ->check(one_of({"kohn-sham", "thesis", "random"}));
  command.add_option("--n", options.n, "Order of the matrix to make; points of the grid")
      ->type_name("N")
      ->check(at_least(1));
  command.add_option("--dimensions", options.dimensions, "Of kohn-sham: 1, or 3 with N a cube")
      ->type_name("1|3")
      ->check(one_of({"1", "3"}))
      ->capture_default_str();
  Chain& chain = options.settings.chain;
  command.add_option("--atoms", chain.atoms, "Atoms of the row, each of charge 1")
      ->type_name("M")
      ->check(at_least(1))
      ->capture_default_str();
  command.add_option("--spacing", chain.spacing, "Between neighbours, in bohr")
      ->type_name("R")
      ->check(at_least(0))
      ->capture_default_str();
  command.add_option("--electrons", chain.electrons, "An even number; 0: one for each atom")
      ->type_name("E")
      ->check(at_least(0))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Of a random matrix")->type_name("N")->capture_default_str();
  command.add_option("--save", options.save, "File to write the matrix to; the ending chooses the format")
      ->type_name("FILE");
  command
      .add_option("--symmetry", options.symmetry,
                  "How far a_ij and conj(a_ji) of --input may differ, in units of the largest element (default: 1e-12, "
                  "in float 1e-5)")
      ->type_name("TOL")
      ->check(at_least(0));
  add_scalar_option(command, options.scalar);
}

void add_solver_options(CLI::App& command, Options& options) {
  command
      .add_option("--method", options.method,
                  "Order of the rotations; with --scf, automatic is blocked, and others begin it")
      ->type_name("NAME")
      ->check(one_of({"automatic", "classical", "cyclic", "round-robin", "blocked", "preconditioned"}))
      ->capture_default_str();
  command
      .add_option("--accuracy", options.accuracy,
                  "relative (each eigenvalue to its own size; positive definite matrices), norm or automatic")
      ->type_name("NAME")
      ->check(one_of({"automatic", "relative", "norm"}))
      ->capture_default_str();
  command
      .add_option("--tolerance", options.tolerance,
                  "Rotations are left out below this share (default: 2 sqrt(n) u); with --scf: of the density's "
                  "residual (default: 1e-9)")
      ->type_name("TOL")
      ->check(at_least(0));
  eigen::JacobiOptions& solver = options.solver;
  command.add_option("--sweeps", solver.sweeps, "At most")->type_name("N")->check(at_least(1))->capture_default_str();
  command.add_option("--rotations", solver.rotations, "At most, of classical and cyclic; 0: no limit")
      ->type_name("N")
      ->check(at_least(0))
      ->capture_default_str();
  command.add_option("--block", solver.block, "Columns of a block; 0: chosen")
      ->type_name("N")
      ->check(at_least(0))
      ->capture_default_str();
  command.add_flag("--reproducible", solver.reproducible,
                   "The same bits for any number of threads; with --scf, --cold too");
  command.add_flag("--upper", solver.upper, "Take the upper triangle, not the lower");
  command.add_flag("--lower-precision", solver.lower_precision, "preconditioned: begin in the lower precision");
  command.add_flag("--values-only", options.values_only,
                   "No vectors, and no checks by them: by trace, norm and determinant alone");
  command.add_option("--vectors", options.vectors, "File to write the vectors to, as columns")->type_name("FILE");
  command.add_option("--values", options.values, "File to write the eigenvalues to, ascending; .txt: one a line")
      ->type_name("FILE");
}

void add_scf_options(CLI::App& command, Options& options) {
  ScfSettings& settings = options.settings;
  command.add_flag("--scf", options.scf,
                   "Kohn-Sham: a row of --atoms to self-consistency on --n points (default 256), each eigenproblem "
                   "begun at the vectors of the one before");
  command.add_flag("--cold", settings.cold, "With --scf: begin each anew");
  command.add_option("--mixing", settings.scf.mixing, "With --scf: share of the new density")
      ->type_name("SHARE")
      ->capture_default_str();
  command.add_option("--history", settings.scf.history, "With --scf: steps that the mixing looks back on")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--iterations", settings.scf.iterations, "With --scf: at most")
      ->type_name("N")
      ->check(at_least(1))
      ->capture_default_str();
  command.add_option("-o,--output", settings.output, "With --scf: table of convergence and density")
      ->type_name("CSV")
      ->capture_default_str();
  command.add_option("--plot", settings.plot, "With --scf: picture of it (heddle plot draws it too)")->type_name("PNG");
}

}  // namespace

void add_eig(CLI::App& app, Selection& selection) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand(
      "eig", "Eigenvalues and eigenvectors of a symmetric or Hermitian matrix, by Jacobi rotations");
  add_matrix_options(command, *options);
  add_solver_options(command, *options);
  add_scf_options(command, *options);
  add_common_options(command, selection.common,
                     "  heddle eig --input matrix.txt --vectors V.txt --values w.txt\n"
                     "  heddle eig --generate kohn-sham --n 512 --json report.json\n"
                     "  heddle eig --scf --atoms 8 --plot scf.png");
  command.callback(
      [options, &selection] { selection.parallel = [options](Context& context) { return run(context, *options); }; });
}

}  // namespace heddle::driver
