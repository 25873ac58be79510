// heddle eig: eigenvalues and eigenvectors by Jacobi rotations.
#include "drivers/commands.hpp"
#include "drivers/eig/batches.hpp"
#include "drivers/eig/matrices.hpp"
#include "drivers/eig/molecule_scf.hpp"
#include "drivers/eig/outputs.hpp"
#include "drivers/eig/pencil.hpp"
#include "drivers/eig/scf.hpp"
#include "drivers/eig/solution.hpp"
#include "drivers/eig/spectrum.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/sha256.hpp"
#include "drivers/support/process/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace heddle::driver {
namespace {

struct Options {
  std::string input, generate, overlap;
  bool scf = false;
  Index size = -1;
  int dimensions = 1;
  std::uint64_t seed = 1;
  std::string scalar;
  double tolerance = -1;
  double symmetry = -1;
  bool values_only = false;
  std::string save, vectors, values;
  eigen::JacobiOptions solver;
  ScfSettings settings;
  MoleculeSettings molecule;
  BatchSettings batch;
};

bool makes_chain(const Options& options) {
  return options.scf || (options.generate == "kohn-sham" && options.dimensions == 1);
}

OptionTable<Options> matrix_options() {
  const auto read = [](const Options& options) { return !options.input.empty() || !options.overlap.empty(); };
  return {
      {"--input,-i", &Options::input, Text{},
       "File of the matrix: .txt (its order n, then n rows), .mtx Matrix Market, .npy NumPy or .h5 HDF5: "
       "FILE.h5:DATASET, "
       "or FILE.h5 for its dataset 'matrix'"},
      {"--overlap", &Options::overlap, Text{},
       "File of a positive definite matrix S of the same order: H C = S C diag(w) is solved, H being the other matrix"},
      {"--generate", &Options::generate, choice({"kohn-sham", "thesis", "random"}, "KIND"),
       "Make one: kohn-sham (a row of atoms at its self-consistent density, or a molecule of water), thesis "
       "(n/2 - |i - j|) or random"},
      {"--size",
       &Options::size,
       Integer{.least = 1},
       "Order n of the matrix to make; points of the grid",
       {.was = "--n"}},
      {"--dimensions",
       &Options::dimensions,
       choice<int>("1|3", {1, 3}),
       "Of kohn-sham: 1, or 3 with N a cube",
       {},
       [](const Options& options) { return options.scf || options.generate == "kohn-sham"; }},
      {"--atoms",
       in_member(&Options::settings, &ScfSettings::chain, &Chain::atoms),
       Integer{.least = 1, .type_name = "M"},
       "Atoms of the row, each of charge 1",
       {},
       makes_chain},
      {"--spacing",
       in_member(&Options::settings, &ScfSettings::chain, &Chain::spacing),
       Number{.least = 0, .type_name = "R"},
       "Between neighbours, in bohr",
       {},
       makes_chain},
      {"--electrons",
       in_member(&Options::settings, &ScfSettings::chain, &Chain::electrons),
       Integer{.least = 0, .type_name = "E"},
       "An even number; 0: one for each atom",
       {},
       makes_chain},
      {"--seed",
       &Options::seed,
       Integer{},
       "Of a random matrix",
       {},
       [](const Options& options) { return options.generate == "random"; }},
      {"--save", &Options::save, Text{}, "File to write the matrix to; the ending chooses the format"},
      {"--symmetry",
       &Options::symmetry,
       Number{.least = 0, .type_name = "TOL"},
       "How far a_ij and conj(a_ji) of a file may differ, in units of the largest element (default: 1e-12, in float "
       "1e-5)",
       {},
       read},
      {"--scalar", &Options::scalar, scalar_kind(), scalar_help},
  };
}

OptionTable<eigen::JacobiOptions> solver_options() {
  using Solver = eigen::JacobiOptions;
  using Method = eigen::JacobiMethod;
  using Accuracy = eigen::JacobiAccuracy;
  return {
      {"--method", &Solver::method,
       choice<Method>("NAME", {Method::automatic, Method::classical, Method::cyclic, Method::round_robin,
                               Method::blocked, Method::preconditioned}),
       "Order of the rotations; with --scf, auto is blocked, and others begin it"},
      {"--accuracy", &Solver::accuracy,
       choice<Accuracy>("NAME", {Accuracy::automatic, Accuracy::relative, Accuracy::norm}),
       "relative (each eigenvalue to its own size; positive definite matrices), norm or auto"},
      {"--sweeps", &Solver::sweeps, Integer{.least = 1}, "At most"},
      {"--rotations", &Solver::rotations, Integer{.least = 0}, "At most, of classical and cyclic; 0: no limit"},
      {"--block", &Solver::block, Integer{.least = 0}, "Columns of a block; 0: chosen"},
      {"--reproducible", &Solver::reproducible, Flag{},
       "The same bits for any number of threads, and for any of two or more ranks; with --scf, --cold too"},
      {"--upper", &Solver::upper, Flag{}, "Take the upper triangle, not the lower"},
      {"--lower-precision", &Solver::lower_precision, Flag{}, "preconditioned: begin in the lower precision"},
  };
}

OptionTable<Options> result_options() {
  return {
      {"--tolerance", &Options::tolerance, Number{.least = 0, .type_name = "TOL"},
       "Rotations are left out below this share (default: 2 sqrt(n) u); with --scf: of the density's residual "
       "(default: 1e-9)"},
      {"--values-only", &Options::values_only, Flag{},
       "No vectors, and no checks by them: by trace, norm and determinant alone"},
      {"--vectors", &Options::vectors, Text{}, "File to write the vectors to, as columns"},
      {"--values", &Options::values, Text{}, "File to write the eigenvalues to, ascending; .txt: one a line"},
      {"--scf", &Options::scf, Flag{},
       "Kohn-Sham: a row of --atoms to self-consistency on --size points (default 256), each eigenproblem begun at the "
       "vectors of the one before"},
  };
}

OptionTable<ScfSettings> scf_options() {
  return {
      {"--cold", &ScfSettings::cold, Flag{}, "With --scf: begin each anew"},
      {"--mixing", in_member(&ScfSettings::scf, &eigen::ScfOptions::mixing), Number{.type_name = "SHARE"},
       "With --scf: share of the new density; of molecules that of the new matrix, with --history 1"},
      {"--history", in_member(&ScfSettings::scf, &eigen::ScfOptions::history), Integer{},
       "With --scf: steps that the mixing looks back on"},
      {"--iterations", in_member(&ScfSettings::scf, &eigen::ScfOptions::iterations), Integer{.least = 1},
       "With --scf: at most"},
      {"--output,-o", &ScfSettings::output, Text{"CSV"}, "With --scf: table of convergence and density"},
      {"--plot", &ScfSettings::plot, Text{"PNG"}, "With --scf: picture of it (heddle plot draws it too)"},
  };
}

OptionTable<Options> molecule_file_option() {
  return {
      {"--molecule",
       in_member(&Options::molecule, &MoleculeSettings::file),
       Text{},
       "With --scf: file of a molecule: lines of an element or a charge, and its position",
       {},
       [](const Options& options) { return options.scf; }},
  };
}

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table =
      matrix_options()
          .include(&Options::solver, solver_options())
          .include(itself, result_options())
          .include(&Options::batch, batch_options())
          .include(&Options::settings, scf_options(), [](const Options& options) { return options.scf; })
          .include(itself, molecule_file_option())
          .include(&Options::molecule, molecule_options(),
                   [](const Options& options) { return !options.molecule.file.empty(); });
  return table;
}

template <Scalar T> HostMatrix<T> generated(Context& context, const Options& options) {
  const Index n = options.size;
  if (options.generate == "thesis") return thesis_matrix<T>(n);
  if (options.generate == "random") return random_hermitian<T>(n, options.seed);
  if (options.dimensions == 1) {
    Chain chain = options.settings.chain;
    chain.points = static_cast<int>(n);
    return matrix_from<T>(chain_hamiltonian(context, chain, options.solver.reproducible), n);
  }
  Index points = std::llround(std::cbrt(static_cast<double>(n)));
  points -= points * points * points > n ? 1 : 0;
  require(points * points * points == n, "--size ", n, ": a grid of three dimensions has m x m x m points, as ",
          points * points * points, " or ", (points + 1) * (points + 1) * (points + 1));
  return matrix_from<T>(eigen::kohn_sham_matrix_3d(static_cast<int>(points)), n);
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

// Read the matrix from a file on rank 0 and make it Hermitian to the bit.
template <Scalar T>
HostMatrix<T> hermitian_from(const Communicator& comm, const std::string& path, const Options& options) {
  HostMatrix<T> A = gather(read_placed<T>(comm, path, "rank:0"), 0);
  const double usual = std::is_same_v<Real<T>, float> ? 1e-5 : 1e-12;
  comm.on_rank(0, [&] {
    require_hermitian<T>(path, A, options.symmetry < 0 ? usual : options.symmetry);
    mirror<T>(A, options.solver.upper);
  });
  return A;
}

// Return the matrix on rank 0; set n on every rank.
template <Scalar T> HostMatrix<T> matrix_of(Context& context, const Options& options, Report& report, Index& n) {
  const Communicator& comm = context.comm();
  const auto start = std::chrono::steady_clock::now();
  HostMatrix<T> A;
  if (!options.input.empty()) {
    A = hermitian_from<T>(comm, options.input, options);
  } else {
    comm.on_rank(0, [&] { A = generated<T>(context, options); });
  }
  n = comm.all_reduce(static_cast<Index>(A.extent(0)), Reduction::maximum);
  all_options().enter(options, report.inputs());
  report.inputs()["size"] = n;
  report.times()["matrix"] = seconds_since(start);
  write_dense<T>(comm, options.save, n, n, A);
  return A;
}

// Check eigenvalues by sums that the matrix has without them. Rank 0, which has the matrix, computes the result; all
// ranks enter it.
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

// Solve H C = S C diag(w); S is the matrix of --overlap.
template <Scalar T>
EigenSolution<T> solution_with_overlap(Context& context, const Options& options, const HostMatrix<T>& H,
                                       Report& report) {
  const HostMatrix<T> S = hermitian_from<T>(context.comm(), options.overlap, options);
  if (S.extent(0) != H.extent(0)) {
    throw Error(ErrorKind::input, message_of(options.overlap, ": is ", S.extent(0), " x ", S.extent(1), "; expected ",
                                             H.extent(0), " x ", H.extent(0), ", as the other matrix is"));
  }
  eigen::JacobiGeneralisedReport pencil;
  EigenSolution<T> solution = pencil_solution<T>(context.comm(), H, S, options.solver, pencil);
  report.results()["least_pivot"] = pencil.least_pivot;
  report.results()["growth"] = pencil.growth;
  report.results()["refinement_sweeps"] = pencil.refinement_sweeps;
  context.say(
      format("overlap: the least pivot has %.3g of its diagonal element; elements grew %.3g times; %d sweep%s "
             "of refinement",
             pencil.least_pivot, pencil.growth, pencil.refinement_sweeps, pencil.refinement_sweeps == 1 ? "" : "s"));
  return solution;
}

template <Scalar T> int solve_as(Context& context, const Options& options) {
  auto report = context.report("eig");
  Index n = 0;
  const HostMatrix<T> A = matrix_of<T>(context, options, report, n);
  const bool is_pencil = !options.overlap.empty();
  const EigenSolution<T> solution = is_pencil
                                        ? solution_with_overlap<T>(context, options, A, report)
                                        : eigen_solution<T>(context.comm(), n, A, options.solver, options.values_only);
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
                     reason_of(outcome.end)));
  context.say("eigenvalues" + few(values));
  if (!outcome.converged) {
    const int code = context.finish(report);
    if (context.root()) complain(unconverged(outcome));
    return std::max<int>(code, exit_failed);
  }
  write_values(context.comm(), options.values, values);
  // A tolerance that the user gives relaxes the checks as much.
  const double factor = std::max(1.0, options.solver.tolerance / static_cast<double>(unit_roundoff<T>));
  if (solution.errors) {
    write_dense<T>(context.comm(), options.vectors, n, n, solution.vectors);
    results["residual"] = solution.errors->residual;
    results["orthogonality"] = solution.errors->orthogonality;
    report.check_at_most("residual", solution.errors->residual, 10 * factor);
    report.check_at_most("orthogonality", solution.errors->orthogonality, 10 * factor);
  }
  // The sums that check eigenvalues exist for a matrix only, not for a pencil.
  if (!is_pencil) {
    check_spectrum<T>(context, A, values, factor, outcome.accuracy == eigen::JacobiAccuracy::relative, report);
  }
  if (context.root()) {
    Sha256 hash;
    hash.add_numbers(solution.values.data(), solution.values.size());
    hash.add_numbers(solution.vectors.data(), solution.vectors.size());
    results["sha256"] = hash.digest();
  }
  return context.finish(report);
}

// Refuse options that --overlap excludes.
void require_overlap(const Options& options, int ranks) {
  if (options.overlap.empty()) return;
  require(ranks == 1, "--overlap ", options.overlap, ": runs on one rank, and all threads or the GPU of it; there are ",
          ranks);
  require(!options.values_only, "--overlap ", options.overlap,
          ": is checked by its vectors; --values-only leaves none");
}

// Complex if one of the files is.
std::string scalar_of_files(Context& context, const Options& options) {
  const std::string scalar = scalar_of_input(context, options.input);
  return options.overlap.empty() || scalar.starts_with("complex") ? scalar : scalar_of_input(context, options.overlap);
}

int run_batches(Context& context, const Options& options) {
  require(options.overlap.empty() && options.save.empty(), "--batch and --svd take no --overlap, and --save no matrix");
  BatchRequest request{options.batch,  options.input,   options.generate, options.scalar,
                       options.size,   options.seed,    options.symmetry, options.values_only,
                       options.values, options.vectors, options.solver,   {}};
  request.solver.tolerance = std::max(options.tolerance, 0.0);
  if (request.scalar.empty()) request.scalar = scalar_of_input(context, options.input);
  all_options().enter(options, request.inputs);
  return solve_batches(context, request);
}

int run(Context& context, Options options) {
  const int ranks = context.comm().size();
  const int sources = (options.input.empty() ? 0 : 1) + (options.generate.empty() ? 0 : 1) + (options.scf ? 1 : 0);
  require(sources == 1, "give the matrix with --input, make one with --generate, or ask for --scf; one of them");
  require(options.size <= 1 << 16, "--size ", options.size, ": expected at most ", 1 << 16);
  require(!options.scf || options.overlap.empty(), "--scf makes its own overlaps; --overlap is for one matrix");
  require(options.scf || options.molecule.file.empty(), "--molecule is for --scf");
  const MoleculeSettings& molecule = options.molecule;
  require_molecule_files(context, molecule, options.settings, options.save);
  if (options.scf) {
    const bool of_file = !molecule.file.empty();
    require(ranks == 1 || !of_file, "--molecule ", molecule.file,
            ": runs on one rank, and all threads or the GPU of it; there are ", ranks);
    require(
        options.dimensions == 1 || of_file, "--scf --dimensions ", options.dimensions,
        ": self-consistency is for the row of atoms in one dimension; of three there is the first matrix, --generate "
        "kohn-sham --dimensions 3");
    require(
        (of_file || options.save.empty()) && options.vectors.empty() && options.values.empty() && !options.values_only,
        "--scf writes its own table (--output), not --save, --vectors or --values");
    require(options.scalar.empty() || options.scalar == "double", "--scf computes in double");
    ScfSettings& settings = options.settings;
    if (options.size >= 0) settings.chain.points = static_cast<int>(options.size);
    if (options.tolerance >= 0) settings.scf.tolerance = options.tolerance;
    settings.solver = options.solver;
    if (options.solver.method == eigen::JacobiMethod::automatic && !of_file)
      settings.solver.method = eigen::JacobiMethod::blocked;
    if (ranks > 1) require_over_ranks(ranks, settings.solver);
    // Warm starts are not reproducible, and do not exist over several ranks.
    settings.cold = settings.cold || options.solver.reproducible || ranks > 1;
    nlohmann::ordered_json inputs;
    all_options().enter(options, inputs);
    if (of_file) {
      return run_molecule(context, molecule, settings, options.save, settings.chain.points, options.tolerance, inputs);
    }
    return run_scf(context, settings, inputs);
  }
  if (is_batch(options.batch)) return run_batches(context, options);
  if (ranks > 1) require_over_ranks(ranks, options.solver);
  require_overlap(options, ranks);
  require(options.dimensions == 1 || options.generate == "kohn-sham", "--dimensions ", options.dimensions,
          " is for --generate kohn-sham");
  require(options.settings.plot.empty(), "--plot draws what --scf finds");
  require(options.generate.empty() || options.size >= 0, "--generate needs the order of the matrix: --size");
  require(options.input.empty() || options.size < 0, "--size is for --generate; --input has its own");
  require(!options.values_only || options.vectors.empty(), "--values-only leaves no --vectors to write");
  require_outputs(context, {{"--input", options.input}, {"--overlap", options.overlap}},
                  {{"--save", options.save}, {"--vectors", options.vectors}, {"--values", options.values}});
  if (options.tolerance > 0) options.solver.tolerance = options.tolerance;
  if (options.scalar.empty()) options.scalar = scalar_of_files(context, options);
  for (const std::string& path : {options.save, options.vectors}) {
    require(!path.ends_with(".txt") || !options.scalar.starts_with("complex"), path,
            ": plain text holds real matrices; choose .mtx or .h5");
  }
  return with_scalar(options.scalar, [&]<class T>() { return solve_as<T>(context, options); });
}

}  // namespace

void add_eig(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"eig", "Eigenvalues and eigenvectors of a symmetric or Hermitian matrix, by Jacobi rotations",
               "  heddle eig --input matrix.txt --vectors V.txt --values w.txt\n"
               "  heddle eig --input H.mtx --overlap S.mtx --vectors C.mtx\n"
               "  heddle eig --generate kohn-sham --size 512 --json report.json\n"
               "  heddle eig --svd --batch 100 --generate random --size 64\n"
               "  heddle eig --scf --atoms 8 --plot scf.png\n"
               "  heddle eig --scf --molecule h2.txt --functional hf --save H.mtx --save-overlap S.mtx"},
              all_options(), run);
}

}  // namespace heddle::driver
